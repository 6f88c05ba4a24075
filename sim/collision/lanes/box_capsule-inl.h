// A box against a capsule, in two steps: the normal, then the stretch of the capsule that lies on what the normal
// found.
//
// Let the capsule's segment be P(t) = c + t d, |t| <= 1, in the box's axes. The excess e(x) = x - clamp(x, -h, h) is
// what a point lacks of being in the box, |e|^2 its squared distance. f(t) = |e(P(t))|^2 is convex and f'(t)/2 = d .
// e(P(t)) is piecewise linear, with corners where a coordinate passes a face: at most six. So the minimum is found
// exactly and without iterating: of the corners (and the ends), the last with f' < 0 and the first with f' > 0 bracket
// a straight piece of f'; interpolate. Where f' is zero over a stretch (the segment runs along a face) its middle is
// taken.
//
// Apart, the normal is the direction of e there. A segment that enters the box has none: then the axis of least
// penetration counts, of the three face normals and the three products of d with an edge.
//
// The points: with q* the box's point under t*, q(t) = q* + (t - t*) d runs along the box's surface as long as it stays
// inside the box grown by a little; those t make the stretch, and the depth along it changes by -(t - t*) d . n. On a
// face this clips the segment to the face; along an edge it keeps both ends; across an edge it keeps one point.

#if defined(ORRERY_COLLISION_LANES_BOX_CAPSULE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_BOX_CAPSULE_INL_H_
#undef ORRERY_COLLISION_LANES_BOX_CAPSULE_INL_H_
#else
#define ORRERY_COLLISION_LANES_BOX_CAPSULE_INL_H_
#endif

#include "sim/collision/lanes/pair-inl.h"

ORRERY_LANES_BEGIN

inline constexpr float kSegmentTouches_m = 1e-4f;  // nearer to the box than this, the direction of e is noise
inline constexpr float kTinyStep = 1e-12f;         // stands for a zero divisor: the quotient is huge and finite

template <class F>
ORRERY_FN F excess(F x, F h) {
    return x - clamp(x, -h, h);
}
template <class F>
ORRERY_FN Vec3T<F> excess(Vec3T<F> x, Vec3T<F> h) {
    return {excess(x.x, h.x), excess(x.y, h.y), excess(x.z, h.z)};
}

// 1 / x, huge instead of infinite for zero.
template <class F>
ORRERY_FN F safe_inverse(F x) {
    return F(1.0f) / select(abs(x) < F(kTinyStep), F(kTinyStep), x);
}

// t of the segment's point that is nearest to the box.
template <class F>
ORRERY_FN F nearest_on_segment(Vec3T<F> c, Vec3T<F> d, Vec3T<F> h) {
    const F one(1.0f), half(0.5f), zero(0.0f);
    const F ix = safe_inverse(d.x), iy = safe_inverse(d.y), iz = safe_inverse(d.z);
    const F t[8] = {-one,
                    one,
                    clamp((-h.x - c.x) * ix, -one, one),
                    clamp((h.x - c.x) * ix, -one, one),
                    clamp((-h.y - c.y) * iy, -one, one),
                    clamp((h.y - c.y) * iy, -one, one),
                    clamp((-h.z - c.z) * iz, -one, one),
                    clamp((h.z - c.z) * iz, -one, one)};
    // Falling: the last corner with f' < 0; rising: the first with f' > 0; flat: the corners with f' = 0.
    F falling(-2.0f), falling_slope(0.0f), rising(2.0f), rising_slope(0.0f), flat_low(2.0f), flat_high(-2.0f);
    for (int i = 0; i < 8; ++i) {
        const F slope = dot(d, excess(c + d * t[i], h));
        const MaskOf<F> falls = (slope < zero) & (t[i] > falling), rises = (slope > zero) & (t[i] < rising);
        const MaskOf<F> flat = slope == zero;
        falling = select(falls, t[i], falling);
        falling_slope = select(falls, slope, falling_slope);
        rising = select(rises, t[i], rising);
        rising_slope = select(rises, slope, rising_slope);
        flat_low = select(flat & (t[i] < flat_low), t[i], flat_low);
        flat_high = select(flat & (t[i] > flat_high), t[i], flat_high);
    }
    const MaskOf<F> has_falling = falling > F(-1.5f), has_rising = rising < F(1.5f), has_flat = flat_low < F(1.5f);
    const F rate = rising_slope - falling_slope;
    const F crossing = falling + (rising - falling) * (-falling_slope / select(rate > zero, rate, one));
    const F monotone = select(has_rising, -one, one);
    const F t_min = select(has_falling & has_rising, crossing, monotone);
    return clamp(select(has_flat, (flat_low + flat_high) * half, t_min), -one, one);
}

