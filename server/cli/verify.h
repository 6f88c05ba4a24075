// `orrery verify`: re-simulates replays and compares every tick.
#pragma once

#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/verify.h"
#include "protocol/scene/scene.h"

namespace orrery::server {

struct VerifySettings {
    std::vector<std::string> replays;
    sim::Target target = sim::Target::automatic;
    std::uint32_t threads = 1;   // workers inside a step
    std::uint32_t parallel = 1;  // stretches between keyframes at a time, each in a world of its own
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
    sim::RigDevice* rig_device = nullptr;  // null: rigs are the CPU's
    bool require_complete = false;         // a recording that was not closed does not pass
};

struct VerifiedReplay {
    std::string path;
    protocol::replay::VerifyReport report;
    double realtime_factor = 0.0;  // simulated time by wall time; 0 if nothing was simulated
};

VerifiedReplay verify_replay(const std::string& path, const VerifySettings& settings);

// The documented exit code of one replay: 0 the same, 1 diverged or not complete as required, 2 unreadable, 3 the
// machine lacks the target.
int verify_exit_code(const VerifiedReplay& replay, const VerifySettings& settings);

std::string verify_text(const VerifiedReplay& replay, const VerifySettings& settings);  // for people, a line or two
std::string verify_json(const VerifiedReplay& replay, const VerifySettings& settings);  // one object, one line

// The subcommand: parses its own arguments (`arguments[0]` is the first after `verify`), prints, and gives the exit
// code.
int verify_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
