// Two boxes: separating axes, then one face clipped by the other, then at most four points.
//
//   1. Fifteen axes (Gottschalk, Lin, Manocha 1996): the faces of A, of B, and the products of their edges. The one of
//   largest
//      separation counts; faces are preferred over edges and A's over B's by a tolerance, relative and absolute, so
//      that rounding does not make resting boxes change their mind: the choice is a function of the two poses alone.
//   2. A face axis makes its box the reference. Of the other box the face that looks most at it is incident; its four
//   edges are clipped to
//      the reference face's rectangle (each gives where it enters, and where it leaves if it does), and the rectangle's
//      corners that the incident face covers are added: twelve places for at most eight points, always in the same
//      places, so that a place is a feature that survives small motion.
//   3. An edge axis gives one point, midway between the two edges.
//   4. Of the twelve places four are kept by where they lie, which changes little while a stack trembles: the farthest
//   in a fixed
//      direction, the farthest from it, the one that makes the largest triangle with those, and the farthest outside
//      that triangle. If a place left out is deeper than these by more than a thousandth of the face, it takes its
//      neighbour's part.
//
// All lanes take all steps; masks choose.

#if defined(ORRERY_COLLISION_LANES_BOX_BOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_BOX_BOX_INL_H_
#undef ORRERY_COLLISION_LANES_BOX_BOX_INL_H_
#else
#define ORRERY_COLLISION_LANES_BOX_BOX_INL_H_
#endif

#include "sim/collision/lanes/box_capsule-inl.h"
#include "sim/collision/lanes/pair-inl.h"

ORRERY_LANES_BEGIN

// How much better a less preferred axis has to be: metres, and a part of the separation.
inline constexpr float kAxisBias_m = 0.0005f, kAxisBiasRelative = 0.05f;
inline constexpr float kEdgeIsFace = 0.98f;     // cosine between normals, 11 degrees
inline constexpr float kParallelEdges = 1e-6f;  // squared sine below which two edges span no axis
inline constexpr float kRectangleSlack =
    7e-3f;                                   // of the smaller face: boxes stacked one on the other keep their corners
inline constexpr float kDeepestTie = 1e-3f;  // depths that differ by less than this part of the face are alike
inline constexpr int kPlaces = 12;
inline constexpr float kEdgeFeatures = 12.0f * 6.0f * kPlaces;  // the first feature of edge contacts

template <class F>
struct FaceAxis {
    F separation, offset, index;  // offset: of B's centre along the axis
};

template <class F>
ORRERY_FN void keep_face(FaceAxis<F>& best, F separation, F offset, float index) {
    const MaskOf<F> better = separation > best.separation;
    best.separation = select(better, separation, best.separation);
    best.offset = select(better, offset, best.offset);
    best.index = select(better, F(index), best.index);
}

template <class F>
struct EdgeAxis {
    F separation, side;       // side: the sign that turns a x b from A to B
    Vec3T<F> a, b;            // the edges' directions
    F sine2, half_a, half_b;  // squared, of the angle between them; half lengths
    F index_a, index_b;
};

// The axis a_i x b_j, of the length sqrt(p^2 + q^2). tl is t . (a_i x b_j); the two sums are what the boxes reach along
// it.
template <class F>
ORRERY_FN void keep_edge(EdgeAxis<F>& best, F p, F q, F tl, F reach_a, F reach_b, Vec3T<F> a, Vec3T<F> b, F half_a,
                         F half_b, float i, float j) {
    const F one(1.0f);
    const F length2 = p * p + q * q;
    const MaskOf<F> valid = length2 > F(kParallelEdges);
    const F separation = (abs(tl) - (reach_a + reach_b)) / sqrt(select(valid, length2, one));
    const MaskOf<F> better = valid & (separation > best.separation);
    best.separation = select(better, separation, best.separation);
    best.side = select(better, copy_sign(one, tl), best.side);
    best.a = select<F>(better, a, best.a);
    best.b = select<F>(better, b, best.b);
    best.sine2 = select(better, length2, best.sine2);
    best.half_a = select(better, half_a, best.half_a);
    best.half_b = select(better, half_b, best.half_b);
    best.index_a = select(better, F(i), best.index_a);
    best.index_b = select(better, F(j), best.index_b);
}

