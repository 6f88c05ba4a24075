// Memory of a pair of general shapes, kept from pair to pair.
#pragma once

#include <vector>

#include "sim/collision/mesh/child_pairs.h"
#include "sim/collision/mesh/mesh_pairs.h"

namespace orrery::sim::ref {

struct GeneralScratch {
    MeshScratch mesh;
    std::vector<TriangleTouch> touches;  // of a fast pair and a mesh
    std::vector<MeshContact> mesh_kept, mesh_near, mesh_start;
    std::vector<std::uint32_t> triangles;  // that may be met; of a patch
    // By depth: a compound's children are looked at while those of the other side, or triangles, are looked for.
    std::vector<std::uint32_t> rows[3];
    std::vector<std::uint32_t> slots;  // of a tree
    ChildPairs children;
    // Of a chunk of pairs.
    std::vector<PairView> views;
    PairContacts found;
};

}  // namespace orrery::sim::ref
