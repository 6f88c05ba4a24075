// Verifies a replay: makes the world again from the recorded scene, steps it with the recorded commands, and compares
// every tick's hash tree and every keyframe's bytes with the record. It has no file, clock or thread.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "orrery/sim.hpp"
#include "protocol/replay/reader.h"
#include "protocol/replay/recorded.h"

namespace orrery::protocol::replay {

// How far a verification is, for another thread to read.
struct VerifyProgress {
    std::atomic<std::uint64_t> ticks{0};  // that it will simulate; 0 before that is known
    std::atomic<std::uint64_t> done{0};
};

struct VerifyOptions {
    sim::Target target = sim::Target::automatic;
    sim::Executor* executor = nullptr;  // workers inside a step
    // Workers that verify the parts between keyframes in parallel, each in its own world; `executor` is not used then.
    // Keyframes are compared at both ends of a part, so that the verification is equally strict.
    sim::Executor* stretches = nullptr;
    SceneLoader load_scene;
    sim::RigDevice* rig_device = nullptr;  // see sim::WorldConfig
    VerifyProgress* progress = nullptr;
};

enum class Verdict : std::uint8_t { same, diverged, unreadable };
std::string_view verdict_name(Verdict verdict);  // "same", "diverged", "unreadable"

struct VerifyReport {
    Verdict verdict = Verdict::unreadable;
    std::uint64_t ticks = 0;                     // number of ticks that were re-simulated and equal, from the start
    bool complete = false;                       // closed by an END that agrees
    ReadStatus status = ReadStatus::unreadable;  // how the file ends
    std::optional<std::uint64_t> corrupt_at_byte;
    std::optional<std::uint64_t> first_divergent_tick;
    std::string subsystem;  // the first leaf that differs; "keyframe" or "root" if only that differs
    // The tick at which the subsystem differs: a later one than the first divergent tick if that has no leaves, which
    // TICKS have for their last tick alone. "root" then: the leaves were equal again.
    std::optional<std::uint64_t> subsystem_tick;
    AncillaryCounts ancillary;  // chunks of the file
    // Of the file, each valid, whosever it is. Empty if the bytes of the file are not good.
    std::vector<SignedPlace> signs;
    std::uint64_t last_tick = 0;  // of the file
    // unreadable: the reason, with code unsupported_target if this machine lacks the target. same but not complete: how
    // the file ends.
    Error error;
    FileHeader header;                            // default if it could not be read
    sim::Target target = sim::Target::automatic;  // the target that was used
};

// A file that fails any check of its bytes is unreadable, and no part of it is simulated: a signature that is not valid
// is such a check, whosever it is. Of a torn or open file all complete ticks are simulated. A recording that was cut
// proves its ticks from its first keyframe on, not the keyframe.
VerifyReport verify(const Source& source, const VerifyOptions& options);

// The part of verify() that simulates nothing: the survey, and the signatures. True: the file passes, and `report` has
// all but the verdict and what belongs to it.
bool check_bytes(const Source& source, Survey& seen, VerifyReport& report);

}  // namespace orrery::protocol::replay