template <class F>
struct Penetration {
    F separation;     // along the normal, negative inside
    Vec3T<F> normal;  // in the box's axes, from the box to the capsule
    F t;              // of the segment's point that counts
};

// Keeps the better of two axes; the later one has to win by `bias`.
template <class F>
ORRERY_FN void keep_larger(Penetration<F>& best, const Penetration<F>& other, MaskOf<F> allowed, F bias) {
    const MaskOf<F> better = allowed & (other.separation > best.separation + bias);
    best.separation = select(better, other.separation, best.separation);
    best.normal = select<F>(better, other.normal, best.normal);
    best.t = select(better, other.t, best.t);
}

// The edge along x, by cyclic coordinates (x, y, z): n = d x X, normalised; t where the segment passes the edge in the
// y, z plane. Returns the separation and n's y and z.
template <class F>
ORRERY_FN void edge_axis(F cy, F cz, F dy, F dz, F hy, F hz, F& separation, F& ny, F& nz, F& t, MaskOf<F>& valid) {
    const F one(1.0f);
    const F length2 = dy * dy + dz * dz;
    valid = length2 > F(1e-6f);
    const F inverse = one / sqrt(select(valid, length2, one));
    const F side = copy_sign(inverse, cy * dz - cz * dy);
    ny = dz * side;
    nz = -dy * side;
    separation = (cy * ny + cz * nz) - (hy * abs(ny) + hz * abs(nz));
    const F ey = copy_sign(hy, ny) - cy, ez = copy_sign(hz, nz) - cz;
    t = clamp((ey * dy + ez * dz) / select(valid, length2, one), -one, one);
}

// The axis of least penetration. On a face the deeper end of the segment counts.
template <class F>
ORRERY_FN Penetration<F> least_penetration(Vec3T<F> c, Vec3T<F> d, Vec3T<F> h) {
    const F zero(0.0f), one(1.0f);
    const F sx = copy_sign(one, c.x), sy = copy_sign(one, c.y), sz = copy_sign(one, c.z);
    Penetration<F> best{abs(c.x) - (h.x + abs(d.x)), {sx, zero, zero}, copy_sign(one, -d.x * sx)};
    const Penetration<F> y{abs(c.y) - (h.y + abs(d.y)), {zero, sy, zero}, copy_sign(one, -d.y * sy)};
    const Penetration<F> z{abs(c.z) - (h.z + abs(d.z)), {zero, zero, sz}, copy_sign(one, -d.z * sz)};
    const MaskOf<F> always = zero < one;
    keep_larger(best, y, always, zero);
    keep_larger(best, z, always, zero);
    // Faces are preferred: their contact is wide. An edge has to be better by a tenth and 0.5 mm.
    const F bias = F(0.0005f) + abs(best.separation) * F(0.1f);
    Penetration<F> face = best;
    Penetration<F> e{zero, {zero, zero, zero}, zero};
    MaskOf<F> valid = always;
    F p, q;
    face.separation = best.separation + bias;
    edge_axis(c.y, c.z, d.y, d.z, h.y, h.z, e.separation, p, q, e.t, valid);
    e.normal = {zero, p, q};
    keep_larger(face, e, valid, zero);
    edge_axis(c.z, c.x, d.z, d.x, h.z, h.x, e.separation, p, q, e.t, valid);
    e.normal = {q, zero, p};
    keep_larger(face, e, valid, zero);
    edge_axis(c.x, c.y, d.x, d.y, h.x, h.y, e.separation, p, q, e.t, valid);
    e.normal = {p, q, zero};
    keep_larger(face, e, valid, zero);
    face.separation = select(face.separation > best.separation + bias, face.separation, best.separation);
    return face;
}

