// Faces of a polytope over vertices of another. A face is worth what the vertex lowest above it leaves. Where faces and
// vertices are few all are looked at. Else any vertex bounds what each face can be worth: the one of the largest bound
// is asked, its lowest vertex bounds all others, until none can be better.

#if defined(ORRERY_COLLISION_LANES_POLYTOPE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_COLLISION_LANES_POLYTOPE_KERNELS_INL_H_
#undef ORRERY_COLLISION_LANES_POLYTOPE_KERNELS_INL_H_
#else
#define ORRERY_COLLISION_LANES_POLYTOPE_KERNELS_INL_H_
#endif

#include "sim/collision/lanes/polytope_kernels.h"
#include "sim/collision/lanes/rows-inl.h"
#include "sim/lanes/vec3-inl.h"

ORRERY_LANES_BEGIN

// The first place of a value that is among them. All are looked at: what a branch would spare is less than what it
// costs when it is not foreseen.
ORRERY_FN std::uint32_t place_of(const float* values, std::uint32_t count, float value) {
    const Number wanted(value);
    std::uint32_t place = 0;
    for (std::uint32_t i = (count - 1) / lanes<Number>() * lanes<Number>() + lanes<Number>(); i != 0;) {
        i -= lanes<Number>();
        const std::uint32_t bits = lane_bits(load<Number>(values + i) == wanted);
        place = bits != 0 ? i + static_cast<std::uint32_t>(__builtin_ctz(bits)) : place;
    }
    return place;
}

inline void place_vertices(const VertexRows& from, const float to[12], float* const out[3]) {
    for (std::uint32_t i = 0; i < from.count; i += lanes<Number>()) {
        const Number x = load_rows(from.row[0], i, from.count, from.row[0][0]),
                     y = load_rows(from.row[1], i, from.count, from.row[1][0]),
                     z = load_rows(from.row[2], i, from.count, from.row[2][0]);
        for (int k = 0; k < 3; ++k) {
            const float* const r = to + 4 * k;
            store(out[k] + i, height_above(Number(r[0]), Number(r[1]), Number(r[2]), x, y, z) + Number(r[3]));
        }
    }
    if constexpr (lanes<Number>() < kRowRoom) {
        const std::uint32_t end = (from.count + lanes<Number>() - 1) / lanes<Number>() * lanes<Number>();
        for (std::uint32_t i = end; i % kRowRoom != 0; i += lanes<Number>()) {
            for (int k = 0; k < 3; ++k) store(out[k] + i, Number(out[k][0]));
        }
    }
}

struct LowestVertex {
    std::uint32_t vertex;
    float height;
};

// The lowest along a direction, the first of those that are alike.
ORRERY_FN LowestVertex lowest_vertex(const VertexRows& of, float x, float y, float z) {
    const Number nx(x), ny(y), nz(z);
    float height[kMaxHullVertices];
    Number least = height_above(nx, ny, nz, load<Number>(of.row[0]), load<Number>(of.row[1]), load<Number>(of.row[2]));
    store(height, least);
    for (std::uint32_t i = lanes<Number>(); i < of.count; i += lanes<Number>()) {
        const Number h = height_above(nx, ny, nz, load<Number>(of.row[0] + i), load<Number>(of.row[1] + i),
                                      load<Number>(of.row[2] + i));
        store(height + i, h);
        least = min(least, h);
    }
    const float low = min_of_lanes(least);
    return {place_of(height, of.count, low), low};
}

constexpr std::uint32_t kFewProducts =
    192;  // of faces and vertices: looking at all is quicker than finding out which to look at

inline void part_few(const FaceRows& faces, const VertexRows& other, MetVertices& met, PartingFace& out) {
    met.add_all(other.count);
    float separation[kFaceRoom];
    Number most(-kFarOff_m);
    for (std::uint32_t f = 0; f < faces.count; f += lanes<Number>()) {
        const Number nx = load_rows(faces.row[0], f, faces.count, 0.0f),
                     ny = load_rows(faces.row[1], f, faces.count, 0.0f),
                     nz = load_rows(faces.row[2], f, faces.count, 0.0f);
        Number least(kFarOff_m);
        for (std::uint32_t v = 0; v < other.count; ++v)
            least = min(least, height_above(nx, ny, nz, Number(other.row[0][v]), Number(other.row[1][v]),
                                            Number(other.row[2][v])));
        least -= load_rows(faces.row[3], f, faces.count, kFarOff_m);
        store(separation + f, least);
        most = max(most, least);
    }
    out.face = place_of(separation, faces.count, max_of_lanes(most));
    out.vertex = lowest_vertex(other, faces.row[0][out.face], faces.row[1][out.face], faces.row[2][out.face]).vertex;
}

