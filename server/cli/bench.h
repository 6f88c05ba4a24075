// `orrery bench`: the benchmark scenes: time, quality, hash.
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// The first argument is the one after `bench`. Prints, and gives the exit code.
int bench_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
