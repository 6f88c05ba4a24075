// Makes a replay file: returns the bytes to append for the scene, each tick, each keyframe, ancillary records and the
// end. It has no file. Calls out of order (a tick that does not follow the last one, a keyframe of another tick,
// anything after the end) are errors and change nothing.
#pragma once

#include "protocol/replay/ancillary.h"
#include "protocol/replay/chunk.h"
#include "protocol/replay/records.h"
#include "protocol/replay/sign.h"
#include "protocol/replay/ticks.h"

namespace orrery::protocol::replay {

// Ticks that wait for their chunk are written early when their commands take so many bytes.
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{256} << 10;

class ReplayWriter {
  public:
    // Bytes to append to the file, valid until the next call.
    using Bytes = std::span<const std::uint8_t>;

    // 1: each tick is a TICK of its own. More, at most kMaxTicksPerChunk: so many are in a TICKS, and wait in the
    // writer until their chunk is full or something else is written.
    explicit ReplayWriter(std::uint32_t ticks_per_chunk = 1);

    // Call it first, once. Names longer than kMaxTextBytes and pairs that fault_of() refuses are an error. A header
    // with a first tick begins a recording that was cut: the keyframe of that tick comes next.
    Result<Bytes> begin(const FileHeader& header);
    // Goes on with a recording instead: `run` of its header, `ticks` its last tick, `end` the place where it ends,
    // without an END. It is of kFormatVersion.
    Result<Ok> go_on(const RunId& run, std::uint64_t ticks, const Position& end);
    // `tick` is World::tick() after the step, `hash` is its hash() then. Commands may be in any order. Nothing to
    // append: the tick waits.
    Result<Bytes> tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                       std::uint64_t slip_ns = 0);
    // `state` is World::save() of the last tick. limit_reached: more than kMaxKeyframeParts parts.
    Result<Bytes> keyframe(std::span<const std::uint8_t> state);
    // Ancillary records; the writer sets their tick. limit_reached: a text or state that is too long.
    Result<Bytes> add(PlayerRecord record);
    Result<Bytes> add(ResumeRecord record);
    Result<Bytes> add(HostRecord record);
    Result<Bytes> add(NoteRecord record);
    // Signs all that comes before. `whole`: END comes next.
    Result<Bytes> sign(const SigningKey& key, SignedExtent extent = SignedExtent::so_far);
    // The ticks that wait.
    Result<Bytes> flush();
    Result<Bytes> end();

    std::uint64_t ticks() const { return ticks_; }                             // the last one
    std::uint64_t written_ticks() const { return ticks_ - waiting_.count(); }  // the last that does not wait
    const Chain& head() const { return chunks_.chain(); }                      // of what was written
    const RunId& run() const { return run_; }

  private:
    Result<Bytes> append(ChunkKind kind, std::uint32_t number = 0);
    Result<Ok> write_waiting();
    template <class Record>
    Result<Bytes> add_record(ChunkKind kind, Record& record);
    Result<Bytes> wait_with_tick();
    Result<Ok> check_open() const;

    enum class Phase : std::uint8_t { fresh, needs_keyframe, open, ended };
    ChunkWriter chunks_;
    const std::uint32_t ticks_per_chunk_;
    Phase phase_ = Phase::fresh;
    RunId run_{};
    std::uint64_t ticks_ = 0;
    TickRecord record_;
    TicksEncoder waiting_;
    std::vector<std::uint8_t> payload_, bytes_;
};

}  // namespace orrery::protocol::replay
