// The file of a recording: DIR/<scene>-<UTC yyyymmddThhmmssZ>-<room>.orr. Each run of a room makes a new file; an
// existing file is never overwritten.
//
// Every append is given to write(2) before it returns, so a room that is killed loses at most the tick that it was
// writing. The first error of the operating system (a full disk) ends the recording: the file is cut back to its last
// whole record, and every later call returns that error again. The room may go on without a recording. A deleted file
// ends the recording, too: the next keyframe notices it, because writes to a deleted file succeed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/writer.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr double kKeyframeInterval_s = 10.0;   // a reader that seeks re-simulates at most about this much
inline constexpr int kMaxRecordingsOfOneName = 1000;  // recordings of one scene and room that begin in one second
inline constexpr std::size_t kMaxFileNamePart = 64;   // bytes of a scene's or a room's name in the file name

struct RecorderSettings {
    std::string directory = "build/replays";  // created if it is missing
    std::string room = "main";
    std::uint64_t start_unix_s = 0;                    // 0: now
    double keyframe_interval_s = kKeyframeInterval_s;  // s
    std::vector<protocol::replay::KeyValue> about{};   // of the program and the room; in any order
};

struct RecordedScene {  // the effective scene (see protocol/scene/scene.h)
    std::string name;
    std::span<const std::uint8_t> binary;
    std::uint64_t hash = 0;
    float tick_rate_hz = 60.0f;
};

class Recorder {
  public:
    // Makes the file. Errors have the code io.
    static Result<std::unique_ptr<Recorder>> open(const RecorderSettings& settings, const RecordedScene& scene);
    // Without close() the file has no end record.
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // `tick` is World::tick() after the step, `hash` is its hash() then, and `commands` are those that the step got.
    // `slip_ns` is the slip of the room's time grid before the tick. Ticks are contiguous from 1.
    Result<Ok> append_tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                           std::uint64_t slip_ns = 0);

    // True once in every keyframe interval, after the tick whose World::save() is then due for append_keyframe().
    bool keyframe_due() const { return next_keyframe_ <= writer_.ticks(); }
    // Checks that the file was not deleted. A state above 1 GiB is an error (limit_reached) that does not end the
    // recording: it goes on without this keyframe.
    Result<Ok> append_keyframe(std::span<const std::uint8_t> state);

    // Appends an ancillary record of protocol/replay/ancillary.h behind the last tick. One that is too long is an error
    // (limit_reached) that does not end the recording.
    template <class Record>
    Result<Ok> append(const Record& record) {
        return failed_ ? Result<Ok>(failure_) : write(writer_.add(record));
    }

    // Writes the end record and waits until the file is on the disk.
    Result<Ok> close();

    const std::string& path() const { return path_; }
    std::uint64_t last_tick_written() const { return last_tick_written_; }
    std::uint64_t bytes_written() const { return size_; }

  private:
    Recorder(int file, std::string path, std::uint64_t keyframe_ticks);
    Result<Ok> write(const Result<protocol::replay::ReplayWriter::Bytes>& bytes);
    Error fail(const char* call, int code);
    Result<Ok> check_name();

    int file_;
    std::string path_;
    protocol::replay::ReplayWriter writer_;
    std::uint64_t keyframe_ticks_;
    std::uint64_t next_keyframe_;
    std::uint64_t last_tick_written_ = 0;
    std::uint64_t size_ = 0;  // bytes of whole records
    Error failure_;
    bool failed_ = false;
};

// A name as part of a file name: letters, digits, '_' and '-' stay, and all else becomes '_'. Never empty.
std::string file_name_part(std::string_view name);

}  // namespace orrery::server
