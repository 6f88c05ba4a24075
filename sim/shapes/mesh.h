// Triangle mesh and height field: surfaces without an inside, for fixed and kinematic bodies. A triangle collides from
// its front, the side from which its corners go round counter-clockwise; of a height field the front is above.
//
// A triangle collides, however slender it is, if its height is more than single precision rounds. Else it is left out.
//
// What the narrow phase needs to leave out collisions with inner edges is found once: across each edge the third corner
// of the neighbour, and which triangles lie in one plane and hang together: a patch, which is touched as one face.
#pragma once

#include <array>
#include <vector>

#include "sim/shapes/double3.h"
#include "sim/shapes/shape.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim {

// Packed into 24 bytes: indices of vertices and triangles have 22 bits, and the ten above them carry the rest.
class MeshTriangle {
  public:
    MeshTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        set_corner(0, a), set_corner(1, b), set_corner(2, c);
    }
    std::uint32_t corner(std::uint32_t k) const { return corner_[k] & kIndex; }
    std::array<std::uint32_t, 3> corners() const { return {corner(0), corner(1), corner(2)}; }
    // Of edge k, from corner k to the next: a vertex, or kNone at the rim.
    std::uint32_t opposite(std::uint32_t k) const { return unpacked(opposite_[k] & kIndex); }
    // The lowest triangle of the patch, slivers last; kNone: this one is left out.
    std::uint32_t patch() const {
        return unpacked(corner_[0] >> kBits | corner_[1] >> kBits << 10 | corner_[2] >> kBits << 20);
    }
    bool inner(std::uint32_t k) const { return opposite_[k] >> kBits != 0; }  // across edge k lies the same patch

    void set_corner(std::uint32_t k, std::uint32_t vertex) { corner_[k] = (corner_[k] & ~kIndex) | vertex; }
    void set_opposite(std::uint32_t k, std::uint32_t vertex) { opposite_[k] = (opposite_[k] & ~kIndex) | vertex; }
    void set_patch(std::uint32_t patch) {
        for (std::uint32_t k = 0; k < 3; ++k) corner_[k] = corner(k) | patch >> 10 * k << kBits;
    }
    void set_inner(std::uint32_t k) { opposite_[k] |= 1u << kBits; }

  private:
    static constexpr std::uint32_t kBits = 22, kIndex = (1u << kBits) - 1;
    static_assert(kMaxMeshVertices < kIndex && kMaxMeshTriangles < kIndex);  // kIndex itself stands for kNone
    static std::uint32_t unpacked(std::uint32_t index) { return index == kIndex ? kNone : index; }

    // Beside corner k bits 10 k and up of the patch, beside vertex k across an edge whether that is an inner one.
    std::uint32_t corner_[3] = {kNone & ~kIndex, kNone & ~kIndex, 3u << kBits}, opposite_[3] = {kIndex, kIndex, kIndex};
};

struct Mesh {
    std::vector<Vec3> vertex;  // m, in the body's frame
    std::vector<MeshTriangle> triangle;
    // The other ends of the edges at a vertex, each once: fan[fan_begin[v]] to fan[fan_begin[v + 1]], v the first
    // vertex at its place.
    std::vector<std::uint32_t> fan_begin, fan;
    std::vector<std::uint32_t> place;  // by vertex, of that first one; empty if no two vertices are at one place
    BoxTree tree;                      // rows are triangles, but those that are left out
    // Triangles without an area: they keep their numbers, and the triangles on their sides are neighbours.
    std::uint32_t left_out = 0, first_left_out = kNone;

    std::uint32_t place_of(std::uint32_t v) const { return place.empty() ? v : place[v]; }
};

namespace ref {

Result<Shape> make_mesh(const ShapeDef& def, std::string_view place);
Result<Shape> make_height_field(const ShapeDef& def, std::string_view place);

// Of triangles that are not left out.
D3 triangle_normal(const Mesh& mesh, std::uint32_t triangle);

}  // namespace ref
}  // namespace orrery::sim
