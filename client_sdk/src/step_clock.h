// Sums the time of a world's steps by part, with a clock of the program's. It reads the clock where one part follows
// another: a part lasts until the next begins, so that the parts make up the whole. A step has 6 readings, and some
// dozens where rigs and the solver take turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "orrery/sim.hpp"

namespace orrery::client {

// `state`: what follows a step: its hash, the states to go back to, and the way back. `none`: outside of all.
enum class StepPart : std::uint8_t { collision, solver, rigs, rest, state, none };
inline constexpr std::size_t kStepParts = 5;

constexpr StepPart part_of(sim::Stage stage) {
    using sim::Stage;
    switch (stage) {
        case Stage::bounds:
        case Stage::pairs:
        case Stage::narrow_phase:
            return StepPart::collision;
        case Stage::rigs:
            return StepPart::rigs;
        case Stage::commands:
        case Stage::events:
        case Stage::sleep:
            return StepPart::rest;
        case Stage::hash:
            return StepPart::state;
        default:
            return StepPart::solver;
    }
}

class StepClock final : public sim::StageObserver {
  public:
    using Clock = std::uint64_t (*)(void* user);  // ns

    // Null: nothing is measured. The sums begin anew.
    void set(Clock clock, void* user) {
        clock_ = clock;
        user_ = user;
        part_ = StepPart::none;
        ns_ = {};
        steps_ = 0;
    }
    bool on() const { return clock_ != nullptr; }
    std::uint64_t steps() const { return steps_; }
    double ms(StepPart part) const { return static_cast<double>(ns_[static_cast<std::size_t>(part)]) * 1e-6; }

    // Steps the world. What follows counts as `state` until turn(StepPart::none).
    sim::StepStatus step(sim::World& world, std::span<const sim::Command> commands) {
        if (!clock_) return world.step(commands);
        turn(StepPart::rest);
        const sim::StepStatus status = world.step(commands, nullptr, this);
        turn(StepPart::state);
        ++steps_;
        return status;
    }
    void turn(StepPart next) {
        if (!clock_ || next == part_) return;
        const std::uint64_t now = clock_(user_);
        if (part_ != StepPart::none) ns_[static_cast<std::size_t>(part_)] += now - since_;
        since_ = now;
        part_ = next;
    }
    void begin(sim::Stage stage) override { turn(part_of(stage)); }
    void end(sim::Stage) override {}

  private:
    Clock clock_ = nullptr;
    void* user_ = nullptr;
    StepPart part_ = StepPart::none;
    std::uint64_t since_ = 0, steps_ = 0;
    std::array<std::uint64_t, kStepParts> ns_{};
};

// Ends what is measured with a block.
class StepTurn {
  public:
    explicit StepTurn(StepClock& clock) : clock_(clock) {}
    ~StepTurn() { clock_.turn(StepPart::none); }
    StepTurn(const StepTurn&) = delete;
    StepTurn& operator=(const StepTurn&) = delete;

  private:
    StepClock& clock_;
};

}  // namespace orrery::client
