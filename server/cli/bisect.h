// `orrery bisect`: the first difference between two executions of a recording, or between one and the recording, down
// to the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/difference.h"
#include "protocol/scene/scene.h"
#include "sim/base/result.h"

namespace orrery::server {

struct BisectSettings {
    std::string replay;
    sim::Target target = sim::Target::automatic;
    std::optional<sim::Target> against;  // the second execution, with one thread and without a GPU
    std::string with;                    // the program of the second execution; empty: this one
    std::uint32_t threads = 1;           // inside a tick, of the first execution
    sim::RigDevice* rig_device = nullptr;
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;

    bool against_record() const { return !against && with.empty(); }
};

// What the number of a field is, and whose.
struct NamedDifference {
    std::uint64_t tick = 0;  // of the two states
    bool keyframe = false;   // the second of them is a keyframe of the recording
    protocol::replay::StateDifference where;
    std::string called;  // the body or joint; empty: of neither
    // Of those that the element is of, for a joint or contact: index, and name or nothing.
    std::vector<std::pair<std::uint32_t, std::string>> bodies;
};

struct BisectReport {
    std::string here, there;  // the names of the two executions
    std::uint64_t ticks = 0;  // re-simulated and equal
    std::optional<std::uint64_t> first_divergent_tick;
    std::vector<std::string> subsystems;          // that differ then
    std::optional<std::uint64_t> subsystem_tick;  // see protocol::replay::VerifyReport; else the divergent tick
    std::optional<NamedDifference> difference;
    std::string note;  // why there is no difference, or what else is known
    std::optional<std::uint64_t> corrupt_at_byte;
    std::optional<std::uint64_t> keyframe_at_byte;  // the damage is in the keyframe of this tick
    std::optional<Error> error;                     // there is no result
};

BisectReport bisect(const BisectSettings& settings);

int bisect_exit_code(const BisectReport& report);
std::string bisect_text(const std::string& replay, const BisectReport& report);
std::string bisect_json(const std::string& replay, const BisectReport& report);

// The subcommand: `arguments[0]` is the first after `bisect`. Prints, and gives the exit code.
int bisect_command(const std::vector<std::string>& arguments);

}  // namespace orrery::server
