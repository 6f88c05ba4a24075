// `orrery verify`: re-simulates replays and compares every tick.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/verify.h"
#include "protocol/scene/scene.h"
#include "server/base/trust_file.h"

namespace orrery::server {

struct VerifySettings {
    std::vector<std::string> replays;
    sim::Target target = sim::Target::automatic;
    std::uint32_t threads = 1;   // workers inside a step
    std::uint32_t parallel = 1;  // stretches between keyframes at a time, each in a world of its own
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
    sim::RigDevice* rig_device = nullptr;  // null: rigs are the CPU's
    bool require_complete = false;         // a recording that was not closed does not pass
    std::optional<TrustFile> trust{};      // a recording that none of its keys signed whole does not pass
    protocol::replay::VerifyProgress* progress = nullptr;
};

struct VerifiedReplay {
    std::string path;
    protocol::replay::VerifyReport report;
    double realtime_factor = 0.0;  // simulated time by wall time; 0 if nothing was simulated
    bool grew = false;             // while it was verified: it is being written
};

VerifiedReplay verify_replay(const std::string& path, const VerifySettings& settings);

// "closed", "open" (it may be being written) or "cut off"; "" if its bytes are not good.
std::string_view end_name(const VerifiedReplay& replay);
// Recorded by another engine version: only that one can simulate it.
bool is_of_other_version(const protocol::replay::VerifyReport& report);
bool proved(const protocol::replay::VerifyReport& report);  // simulated, whether it is the same or not

// The documented exit code of one replay: 0 the same, 1 diverged, not complete as required, or not signed whole by a
// trusted key, 2 unreadable, 3 the machine lacks the target.
int verify_exit_code(const VerifiedReplay& replay, const VerifySettings& settings);

std::string verify_text(const VerifiedReplay& replay, const VerifySettings& settings);  // for people, a line or two
std::string verify_json(const VerifiedReplay& replay, const VerifySettings& settings);  // one object, one line

// The subcommand: parses its own arguments (`arguments[0]` is the first after `verify`), prints, and gives the exit
// code.
int verify_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