template <class F>
struct BoxAxes {
    FaceAxis<F> a, b;
    EdgeAxis<F> edge;
};

// Row i of the edge products: a_i with the three axes of B. (c0, c1, c2) = a_i . b_j; (p, q) the same for the two other
// axes of A in cyclic order, tp, tq and hp, hq their part of t and of A's half extents.
template <class F>
ORRERY_FN void keep_edge_row(EdgeAxis<F>& best, Vec3T<F> c, Vec3T<F> p, Vec3T<F> q, F tp, F tq, F hp, F hq, Vec3T<F> hb,
                             Vec3T<F> a, const Axes<F>& b, F half_a, float i) {
    const Vec3T<F> ac{abs(c.x), abs(c.y), abs(c.z)};
    keep_edge(best, p.x, q.x, tq * p.x - tp * q.x, hp * abs(q.x) + hq * abs(p.x), hb.y * ac.z + hb.z * ac.y, a, b.x,
              half_a, hb.x, i, 0.0f);
    keep_edge(best, p.y, q.y, tq * p.y - tp * q.y, hp * abs(q.y) + hq * abs(p.y), hb.z * ac.x + hb.x * ac.z, a, b.y,
              half_a, hb.y, i, 1.0f);
    keep_edge(best, p.z, q.z, tq * p.z - tp * q.z, hp * abs(q.z) + hq * abs(p.z), hb.x * ac.y + hb.y * ac.x, a, b.z,
              half_a, hb.z, i, 2.0f);
}

template <class F>
ORRERY_FN BoxAxes<F> separating_axes(const Axes<F>& a, Vec3T<F> ha, const Axes<F>& b, Vec3T<F> hb, Vec3T<F> between) {
    const Vec3T<F> x = to_local(b, a.x), y = to_local(b, a.y), z = to_local(b, a.z);  // rows: a_i . b_j
    const Vec3T<F> ta = to_local(a, between), tb = to_local(b, between);
    const F far(-1e30f), zero(0.0f);
    BoxAxes<F> out{};
    out.a = {far, zero, zero};
    keep_face(out.a, abs(ta.x) - (ha.x + ((abs(x.x) * hb.x + abs(x.y) * hb.y) + abs(x.z) * hb.z)), ta.x, 0.0f);
    keep_face(out.a, abs(ta.y) - (ha.y + ((abs(y.x) * hb.x + abs(y.y) * hb.y) + abs(y.z) * hb.z)), ta.y, 1.0f);
    keep_face(out.a, abs(ta.z) - (ha.z + ((abs(z.x) * hb.x + abs(z.y) * hb.y) + abs(z.z) * hb.z)), ta.z, 2.0f);
    out.b = {far, zero, zero};
    keep_face(out.b, abs(tb.x) - (hb.x + ((abs(x.x) * ha.x + abs(y.x) * ha.y) + abs(z.x) * ha.z)), tb.x, 0.0f);
    keep_face(out.b, abs(tb.y) - (hb.y + ((abs(x.y) * ha.x + abs(y.y) * ha.y) + abs(z.y) * ha.z)), tb.y, 1.0f);
    keep_face(out.b, abs(tb.z) - (hb.z + ((abs(x.z) * ha.x + abs(y.z) * ha.y) + abs(z.z) * ha.z)), tb.z, 2.0f);
    const Vec3T<F> none{zero, zero, zero};
    out.edge = {far, zero, none, none, zero, zero, zero, zero, zero};
    keep_edge_row(out.edge, x, y, z, ta.y, ta.z, ha.y, ha.z, hb, a.x, b, ha.x, 0.0f);
    keep_edge_row(out.edge, y, z, x, ta.z, ta.x, ha.z, ha.x, hb, a.y, b, ha.y, 1.0f);
    keep_edge_row(out.edge, z, x, y, ta.x, ta.y, ha.x, ha.y, hb, a.z, b, ha.z, 2.0f);
    return out;
}

template <class F>
ORRERY_FN F preferred_over(F separation) {
    return separation + (F(kAxisBias_m) + abs(separation) * F(kAxisBiasRelative));
}

