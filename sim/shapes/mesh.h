// Triangle mesh and height field: surfaces without an inside, for fixed and kinematic bodies. A triangle collides from
// its front, the side from which its corners go round counter-clockwise; of a height field the front is above.
//
// A triangle collides, however slender it is, if its height is more than single precision rounds. Else it is left out.
//
// What the narrow phase needs to leave out collisions with inner edges is found once: across each edge the third corner
// of the neighbour, and which triangles lie in one plane and hang together: a patch, which is touched as one face.
#pragma once

#include <vector>

#include "sim/shapes/double3.h"
#include "sim/shapes/shape.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim {

struct MeshTriangle {
    std::uint32_t corner[3] = {};
    std::uint32_t opposite[3] = {kNone, kNone,
                                 kNone};  // of edge k, from corner k to the next: a vertex, or kNone at the rim
    // The lowest triangle of the patch, slivers last; kNone: this one is left out.
    std::uint32_t patch = kNone;
    std::uint32_t inner = 0;  // bit k: across edge k lies the same patch
};

struct Mesh {
    std::vector<Vec3> vertex;  // m, in the body's frame
    std::vector<MeshTriangle> triangle;
    // The other ends of the edges at a vertex: fan[fan_begin[v]] to fan[fan_begin[v + 1]], v the first vertex at its
    // place, place[] of it.
    std::vector<std::uint32_t> place, fan_begin, fan;
    BoxTree tree;  // rows are triangles, but those that are left out
    // Triangles without an area: they keep their numbers, and the triangles on their sides are neighbours.
    std::uint32_t left_out = 0, first_left_out = kNone;
};

namespace ref {

Result<Shape> make_mesh(const ShapeDef& def, std::string_view place);
Result<Shape> make_height_field(const ShapeDef& def, std::string_view place);

// Of triangles that are not left out.
D3 triangle_normal(const Mesh& mesh, std::uint32_t triangle);

}  // namespace ref
}  // namespace orrery::sim
