// The page at / of the control port, made by CMake from console.html.
#pragma once

#include <string>
#include <string_view>

namespace orrery::server {

std::string_view console_page();
// The Content-Security-Policy of a page whose only style and script are those in it.
std::string console_policy(std::string_view page);

}  // namespace orrery::server
