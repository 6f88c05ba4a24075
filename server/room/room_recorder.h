// Records a room without making it wait: the room hands over each tick and goes on, and a thread packs, signs and
// writes. Nothing here waits for a disk but close().
//
//   announced >= recorded >= durable: the ticks that were handed over, whose bytes are in the file, that are on the
//   disk
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "server/room/record_parts.h"

namespace orrery::server {

inline constexpr std::size_t kMaxRecordBacklog = std::size_t{64} << 20;  // bytes that wait, keyframes apart
inline constexpr std::uint32_t kMaxKeyframesWaiting = 2;
inline constexpr double kMaxRecordLag_s = 1.0;  // after which a recording is late
inline constexpr protocol::TimeNs kCloseWithin = 10 * protocol::kNsPerSecond;

struct RecordingCounters {
    std::uint64_t announced = 0, recorded = 0, durable = 0, lost = 0;  // ticks
    bool failing = false;                                              // nothing is recorded at present
    bool late = false;                                                 // by more than kMaxRecordLag_s
    // The part that has the recorded ticks. Null: nothing is recorded.
    std::shared_ptr<const std::string> path{};
    protocol::replay::RunId run{};
};

class RoomRecorder {
  public:
    // `clock` is monotonic. What the settings point to outlives the process: a thread whose disk never answers outlives
    // this. Without a thread each call writes before it returns, which a room on a virtual clock needs:
    // its ticks wait for the disk.
    RoomRecorder(std::unique_ptr<Recorder> first, PartsSettings settings, protocol::TimeNs (*clock)(), bool threaded);
    // Of one file, without a thread.
    explicit RoomRecorder(std::unique_ptr<Recorder> only);
    // Without close() the recording has no end record. It waits for the disk as close() does.
    ~RoomRecorder();
    RoomRecorder(const RoomRecorder&) = delete;
    RoomRecorder& operator=(const RoomRecorder&) = delete;

    void tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
              std::uint64_t slip_ns);
    bool keyframe_due() const;
    // Takes both; they are empty afterwards, and may have memory of earlier ones. `seated`: who sits in the room, for a
    // part that begins with it.
    void keyframe(std::uint64_t tick, std::vector<std::uint8_t>& state, std::vector<std::uint8_t>& host,
                  std::span<const protocol::replay::PlayerRecord> seated = {});
    void player(const protocol::replay::PlayerRecord& record) { hand_over(record); }
    void resume(protocol::replay::ResumeRecord record) { hand_over(std::move(record)); }
    void host(const std::vector<std::uint8_t>& state) { hand_over(HostItem{state}); }
    void note(std::string_view text) { hand_over(NoteItem{std::string(text)}); }

    // What has happened since the last call.
    std::vector<RecordingNews> take_news();
    RecordingCounters counters() const;

    // Writes what waits and ends the recording; once. An error: some of it is lost, now or earlier; also after
    // kCloseWithin.
    Result<Ok> close();

  private:
    // Shared with the thread, which may outlive the room if its disk never answers.
    struct Shared {
        Shared(std::unique_ptr<Recorder> first, PartsSettings settings, protocol::TimeNs (*now)())
            : parts(std::move(first), std::move(settings)), clock(now) {}
        bool work();
        void publish();
        void end();
        void run();

        RecordParts parts;              // this and the next two: the thread's
        std::vector<RecordItem> batch;  // that it has taken
        bool asked = false;             // for a keyframe
        protocol::TimeNs (*const clock)();

        std::mutex mutex;  // of what follows, up to close_error
        std::condition_variable wake, ended;
        std::vector<RecordItem> queue;
        std::vector<RecordingNews> news;
        std::vector<std::vector<std::uint8_t>> spare;  // memory of keyframes
        RecordingCounters published;
        bool closing = false, closed = false;
        bool left = false;  // it ends without an end record
        std::optional<Error> close_error;

        std::atomic<bool> has_news{false};
        std::atomic<std::size_t> backlog{0};  // bytes that wait
        std::atomic<std::uint64_t> taken{0};
        std::atomic<std::uint32_t> keyframes{0};  // that wait
        std::atomic<bool> wants_keyframe{false};
    };

    void hand_over(RecordItem item);
    std::uint64_t keyframe_after(std::uint64_t tick) const;

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
    const std::uint64_t keyframe_ticks_, keyframe_phase_;
    const double tick_rate_hz_;
    std::uint64_t announced_, next_keyframe_;
    bool overflow_ = false, late_ = false, closed_ = false;
};

}  // namespace orrery::server
