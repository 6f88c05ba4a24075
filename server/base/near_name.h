// The name that was probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::server {

// Of letters that differ, are missing, are too many, or are two that changed places.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `names` by edit_distance(), the first of several; empty: none is near, which is a third of the letters
// of `name`, and at least two.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

}  // namespace orrery::server
