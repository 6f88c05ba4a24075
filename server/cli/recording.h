// A recording that a tool looks into: checked, and its world at any of its ticks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orrery/sim.hpp"
#include "protocol/replay/reader.h"
#include "server/room/replay_source.h"

namespace orrery::server {

class Recording {
  public:
    // Checks every byte of the file. An error if it is corrupt; one that was cut off or not closed can be read.
    static Result<std::unique_ptr<Recording>> open(const std::string& path);

    const protocol::replay::Survey& survey() const { return survey_; }
    const protocol::replay::Source& source() const { return *source_; }

    // Of the recorded scene, at its start. An error: the recording is of another engine version, the scene has more
    // bodies than these, or the machine lacks the target.
    Result<std::unique_ptr<sim::World>> new_world(std::uint64_t max_bodies, sim::Target target) const;
    // Brings a new world to its state after a tick. It is simulated from the last keyframe before that. reader() then
    // is behind the record of the tick. An error (not_found): the recording lacks the tick; else as take().
    Result<Ok> go_to(std::uint64_t tick, sim::World& world, sim::Executor* executor = nullptr);
    // The same to the state that a new world has at a mark of the survey, without a step.
    Result<Ok> begin_at(const protocol::replay::Mark& mark, sim::World& world);
    protocol::replay::ReplayReader& reader() { return *reader_; }
    // Has the reader read the next tick. False: the recording ends.
    bool read_tick();
    // Reads and takes the next tick. False: the recording ends.
    Result<bool> step(sim::World& world, sim::Executor* executor = nullptr);

  private:
    explicit Recording(std::unique_ptr<ReplaySource> source) : source_(std::move(source)) {}
    std::unique_ptr<ReplaySource> source_;
    protocol::replay::Survey survey_;
    std::optional<protocol::replay::ReplayReader> reader_;
};

// The exit code for an error of these: 1 if a state differs.
int exit_code_of_replaying(const Error& error);

}  // namespace orrery::server
