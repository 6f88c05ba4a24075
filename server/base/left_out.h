// Warnings about triangles that a scene's shapes leave out.
#pragma once

#include <string>
#include <vector>

#include "orrery/left_out.hpp"

namespace orrery::server {

// One text for each shape: its name, the count of triangles without an area, the first of them, and the mend.
std::vector<std::string> left_out_texts(const sim::Definition& definition);

}  // namespace orrery::server
