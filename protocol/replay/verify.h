// Proves a replay: makes the world anew from the recorded scene, steps it through the recorded commands, and holds every
// tick's hash tree and every keyframe's bytes to the record. Owns no file, clock or thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "orrery/sim.hpp"
#include "protocol/replay/reader.h"

namespace orrery::protocol::replay {

// Makes the definition of the recorded scene, and holds its hash to the one in the header.
using SceneLoader = std::function<Result<sim::WorldDef>(const FileHeader& header)>;

struct VerifyOptions {
    sim::Target target = sim::Target::automatic;
    sim::Executor* executor = nullptr;        // workers inside a step
    // Workers that verify the stretches between keyframes side by side, each in a world of its own; `executor` is not
    // used then. Keyframes are compared at both ends of a stretch, so that the proof is the same.
    sim::Executor* stretches = nullptr;
    SceneLoader load_scene;
    sim::RigDevice* rig_device = nullptr;     // see sim::WorldConfig
};

enum class Verdict : std::uint8_t { same, diverged, unreadable };
std::string_view verdict_name(Verdict verdict);  // "same", "diverged", "unreadable"

struct VerifyReport {
    Verdict verdict = Verdict::unreadable;
    std::uint64_t ticks = 0;                  // re-simulated and equal, from the start
    bool complete = false;                    // closed by an END that agrees
    std::optional<std::uint64_t> corrupt_at_byte;
    std::optional<std::uint64_t> first_divergent_tick;
    std::string subsystem;                    // the first leaf that differs; "keyframe", "root" if only that does
    // unreadable: why, with unsupported_target if this machine lacks the target. same and not complete: how it ends.
    Error error;
    FileHeader header;                        // default if it could not be read
    sim::Target target = sim::Target::automatic;  // that was used
};

// A file that fails any check of its bytes is unreadable and nothing of it is simulated; of a torn or open one all whole
// ticks are.
VerifyReport verify(const Source& source, const VerifyOptions& options);

}  // namespace orrery::protocol::replay
