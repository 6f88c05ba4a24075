// What a polytope's faces and another's vertices say of each other, and which triangles of a mesh a shape may touch,
// over the lanes: one table a SIMD target. All in the frame of one of the two, in single precision: it chooses, and
// what is chosen is computed anew in double precision. Each outcome is a function of exactly rounded sums and of
// comparisons alone: the same bits whatever the target.
#pragma once

#include <cstdint>

#include "orrery/sim.hpp"
#include "sim/collision/lanes/polytope_rows.h"

namespace orrery::sim {

inline constexpr std::uint32_t kFaceRoom = (kMaxHullFaces + kRowRoom - 1) / kRowRoom * kRowRoom;
static_assert(kMaxHullVertices % kRowRoom == 0 && kRowRoom % kSupportLanes == 0);

// Vertices that were looked at, each once, the first ones of all that were.
struct MetVertices {
    static constexpr std::uint32_t kMost = 16;
    std::uint32_t count = 0;
    std::uint8_t vertex[kMost];
    MetVertices() {}
    void add_all(std::uint32_t vertices) {  // at most kMost
        for (count = 0; count < vertices; ++count) vertex[count] = static_cast<std::uint8_t>(count);
    }
    void add(std::uint32_t v) {
        for (std::uint32_t i = 0; i < count; ++i) {
            if (vertex[i] == v) return;
        }
        if (count < kMost) vertex[count++] = static_cast<std::uint8_t>(v);
    }
};

struct PartingFace {
    std::uint32_t face = 0, vertex = 0;  // the vertex that is lowest above the face
};

// One of two polytopes, and the other's vertices as it sees them, up to a multiple of kRowRoom, as `place` leaves them.
struct PolytopeSide {
    FaceRows faces;
    VertexRows other;
    float way[3] = {};  // in which they are, about
};

// Triangles of a mesh, turned as the mesh is, from the centre of a convex shape.
struct TriangleRows {
    static constexpr std::uint32_t kMost = 64;
    float corner[3][3][kMost];  // by corner and coordinate
    std::uint32_t count = 0;
    TriangleRows() {}
};

// What of a convex shape a triangle can meet: a core of vertices with a radius around them, and faces, turned as the
// mesh is, from the shape's centre.
struct SolidRows {
    VertexRows vertices;  // up to a multiple of kRowRoom, as `place` leaves them
    FaceRows faces;       // none where the radius is not 0
    float radius = 0.0f, extent = 0.0f;
    // Whether triangles are left out, too, that are near the planes on their edges, but not near the edges.
    bool by_edges = false;
    // Contacts are kept that lie above a front by no more than the margin and what of the motion goes along it, and
    // within the limit.
    float motion[3] = {}, margin = 0.0f, limit = 0.0f;
};

struct TriangleFinds {
    std::uint64_t near = 0;                    // a bit a triangle; what follows is of those
    std::uint64_t thin = 0;                    // too slender for single precision to tell
    std::int32_t vertex[TriangleRows::kMost];  // of the shape: lowest above the front
    std::int32_t face[TriangleRows::kMost];    // of the shape: that lies farthest below all corners
    TriangleFinds() {}
};

struct PolytopeKernels {
    // Vertices in another frame: to[4 k] to to[4 k + 3] are row k of a rotation and the origin's coordinate k. Writes
    // rows up to a multiple of kRowRoom, the first vertex repeated.
    void (*place)(const VertexRows&, const float to[12], float* const out[3]);
    // The face that lies farthest below all vertices of the other. Vertices that were looked at join `met`.
    void (*part)(const PolytopeSide&, MetVertices& met, PartingFace& out);
    // Bit k of bits[f], of kFaceRoom: vertex k of `met` is lower above face f than `limit`.
    void (*below)(const PolytopeSide&, const MetVertices& met, float limit, std::int32_t* bits);
    // How far a vertex lies above the face that it is farthest above; below 0: it is inside.
    float (*outside)(const PolytopeSide&, std::uint32_t vertex);
    // Triangles from whose front the shape may have contacts: its centre lies before them, and neither they nor its
    // faces part them too far.
    void (*near)(const TriangleRows&, const SolidRows&, TriangleFinds& out);
};

// The table of a target, or null if this build lacks it.
const PolytopeKernels* polytope_kernels_for(Target target);

}  // namespace orrery::sim
