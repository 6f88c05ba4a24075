// Makes a replay file: returns the bytes to append for the scene, each tick, each keyframe and the end. It has no file.
// Calls out of order (a tick that does not follow the last one, a keyframe of another tick, anything after the end) are
// errors and change nothing.
#pragma once

#include "protocol/replay/chunk.h"
#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

class ReplayWriter {
  public:
    // Bytes to append to the file, valid until the next call.
    using Bytes = std::span<const std::uint8_t>;

    // Call it first, once. Names longer than kMaxTextBytes are an error.
    Result<Bytes> begin(const FileHeader& header);
    // `tick` is World::tick() after the step, `hash` is its hash() then. Commands may be in any order.
    Result<Bytes> tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                       std::uint64_t slip_ns = 0);
    // `state` is World::save() of the last tick.
    Result<Bytes> keyframe(std::span<const std::uint8_t> state);
    Result<Bytes> end();

    std::uint64_t ticks() const { return ticks_; }
    const Chain& head() const { return chunks_.chain(); }

  private:
    Result<Bytes> append(ChunkKind kind);

    enum class Phase : std::uint8_t { fresh, open, ended };
    ChunkWriter chunks_;
    Phase phase_ = Phase::fresh;
    std::uint64_t ticks_ = 0;
    TickRecord record_;
    std::vector<std::uint8_t> payload_, bytes_;
};

}  // namespace orrery::protocol::replay