inline void part_polytopes(const PolytopeSide& side, MetVertices& met, PartingFace& out) {
    const FaceRows& faces = side.faces;
    const VertexRows& other = side.other;
    if (other.count <= MetVertices::kMost && faces.count * other.count <= kFewProducts)
        return part_few(faces, other, met, out);
    float best = -kFarOff_m, bound[kFaceRoom];
    std::uint32_t next = lowest_vertex(other, side.way[0], side.way[1], side.way[2]).vertex;
    for (std::uint32_t tried = 0; tried <= faces.count; ++tried) {
        met.add(next);
        const Number x(other.row[0][next]), y(other.row[1][next]), z(other.row[2][next]);
        Number most(-kFarOff_m);
        for (std::uint32_t f = 0; f < faces.count; f += lanes<Number>()) {
            Number h = height_above(load_rows(faces.row[0], f, faces.count, 0.0f),
                                    load_rows(faces.row[1], f, faces.count, 0.0f),
                                    load_rows(faces.row[2], f, faces.count, 0.0f), x, y, z) -
                       load_rows(faces.row[3], f, faces.count, kFarOff_m);
            if (tried != 0) h = min(load<Number>(bound + f), h);
            store(bound + f, h);
            most = max(most, h);
        }
        const float top = max_of_lanes(most);
        if (!(top > best)) return;
        const std::uint32_t f = place_of(bound, faces.count, top);
        const LowestVertex lowest = lowest_vertex(other, faces.row[0][f], faces.row[1][f], faces.row[2][f]);
        const float separation = lowest.height - faces.row[3][f];
        next = lowest.vertex;
        if (separation > best) best = separation, out = {f, next};
        if (separation >= top) break;  // as good as any can be
    }
    met.add(next);
}

inline void vertices_below(const PolytopeSide& side, const MetVertices& met, float limit, std::int32_t* bits) {
    const FaceRows& faces = side.faces;
    const VertexRows& other = side.other;
    const Number most(limit), none(0.0f);
    for (std::uint32_t f = 0; f < faces.count; f += lanes<Number>()) {
        const Number nx = load_rows(faces.row[0], f, faces.count, 0.0f),
                     ny = load_rows(faces.row[1], f, faces.count, 0.0f),
                     nz = load_rows(faces.row[2], f, faces.count, 0.0f),
                     offset = load_rows(faces.row[3], f, faces.count, 0.0f);
        Number sum = none;
        for (std::uint32_t k = 0; k < met.count; ++k) {
            const std::uint32_t v = met.vertex[k];
            const Number h =
                height_above(nx, ny, nz, Number(other.row[0][v]), Number(other.row[1][v]), Number(other.row[2][v])) -
                offset;
            sum += select(h < most, Number(static_cast<float>(1u << k)), none);
        }
        store_whole(bits + f, sum);
    }
}

inline float vertex_outside(const PolytopeSide& side, std::uint32_t vertex) {
    const FaceRows& faces = side.faces;
    const VertexRows& other = side.other;
    const Number x(other.row[0][vertex]), y(other.row[1][vertex]), z(other.row[2][vertex]);
    Number most(-kFarOff_m);
    for (std::uint32_t f = 0; f < faces.count; f += lanes<Number>())
        most = max(most, height_above(load_rows(faces.row[0], f, faces.count, 0.0f),
                                      load_rows(faces.row[1], f, faces.count, 0.0f),
                                      load_rows(faces.row[2], f, faces.count, 0.0f), x, y, z) -
                             load_rows(faces.row[3], f, faces.count, kFarOff_m));
    return max_of_lanes(most);
}

// What single precision may take from heights above a triangle, of the distances that they are made of.
constexpr float kHeightRounding = 4e-6f;
// Squared: the sine of a triangle's corner, below which rounding turns its normal by more than kHeightRounding; twice
// its area.
constexpr float kSquareRounding = 1e-5f;
constexpr float kThin2 = 2.5e-3f, kSmall2_m4 = 1e-30f;

ORRERY_FN Vec3T<Number> corners_of(const TriangleRows& triangles, int k, std::uint32_t t) {
    return {load<Number>(triangles.corner[k][0] + t), load<Number>(triangles.corner[k][1] + t),
            load<Number>(triangles.corner[k][2] + t)};
}

ORRERY_FN Vec3T<Number> vertex_of(const VertexRows& rows, std::uint32_t v) {
    return {Number(rows.row[0][v]), Number(rows.row[1][v]), Number(rows.row[2][v])};
}

