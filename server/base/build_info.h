// What this program is, for recordings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/replay/records.h"

namespace orrery::server {

std::string cpu_name();  // of this machine, as the system calls it

std::string_view build_version();  // like "1.0.0"

// The commit that the program was built from. `orrery` says it at its start; a host's program may. Not said: not known.
void set_build_commit(std::string_view commit);

// build, commit (if known), compiler, cpu, target. In any order: sort_pairs().
std::vector<protocol::replay::KeyValue> about_build(sim::Target target);

}  // namespace orrery::server
