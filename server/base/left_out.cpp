#include "server/base/left_out.h"

namespace orrery::server {

std::vector<std::string> left_out_texts(const sim::Definition& definition) {
    std::vector<std::string> texts;
    for (const sim::LeftOutTriangles& shape : sim::left_out_triangles(definition)) {
        const std::string& name = definition.def().shapes[shape.shape].name;
        texts.push_back("shapes[" + std::to_string(shape.shape) + "]" + (name.empty() ? "" : " '" + name + "'") + ": " +
                        std::to_string(shape.count) +
                        (shape.count == 1 ? " triangle has no area and is left out, number "
                                          : " triangles have no area and are left out, the first is number ") +
                        std::to_string(shape.first) + "; remove them from the mesh, or ignore this");
    }
    return texts;
}

}  // namespace orrery::server
