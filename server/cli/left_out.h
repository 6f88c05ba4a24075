// What a scene is told to leave out, in words: one line a shape.
#pragma once

#include <string>
#include <vector>

#include "orrery/left_out.hpp"

namespace orrery::server {

// Of triangles without an area: which shape, how many, which is the first, and the mend.
std::vector<std::string> left_out_texts(const sim::Definition& definition);

}  // namespace orrery::server