// A place where the clipped face may have a point: x, y on the reference face, z above it. Its number is the feature.
template <class F>
struct Place {
    F x, y, z;
    MaskOf<F> exists;
    F number;
};

// An incident edge from (x, y, z), running by (dx, dy, dz), clipped to |x| <= hu, |y| <= hv.
template <class F>
ORRERY_FN void clip_edge(F x, F y, F z, F dx, F dy, F dz, F inverse_dx, F inverse_dy, F hu, F hv, Place<F>& enters,
                         Place<F>& leaves) {
    F low(0.0f), high(1.0f);
    clip_to_slab(x, inverse_dx, hu, low, high);
    clip_to_slab(y, inverse_dy, hv, low, high);
    const MaskOf<F> inside = low <= high;
    enters = {x + dx * low, y + dy * low, z + dz * low, inside, F(0.0f)};
    const MaskOf<F> ends_inside = (low < high) & (high < F(1.0f));
    leaves = {x + dx * high, y + dy * high, z + dz * high, ends_inside, F(0.0f)};
}

template <class F>
struct Face {
    AxisFrame<F> reference;
    Vec3T<F> normal;                       // of the reference face
    F x0, y0, z0, x1, y1, z1, x2, y2, z2;  // incident face: centre and half edges, in the reference face's u, v, n
    F half_1, half_2;                      // its half extents
    F size2, area;                         // of the smaller face: squared half diagonal; product of the half extents
};

// A place's number is its index, but where edge k leaves takes the number of the next edge's entry if that edge lies
// outside: when a stacked box slides off by a little, the point near its corner moves from the one edge to the other
// and stays the same feature.
template <class F>
ORRERY_FN void number_places(Place<F> place[kPlaces]) {
    for (int i = 0; i < kPlaces; ++i) place[i].number = F(static_cast<float>(i));
    for (int k = 1; k < 8; k += 2) {
        const Place<F>& next = place[(k + 1) % 8];
        place[k].number = select(next.exists, place[k].number, next.number);
    }
}

// Corners go round: ++, -+, --, +-; edge k runs from corner k to the next. Places 2k and 2k + 1 are edge k's, 8 to 11
// the rectangle's corners.
template <class F>
ORRERY_FN void clip_faces(const Face<F>& f, Place<F> place[kPlaces]) {
    const F two(2.0f), one(1.0f);
    const F hu = f.reference.half_u, hv = f.reference.half_v, slack = sqrt(f.area) * F(kRectangleSlack);
    const F grown_u = hu + slack, grown_v = hv + slack;
    const F dx1 = f.x1 * two, dy1 = f.y1 * two, dz1 = f.z1 * two, dx2 = f.x2 * two, dy2 = f.y2 * two, dz2 = f.z2 * two;
    const F ix1 = safe_inverse(dx1), iy1 = safe_inverse(dy1), ix2 = safe_inverse(dx2), iy2 = safe_inverse(dy2);
    const F px = f.x0 + f.x1, py = f.y0 + f.y1, pz = f.z0 + f.z1, mx = f.x0 - f.x1, my = f.y0 - f.y1, mz = f.z0 - f.z1;
    clip_edge(px + f.x2, py + f.y2, pz + f.z2, -dx1, -dy1, -dz1, -ix1, -iy1, grown_u, grown_v, place[0], place[1]);
    clip_edge(mx + f.x2, my + f.y2, mz + f.z2, -dx2, -dy2, -dz2, -ix2, -iy2, grown_u, grown_v, place[2], place[3]);
    clip_edge(mx - f.x2, my - f.y2, mz - f.z2, dx1, dy1, dz1, ix1, iy1, grown_u, grown_v, place[4], place[5]);
    clip_edge(px - f.x2, py - f.y2, pz - f.z2, dx2, dy2, dz2, ix2, iy2, grown_u, grown_v, place[6], place[7]);

    // The rectangle's corners in the incident face's own coordinates (alpha, beta), which cover [-1, 1] each. The
    // incident face is never edge on to the reference: the determinant is at least half_u half_v / sqrt(3).
    const F inverse = one / (f.x1 * f.y2 - f.x2 * f.y1);
    const F shrunk_1 = f.half_1 - slack, shrunk_2 = f.half_2 - slack;
    const F us[4] = {hu, -hu, -hu, hu}, vs[4] = {hv, hv, -hv, -hv};
    for (int i = 0; i < 4; ++i) {
        const F x = us[i] - f.x0, y = vs[i] - f.y0;
        const F alpha = (x * f.y2 - y * f.x2) * inverse, beta = (y * f.x1 - x * f.y1) * inverse;
        const MaskOf<F> inside = (abs(alpha) * f.half_1 < shrunk_1) & (abs(beta) * f.half_2 < shrunk_2);
        place[8 + i] = {us[i], vs[i], f.z0 + (f.z1 * alpha + f.z2 * beta), inside, F(0.0f)};
    }
    number_places(place);
}

