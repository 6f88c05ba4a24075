// How the vertices, edges and faces of a convex polyhedron hang together: of boxes, triangles (with a front and a back)
// and hulls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::sim {

// `left` is the face whose loop runs from -> to; seen from outside, loops run counter-clockwise. So the direction of
// the edge is that of (normal of left) x (normal of right).
struct PolytopeEdge {
    std::uint8_t from = 0, to = 0, left = 0, right = 0;
};

struct Topology {
    std::uint32_t vertices = 0, faces = 0, edges = 0;
    const std::uint16_t* face_start = nullptr;  // faces + 1 of them, into loop
    const std::uint8_t* loop = nullptr;
    const PolytopeEdge* edge = nullptr;

    std::uint32_t loop_size(std::uint32_t face) const {
        return static_cast<std::uint32_t>(face_start[face + 1] - face_start[face]);
    }
    const std::uint8_t* face_loop(std::uint32_t face) const { return loop + face_start[face]; }
};

// Finds the edges of loops, each once, in the order in which the loops run along them from the lower to the higher
// vertex. Returns their number, or 0 where some edge has not exactly one face on each side.
constexpr std::uint32_t find_edges(std::uint32_t faces, const std::uint16_t* face_start, const std::uint8_t* loop,
                                   PolytopeEdge* out) {
    std::uint32_t count = 0, sides = 0;
    for (std::uint32_t f = 0; f < faces; ++f) {
        for (std::uint32_t i = face_start[f]; i < face_start[f + 1]; ++i) {
            const std::uint8_t a = loop[i], b = loop[i + 1 < face_start[f + 1] ? i + 1 : face_start[f]];
            ++sides;
            if (a >= b) continue;
            std::uint32_t found = 0;
            PolytopeEdge edge{a, b, static_cast<std::uint8_t>(f), 0};
            for (std::uint32_t g = 0; g < faces; ++g) {
                for (std::uint32_t k = face_start[g]; k < face_start[g + 1]; ++k) {
                    const std::uint8_t c = loop[k], d = loop[k + 1 < face_start[g + 1] ? k + 1 : face_start[g]];
                    if (c == a && d == b && g != f) return 0;
                    if (c != b || d != a) continue;
                    edge.right = static_cast<std::uint8_t>(g);
                    ++found;
                }
            }
            if (found != 1) return 0;
            out[count++] = edge;
        }
    }
    return sides == 2 * count ? count : 0;
}

template <std::size_t Faces, std::size_t Loop>
struct FixedPolytope {
    std::array<std::uint16_t, Faces + 1> face_start;
    std::array<std::uint8_t, Loop> loop;
    std::array<PolytopeEdge, Loop / 2> edge{};

    constexpr FixedPolytope(std::array<std::uint16_t, Faces + 1> starts, std::array<std::uint8_t, Loop> loops)
        : face_start(starts), loop(loops) {
        find_edges(Faces, face_start.data(), loop.data(), edge.data());
    }
    constexpr Topology view() const {
        return {static_cast<std::uint32_t>(Loop / 2 + 2 - Faces),
                Faces,
                Loop / 2,
                face_start.data(),
                loop.data(),
                edge.data()};
    }
};

// Corner k lies on the positive side of x, y, z where bits 0, 1, 2 of k are set. Faces: +x, -x, +y, -y, +z, -z.
inline constexpr FixedPolytope<6, 24> kBoxPolytope({0, 4, 8, 12, 16, 20, 24}, {1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3,
                                                                               0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1});
// Front and back. Edges: 0-1, 1-2, 0-2.
inline constexpr FixedPolytope<2, 6> kTrianglePolytope({0, 3, 6}, {0, 1, 2, 0, 2, 1});

inline constexpr Topology kBoxTopology = kBoxPolytope.view();
inline constexpr Topology kTriangleTopology = kTrianglePolytope.view();
static_assert(kBoxTopology.vertices == 8 && kBoxTopology.edges == 12 && kTriangleTopology.vertices == 3 &&
              kTriangleTopology.edges == 3);

}  // namespace orrery::sim
