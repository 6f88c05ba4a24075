#include "sim/lanes/ref_pass.h"

#include "sim/collision/queries/batch_order.h"

#include <numeric>

#include "sim/base/radix_sort.h"
#include "sim/trees/tree-inl.h"

namespace orrery::sim::ref {

namespace {

// Fewer queries than this find little of what the others have read.
constexpr std::size_t kLeastSorted = 128;
// A key, from above: the quadrant, the Morton code, the index. The code's lowest bits are not worth a further pass.
constexpr std::uint32_t kQuadrantShift = 62, kCodeShift = 32, kSortedFrom = 42;

Vec3 start_of(const RayCast& q) { return q.origin; }
Vec3 start_of(const ShapeCast& q) { return q.pose.position; }
Vec3 start_of(const Overlap& q) { return q.pose.position; }
Vec3 start_of(const ClosestPoint& q) { return q.point; }

// The horizontal quadrant of the way.
std::uint64_t quadrant(Vec3 way) { return (way.x < 0.0f ? 1u : 0u) + (way.z < 0.0f ? 2u : 0u); }
std::uint64_t quadrant_of(const RayCast& q) { return quadrant(q.translation); }
std::uint64_t quadrant_of(const ShapeCast& q) { return quadrant(q.translation); }
std::uint64_t quadrant_of(const Overlap&) { return 0; }
std::uint64_t quadrant_of(const ClosestPoint&) { return 0; }

// By quadrants, and within them along a Morton curve through the starts.
template <class Query>
std::vector<std::uint32_t> order_of(std::span<const Query> queries) {
    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0u);
    if (queries.size() < kLeastSorted) return order;
    Vec3 low{kNoBox, kNoBox, kNoBox}, high{-kNoBox, -kNoBox, -kNoBox};
    for (const Query& query : queries) {
        const Vec3 at = start_of(query);
        low = {min(at.x, low.x), min(at.y, low.y), min(at.z, low.z)};
        high = {max(at.x, high.x), max(at.y, high.y), max(at.z, high.z)};
    }
    const float size = max(max(high.x - low.x, high.y - low.y), max(high.z - low.z, 1e-3f));
    const float scale = float((1u << kMortonBits) - 1) / size;
    std::vector<std::uint64_t> keys(queries.size()), scratch(queries.size());
    for (std::uint32_t i = 0; i < queries.size(); ++i) {
        const Vec3 at = start_of(queries[i]);
        const std::uint32_t code = spread_bits(morton_cell(at.x, low.x, scale)) |
                                   spread_bits(morton_cell(at.y, low.y, scale)) << 1 |
                                   spread_bits(morton_cell(at.z, low.z, scale)) << 2;
        keys[i] = quadrant_of(queries[i]) << kQuadrantShift | std::uint64_t(code) << kCodeShift | i;
    }
    std::span<std::uint64_t> sorted(keys), other(scratch);
    radix_sort(sorted, other, kSortedFrom, 64);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(sorted[i]);
    return order;
}

}  // namespace

std::vector<std::uint32_t> batch_order(std::span<const RayCast> queries) { return order_of(queries); }
std::vector<std::uint32_t> batch_order(std::span<const ShapeCast> queries) { return order_of(queries); }
std::vector<std::uint32_t> batch_order(std::span<const Overlap> queries) { return order_of(queries); }
std::vector<std::uint32_t> batch_order(std::span<const ClosestPoint> queries) { return order_of(queries); }

}  // namespace orrery::sim::ref