template <class F>
struct Kept {
    F x, y, z, number;
    MaskOf<F> exists;
};

template <class F>
ORRERY_FN void keep_if(Kept<F>& kept, F& best, F score, const Place<F>& place) {
    const MaskOf<F> better = place.exists & (score > best);
    best = select(better, score, best);
    kept.x = select(better, place.x, kept.x);
    kept.y = select(better, place.y, kept.y);
    kept.z = select(better, place.z, kept.z);
    kept.number = select(better, place.number, kept.number);
    kept.exists = kept.exists | better;
}

// Twice the area of the triangle p, q, r, positive if they go round left.
template <class F>
ORRERY_FN F turn(const Kept<F>& p, const Kept<F>& q, F x, F y) {
    return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
}

template <class F>
ORRERY_FN void keep_deepest(const Place<F> place[kPlaces], F tie, Kept<F> kept[4]) {
    const F zero(0.0f), none(1e30f);
    Kept<F> deepest{zero, zero, zero, zero, zero > zero};
    F best = -none, kept_z = none, nearest = none;
    for (int i = 0; i < kPlaces; ++i) keep_if(deepest, best, -place[i].z, place[i]);
    F distance2[4] = {};
    for (int k = 0; k < 4; ++k) {
        const F dx = kept[k].x - deepest.x, dy = kept[k].y - deepest.y;
        distance2[k] = select(kept[k].exists, dx * dx + dy * dy, none);
        nearest = min(nearest, distance2[k]);
        kept_z = min(kept_z, select(kept[k].exists, kept[k].z, none));
    }
    MaskOf<F> replace = kept_z > deepest.z + tie;
    for (int k = 0; k < 4; ++k) {
        const MaskOf<F> here = replace & (distance2[k] <= nearest);
        kept[k].x = select(here, deepest.x, kept[k].x);
        kept[k].y = select(here, deepest.y, kept[k].y);
        kept[k].z = select(here, deepest.z, kept[k].z);
        kept[k].number = select(here, deepest.number, kept[k].number);
        replace = replace & !here;
    }
}

template <class F>
ORRERY_FN void reduce(const Place<F> place[kPlaces], F size2, F area, Kept<F> kept[4]) {
    const F zero(0.0f);
    for (int k = 0; k < 4; ++k) kept[k] = {zero, zero, zero, zero, zero > zero};
    // Points nearer to each other than a thousandth of the smaller face are one; triangles flatter than that have no
    // area.
    const F tiny_length2 = size2 * F(1e-6f), tiny_area = area * F(1e-3f);

    F best(-1e30f);
    for (int i = 0; i < kPlaces; ++i) keep_if(kept[0], best, place[i].x * F(0.8f) + place[i].y * F(0.6f), place[i]);
    best = tiny_length2;
    for (int i = 0; i < kPlaces; ++i) {
        const F dx = place[i].x - kept[0].x, dy = place[i].y - kept[0].y;
        keep_if(kept[1], best, dx * dx + dy * dy, place[i]);
    }
    best = tiny_area;
    for (int i = 0; i < kPlaces; ++i)
        keep_if(kept[2], best, abs(turn(kept[0], kept[1], place[i].x, place[i].y)), place[i]);
    kept[2].exists = kept[2].exists & kept[1].exists;

    const F round = copy_sign(F(1.0f), turn(kept[0], kept[1], kept[2].x, kept[2].y));
    best = tiny_area;
    for (int i = 0; i < kPlaces; ++i) {
        const F x = place[i].x, y = place[i].y;
        const F ab = turn(kept[0], kept[1], x, y) * round, bc = turn(kept[1], kept[2], x, y) * round;
        const F ca = turn(kept[2], kept[0], x, y) * round;
        keep_if(kept[3], best, -min(ab, min(bc, ca)), place[i]);
    }
    kept[3].exists = kept[3].exists & kept[2].exists;
    keep_deepest(place, sqrt(size2) * F(kDeepestTie), kept);
}

