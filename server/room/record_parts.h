// What a room records, over the failures of its disk. A recording is one file as long as all goes well. When its disk
// is full, fails, or does not keep up, the file ends with its last whole record, and ticks are lost; as soon as the
// disk takes it, a new part begins: a recording of its own, which names the one before as its parent, with the keyframe
// of a later tick. Each part proves itself.
//
// It has no thread and no clock: room_recorder.h runs it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "protocol/netcode/crypto.h"
#include "server/room/recorder.h"

namespace orrery::server {

// When a recording waits for the disk: never before its end; once a second, with the ticks of that second in one
// record; or after each tick.
enum class FsyncPolicy : std::uint8_t { none, interval, tick };

inline constexpr protocol::TimeNs kSyncEvery = protocol::kNsPerSecond;
// A room that stands still, or whose ticks are late, has its ticks written after this time all the same.
inline constexpr protocol::TimeNs kSyncAtLatest = protocol::kNsPerSecond * 3 / 2;
// After a part that lived for less than the last one, the next comes twice as late.
inline constexpr protocol::TimeNs kFirstRetry = protocol::kNsPerSecond, kLastRetry = 32 * protocol::kNsPerSecond;
inline constexpr std::uint64_t kLeastFreeBytes = 16 << 20;  // of the disk, for a new part

// Ticks in a record under this policy.
std::uint32_t ticks_per_chunk(FsyncPolicy policy, double tick_rate_hz);

// What a room hands over, in the order in which it happened.
struct TickItem {
    std::uint64_t tick = 0, slip_ns = 0;
    sim::HashTree hash;
    std::vector<sim::Command> commands;
};
struct KeyframeItem {
    std::uint64_t tick = 0;
    std::vector<std::uint8_t> state;                     // World::save()
    std::vector<std::uint8_t> host;                      // what the room and its director keep; empty: nothing
    std::vector<protocol::replay::PlayerRecord> seated;  // who sits in the room
};
struct NoteItem {
    std::string text;
};
struct HostItem {
    std::vector<std::uint8_t> state;
};
struct OverflowItem {};  // items behind it were not kept
using RecordItem = std::variant<TickItem, KeyframeItem, NoteItem, HostItem, protocol::replay::PlayerRecord,
                                protocol::replay::ResumeRecord, OverflowItem>;

// What a host is told of.
struct RecordingNews {
    enum class Kind : std::uint8_t {
        failed,          // the part has ended: `error`
        went_on,         // a new part has begun: `path`; the ticks from first_lost to last_lost are in no part
        late,            // the disk does not keep up; nothing is lost yet
        in_time,         // it does again
        host_too_large,  // what the director keeps: it is not recorded, and the room could not go on
    };
    Kind kind = Kind::failed;
    Error error{};
    std::string path{};
    std::uint64_t first_lost = 0, last_lost = 0;  // none are lost: last_lost is less
};

struct PartsSettings {
    RecorderSettings recorder;  // of a new part
    // The scene, kept for new parts.
    std::string scene_name;
    std::vector<std::uint8_t> scene;
    std::uint64_t scene_hash = 0;
    float tick_rate_hz = 60.0f;
    FsyncPolicy fsync = FsyncPolicy::none;
    bool goes_on = true;  // new parts begin
    // Where keyframes stand in their interval, 0 to below 1: those of the rooms of a process are not to come at once.
    double keyframe_phase = 0.0;
};

class RecordParts {
  public:
    RecordParts(std::unique_ptr<Recorder> first, PartsSettings settings);

    void take(const RecordItem& item, protocol::TimeNs now);
    // After each batch of items, and when next_wake() has come.
    void settle(protocol::TimeNs now);
    // When settle() is due if no item comes; the largest time: never.
    protocol::TimeNs next_wake() const;
    // A new part is about to begin: the next keyframe is to come soon.
    bool wants_keyframe() const { return wants_keyframe_; }
    // Writes what waits, without an end record.
    void leave();
    // Ends the recording. An error: some of it is lost, now or earlier.
    Result<Ok> close();

    std::uint64_t recorded() const { return recorded_; }  // the last tick whose bytes are in a file
    std::uint64_t durable() const { return durable_; }    // the last tick that is on the disk
    std::uint64_t lost() const { return lost_ + (recorder_ ? 0 : last_seen_ - recorded_); }  // ticks
    bool failing() const { return recorder_ == nullptr; }
    const std::string& path() const { return path_; }  // of the last part
    const protocol::replay::RunId& run() const { return run_; }
    std::vector<RecordingNews>& news() { return news_; }  // to be taken away

  private:
    RecordFiles& files() { return settings_.recorder.files ? *settings_.recorder.files : system_files(); }
    bool all_durable() const;
    void note_counters();
    void fail(const Error& error, protocol::TimeNs now);
    void check(const Result<Ok>& done, protocol::TimeNs now);
    void begin_part(const KeyframeItem& keyframe, protocol::TimeNs now);
    void keep(const KeyframeItem& keyframe, protocol::TimeNs now);

    PartsSettings settings_;
    std::unique_ptr<Recorder> recorder_;  // null: between parts
    std::string path_;
    protocol::replay::RunId run_{};
    PartStart next_;  // of the next part: its parent
    std::uint64_t part_start_ = 0, last_seen_ = 0, recorded_ = 0, durable_ = 0, lost_ = 0;
    protocol::TimeNs last_sync_ = 0, part_began_ = 0, retry_at_ = 0, retry_after_ = kFirstRetry;
    bool wants_keyframe_ = false;
    std::optional<Error> first_error_;
    std::vector<RecordingNews> news_;
};

}  // namespace orrery::server
