#include "sim/collision/narrow_phase.h"

#include "sim/collision/parallel.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kBatchesPerTask = 16;
constexpr std::uint8_t kSwappedBit = 0x80, kTypeBits = 0x7f;

// [first][second] with first <= second; ShapeType is sphere, box, capsule, plane.
constexpr PairType kTypeOf[4][4] = {
    {kSphereSphere, kSphereBox, kSphereCapsule, kSpherePlane},
    {kNoPairType, kBoxBox, kBoxCapsule, kBoxPlane},
    {kNoPairType, kNoPairType, kCapsuleCapsule, kCapsulePlane},
    {kNoPairType, kNoPairType, kNoPairType, kNoPairType},
};

// Lane k of a batch's results as a manifold; count is 0 if nothing touches.
void read_lane(const ContactBatch& from, std::uint32_t k, Manifold& to) {
    std::uint32_t count = 0;
    for (const ContactBatch::Point& p : from.point) {
        if (p.exists[k] == 0.0f) continue;
        ManifoldPoint& point = to.points[count++];
        point.offset_a = {p.offset[0][k], p.offset[1][k], p.offset[2][k]};
        point.depth = p.depth[k];
        point.feature = static_cast<std::uint32_t>(p.feature[k]);
        point.normal_impulse = 0.0f;
    }
    to.count = count;
    to.normal = {from.normal[0][k], from.normal[1][k], from.normal[2][k]};
}

}  // namespace

void NarrowPhase::sort_by_type(const Bodies& bodies, std::span<const Shape> shapes, std::span<const Pair> pairs) {
    std::uint32_t start[kPairTypes + 1] = {};
    type_.resize(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto a = static_cast<std::uint8_t>(shapes[bodies.info[pairs[i].a].shape].type);
        const auto b = static_cast<std::uint8_t>(shapes[bodies.info[pairs[i].b].shape].type);
        const PairType type = a <= b ? kTypeOf[a][b] : kTypeOf[b][a];
        type_[i] = static_cast<std::uint8_t>(type | (a <= b ? 0 : kSwappedBit));
        if (type != kNoPairType) ++start[type + 1];
    }
    for (std::uint32_t t = 0; t < kPairTypes; ++t) start[t + 1] += start[t];
    order_.resize(start[kPairTypes]);
    batches_.clear();
    for (std::uint32_t t = 0; t < kPairTypes; ++t) {
        for (std::uint32_t i = start[t]; i < start[t + 1]; i += kPairLanes) {
            const std::uint32_t left = start[t + 1] - i;
            batches_.push_back({static_cast<PairType>(t), i, left < kPairLanes ? left : kPairLanes});
        }
    }
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
        if (type_[i] != kNoPairType) order_[start[type_[i] & kTypeBits]++] = i;
    }
}

void NarrowPhase::run_batch(const Batch& batch, const Bodies& bodies, std::span<const Pair> pairs, const NarrowInput& input,
                            const NarrowKernels& kernels) {
    PairBatch in;
    ContactBatch out;
    in.count = batch.count;
    for (std::uint32_t k = 0; k < kPairLanes; ++k) {
        const std::uint32_t index = order_[batch.first + (k < batch.count ? k : 0)];
        const bool swapped = (type_[index] & kSwappedBit) != 0;
        in.first[k] = swapped ? pairs[index].b : pairs[index].a;
        in.second[k] = swapped ? pairs[index].a : pairs[index].b;
        in.first_shape[k] = bodies.info[in.first[k]].shape;
        in.second_shape[k] = bodies.info[in.second[k]].shape;
        in.swapped[k] = swapped ? 1.0f : 0.0f;
    }
    kernels.collide[batch.type](input, in, out);
    for (std::uint32_t k = 0; k < batch.count; ++k) read_lane(out, k, results_[order_[batch.first + k]]);
}

void NarrowPhase::collide(const Bodies& bodies, std::span<const Shape> shapes, std::span<const ShapeRecord> shape_table,
                          std::span<const Pair> pairs, float dt_s, float margin_m, const NarrowKernels& kernels, Executor& executor,
                          std::vector<Manifold>& manifolds) {
    manifolds.clear();
    if (pairs.empty()) return;
    sort_by_type(bodies, shapes, pairs);
    if (results_.size() < pairs.size()) results_.resize(pairs.size());
    const NarrowInput input{bodies.pose.data()->position, bodies.velocity.data()->linear, &shape_table.data()->radius, dt_s, margin_m};
    for_chunks(executor, static_cast<std::uint32_t>(batches_.size()), kBatchesPerTask, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t i = begin; i < end; ++i) run_batch(batches_[i], bodies, pairs, input, kernels);
    });
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (type_[i] == kNoPairType || results_[i].count == 0) continue;
        manifolds.push_back(results_[i]);
        manifolds.back().a = pairs[i].a;
        manifolds.back().b = pairs[i].b;
    }
}

}  // namespace orrery::sim
