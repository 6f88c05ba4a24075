// A stretch is the ticks of a recording from a mark up to a keyframe, or up to the end of the file: what can be
// verified in a world of its own. The whole of a recording, the parts of one that are verified in parallel, and a
// segment of a plan (plan.h) are verified as stretches.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/replay/reader.h"
#include "protocol/replay/verify.h"

namespace orrery::protocol::replay {

// What a survey says, without its header, and whether it and the signatures are good: sets which of these sign the
// whole. `size`: of the file.
bool check_survey(Survey& seen, std::uint64_t size, VerifyReport& report);

struct Stretch {
    Mark from;
    std::optional<std::uint64_t> until;  // tick of the keyframe that ends it, and is compared
    std::uint64_t equal_until = 0;       // the last tick that agreed
    std::optional<std::uint64_t> divergent_tick;
    std::string subsystem;
    std::optional<std::uint64_t> subsystem_tick;
    std::optional<Error> error;  // the stretch could not be simulated at all
};

struct StretchRun {
    const Source& source;
    const VerifyOptions& options;
    const std::shared_ptr<const sim::Definition>& definition;  // of all stretches' worlds
    sim::Executor* executor;
    std::vector<Stretch> stretches;
    std::atomic<std::uint64_t> first_bad{~std::uint64_t{0}};  // later stretches need not be finished
};

// One stretch from each mark, or from the first alone. `until`: tick of the keyframe behind the last.
std::vector<Stretch> stretches_of(std::span<const Mark> marks, bool at_keyframes,
                                  std::optional<std::uint64_t> until = std::nullopt);

// Verifies all of them, in parallel if the options say so.
void verify_stretches(StretchRun& run);

// Stretches follow each other, so that the proof reaches as far as the first that did not agree to its end: sets the
// verdict and what belongs to it. The ticks are those before the first stretch, and then the last that agreed.
void conclude(std::span<const Stretch> stretches, VerifyReport& report);

}  // namespace orrery::protocol::replay
