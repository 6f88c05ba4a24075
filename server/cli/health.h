// `orrery health`: asks the health port of a server that runs, for the health check of a container.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

int health_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
