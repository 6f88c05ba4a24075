#include "sim/collision/narrow_phase.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/collision/parallel.h"
#include "sim/growth.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kBatchesPerTask = 16, kPairsPerTask = 1024;
constexpr std::uint32_t kPairsOfTask = kBatchesPerTask * kPairLanes;  // of a task of batches
static_assert(std::uint64_t{kMaxPairs} + kPairTypes * kPairsOfTask < kNone);
constexpr std::uint8_t kSwappedBit = 0x80, kTypeBits = 0x7f;
constexpr std::uint8_t kRoomShift = 4, kCountBits = 0x0f;

// [first][second] with first <= second; ShapeType is sphere, box, capsule, plane, and then those without functions over lanes.
constexpr std::uint8_t kLaneShapes = 4;
constexpr PairType kTypeOf[kLaneShapes][kLaneShapes] = {
    {kSphereSphere, kSphereBox, kSphereCapsule, kSpherePlane},
    {kNoPairType, kBoxBox, kBoxCapsule, kBoxPlane},
    {kNoPairType, kNoPairType, kCapsuleCapsule, kCapsulePlane},
    {kNoPairType, kNoPairType, kNoPairType, kNoPairType},
};

// Of shape types a <= b.
PairType type_of_pair(std::uint8_t a, std::uint8_t b) { return b < kLaneShapes ? kTypeOf[a][b] : kGeneralPair; }

}  // namespace

// A counting sort: each chunk counts its own, learns where its own begin, and puts them there.
void NarrowPhase::sort_by_type(const BroadPhase& broad, std::span<const Pair> pairs, Executor& executor) {
    const std::span<const ShapeType> type_of = broad.type_of();
    const auto count = static_cast<std::uint32_t>(pairs.size());
    resize_sparingly(type_, count);
    resize_sparingly(points_, count);
    chunks_.assign(chunk_count(count, kPairsPerTask), {});
    for_chunks(executor, count, kPairsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        for (std::uint32_t i = begin; i < end; ++i) {
            const auto a = static_cast<std::uint8_t>(type_of[pairs[i].a]), b = static_cast<std::uint8_t>(type_of[pairs[i].b]);
            const PairType type = a <= b ? type_of_pair(a, b) : type_of_pair(b, a);
            type_[i] = static_cast<std::uint8_t>(type >= kPairTypes ? type : type | (a <= b ? 0 : kSwappedBit));
            points_[i] = 0;
            if (type < kPairTypes) ++chunk.type[type];
            if (type == kGeneralPair) ++chunk.type[kPairTypes];
        }
    });
    batches_.clear();
    std::uint32_t next = 0;
    for (std::uint32_t t = 0; t < kPairTypes; ++t) {
        const std::uint32_t first = next;
        for (Chunk& chunk : chunks_) next += std::exchange(chunk.type[t], next);
        for (std::uint32_t i = first; i < next; i += kPairLanes) batches_.push_back({static_cast<PairType>(t), i, std::min(next - i, kPairLanes)});
    }
    resize_sparingly(order_, next);
    next = 0;
    for (Chunk& chunk : chunks_) {
        chunk.general = next;
        next += std::exchange(chunk.type[kPairTypes], next);
    }
    resize_sparingly(general_pairs_, next);
    for_chunks(executor, count, kPairsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        for (std::uint32_t i = begin; i < end; ++i) {
            if (type_[i] == kGeneralPair) general_pairs_[chunk.type[kPairTypes]++] = i;
            else if ((type_[i] & kTypeBits) < kPairTypes) order_[chunk.type[type_[i] & kTypeBits]++] = i;
        }
    });
}

void NarrowPhase::Touches::clear() {
    clear_sparingly(list, kPairLanes);
    clear_sparingly(points, kPairLanes);
}

// may_turn: those that may come to have more points.
void NarrowPhase::keep_touches(const ContactBatch& from, const std::uint32_t* pair, std::uint32_t count, std::uint32_t may_turn, std::uint32_t task) {
    const std::uint32_t touching = (from.exists[0] | from.exists[1] | from.exists[2] | from.exists[3]) & ((1u << count) - 1u);
    Touches& touches = touches_[task];
    auto next = static_cast<std::uint32_t>(touches.list.size()), next_point = static_cast<std::uint32_t>(touches.points.size());
    resize_sparingly(touches.list, next + static_cast<std::uint32_t>(std::popcount(touching)));
    std::uint32_t more = 0;
    for (const std::uint32_t exists : from.exists) more += static_cast<std::uint32_t>(std::popcount(exists & touching));
    resize_sparingly(touches.points, next_point + more);
    for (std::uint32_t k = 0; k < count; ++k) {
        if (((touching >> k) & 1u) == 0) continue;
        touches.list[next] = {{from.normal[0][k], from.normal[1][k], from.normal[2][k]}, next_point};
        touch_at_[pair[k]] = task * kPairsOfTask + next++;
        std::uint8_t points = 0;
        for (int i = 0; i < kMaxManifoldPoints; ++i) {
            if (((from.exists[i] >> k) & 1u) == 0) continue;
            const ContactBatch::Point& p = from.point[i];
            touches.points[next_point++] = {{p.offset[0][k], p.offset[1][k], p.offset[2][k]}, p.depth[k],
                                            static_cast<std::uint32_t>(p.feature[k])};
            ++points;
        }
        const int room = ((may_turn >> k) & 1u) != 0 ? kMaxManifoldPoints : points;
        points_[pair[k]] = static_cast<std::uint8_t>(points | room << kRoomShift);
    }
}

