// Reads a replay record by record, and checks what single chunks cannot show: ticks are contiguous, a keyframe belongs
// to the tick before it, and END agrees with the file.
#pragma once

#include "protocol/replay/chunk.h"
#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

// A place where a world can be restored: just before a keyframe's chunk, or after the file header (tick 0).
struct Mark {
    Position position;
    std::uint64_t tick = 0;
    bool keyframe = false;
};

class ReplayReader {
  public:
    enum class Kind : std::uint8_t { tick, keyframe, stop };

    explicit ReplayReader(const Source& source) : chunks_(source) {}
    // Starts at a mark of the same source, without begin(). A keyframe at the mark is the first record.
    ReplayReader(const Source& source, const Mark& mark) : chunks_(source, mark.position), ticks_(mark.tick) {}

    // Reads the first chunk. An error leaves status() and error_offset() set.
    Result<FileHeader> begin();

    // Reads the next record into tick() or keyframe(), valid until the next call. `stop`: there is none, and status()
    // has the reason.
    Kind next();
    const TickRecord& tick() const { return tick_; }
    const KeyframeRecord& keyframe() const { return keyframe_; }

    ReadStatus status() const { return status_; }
    bool complete() const { return status_ == ReadStatus::closed; }
    const Error& error() const { return error_; }
    std::uint64_t error_offset() const { return error_offset_; }
    std::uint64_t ticks() const { return ticks_; }  // complete tick records that were read, with those before a mark
    const Position& position() const { return chunks_.position(); }

  private:
    Kind stop(ReadStatus status, std::uint64_t offset, Error error);
    Kind bad(const Error& error) { return stop(ReadStatus::corrupt, chunk_.offset, error); }
    Kind bad(const char* message) { return bad(Error{ErrorCode::corrupt, "", message}); }
    Kind read_tick();
    Kind read_keyframe();
    Kind read_end();

    ChunkReader chunks_;
    Chunk chunk_;
    TickRecord tick_;
    KeyframeRecord keyframe_;
    ReadStatus status_ = ReadStatus::chunk;
    Error error_;
    std::uint64_t error_offset_ = 0;
    std::uint64_t ticks_ = 0;
};

// The result of all checks of a file without a simulation: every checksum, the chain, the form of every record.
struct Survey {
    ReadStatus status = ReadStatus::closed;  // closed, open, torn: usable; corrupt, unreadable: not
    Error error;                             // of torn, corrupt, unreadable
    std::uint64_t error_offset = 0;
    FileHeader header;  // set if `has_header`
    bool has_header = false;
    std::uint64_t ticks = 0;  // complete tick records
    std::vector<Mark> marks;  // the start and each keyframe, in order of ticks
    Chain head{};             // chain of the last whole chunk

    bool usable() const {
        return has_header && (status == ReadStatus::closed || status == ReadStatus::open || status == ReadStatus::torn);
    }
};
Survey survey(const Source& source);

// What the headers of the chunks say, without what they hold: found in a short time for a long file. Only a reader that
// goes through the file shows whether it is true.
struct Outline {
    ReadStatus status = ReadStatus::closed;  // as in Survey, of the headers
    Error error;
    std::uint64_t error_offset = 0;
    std::uint64_t ticks = 0;
    std::vector<Mark>
        marks;  // the start and each keyframe, in order of ticks; their chain hashes are those of the file
};
// `start`: after the file header.
Outline outline(const Source& source, const Position& start);

}  // namespace orrery::protocol::replay