// Reference and incident face for a face axis. `of_b`: the reference is B's.
template <class F>
ORRERY_FN Face<F> pick_faces(const PairInput<F>& in, const BoxAxes<F>& axes, MaskOf<F> of_b, F& feature) {
    const F zero(0.0f), one(1.0f), half(0.5f);
    const Collider<F>&a = in.first, &b = in.second;
    const F index = select(of_b, axes.b.index, axes.a.index);
    const MaskOf<F> is_z = index > F(1.5f), is_y = (index > half) & !is_z;
    Face<F> f{};
    f.reference = select<F>(of_b, axis_frame(b.axes, b.half, is_y, is_z), axis_frame(a.axes, a.half, is_y, is_z));
    // From the reference box to the other.
    const F side = copy_sign(one, select(of_b, -axes.b.offset, axes.a.offset));
    f.normal = f.reference.n * side;

    const Axes<F> other{select<F>(of_b, a.axes.x, b.axes.x), select<F>(of_b, a.axes.y, b.axes.y),
                        select<F>(of_b, a.axes.z, b.axes.z)};
    const Vec3T<F> other_half = select<F>(of_b, a.half, b.half), to_other = select<F>(of_b, -in.between, in.between);
    const Vec3T<F> d = to_local(other, f.normal), ad{abs(d.x), abs(d.y), abs(d.z)};
    const MaskOf<F> inc_z = (ad.z > ad.x) & (ad.z > ad.y), inc_y = (ad.y > ad.x) & !inc_z;
    const AxisFrame<F> inc = axis_frame(other, other_half, inc_y, inc_z);
    const F inc_side = -copy_sign(one, dot(inc.n, f.normal));
    const Vec3T<F> centre = to_other + inc.n * (inc_side * inc.half_n), e1 = inc.u * inc.half_u,
                   e2 = inc.v * inc.half_v;
    f.x0 = dot(centre, f.reference.u), f.y0 = dot(centre, f.reference.v),
    f.z0 = dot(centre, f.normal) - f.reference.half_n;
    f.x1 = dot(e1, f.reference.u), f.y1 = dot(e1, f.reference.v), f.z1 = dot(e1, f.normal);
    f.x2 = dot(e2, f.reference.u), f.y2 = dot(e2, f.reference.v), f.z2 = dot(e2, f.normal);
    f.half_1 = inc.half_u, f.half_2 = inc.half_v;
    f.size2 = min(f.reference.half_u * f.reference.half_u + f.reference.half_v * f.reference.half_v,
                  inc.half_u * inc.half_u + inc.half_v * inc.half_v);
    f.area = min(f.reference.half_u * f.reference.half_v, inc.half_u * inc.half_v);

    const F inc_index = select(inc_z, F(2.0f), select(inc_y, one, zero));
    const F reference_face = (index * F(2.0f) + select(side > zero, one, zero)) + select(of_b, F(6.0f), zero);
    const F incident_face = inc_index * F(2.0f) + select(inc_side > zero, one, zero);
    feature = (reference_face * F(6.0f) + incident_face) * F(float(kPlaces));
    return f;
}

// The sum of the box's half axes, each turned along n, without the one that runs along the edge.
template <class F>
ORRERY_FN Vec3T<F> edge_centre(const Axes<F>& axes, Vec3T<F> h, Vec3T<F> n, F edge) {
    const F zero(0.0f), half(0.5f), three_halves(1.5f);
    const F x = select(edge < half, zero, copy_sign(h.x, dot(axes.x, n)));
    const F y = select((edge > half) & (edge < three_halves), zero, copy_sign(h.y, dot(axes.y, n)));
    const F z = select(edge > three_halves, zero, copy_sign(h.z, dot(axes.z, n)));
    return to_world(axes, Vec3T<F>{x, y, z});
}

