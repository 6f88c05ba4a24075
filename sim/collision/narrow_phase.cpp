#include "sim/collision/narrow_phase.h"

#include <algorithm>
#include <bit>

#include "sim/base/assert.h"
#include "sim/base/growth.h"
#include "sim/base/parallel.h"
#include "sim/collision/sweep/fast_pairs.h"

namespace orrery::sim {
namespace {

// Enough of them to fill batches of each type, few enough that all workers have some: a 32nd of all, within these.
constexpr std::uint32_t kChunksOfAll = 32, kLeastChunk = 512, kMostChunk = 2048;
constexpr std::uint8_t kSwappedBit = 0x80, kTypeBits = 0x7f;
constexpr std::uint32_t kGeneral = kNone - 1;
static_assert(kMostChunk * sizeof(Manifold) < kGeneral && kMostChunk <= 0xffff);

std::uint32_t found_by(const ContactBatch& batch) {
    return batch.exists[0] | batch.exists[1] | batch.exists[2] | batch.exists[3];
}

bool touches(const ContactBatch& batch, std::uint32_t lane, float gap) {
    bool any = false;
    for (int i = 0; i < kMaxManifoldPoints; ++i)
        any = any || (((batch.exists[i] >> lane) & 1u) != 0 && batch.point[i].depth[lane] >= -gap);
    return any;
}

// Writes down what the lanes of a batch found. may_turn: those that may come to have more points; `left`: those that
// are none of its business.
void keep(const ContactBatch& from, std::span<const Pair> pairs, const std::uint16_t* which, std::uint32_t count,
          std::uint32_t may_turn, std::uint32_t left, PackedManifolds& to, std::uint32_t* place) {
    const std::uint32_t touching = found_by(from) & ~left & ((1u << count) - 1u);
    for (std::uint32_t k = 0; k < count; ++k) {
        if (((touching >> k) & 1u) == 0) continue;
        std::uint32_t points = 0;
        for (const std::uint32_t exists : from.exists) points += (exists >> k) & 1u;
        const Pair pair = pairs[which[k]];
        Manifold& m = to.add(((may_turn >> k) & 1u) != 0 ? kMaxManifoldPoints : points, place[which[k]]);
        m.a = pair.a;
        m.b = pair.b;
        m.child_a = m.child_b = 0;
        m.normal = {from.normal[0][k], from.normal[1][k], from.normal[2][k]};
        m.moved = {};
        m.count = points;
        ORRERY_ASSERT(points >= 1 && points <= kMaxManifoldPoints);
        m.friction_impulse = {};
        m.twist_impulse = m.friction = m.restitution = m.total_normal_impulse = 0.0f;
        ManifoldPoint* next = m.points;
        for (int i = 0; i < kMaxManifoldPoints; ++i) {
            if (((from.exists[i] >> k) & 1u) == 0) continue;
            const ContactBatch::Point& p = from.point[i];
            *next++ = {{p.offset[0][k], p.offset[1][k], p.offset[2][k]},
                       p.depth[k],
                       static_cast<std::uint32_t>(p.feature[k]),
                       0.0f};
        }
    }
}

}  // namespace

void NarrowPhase::collide_chunk(const Input& input, std::uint32_t begin, std::uint32_t end, Chunk& chunk,
                                PackedManifolds& to) const {
    const std::span<const Pair> pairs = input.pairs.subspan(begin, end - begin);
    const std::span<const ShapeType> type_of = input.broad.type_of();
    const std::span<const std::uint32_t> shape_of = input.broad.shape_of();
    const bool seams = input.broad.any_seams();
    const std::span<const ShapeRecord> shapes = input.broad.shape_table();
    to.clear();
    chunk.general.clear();

    // A counting sort.
    std::uint8_t type[kMostChunk];
    std::uint32_t first[kPairTypes + 1] = {}, place[kMostChunk];
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
        const auto a = static_cast<std::uint8_t>(type_of[pairs[i].a]),
                   b = static_cast<std::uint8_t>(type_of[pairs[i].b]);
        const PairType of = a <= b ? type_of_pair(a, b) : type_of_pair(b, a);
        type[i] = static_cast<std::uint8_t>(of >= kPairTypes ? of : of | (a <= b ? 0 : kSwappedBit));
        place[i] = of == kGeneralPair ? kGeneral : kNone;
        if (of < kPairTypes) ++first[of + 1];
        if (of == kGeneralPair) chunk.general.push_back(begin + i);
    }
    for (std::uint32_t t = 0; t < kPairTypes; ++t) first[t + 1] += first[t];
    std::uint16_t order[kMostChunk];
    std::uint32_t next[kPairTypes];
    std::copy(first, first + kPairTypes, next);
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
        const std::uint32_t of = type[i] & kTypeBits;
        if (of < kPairTypes) order[next[of]++] = static_cast<std::uint16_t>(i);
    }

    PairBatch in;
    ContactBatch out;
    for (std::uint32_t t = 0; t < kPairTypes; ++t) {
        for (std::uint32_t at = first[t]; at < first[t + 1]; at += kPairLanes) {
            in.count = std::min(first[t + 1] - at, kPairLanes);
            std::uint32_t may_turn = 0;
            for (std::uint32_t k = 0; k < kPairLanes; ++k) {
                const std::uint32_t i = order[at + (k < in.count ? k : 0)];
                const bool swapped = (type[i] & kSwappedBit) != 0;
                in.first[k] = swapped ? pairs[i].b : pairs[i].a;
                in.second[k] = swapped ? pairs[i].a : pairs[i].b;
                in.first_shape[k] = shape_of[in.first[k]];
                in.second_shape[k] = shape_of[in.second[k]];
                in.swapped[k] = swapped ? 1.0f : 0.0f;
                if (seams && may_be_turned(input.bodies, pairs[i])) may_turn |= 1u << k;
            }
            input.kernels.collide[t](input.narrow, in, out);
            // Along a plane's normal nothing is missed: what has no point there does not come near.
            const std::uint32_t may_meet = out.may_meet & (is_with_plane(t) ? found_by(out) : ~0u);
            std::uint32_t left = out.fast & ((1u << in.count) - 1u);
            for (std::uint32_t bits = left; bits != 0; bits &= bits - 1) {
                const auto k = static_cast<std::uint32_t>(std::countr_zero(bits));
                const float gap =
                    ref::touching_gap(shapes[in.first_shape[k]].inner_radius, shapes[in.second_shape[k]].inner_radius);
                if (touches(out, k, gap)) {
                    left &= ~(1u << k);
                } else if (((may_meet >> k) & 1u) != 0) {
                    place[order[at + k]] = kGeneral;
                    chunk.general.push_back(begin + order[at + k]);
                }
            }
            keep(out, pairs, order + at, in.count, may_turn, left, to, place);
        }
    }
    std::sort(chunk.general.begin(), chunk.general.end());
    std::uint32_t* const end_of_found =
        std::copy_if(place, place + pairs.size(), chunk.found.data(), [](std::uint32_t at) { return at != kNone; });
    chunk.found = {chunk.found.data(), end_of_found};
}

