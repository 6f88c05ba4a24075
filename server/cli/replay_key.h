// `orrery replay key`: makes the key that a host signs its recordings with.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

int key_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
