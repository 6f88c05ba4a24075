// Gathers 16 pairs, runs a pair function as often as the target's vectors need, and stores what it gives.

#if defined(ORRERY_COLLISION_LANES_NARROW_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_NARROW_KERNELS_INL_H_
#undef ORRERY_COLLISION_LANES_NARROW_KERNELS_INL_H_
#else
#define ORRERY_COLLISION_LANES_NARROW_KERNELS_INL_H_
#endif

#include "sim/collision/lanes/box_box-inl.h"
#include "sim/collision/lanes/box_capsule-inl.h"
#include "sim/collision/lanes/narrow_kernels.h"
#include "sim/collision/lanes/plane_pairs-inl.h"
#include "sim/collision/lanes/round_pairs-inl.h"
#include "sim/collision/lanes/sphere_box-inl.h"
#include "sim/lanes/records-inl.h"

ORRERY_LANES_BEGIN

inline Collider<Number> make_collider(const Number pose[kRecordFloats], const Number shape[kRecordFloats]) {
    const QuatT<Number> q{pose[3], pose[4], pose[5], pose[6]};
    return {columns(to_matrix(q)), shape[0], shape[1], {shape[2], shape[3], shape[4]}};
}

// How far a body's turning moves any part of it in the tick, at most.
inline Number turning_of(const Number velocity[kRecordFloats], const Number shape[kRecordFloats], Number dt) {
    const Number bounding = shape[5], inner = shape[6];
    return min(length(Vec3T<Number>{velocity[3], velocity[4], velocity[5]}) * dt * bounding, bounding - inner);
}

// A plane has no sphere around it, and may meet all.
inline MaskOf<Number> may_meet(const PairInput<Number>& in, Number bounding, Number bounding_of_second) {
    const Number zero(0.0f), way2 = length_squared(in.motion), reach = bounding + in.margin;
    const Number part = clamp(dot(in.between, in.motion) / select(way2 > zero, way2, Number(1.0f)), zero, Number(1.0f));
    return (length_squared(in.between - in.motion * part) <= reach * reach) | (bounding_of_second <= zero);
}

inline PairInput<Number> load_pairs(const NarrowInput& in, const PairBatch& batch, std::size_t lane,
                                    ContactBatch& out) {
    Number pose_1[kRecordFloats], pose_2[kRecordFloats], velocity_1[kRecordFloats], velocity_2[kRecordFloats];
    Number shape_1[kRecordFloats], shape_2[kRecordFloats];
    gather_records(in.pose, batch.first + lane, pose_1);
    gather_records(in.pose, batch.second + lane, pose_2);
    gather_records(in.velocity, batch.first + lane, velocity_1);
    gather_records(in.velocity, batch.second + lane, velocity_2);
    gather_records(in.shape, batch.first_shape + lane, shape_1);
    gather_records(in.shape, batch.second_shape + lane, shape_2);
    const Number dt(in.dt_s);
    const PairInput<Number> pairs = {make_collider(pose_1, shape_1),
                                     make_collider(pose_2, shape_2),
                                     {pose_2[0] - pose_1[0], pose_2[1] - pose_1[1], pose_2[2] - pose_1[2]},
                                     {(velocity_1[0] - velocity_2[0]) * dt, (velocity_1[1] - velocity_2[1]) * dt,
                                      (velocity_1[2] - velocity_2[2]) * dt},
                                     Number(in.margin_m)};
    const Number turning = turning_of(velocity_1, shape_1, dt) + turning_of(velocity_2, shape_2, dt);
    const std::uint32_t fast = lane_bits(length(pairs.motion) + turning >= pairs.margin);
    if (fast != 0) {
        out.fast |= fast << lane;
        out.may_meet |= (lane_bits(may_meet(pairs, shape_1[5] + shape_2[5], shape_2[5])) & fast) << lane;
    }
    return pairs;
}

// A call of its own, which worlds without passive bodies never pay for.
ORRERY_ONCE inline void widen_margin(const NarrowInput& in, const PairBatch& batch, std::size_t lane,
                                     PairInput<Number>& pairs) {
    float first[kPairLanes], second[kPairLanes];
    for (std::size_t k = 0; k < lanes<Number>(); ++k) {
        first[k] = in.bounds[batch.first[lane + k] * kRecordFloats + kGrowthInBounds];
        second[k] = in.bounds[batch.second[lane + k] * kRecordFloats + kGrowthInBounds];
    }
    const Number zero(0.0f), margin = pairs.margin;
    pairs.margin = margin + (max(load<Number>(first) - margin, zero) + max(load<Number>(second) - margin, zero));
}

// Back to the pair's own A and B: the normal turns round, points count from A's centre.
inline void store_contacts(const Contacts<Number>& c, const PairInput<Number>& in, const PairBatch& batch,
                           ContactBatch& out, std::size_t lane) {
    const Number zero(0.0f);
    const MaskOf<Number> swapped = load<Number>(batch.swapped + lane) > zero;
    const Vec3T<Number> normal = select<Number>(swapped, -c.normal, c.normal);
    const Vec3T<Number> shift = select<Number>(swapped, in.between, Vec3T<Number>{zero, zero, zero});
    store(out.normal[0] + lane, normal.x);
    store(out.normal[1] + lane, normal.y);
    store(out.normal[2] + lane, normal.z);
    for (int i = 0; i < 4; ++i) {
        const Vec3T<Number> offset = c.point[i].point - shift;
        store(out.point[i].offset[0] + lane, offset.x);
        store(out.point[i].offset[1] + lane, offset.y);
        store(out.point[i].offset[2] + lane, offset.z);
        store(out.point[i].depth + lane, c.point[i].depth);
        store(out.point[i].feature + lane, c.point[i].feature);
        out.exists[i] |= lane_bits(c.point[i].exists) << lane;
    }
}

template <Contacts<Number> (*Function)(const PairInput<Number>&)>
void collide_batch(const NarrowInput& in, const PairBatch& batch, ContactBatch& out) {
    for (std::uint32_t& bits : out.exists) bits = 0;
    out.fast = out.may_meet = 0;
    for (std::size_t lane = 0; lane < batch.count; lane += lanes<Number>()) {
        PairInput<Number> pairs = load_pairs(in, batch, lane, out);
        if (in.bounds != nullptr) widen_margin(in, batch, lane, pairs);
        store_contacts(Function(pairs), pairs, batch, out, lane);
    }
}

constexpr NarrowKernels make_narrow_kernels() {
    return {{collide_batch<sphere_sphere<Number>>, collide_batch<sphere_box<Number>>,
             collide_batch<sphere_capsule<Number>>, collide_batch<sphere_plane<Number>>, collide_batch<box_box<Number>>,
             collide_batch<box_capsule<Number>>, collide_batch<box_plane<Number>>,
             collide_batch<capsule_capsule<Number>>, collide_batch<capsule_plane<Number>>}};
}

ORRERY_LANES_END

#endif
