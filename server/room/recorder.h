// A file of a recording: DIR/<scene>-<UTC yyyymmddThhmmssZ>-<room>.orr. Each run of a room makes a new file; an
// existing file is never overwritten. The file is locked as long as it is written.
//
// Every append is given to write(2) before it returns, so a room that is killed loses at most the tick that it was
// writing; but with several ticks a chunk, ticks wait until their chunk is full or something else is written. The first
// error of the operating system (a full disk) ends the file: it is cut back to its last whole record, and every later
// call returns that error again. A deleted file ends it, too: the next keyframe or sync() notices it, because writes to
// a deleted file succeed. What comes after the end of a file is for record_parts.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/writer.h"
#include "server/room/record_files.h"
#include "sim/base/result.h"

namespace orrery::protocol::replay {
struct Survey;
}

namespace orrery::server {

inline constexpr double kKeyframeInterval_s = 10.0;      // a reader that seeks re-simulates at most about this much
inline constexpr int kMaxRecordingsOfOneName = 1000;     // recordings of one scene and room that begin in one second
inline constexpr std::size_t kMaxFileNamePart = 64;      // bytes of a scene's or a room's name in the file name
inline constexpr std::uint64_t kReserveBytes = 1 << 20;  // of the disk, ahead of what is written

struct RecorderSettings {
    std::string directory = "build/replays";  // created if it is missing
    std::string room = "main";
    std::uint64_t start_unix_s = 0;                          // 0: now
    double keyframe_interval_s = kKeyframeInterval_s;        // s
    std::vector<protocol::replay::KeyValue> about{};         // of the program and the room; in any order
    std::uint32_t ticks_per_chunk = 1;                       // to protocol::replay::kMaxTicksPerChunk
    std::optional<protocol::replay::SigningKey> sign_key{};  // signs after each keyframe and before the end
    RecordFiles* files = nullptr;                            // null: those of the system
};

struct RecordedScene {  // the effective scene (see protocol/scene/scene.h)
    std::string name;
    std::span<const std::uint8_t> binary;
    std::uint64_t hash = 0;
    float tick_rate_hz = 60.0f;
};

// Where a recording begins that goes on from another one: with the keyframe of a later tick.
struct PartStart {
    std::uint64_t tick = 0;
    protocol::replay::Parent parent{};
};

class Recorder {
  public:
    // Makes the file. Errors have the code io. After a start at a later tick, append_keyframe() comes first.
    static Result<std::unique_ptr<Recorder>> open(const RecorderSettings& settings, const RecordedScene& scene,
                                                  const PartStart& start = {});
    // Goes on with a recording that has no END: cuts off what is behind its last whole record. `file` is its file, and
    // `seen` what survey() found in it.
    static Result<std::unique_ptr<Recorder>> go_on(const RecorderSettings& settings, const std::string& path,
                                                   std::unique_ptr<RecordFile> file,
                                                   const protocol::replay::Survey& seen);
    // Without close() the file has no end record.
    ~Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // `tick` is World::tick() after the step, `hash` is its hash() then, and `commands` are those that the step got.
    // `slip_ns` is the slip of the room's time grid before the tick. Ticks are contiguous from 1.
    Result<Ok> append_tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                           std::uint64_t slip_ns = 0);

    // True once in every keyframe interval, after the tick whose World::save() is then due for append_keyframe().
    bool keyframe_due() const { return next_keyframe_ <= writer_.ticks(); }
    std::uint64_t keyframe_ticks() const { return keyframe_ticks_; }  // of an interval
    // Checks that the file was not deleted. A state above 1 GiB is an error (limit_reached) that does not end the
    // recording: it goes on without this keyframe.
    Result<Ok> append_keyframe(std::span<const std::uint8_t> state);

    // Appends an ancillary record of protocol/replay/ancillary.h behind the last tick. One that is too long is an error
    // (limit_reached) that does not end the recording.
    template <class Record>
    Result<Ok> append(const Record& record) {
        return failed_ ? Result<Ok>(failure_) : write(writer_.add(record));
    }

    // Writes the ticks that wait, and waits until all is on the disk.
    Result<Ok> sync();
    bool was_deleted() const { return file_ && !file_->has_name(); }
    // After a failure: waits until what the file has is on the disk. False: it is not known to be.
    bool save_rest();
    // Writes the end record and waits until the file is on the disk.
    Result<Ok> close();

    const std::string& path() const { return path_; }
    std::uint64_t last_tick() const { return writer_.ticks(); }  // that was appended
    std::uint64_t last_tick_written() const { return last_tick_written_; }
    std::uint64_t last_tick_durable() const { return last_tick_durable_; }  // on the disk: sync()
    std::uint64_t bytes_written() const { return size_; }
    std::uint64_t bytes_durable() const { return durable_size_; }
    // For a recording that goes on from this one.
    const protocol::replay::Parent& as_parent() const { return as_parent_; }

  private:
    Recorder(const RecorderSettings& settings, double tick_rate_hz, std::string path, std::unique_ptr<RecordFile> file);
    Result<Ok> write(const Result<protocol::replay::ReplayWriter::Bytes>& bytes);
    Result<Ok> sign(protocol::replay::SignedExtent extent);
    Error fail(const char* call, int code);
    Result<Ok> check_name();

    std::unique_ptr<RecordFile> file_;  // null: closed
    std::string path_;
    std::optional<protocol::replay::SigningKey> sign_key_;
    protocol::replay::ReplayWriter writer_;
    std::uint64_t keyframe_ticks_;
    std::uint64_t next_keyframe_;
    std::uint64_t last_tick_written_ = 0, last_tick_durable_ = 0;
    std::uint64_t size_ = 0, durable_size_ = 0;  // bytes of whole records
    std::uint64_t reserved_ = 0;                 // bytes up to which room was taken
    protocol::replay::Parent as_parent_;
    Error failure_;
    bool failed_ = false, sync_failed_ = false;
};

// A name as part of a file name: letters, digits, '_' and '-' stay, and all else becomes '_'. Never empty.
std::string file_name_part(std::string_view name);

}  // namespace orrery::server
