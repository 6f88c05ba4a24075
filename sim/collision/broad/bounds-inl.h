// A body's bounds for one tick: the posed shape's box, swept by the linear motion of the tick and grown on all sides.
//
//   linear    the whole displacement v dt, never cut: the pair of a fast body with what it would hit is found before,
//   and the narrow
//             phase keeps speculative contacts as far as the two close within the tick (pair-inl.h). A body tunnels
//             only where the direction of approach turns within one tick.
//   angular   the arc that the farthest point may sweep. Here CollisionModes differ: of discrete bodies it is cut at
//   the speculative
//             margin, a spinning body is met where it is; of passive and continuous ones it is not, and the narrow
//             phase keeps speculative contacts as far away as the box is grown. (continuous.cpp is what continuous
//             bodies have beside.)
//   at least  half the margin on every side. Shapes nearer to each other than the margin have points whose coordinates
//   differ by
//             less than it, so halves on both sides make the boxes overlap: two bodies at rest find their speculative
//             contacts. So do a passive body and what is nearer than its arc, by the passive body's growth.
//
// The arc: a point at radius r turned by angle a moves r sqrt(2 (1 - cos a)); more than pi/3 is not needed, for no
// point can leave the bounding sphere, nor the box grow by more than bounding radius less inner radius. The cosine is
// its series up to x^6, below the true one on [0, pi/3]: the chord is never too short but for rounding, far below the
// half margin.

#if defined(ORRERY_COLLISION_BROAD_BOUNDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_BROAD_BOUNDS_INL_H_
#undef ORRERY_COLLISION_BROAD_BOUNDS_INL_H_
#else
#define ORRERY_COLLISION_BROAD_BOUNDS_INL_H_
#endif

#include "sim/collision/broad/broad_kernels.h"
#include "sim/lanes/records-inl.h"
#include "sim/shapes/extents-inl.h"

ORRERY_LANES_BEGIN

// Growth of fat bounds, m, and how many ticks of motion they hold in advance.
inline constexpr float kFatMargin_m = 0.05f, kFatTicks = 2.0f;

template <class F>
struct BoundsT {
    Vec3T<F> min, max;
    F growth;  // by turning, and at least half the margin: on all sides
};

// How far angular velocity can move any point of the shape within dt.
template <class F>
ORRERY_FN F angular_arc(Vec3T<F> angular_velocity, F dt, F bounding_radius, F inner_radius) {
    const F a = min(length(angular_velocity) * dt, F(1.04719755f));
    const F a2 = a * a, a4 = a2 * a2, a6 = a4 * a2;
    const F one_minus_cosine = (a2 * F(1.0f / 2.0f) - a4 * F(1.0f / 24.0f)) + a6 * F(1.0f / 720.0f);
    const F chord = sqrt(F(2.0f) * (bounding_radius * bounding_radius) * one_minus_cosine);
    return min(bounding_radius - inner_radius, chord);
}

// On all sides: what turning adds, cut at `most`, and never less than half the margin.
template <class F>
ORRERY_FN F turning_growth(Vec3T<F> angular_velocity, F dt, F margin, F most, F bounding_radius, F inner_radius) {
    return max(margin * F(0.5f), min(angular_arc(angular_velocity, dt, bounding_radius, inner_radius), most));
}

// `low` and `high` are from the position.
template <class F>
ORRERY_FN BoundsT<F> swept_bounds(Vec3T<F> position, Vec3T<F> low, Vec3T<F> high, Vec3T<F> displacement, F growth) {
    const F zero(0.0f);
    const Vec3T<F> none{zero, zero, zero}, around{growth, growth, growth};
    return {(position + (low - around)) + min(displacement, none),
            (position + (high + around)) + max(displacement, none), growth};
}

template <class F>
ORRERY_FN BoundsT<F> body_bounds(const F pose[kRecordFloats], const F velocity[kRecordFloats],
                                 const F shape[kRecordFloats], F dt, F margin, F most) {
    const Mat3T<F> r = to_matrix(QuatT<F>{pose[3], pose[4], pose[5], pose[6]});
    const Vec3T<F> extents = posed_extents(r, shape[0], shape[1], Vec3T<F>{shape[2], shape[3], shape[4]}, shape[7]);
    const F growth =
        turning_growth(Vec3T<F>{velocity[3], velocity[4], velocity[5]}, dt, margin, most, shape[5], shape[6]);
    return swept_bounds(Vec3T<F>{pose[0], pose[1], pose[2]}, -extents, extents,
                        Vec3T<F>{velocity[0] * dt, velocity[1] * dt, velocity[2] * dt}, growth);
}

