// Reads a replay record by record, and checks what single chunks cannot show: ticks are contiguous, keyframes and
// ancillary records belong to the tick before them, and END agrees with the file.
#pragma once

#include <functional>

#include "protocol/replay/ancillary.h"
#include "protocol/replay/chunk.h"
#include "protocol/replay/records.h"
#include "protocol/replay/ticks.h"

namespace orrery::protocol::replay {

// A place where reading can go on. Those of a survey are places where a world can be restored, too: just before a
// keyframe's chunk, or after the file header (tick 0).
struct Mark {
    Position position;
    std::uint64_t tick = 0;
    bool keyframe = false;
    std::uint32_t ticks_before = 0;  // ticks of the TICKS at `position` that come before the place
};

class ReplayReader {
  public:
    enum class Kind : std::uint8_t { tick, keyframe, ancillary, stop };

    explicit ReplayReader(const Source& source) : chunks_(source) {}
    // Starts at a mark of the same source, without begin(). A keyframe at the mark is the first record.
    ReplayReader(const Source& source, const Mark& mark)
        : chunks_(source, mark.position), ticks_(mark.tick - mark.ticks_before), skipped_ticks_(mark.ticks_before) {}

    // Reads the first chunk. An error leaves status() and error_offset() set.
    Result<FileHeader> begin();

    // Reads the next tick or keyframe into tick() or keyframe(), valid until the next call; ancillary records are
    // checked and passed over. `stop`: there is none, and status() has the reason.
    Kind next();
    // As next(), but also stops at ancillary records, in ancillary().
    Kind next_of_all();
    const TickRecord& tick() const { return tick_; }
    const KeyframeRecord& keyframe() const { return keyframe_; }  // whole: its parts are joined
    const AncillaryRecord& ancillary() const { return ancillary_; }
    const Chunk& chunk() const { return chunk_; }  // of the record that was read last

    ReadStatus status() const { return status_; }
    bool complete() const { return status_ == ReadStatus::closed; }
    const Error& error() const { return error_; }
    std::uint64_t error_offset() const { return error_offset_; }
    std::uint64_t ticks() const { return ticks_; }  // of the last complete tick record, here or before a mark
    const Position& position() const { return chunks_.position(); }  // after the last chunk that was read
    Mark mark() const;                                               // behind the last record that was read

  private:
    Kind stop(ReadStatus status, std::uint64_t offset, Error error);
    Kind bad(const Error& error) { return stop(ReadStatus::corrupt, chunk_.offset, error); }
    Kind bad(const char* message) { return bad(Error{ErrorCode::corrupt, "", message}); }
    bool read_chunk();
    Kind read_tick();
    Kind read_ticks();
    Kind read_tick_of_chunk();
    Kind read_keyframe();
    Kind read_ancillary();
    Kind read_end();

    ChunkReader chunks_;
    Position chunk_start_;
    Chunk chunk_;
    TickRecord tick_;
    TicksDecoder ticks_of_chunk_;
    KeyframeRecord keyframe_;
    std::vector<std::uint8_t> joined_;  // the state of a keyframe in parts
    AncillaryRecord ancillary_;
    ReadStatus status_ = ReadStatus::chunk;
    Error error_;
    std::uint64_t error_offset_ = 0;
    std::uint64_t ticks_ = 0;
    std::uint32_t skipped_ticks_ = 0;  // of the first chunk
    bool needs_keyframe_ = false;      // before any tick: of a recording that was cut
};

// A signature in a file.
struct SignedPlace {
    std::uint64_t offset = 0;
    Chain before{};     // of the chunk before it
    Position position;  // of its chunk
    SignRecord record;
    bool before_end = false;  // END follows
    bool whole = false;       // and it signs the whole recording: verify() finds that
};

// The result of all checks of a file without a simulation: every checksum, the chain, the form of every record.
struct Survey {
    ReadStatus status = ReadStatus::closed;  // closed, open, torn: usable; corrupt, unreadable: not
    Error error;                             // of torn, corrupt, unreadable
    std::uint64_t error_offset = 0;
    FileHeader header;  // set if `has_header`
    bool has_header = false;
    std::uint16_t format = 0;  // of the file
    std::uint64_t ticks = 0;   // the last complete tick
    std::vector<Mark> marks;   // the start, unless it was cut, and each keyframe, in order of ticks
    AncillaryCounts ancillary;
    std::vector<SignedPlace> signs;  // nothing of them was checked but their form
    Chain head{};                    // chain of the last whole chunk
    Position end;                    // behind the last whole chunk
    Position record_end;             // behind the last whole record, where writing can go on

    bool usable() const {
        return has_header && !marks.empty() &&
               (status == ReadStatus::closed || status == ReadStatus::open || status == ReadStatus::torn);
    }
};
// Is called with each of the ancillary records, in order.
using AncillaryVisitor = std::function<void(const AncillaryRecord&)>;
Survey survey(const Source& source, const AncillaryVisitor& ancillary = {});

// The records of a file from the reader's place up to the chunk at the offset `until` or behind it, which are added to
// the result: as survey() has them, without the mark of a start. The reader has read as far afterwards.
inline constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
void survey_part(ReplayReader& reader, Survey& result, std::uint64_t until = kToTheEnd,
                 const AncillaryVisitor& ancillary = {});

// What the headers of the chunks say, without what they hold: found in a short time for a long file. Only a reader that
// goes through the file shows whether it is true.
struct Outline {
    ReadStatus status = ReadStatus::closed;  // as in Survey, of the headers
    Error error;
    std::uint64_t error_offset = 0;
    std::uint64_t ticks = 0;
    std::vector<Mark> marks;      // as in Survey; their chain hashes are those of the file
    std::uint64_t ancillary = 0;  // chunks
};
// `start`: after the file header. `first_tick`: of the file header.
Outline outline(const Source& source, const Position& start, std::uint64_t first_tick = 0);

}  // namespace orrery::protocol::replay
