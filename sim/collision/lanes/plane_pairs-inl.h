// Spheres, boxes and capsules against an infinite plane, the half space below the plane body's local y = 0. The plane
// is always the second body; its normal is its local y, so the contact normal is the opposite.

#if defined(ORRERY_COLLISION_LANES_PLANE_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_PLANE_PAIRS_INL_H_
#undef ORRERY_COLLISION_LANES_PLANE_PAIRS_INL_H_
#else
#define ORRERY_COLLISION_LANES_PLANE_PAIRS_INL_H_
#endif

#include "sim/collision/lanes/pair-inl.h"

ORRERY_LANES_BEGIN

template <class F>
ORRERY_FN Contacts<F> sphere_plane(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f);
    out.normal = -in.second.axes.y;
    const F height = dot(in.between, out.normal);  // of the centre above the plane
    out.point[0] = ball_contact({zero, zero, zero}, in.first.radius, out.normal, in.first.radius - height, 0.0f,
                                reach(in, out.normal));
    return out;
}

template <class F>
ORRERY_FN Contacts<F> capsule_plane(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    out.normal = -in.second.axes.y;
    const F height = dot(in.between, out.normal), kept_to = reach(in, out.normal), r = in.first.radius;
    const Vec3T<F> end = in.first.axes.y * in.first.half_height;
    const F rise = -dot(end, out.normal);  // of the end above the centre
    out.point[0] = ball_contact(-end, r, out.normal, r - (height - rise), 0.0f, kept_to);
    out.point[1] = ball_contact(end, r, out.normal, r - (height + rise), 1.0f, kept_to);
    return out;
}

// The corners of the face that looks most at the plane; the deepest corner is one of them. The feature is the corner's
// number: bit 0, 1, 2 set where it lies on the positive side of x, y, z.
template <class F>
ORRERY_FN Contacts<F> box_plane(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f), one(1.0f), half(0.5f);
    out.normal = -in.second.axes.y;
    const F kept_to = reach(in, out.normal), height = dot(in.between, out.normal);
    const Vec3T<F> m = to_local(in.first.axes, out.normal), a{abs(m.x), abs(m.y), abs(m.z)};
    const MaskOf<F> is_z = (a.z > a.x) & (a.z > a.y);
    const MaskOf<F> is_y = (a.y > a.x) & !is_z;
    const AxisFrame<F> f = axis_frame(in.first.axes, in.first.half, is_y, is_z);
    const F bit_n = select(is_z, F(4.0f), select(is_y, F(2.0f), one));
    const F bit_u = select(is_z, one, select(is_y, F(4.0f), F(2.0f)));
    const F bit_v = select(is_z, F(2.0f), select(is_y, one, F(4.0f)));

    const F side = copy_sign(one, dot(f.n, out.normal));
    const Vec3T<F> face = f.n * (side * f.half_n), eu = f.u * f.half_u, ev = f.v * f.half_v;
    const F face_bit = select(side > zero, bit_n, zero);
    const Vec3T<F> corner[4] = {(face - eu) - ev, (face + eu) - ev, (face - eu) + ev, (face + eu) + ev};
    const F bits[4] = {face_bit, face_bit + bit_u, face_bit + bit_v, (face_bit + bit_u) + bit_v};
    for (int i = 0; i < 4; ++i) {
        const F depth = dot(corner[i], out.normal) - height;
        out.point[i] = {corner[i] - out.normal * (depth * half), depth, bits[i], depth > -kept_to};
    }
    return out;
}

ORRERY_LANES_END

#endif
