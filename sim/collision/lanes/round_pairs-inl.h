// Pairs of spheres and capsules: balls around the closest points of two points or segments.

#if defined(ORRERY_COLLISION_LANES_ROUND_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_ROUND_PAIRS_INL_H_
#undef ORRERY_COLLISION_LANES_ROUND_PAIRS_INL_H_
#else
#define ORRERY_COLLISION_LANES_ROUND_PAIRS_INL_H_
#endif

#include "sim/collision/lanes/pair-inl.h"

ORRERY_LANES_BEGIN

// Coincident centres separate upwards.
template <class F>
ORRERY_FN Contacts<F> sphere_sphere(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f);
    const F distance = length(in.between);
    out.normal = normalize_or(in.between, Vec3T<F>{zero, F(1.0f), zero}, F(kCoincident_m));
    const F depth = (in.first.radius + in.second.radius) - distance;
    out.point[0] = ball_contact({zero, zero, zero}, in.first.radius, out.normal, depth, 0.0f, reach(in, out.normal));
    return out;
}

// A sphere's centre on the capsule's segment separates across it.
template <class F>
ORRERY_FN Contacts<F> sphere_capsule(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f);
    const Vec3T<F> u = in.second.axes.y;
    const F t = clamp(-dot(in.between, u), -in.second.half_height, in.second.half_height);
    const Vec3T<F> to = in.between + u * t;
    const F distance = length(to);
    out.normal = normalize_or(to, perpendicular(u), F(kCoincident_m));
    const F depth = (in.first.radius + in.second.radius) - distance;
    out.point[0] = ball_contact({zero, zero, zero}, in.first.radius, out.normal, depth, 0.0f, reach(in, out.normal));
    return out;
}

// Segments s -> s u, |s| <= h and t -> c + t w, |t| <= k. The squared distance is convex in (s, t); its minimum over
// the rectangle: the minimum on the line of the first, clamped, then t for that s, clamped, then s again for that t.
// Nearly parallel segments get s in the middle of their common stretch, and where this is long two points at its ends:
// what rests does not rock.
template <class F>
ORRERY_FN Contacts<F> capsule_capsule(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f), one(1.0f), half(0.5f);
    const Vec3T<F> u = in.first.axes.y, w = in.second.axes.y, c = in.between;
    const F h = in.first.half_height, k = in.second.half_height;
    const F uw = dot(u, w), cu = dot(c, u), cw = dot(c, w);
    const F sine2 = max(one - uw * uw, zero);

    // The stretch of the first that lies beside the second: the second's ends along u are at cu -+ k |uw|.
    const F spread = k * abs(uw);
    const F low = max(cu - spread, -h), high = min(cu + spread, h);
    const MaskOf<F> beside = low < high;
    const MaskOf<F> parallel = sine2 < F(1e-5f);

    const F s_line = (cu - cw * uw) / select(parallel, one, sine2);
    const F s_parallel = clamp((low + high) * half, -h, h);
    F s = select(parallel, s_parallel, clamp(s_line, -h, h));
    const F t = clamp(s * uw - cw, -k, k);
    s = clamp(t * uw + cu, -h, h);
    s = select(parallel & beside, s_parallel, s);

    const Vec3T<F> to = (c + w * t) - u * s;
    const F distance = length(to);
    // Crossing segments separate across both, parallel ones that coincide across the first.
    const Vec3T<F> across = normalize_or(cross(u, w), perpendicular(u), F(1e-3f));
    out.normal = normalize_or(to, across, F(kCoincident_m));
    const F kept_to = reach(in, out.normal);
    const F radii = in.first.radius + in.second.radius;
    const Contact<F> single = ball_contact(u * s, in.first.radius, out.normal, radii - distance, 0.0f, kept_to);

    // Two points: at the ends of the common stretch, if it is not short and the axes drift apart along it by little.
    const F stretch = high - low, drift2 = sine2 * (stretch * stretch);
    const MaskOf<F> lies =
        (stretch > F(0.2f) * in.first.radius) & (drift2 < F(0.04f) * (radii * radii)) & (sine2 < F(0.04f));
    const F w_along = F(1.0f) / select(lies, uw, one);
    const F t_low = clamp((low - cu) * w_along, -k, k), t_high = clamp((high - cu) * w_along, -k, k);
    const F gap_low = dot((c + w * t_low) - u * low, out.normal),
            gap_high = dot((c + w * t_high) - u * high, out.normal);
    Contact<F> a = ball_contact(u * low, in.first.radius, out.normal, radii - gap_low, 1.0f, kept_to);
    Contact<F> b = ball_contact(u * high, in.first.radius, out.normal, radii - gap_high, 2.0f, kept_to);
    const MaskOf<F> two = lies & (a.exists & b.exists);
    out.point[0] = single;
    out.point[0].exists = single.exists & !two;
    out.point[1] = a;
    out.point[1].exists = two;
    out.point[2] = b;
    out.point[2].exists = two;
    return out;
}

ORRERY_LANES_END

#endif
