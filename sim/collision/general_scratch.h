// Memory of a pair of general shapes, kept from pair to pair.
#pragma once

#include <vector>

#include "sim/collision/mesh_pairs.h"

namespace orrery::sim::ref {

struct GeneralScratch {
    MeshScratch mesh;
    // By depth: a compound's children are looked at while those of the other side, or triangles, are looked for.
    std::vector<std::uint32_t> rows[3];
    std::vector<std::uint32_t> found;  // slots of a tree
};

}  // namespace orrery::sim::ref