// Closest points of the two edges' lines, kept on the edges.
template <class F>
ORRERY_FN Contact<F> edge_contact(const PairInput<F>& in, const EdgeAxis<F>& e, Vec3T<F> n) {
    const F one(1.0f);
    const Vec3T<F> pa = edge_centre(in.first.axes, in.first.half, n, e.index_a);
    const Vec3T<F> pb = in.between + edge_centre(in.second.axes, in.second.half, -n, e.index_b);
    const Vec3T<F> w = pb - pa;
    const F wa = dot(w, e.a), wb = dot(w, e.b), cosine = dot(e.a, e.b);
    const F inverse = one / select(e.sine2 > F(kParallelEdges), e.sine2, one);
    const F s = clamp((wa - cosine * wb) * inverse, -e.half_a, e.half_a);
    const F u = clamp((cosine * wa - wb) * inverse, -e.half_b, e.half_b);
    const F feature = F(kEdgeFeatures) + (e.index_a * F(3.0f) + e.index_b);
    return {((pa + e.a * s) + (pb + e.b * u)) * F(0.5f), -e.separation, feature, e.separation < reach(in, n)};
}

template <class F>
ORRERY_FN Contacts<F> box_box(const PairInput<F>& in) {
    const F zero(0.0f), half(0.5f);
    const BoxAxes<F> axes = separating_axes(in.first.axes, in.first.half, in.second.axes, in.second.half, in.between);
    const MaskOf<F> of_b = axes.b.separation > preferred_over(axes.a.separation);
    const F face_separation = select(of_b, axes.b.separation, axes.a.separation);
    const MaskOf<F> edge_valid = axes.edge.separation > F(-1e29f);

    F feature;
    const Face<F> face = pick_faces(in, axes, of_b, feature);
    const Vec3T<F> face_normal = select<F>(of_b, -face.normal, face.normal);
    const F face_reach = reach(in, face_normal);
    Place<F> place[kPlaces] = {};
    clip_faces(face, place);
    MaskOf<F> any_place = zero > zero;
    for (int i = 0; i < kPlaces; ++i) {
        place[i].exists = place[i].exists & (place[i].z < face_reach);
        any_place = any_place | place[i].exists;
    }

    const Vec3T<F> edge_normal =
        normalize_or(cross(axes.edge.a, axes.edge.b) * axes.edge.side, Vec3T<F>{zero, F(1.0f), zero}, F(1e-6f));
    // The preferred face may have no point where only edges meet: then edges that are the better axis count after all.
    // Where the edges' normal is nearly the face's, as when boxes lie across each other a little tilted, the face says
    // all that the edges could, at more than one point.
    const MaskOf<F> edge_better = (axes.edge.separation > preferred_over(face_separation)) &
                                  (abs(dot(edge_normal, face_normal)) < F(kEdgeIsFace));
    const MaskOf<F> by_edge = edge_valid & (edge_better | ((!any_place) & (axes.edge.separation >= face_separation)));

    Kept<F> kept[4] = {};
    reduce(place, face.size2, face.area, kept);
    const Vec3T<F> origin =
        select<F>(of_b, in.between, Vec3T<F>{zero, zero, zero}) + face.normal * face.reference.half_n;
    Contacts<F> out{};
    out.normal = select<F>(by_edge, edge_normal, face_normal);
    for (int k = 0; k < 4; ++k) {
        const Kept<F>& p = kept[k];
        out.point[k].point = origin + ((face.reference.u * p.x + face.reference.v * p.y) + face.normal * (p.z * half));
        out.point[k].depth = -p.z;
        out.point[k].feature = feature + p.number;
        out.point[k].exists = p.exists & !by_edge;
    }
    const Contact<F> edge = edge_contact(in, axes.edge, edge_normal);
    out.point[0].point = select<F>(by_edge, edge.point, out.point[0].point);
    out.point[0].depth = select(by_edge, edge.depth, out.point[0].depth);
    out.point[0].feature = select(by_edge, edge.feature, out.point[0].feature);
    out.point[0].exists = (by_edge & edge.exists) | out.point[0].exists;
    return out;
}

ORRERY_LANES_END

#endif
