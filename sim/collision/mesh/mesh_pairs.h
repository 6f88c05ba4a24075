// A convex shape against the triangles of a mesh, in the mesh's frame. A triangle's own front is always a face to rest
// on; any other direction counts only where the surface bends away: the contact of an edge or a corner whose normal
// would point into the neighbour's face, or along a flat seam, is not there, and the front speaks instead. So nothing
// trips over an inner edge.
//
// Triangles of a flat patch are one face: their places are gathered, and at most four kept, whatever seams lie between.
// Corners of the convex shape name the points, so that they stay the same features while it slides from triangle to
// triangle.
#pragma once

#include <span>
#include <vector>

#include "sim/collision/convex/convex.h"
#include "sim/collision/sweep/fast_pairs.h"
#include "sim/shapes/mesh.h"

namespace orrery::sim::ref {

// Manifold::child of a mesh: the lowest triangle of the patch that is touched as a face; or, with this bit, a triangle
// of which an edge or a corner is.
inline constexpr std::uint32_t kMeshEdge = 0x8000'0000u;

struct MeshContact {
    std::uint32_t child = 0;
    ConvexContacts contacts;  // the mesh is A
};

struct MeshScratch {
    // A patch as a plane with coordinates: those of its lowest triangle.
    struct PatchPlane {
        std::uint32_t patch = 0;
        D3 origin, u, v, n;
    };
    struct PatchPlace {
        std::uint32_t patch = 0, plane = 0;  // plane: a row of `planes`
        Place place;
    };
    std::vector<PatchPlane> planes;
    std::vector<PatchPlace> places;
    std::vector<Place> patch;
    std::vector<MeshContact> contacts;  // the result: sorted by child
};

// Whether a contact of neighbours tells of the same place and direction as one of these.
bool told_already(const std::vector<MeshContact>& contacts, const ConvexContacts& c);

// A triangle that a fast pair's shape meets within the tick, from its front.
struct TriangleTouch {
    std::uint32_t patch = 0, triangle = 0;
    Touch touch;  // the mesh is A
};
// Of `triangles`, those that the shape, which it does not touch yet, meets; in the mesh's frame when the tick begins.
// Leaves the shape where it was.
void meet_triangles(const PolytopeKernels& kernels, const Mesh& mesh, std::span<const std::uint32_t> triangles,
                    const Course& course, Convex& convex, const Course& course_of_convex, double touching,
                    std::vector<TriangleTouch>& out);

// `triangles` ascend. `motion` is how far the mesh moves in the tick, as the convex shape sees it.
void collide_mesh(const PolytopeKernels& kernels, const Mesh& mesh, std::span<const std::uint32_t> triangles,
                  const Convex& convex, D3 motion, double margin, MeshScratch& scratch);

}  // namespace orrery::sim::ref
