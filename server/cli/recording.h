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

    // The world after a tick, simulated from the last keyframe before it, and each tick compared: an error (corrupt)
    // at the first that differs. Also an error: a recording of another engine version, or a tick that it lacks.
    // reader() then is behind the record of that tick.
    Result<std::unique_ptr<sim::World>> world_at(std::uint64_t tick, std::uint64_t max_bodies, sim::Target target);
    protocol::replay::ReplayReader& reader() { return *reader_; }
    // The world's next tick: false at the end of the recording.
    Result<bool> step(sim::World& world);

  private:
    Recording(std::unique_ptr<ReplaySource> source) : source_(std::move(source)) {}
    std::unique_ptr<ReplaySource> source_;
    protocol::replay::Survey survey_;
    std::optional<protocol::replay::ReplayReader> reader_;
};

}  // namespace orrery::server
