// What every shape pair starts from and gives back, over the lane type.
//
// Coordinates: world axes, relative to the first body's centre of mass, so that precision does not depend on where in
// the world a pair is. A contact's point lies midway between the two surfaces.

#if defined(ORRERY_COLLISION_LANES_PAIR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_PAIR_INL_H_
#undef ORRERY_COLLISION_LANES_PAIR_INL_H_
#else
#define ORRERY_COLLISION_LANES_PAIR_INL_H_
#endif

#include "sim/lanes/matrix-inl.h"

ORRERY_LANES_BEGIN

// Below this two points count as one, and the direction between them as unknown, m.
inline constexpr float kCoincident_m = 1e-5f;

template <class F>
struct Axes {
    Vec3T<F> x, y, z;  // of a body, in the world
};

template <class F>
struct Collider {
    Axes<F> axes;
    F radius, half_height;
    Vec3T<F> half;  // extents of a box
};

template <class F>
struct PairInput {
    Collider<F> first, second;
    Vec3T<F> between;  // from the first centre to the second
    Vec3T<F> motion;   // how far the first moves this tick relative to the second, by linear velocity
    F margin;
};

template <class F>
struct Contact {
    Vec3T<F> point;
    F depth, feature;  // a feature is a small whole number, exact in a float
    MaskOf<F> exists;
};

template <class F>
struct Contacts {
    Vec3T<F> normal;  // unit, from the first body to the second
    Contact<F> point[4];
};

// Points are kept down to this separation: the margin, and as far as the bodies close along the normal within the tick.
// So a fast body meets what it would hit, and one that flies past along a surface makes no contact with it.
template <class F>
ORRERY_FN F reach(const PairInput<F>& in, Vec3T<F> normal) {
    return in.margin + max(dot(in.motion, normal), F(0.0f));
}

template <class F>
ORRERY_FN Contact<F> no_contact() {
    const F zero(0.0f);
    return {{zero, zero, zero}, zero, zero, zero > zero};
}

template <class F>
ORRERY_FN Contacts<F> no_contacts() {
    const F zero(0.0f);
    const Contact<F> none = no_contact<F>();
    return {{zero, F(1.0f), zero}, {none, none, none, none}};
}

// The contact of a ball of the first body, centred at `centre`, with a surface `depth` deep along `normal`.
template <class F>
ORRERY_FN Contact<F> ball_contact(Vec3T<F> centre, F radius, Vec3T<F> normal, F depth, float feature, F kept_to) {
    return {centre + normal * (radius - depth * F(0.5f)), depth, F(feature), depth > -kept_to};
}

// The axis frame of a rotation matrix: its columns.
template <class F>
ORRERY_FN Axes<F> columns(const Mat3T<F>& m) {
    return {{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}
template <class F>
ORRERY_FN Vec3T<F> to_local(const Axes<F>& a, Vec3T<F> v) {
    return {dot(a.x, v), dot(a.y, v), dot(a.z, v)};
}
template <class F>
ORRERY_FN Vec3T<F> to_world(const Axes<F>& a, Vec3T<F> v) {
    return (a.x * v.x + a.y * v.y) + a.z * v.z;
}

// A box seen from one of its axes: that axis and the two after it in cyclic order, with their half extents.
template <class F>
struct AxisFrame {
    Vec3T<F> n, u, v;
    F half_n, half_u, half_v;
};
template <class F>
ORRERY_FN AxisFrame<F> select(MaskOf<F> mask, const AxisFrame<F>& yes, const AxisFrame<F>& no) {
    return {select<F>(mask, yes.n, no.n),        select<F>(mask, yes.u, no.u),
            select<F>(mask, yes.v, no.v),        select(mask, yes.half_n, no.half_n),
            select(mask, yes.half_u, no.half_u), select(mask, yes.half_v, no.half_v)};
}
// is_y and is_z pick the axis; neither: x.
template <class F>
ORRERY_FN AxisFrame<F> axis_frame(const Axes<F>& a, Vec3T<F> half, MaskOf<F> is_y, MaskOf<F> is_z) {
    const AxisFrame<F> x{a.x, a.y, a.z, half.x, half.y, half.z};
    const AxisFrame<F> y{a.y, a.z, a.x, half.y, half.z, half.x};
    const AxisFrame<F> z{a.z, a.x, a.y, half.z, half.x, half.y};
    return select<F>(is_z, z, select<F>(is_y, y, x));
}

ORRERY_LANES_END

#endif
