// `orrery verify --plan`, `--segment` and `--merge`: one recording verified on several machines
// (protocol/replay/plan.h).
#pragma once

#include <string>
#include <vector>

namespace orrery::server {

// Whether these arguments of `orrery verify` are for one of the three.
bool is_plan_command(const std::vector<std::string>& arguments);
int plan_command(const std::vector<std::string>& arguments);

const char* plan_help();  // for `orrery verify --help`

}  // namespace orrery::server