void NarrowPhase::run_batch(const Batch& batch, const Bodies& bodies, const BroadPhase& broad, std::span<const Pair> pairs,
                            const NarrowInput& input, const NarrowKernels& kernels, std::uint32_t task) {
    const std::uint32_t* indices = order_.data() + batch.first;
    const std::span<const std::uint32_t> shape_of = broad.shape_of();
    PairBatch in;
    ContactBatch out;
    in.count = batch.count;
    std::uint32_t may_turn = 0;
    for (std::uint32_t k = 0; k < kPairLanes; ++k) {
        const std::uint32_t index = indices[k < batch.count ? k : 0];
        const bool swapped = (type_[index] & kSwappedBit) != 0;
        in.first[k] = swapped ? pairs[index].b : pairs[index].a;
        in.second[k] = swapped ? pairs[index].a : pairs[index].b;
        in.first_shape[k] = shape_of[in.first[k]];
        in.second_shape[k] = shape_of[in.second[k]];
        in.swapped[k] = swapped ? 1.0f : 0.0f;
        if (broad.any_seams() && !(bodies.dynamic(in.first[k]) && bodies.dynamic(in.second[k]))) may_turn |= 1u << k;  // Seams may
    }
    kernels.collide[batch.type](input, in, out);
    keep_touches(out, indices, batch.count, may_turn, task);
}

void NarrowPhase::write_manifold(std::uint32_t pair_index, Pair pair, Manifold& to) const {
    const Touches& touches = touches_[touch_at_[pair_index] / kPairsOfTask];
    const Touch& touch = touches.list[touch_at_[pair_index] % kPairsOfTask];
    to.a = pair.a;
    to.b = pair.b;
    to.child_a = to.child_b = 0;
    to.normal = touch.normal;
    to.count = points_[pair_index] & kCountBits;
    to.friction_impulse = {};
    to.twist_impulse = to.friction = to.restitution = to.total_normal_impulse = 0.0f;
    for (std::uint32_t i = 0; i < to.count; ++i) {
        const TouchPoint& point = touches.points[touch.first + i];
        to.points[i] = {point.offset_a, point.depth, point.feature, 0.0f};
    }
}

// Each chunk counts its own, learns where its own begin, and writes them. False: there are too many.
bool NarrowPhase::order_manifolds(std::span<const Pair> pairs, ManifoldStore& manifolds, Executor& executor) {
    const auto count = static_cast<std::uint32_t>(pairs.size());
    for_chunks(executor, count, kPairsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        std::uint32_t general = chunk.general, sum = 0;
        std::uint32_t packed = 0, points = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            if (type_[i] == kGeneralPair) {
                sum += static_cast<std::uint32_t>(general_.of(general++, manifolds.general).size());
            } else {
                packed += points_[i] != 0 ? 1u : 0u;
                points += points_[i] >> kRoomShift;
            }
        }
        chunk.manifold = sum + packed;
        chunk.byte = packed * manifold_bytes(0) + points * sizeof(ManifoldPoint);
    });
    std::uint32_t touching = 0;
    std::uint64_t bytes = 0;
    for (Chunk& chunk : chunks_) {
        touching += std::exchange(chunk.manifold, touching);
        bytes += std::exchange(chunk.byte, bytes);
    }
    if (touching > kMaxPairs) return false;
    manifolds.resize(touching, bytes);
    for_chunks(executor, count, kPairsPerTask, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        std::uint32_t next_general = chunks_[index].general;
        Manifold** next = manifolds.order.data() + chunks_[index].manifold;
        std::byte* at = manifolds.packed.data() + chunks_[index].byte;
        for (std::uint32_t i = begin; i < end; ++i) {
            if (type_[i] == kGeneralPair) {
                for (Manifold& manifold : general_.of(next_general++, manifolds.general)) *next++ = &manifold;
            } else if (points_[i] != 0) {
                Manifold& manifold = *reinterpret_cast<Manifold*>(at);
                write_manifold(i, pairs[i], manifold);
                *next++ = &manifold;
                at += manifold_bytes(points_[i] >> kRoomShift);
            }
        }
    });
    return true;
}

bool NarrowPhase::collide(const Bodies& bodies, std::span<const Shape> shapes, const BroadPhase& broad,
                          std::span<const Pair> pairs, float dt_s, float margin_m,
                          const NarrowKernels& kernels, const BroadKernels& tree_kernels, Executor& executor,
                          ManifoldStore& manifolds) {
    if (pairs.empty()) {
        manifolds.order.clear();
        return true;
    }
    const auto count = static_cast<std::uint32_t>(pairs.size());
    sort_by_type(broad, pairs, executor);
    const auto batches = static_cast<std::uint32_t>(batches_.size());
    resize_sparingly(touch_at_, count);
    touches_.resize(chunk_count(batches, kBatchesPerTask));
    const std::span<const BoundsRecord> grown = broad.any_passive() ? broad.bounds() : std::span<const BoundsRecord>{};
    const NarrowInput input{bodies.pose.data()->position, bodies.velocity.data()->linear, &broad.shape_table().data()->radius, dt_s, margin_m,
                            grown.empty() ? nullptr : grown.data()->min};
    for_chunks(executor, batches, kBatchesPerTask, [&](std::uint32_t task, std::uint32_t begin, std::uint32_t end) {
        touches_[task].clear();
        for (std::uint32_t i = begin; i < end; ++i) run_batch(batches_[i], bodies, broad, pairs, input, kernels, task);
    });

    const GeneralInput general_input{bodies, shapes, pairs, general_pairs_, grown, dt_s, margin_m, tree_kernels};
    if (!general_pairs_.empty() && !general_.collide(general_input, executor, manifolds.general)) return false;

    if (!order_manifolds(pairs, manifolds, executor)) return false;
    if (broad.any_seams()) seams_.drop_ghosts({bodies, shapes, dt_s, margin_m}, broad.type_of(), executor, manifolds.order);
    return true;
}

}  // namespace orrery::sim
