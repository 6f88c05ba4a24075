// The file of a recording: DIR/<scene>-<UTC yyyymmddThhmmssZ>-<room>.orr, one a room and run, never an existing one.
//
// Every append is handed to write(2) before it returns, so a room that is killed loses at most the tick that it was
// writing. The first error of the operating system (a full disk) ends the recording: the file is cut back to its last
// whole record and every later call gives that error again; the room may go on without it. So does a file that somebody
// has deleted, which the next keyframe notices: writes to it succeed, but nobody can open it any more.
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

inline constexpr double kKeyframeInterval_s = 10.0;      // about how far a reader that seeks has to re-simulate
inline constexpr int kMaxRecordingsOfOneName = 1000;     // recordings of one scene and room begun in one second
inline constexpr std::size_t kMaxFileNamePart = 64;      // bytes of a scene's or a room's name in the file name

struct RecorderSettings {
    std::string directory = "build/replays";             // made if it is missing
    std::string room = "main";
    std::uint64_t start_unix_s = 0;                      // 0: now
    double keyframe_interval_s = kKeyframeInterval_s;
};

struct RecordedScene {                                   // the effective scene
    std::string name;
    std::span<const std::uint8_t> binary;
    std::uint64_t hash = 0;
    float tick_rate_hz = 60.0f;
};

class Recorder {
  public:
    static Result<std::unique_ptr<Recorder>> open(const RecorderSettings& settings, const RecordedScene& scene);
    ~Recorder();                                         // without close() the file stays without its end
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // `tick` is World::tick() after the step, `hash` its hash() then, `commands` those that the step was given;
    // `slip_ns` by how much the room's time grid gave way before it. Ticks follow each other from 1.
    Result<Ok> append_tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                           std::uint64_t slip_ns = 0);

    // True once every keyframe interval, after the tick whose World::save() is then to be appended.
    bool keyframe_due() const { return next_keyframe_ <= writer_.ticks(); }
    // Looks whether the file still has a name. A state above 64 MiB is an error (limit_reached) that leaves the recording
    // sound: it goes on without this keyframe.
    Result<Ok> append_keyframe(std::span<const std::uint8_t> state);

    // Writes the end and waits until the file is on the disk.
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
    std::uint64_t size_ = 0;                             // of whole records
    Error failure_;
    bool failed_ = false;
};

// What a name becomes as part of a file name: letters, digits, '_' and '-' stay, all else is '_'; never empty.
std::string file_name_part(std::string_view name);

}  // namespace orrery::server
