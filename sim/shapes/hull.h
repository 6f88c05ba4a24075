// Convex hull: of any points, at most kMaxHullVertices vertices, coplanar triangles merged into polygons. The body's
// frame stands at its centre of mass: points are shifted by it (ref::make_hull returns by how much), and not turned.
//
// Mass properties: exact for the polyhedron, summed over tetrahedra from the first vertex to the triangles of each
// face. For one with edges p, q, r from that vertex and D = p . (q x r): volume D / 6, first moment D / 24 (p + q + r),
// and second moments D / 120 (s s^T + p p^T + q q^T + r r^T) with s = p + q + r (Tonon 2004).
#pragma once

#include <vector>

#include "sim/shapes/double3.h"
#include "sim/shapes/polytope.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

inline constexpr std::uint32_t kMaxHullFaces = 2 * kMaxHullVertices - 4;  // Euler: all of them triangles
inline constexpr std::uint32_t kMaxHullEdges = 3 * kMaxHullVertices - 6;
inline constexpr std::uint32_t kSupportLanes = 4;  // vertices, or faces, that are looked at together
inline constexpr float kFarOff_m = 1.0e30f;        // offset of the plane of no face

struct Hull {
    std::vector<Vec3> vertex;     // m, in the body's frame
    std::vector<float> row[3];    // the same by coordinate, the first repeated up to a multiple of kSupportLanes
    std::vector<Vec3> inward;     // by vertex: where it goes, about, when all its faces move inward by 1
    std::vector<ref::D3> normal;  // by face: unit, outward
    std::vector<double> offset;   // of its plane along the normal; no vertex lies above it
    std::vector<float>
        face_row[4];  // x, y, z of the normals, the offsets; up to a multiple of kSupportLanes faces that are far off
    std::vector<std::uint16_t> face_start;
    std::vector<std::uint8_t> loop;
    std::vector<PolytopeEdge> edge;
    Topology topology;  // a view of the three
    ref::D3 centre;     // of mass, in the coordinates of the points

    Hull() = default;
    Hull(const Hull&) = delete;
    Hull& operator=(const Hull&) = delete;
};

namespace ref {

Result<Shape> make_hull(const ShapeDef& def, std::string_view place);

// Volume and moments of mass about a point, for a density of 1.
struct Moments {
    double volume = 0.0;
    D3 first;               // integral of position
    double second[6] = {};  // of x x, x y, x z, y y, y z, z z
};
// Sums by the parallel axis theorem: what the inertia about `centre` is, in single precision.
MassProperties mass_about(const Moments& moments, D3 centre);

}  // namespace ref
}  // namespace orrery::sim