// The next rows, at most a vector of them; unused lanes repeat the last.
struct RowLanes {
    std::uint32_t row[kBoundsLanes];
    std::uint32_t used_bits;
};
ORRERY_FN RowLanes take_rows(const std::uint32_t* rows, std::uint32_t left) {
    RowLanes out;
    const std::uint32_t wanted = lanes<Number>(), used = left < wanted ? left : wanted;
    for (std::uint32_t k = 0; k < wanted; ++k) out.row[k] = rows[k < used ? k : used - 1];
    out.used_bits = (1u << used) - 1u;
    return out;
}

// As far as turning is followed, by lane: `margin`, or what the body's mode says where that is more. A call of its own,
// which worlds without passive bodies never pay for.
ORRERY_ONCE inline Number most_growth(const ExpandInput& in, const RowLanes& at, Number margin) {
    float most[kBoundsLanes];
    for (std::uint32_t k = 0; k < lanes<Number>(); ++k) most[k] = in.passive_growth[at.row[k]];
    return max(margin, load<Number>(most));
}

inline void expand(const ExpandInput& in, const std::uint32_t* rows, std::uint32_t count, std::uint8_t* escaped) {
    const Number dt(in.dt_s), margin(in.margin_m), zero(0.0f);
    for (std::uint32_t i = 0; i < count; i += lanes<Number>()) {
        const RowLanes at = take_rows(rows + i, count - i);
        std::uint32_t shapes[kBoundsLanes];
        for (std::uint32_t k = 0; k < lanes<Number>(); ++k) shapes[k] = in.shape_of[at.row[k]];
        Number pose[kRecordFloats], velocity[kRecordFloats], shape[kRecordFloats];
        gather_records(in.pose, at.row, pose);
        gather_records(in.velocity, at.row, velocity);
        gather_records(in.shape, shapes, shape);
        const Number most = in.passive_growth == nullptr ? margin : most_growth(in, at, margin);
        const BoundsT<Number> b = body_bounds<Number>(pose, velocity, shape, dt, margin, most);
        const Number out[kRecordFloats] = {b.min.x, b.min.y, b.min.z, zero, b.max.x, b.max.y, b.max.z, b.growth};
        scatter_records(in.tight, at.row, at.used_bits, out);
        if (in.fat == nullptr) continue;
        Number fat[kRecordFloats];
        gather_records(in.fat, at.row, fat);
        const MaskOf<Number> inside =
            (((fat[0] <= b.min.x) & (fat[1] <= b.min.y)) & ((fat[2] <= b.min.z) & (b.max.x <= fat[4]))) &
            ((b.max.y <= fat[5]) & (b.max.z <= fat[6]));
        const std::uint32_t bits = lane_bits(inside);
        for (std::uint32_t k = 0; k < lanes<Number>() && i + k < count; ++k) escaped[i + k] = ((bits >> k) & 1u) == 0;
    }
}

inline void fatten(const ExpandInput& in, float* fat, const std::uint32_t* rows, std::uint32_t count) {
    const Number ahead(in.dt_s * kFatTicks), margin(kFatMargin_m), zero(0.0f);
    for (std::uint32_t i = 0; i < count; i += lanes<Number>()) {
        const RowLanes at = take_rows(rows + i, count - i);
        Number velocity[kRecordFloats], box[kRecordFloats];
        gather_records(in.velocity, at.row, velocity);
        gather_records(static_cast<const float*>(in.tight), at.row, box);
        for (int axis = 0; axis < 3; ++axis) {
            const Number d = velocity[axis] * ahead;
            box[axis] = (box[axis] - margin) + min(d, zero);
            box[axis + 4] = (box[axis + 4] + margin) + max(d, zero);
        }
        scatter_records(fat, at.row, at.used_bits, box);
    }
}

ORRERY_LANES_END

#endif
