// A sphere against a box: the box's closest point to the centre; from inside, out of the nearest face.

#if defined(ORRERY_COLLISION_LANES_SPHERE_BOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_SPHERE_BOX_INL_H_
#undef ORRERY_COLLISION_LANES_SPHERE_BOX_INL_H_
#else
#define ORRERY_COLLISION_LANES_SPHERE_BOX_INL_H_
#endif

#include "sim/collision/lanes/pair-inl.h"

ORRERY_LANES_BEGIN

template <class F>
ORRERY_FN Contacts<F> sphere_box(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f), one(1.0f);
    const Vec3T<F> h = in.second.half;
    const Vec3T<F> x = to_local(in.second.axes, -in.between);  // the sphere's centre in the box
    const Vec3T<F> closest{clamp(x.x, -h.x, h.x), clamp(x.y, -h.y, h.y), clamp(x.z, -h.z, h.z)};
    const Vec3T<F> out_of = x - closest;
    const F distance = length(out_of);
    const MaskOf<F> outside = distance > F(kCoincident_m);

    const Vec3T<F> to_face{h.x - abs(x.x), h.y - abs(x.y), h.z - abs(x.z)};
    const MaskOf<F> is_z = (to_face.z < to_face.x) & (to_face.z < to_face.y);
    const MaskOf<F> is_y = (to_face.y < to_face.x) & !is_z;
    const MaskOf<F> is_x = !(is_y | is_z);
    const Vec3T<F> face_normal{select(is_x, copy_sign(one, x.x), zero), select(is_y, copy_sign(one, x.y), zero),
                               select(is_z, copy_sign(one, x.z), zero)};
    const F to_nearest = select(is_z, to_face.z, select(is_y, to_face.y, to_face.x));

    const F scale = one / select(outside, distance, one);
    const Vec3T<F> n = select<F>(outside, out_of * scale, face_normal);
    out.normal = -to_world(in.second.axes, n);
    const F depth = in.first.radius + select(outside, -distance, to_nearest);
    out.point[0] = ball_contact({zero, zero, zero}, in.first.radius, out.normal, depth, 0.0f, reach(in, out.normal));
    return out;
}

ORRERY_LANES_END

#endif
