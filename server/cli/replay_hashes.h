// `orrery replay hashes`: the hashes that this build finds for each tick of a recording. They are not compared with the
// recorded ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

// "TICK ROOT LEAF...": hashes as 16 hex digits each, the leaves in order of sim::Subsystem.
std::string hashes_line(std::uint64_t tick, const sim::HashTree& hash);
// Nothing: the line has another form, or is that of another tick.
std::optional<sim::HashTree> read_hashes_line(std::string_view line, std::uint64_t tick);

// The subcommand: `arguments[0]` is the first after `hashes`. Prints, and gives the exit code.
int hashes_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