bool NarrowPhase::collide(const Bodies& bodies, std::span<const Shape> shapes, const BroadPhase& broad,
                          std::span<const Pair> pairs, float dt_s, float margin_m, const NarrowKernels& kernels,
                          const BroadKernels& tree_kernels, const PolytopeKernels& polytope_kernels, Executor& executor,
                          TickArena& arena, bool more, const Forecast& forecast, ManifoldStore& manifolds) {
    manifolds.order.clear();
    if (pairs.empty()) {
        if (!more) general_.forget();
        return true;
    }
    const auto count = static_cast<std::uint32_t>(pairs.size()),
               chunk_size = std::clamp(count / kChunksOfAll, kLeastChunk, kMostChunk);
    chunks_.resize(chunk_count(count, chunk_size));
    manifolds.lanes.resize(chunks_.size());
    const std::span<const BoundsRecord> grown = broad.any_passive() ? broad.bounds() : std::span<const BoundsRecord>{};
    const NarrowInput narrow{bodies.pose.data()->position,
                             bodies.velocity.data()->linear,
                             &broad.shape_table().data()->radius,
                             dt_s,
                             margin_m,
                             grown.empty() ? nullptr : grown.data()->min};
    const Input input{bodies, broad, pairs, narrow, kernels};
    std::uint32_t* const found = arena.allocate<std::uint32_t>(count);
    for_chunks(executor, count, chunk_size, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        chunks_[index].found = {found + begin, end - begin};
        collide_chunk(input, begin, end, chunks_[index], manifolds.lanes[index]);
    });

    general_pairs_.clear();
    for (Chunk& chunk : chunks_) {
        chunk.first_general = static_cast<std::uint32_t>(general_pairs_.size());
        general_pairs_.insert(general_pairs_.end(), chunk.general.begin(), chunk.general.end());
    }
    const GeneralInput general_input{bodies,       shapes,           pairs,   general_pairs_, grown, dt_s, margin_m,
                                     tree_kernels, polytope_kernels, kernels, forecast,       more};
    if (!general_.collide(general_input, executor, manifolds.general)) return false;

    std::uint64_t all = 0;
    for (Chunk& chunk : chunks_) {
        chunk.first_manifold = static_cast<std::uint32_t>(all);
        all += chunk.found.size() - chunk.general.size();
        for (std::uint32_t k = 0; k < chunk.general.size(); ++k)
            all += general_.of(chunk.first_general + k, manifolds.general).size();
    }
    if (all > kMaxPairs) return false;
    resize_sparingly(manifolds.order, all);
    for_chunks(executor, static_cast<std::uint32_t>(chunks_.size()), 1,
               [&](std::uint32_t index, std::uint32_t, std::uint32_t) {
                   std::uint32_t next_general = chunks_[index].first_general;
                   Manifold** next = manifolds.order.data() + chunks_[index].first_manifold;
                   for (const std::uint32_t place : chunks_[index].found) {
                       if (place != kGeneral)
                           *next++ = manifolds.lanes[index].at(place);
                       else
                           for (Manifold& manifold : general_.of(next_general++, manifolds.general))
                               *next++ = &manifold;
                   }
               });
    ORRERY_DEBUG_ASSERT(
        std::ranges::all_of(manifolds.order, [&](const Manifold* m) { return is_well_formed(*m, bodies.size()); }));
    if (broad.any_seams())
        seams_.drop_ghosts({bodies, shapes, dt_s, margin_m}, broad.type_of(), executor, manifolds.order);
    return true;
}

}  // namespace orrery::sim