// Narrows [low, high] to where |q + t d| <= h, one coordinate.
template <class F>
ORRERY_FN void clip_to_slab(F q, F inverse_d, F h, F& low, F& high) {
    const F a = (-h - q) * inverse_d, b = (h - q) * inverse_d;
    low = max(low, min(a, b));
    high = min(high, max(a, b));
}

// The contact of the second body's capsule at parameter t of its segment. Its surface there lies r against the normal;
// midway between the surfaces is half the depth back.
template <class F>
ORRERY_FN Contact<F> capsule_contact(const PairInput<F>& in, Vec3T<F> normal, F t, F depth, float feature, F kept_to) {
    const F r = in.second.radius;
    const Vec3T<F> centre = in.between + in.second.axes.y * (in.second.half_height * t);
    return {centre - normal * (r - depth * F(0.5f)), depth, F(feature), depth > -kept_to};
}

// Features: 0 a single point, 1 and 2 the points nearer to the capsule's negative and positive end.
template <class F>
ORRERY_FN Contacts<F> box_capsule(const PairInput<F>& in) {
    Contacts<F> out = no_contacts<F>();
    const F zero(0.0f), one(1.0f), r = in.second.radius;
    const Vec3T<F> h = in.first.half;
    const Vec3T<F> c = to_local(in.first.axes, in.between);
    const Vec3T<F> d = to_local(in.first.axes, in.second.axes.y * in.second.half_height);

    const F t_near = nearest_on_segment(c, d, h);
    const Vec3T<F> e = excess(c + d * t_near, h);
    const F distance = length(e);
    const MaskOf<F> apart = distance > F(kSegmentTouches_m);
    const Penetration<F> inside = least_penetration(c, d, h);
    const F t = select(apart, t_near, inside.t);
    const F separation = select(apart, distance, inside.separation);
    const Vec3T<F> n = select<F>(apart, e * (one / select(apart, distance, one)), inside.normal);
    out.normal = to_world(in.first.axes, n);
    const F kept_to = reach(in, out.normal);

    // q(t') = q + t' d with t' counted from t*.
    const Vec3T<F> p = c + d * t, q = p - n * separation;
    const F slack = r * F(0.05f) + F(kSegmentTouches_m);
    const F dn = dot(d, n);
    const Vec3T<F> along = d - n * dn;  // within the tangent plane
    F low = -one - t, high = one - t;
    clip_to_slab(q.x, safe_inverse(along.x), h.x + slack, low, high);
    clip_to_slab(q.y, safe_inverse(along.y), h.y + slack, low, high);
    clip_to_slab(q.z, safe_inverse(along.z), h.z + slack, low, high);

    const F depth = r - separation;
    // Inside, the deepest end may lie off the box: the point goes to the near end of the stretch, if there is one.
    const F shift = select(low <= high, clamp(zero, low, high), zero);
    const Contact<F> single = capsule_contact(in, out.normal, t + shift, depth - shift * dn, 0.0f, kept_to);
    const Contact<F> a = capsule_contact(in, out.normal, t + low, depth - low * dn, 1.0f, kept_to);
    const Contact<F> b = capsule_contact(in, out.normal, t + high, depth - high * dn, 2.0f, kept_to);
    const MaskOf<F> is_long = (high - low) * length(d) > F(0.2f) * r;
    const MaskOf<F> two = is_long & (a.exists & b.exists);
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