ORRERY_FN Number size_of(Vec3T<Number> v) { return (abs(v.x) + abs(v.y)) + abs(v.z); }

// Whether some vertex may lie no farther from the triangle, across the edge from one corner to the next, than the
// limit: from the plane that stands on the edge, or where all vertices are `above` the triangle, from the edge.
ORRERY_FN MaskOf<Number> beside(Vec3T<Number> from, Vec3T<Number> to, Vec3T<Number> normal, const SolidRows& solid,
                                Number slack, Number above) {
    const Vec3T<Number> edge = to - from, out = cross(edge, normal);
    Number low(kFarOff_m);
    for (std::uint32_t v = 0; v < solid.vertices.count; ++v) low = min(dot(out, vertex_of(solid.vertices, v)), low);
    const Number size = length(edge), reach = ((Number(solid.radius) + Number(solid.limit)) + slack) * size,
                 off = low - dot(out, from);
    if (!solid.by_edges) return off <= reach;
    const Number zero(0.0f), across = max(off - slack * size, zero), up = max(above - slack, zero) * size;
    return (across * across + up * up) <= (reach * reach) * Number(1.0f + kSquareRounding);
}

inline void near_triangles(const TriangleRows& triangles, const SolidRows& solid, TriangleFinds& out) {
    out.near = out.thin = 0;
    const Number zero(0.0f), radius(solid.radius);
    const Vec3T<Number> motion{Number(solid.motion[0]), Number(solid.motion[1]), Number(solid.motion[2])};
    for (std::uint32_t t = 0; t < triangles.count; t += lanes<Number>()) {
        const Vec3T<Number> corner[3] = {corners_of(triangles, 0, t), corners_of(triangles, 1, t),
                                         corners_of(triangles, 2, t)};
        const Vec3T<Number> to_1 = corner[1] - corner[0], to_2 = corner[2] - corner[0], across = cross(to_1, to_2);
        const Number area2 = dot(across, across);
        const MaskOf<Number> thin =
            !((area2 > Number(kSmall2_m4)) & (area2 > Number(kThin2) * (dot(to_1, to_1) * dot(to_2, to_2))));
        const Vec3T<Number> normal = across * (Number(1.0f) / sqrt(area2));
        const Number plane = dot(normal, corner[0]);
        const Number slack =
            Number(kHeightRounding) * (((size_of(corner[0]) + size_of(to_1)) + size_of(to_2)) + Number(solid.extent));
        Number low(kFarOff_m), vertex = zero;
        for (std::uint32_t v = 0; v < solid.vertices.count; ++v) {
            const Number h = dot(normal, vertex_of(solid.vertices, v));
            vertex = select(h < low, Number(static_cast<float>(v)), vertex);
            low = min(h, low);
        }
        const Number kept_to = Number(solid.margin) + max(dot(motion, normal), zero);
        const std::uint32_t left = triangles.count - t, all = left < lanes<Number>() ? (1u << left) - 1u : ~0u;
        const std::uint32_t thin_bits = lane_bits(thin) & all;
        std::uint32_t bits =
            lane_bits((plane <= slack) & ((low - plane) - radius <= kept_to + slack)) & all & ~thin_bits;
        out.thin |= std::uint64_t(thin_bits) << t;
        if (bits == 0) continue;
        // Beyond the planes that stand on the edges.
        const Number above = low - plane;
        MaskOf<Number> within = beside(corner[0], corner[1], normal, solid, slack, above) &
                                beside(corner[1], corner[2], normal, solid, slack, above);
        within = within & beside(corner[2], corner[0], normal, solid, slack, above);
        bits &= lane_bits(within);
        Number most(-kFarOff_m), face = zero;
        for (std::uint32_t f = 0; f < solid.faces.count; ++f) {
            const Vec3T<Number> out_of{Number(solid.faces.row[0][f]), Number(solid.faces.row[1][f]),
                                       Number(solid.faces.row[2][f])};
            const Number h = min(min(dot(out_of, corner[0]), dot(out_of, corner[1])), dot(out_of, corner[2])) -
                             Number(solid.faces.row[3][f]);
            face = select(h > most, Number(static_cast<float>(f)), face);
            most = max(h, most);
        }
        bits &= lane_bits(most <= Number(solid.limit) + slack);
        out.near |= std::uint64_t(bits) << t;
        store_whole(out.vertex + t, vertex);
        store_whole(out.face + t, face);
    }
}

constexpr PolytopeKernels make_polytope_kernels() {
    return {place_vertices, part_polytopes, vertices_below, vertex_outside, near_triangles};
}

ORRERY_LANES_END

#endif
