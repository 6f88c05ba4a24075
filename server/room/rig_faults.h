// Texts about rigs that are not solved as the scene asks.
#pragma once

#include <string>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

// One text for each kind of fault, with its remedy.
std::vector<std::string> rig_fault_texts(const sim::RigFaults& faults, const sim::WorldDef& def);

}  // namespace orrery::server
