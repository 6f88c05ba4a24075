// Runs a room: on the wall clock, with its datagrams through the network thread, or on a virtual clock without a
// network. The host prints the status line, logs events, publishes what operators see, and does what they ask.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "server/control/rooms.h"
#include "server/net/access.h"
#include "server/net/client_log.h"
#include "server/net/ignored_log.h"
#include "server/net/late_tick_log.h"
#include "server/net/network_thread.h"
#include "server/net/room_link.h"
#include "server/room/room.h"

namespace orrery::server {

// Of the board of a room that drains: when it ends at the latest, Unix time in ms, as decimal text.
inline constexpr std::size_t kMaxAsked = 1024;  // wishes that wait for a turn

inline constexpr std::string_view kDrainBoardKey = "orrery.ends_unix_ms";

struct HostSettings {
    bool json = false;                            // status lines are JSON objects
    double status_every_s = 1.0;                  // s between status lines; 0: only the last one
    bool print = true;                            // the status lines
    bool records = true;                          // the room has a recorder
    std::uint64_t stop_at_tick = 0;               // 0: no such tick
    bool stops_with_recording = false;            // the room ends when a part of its recording does
    double end_when_empty_s = 0.0;                // s without a client, after which the room ends; 0: never
    const std::atomic<bool>* joinable = nullptr;  // false: nobody can join yet, which is not being empty; null: true
    std::string where;                            // before each line of the log: "room NAME: " of a room among others
};

// What a host is asked for all rooms at once.
struct HostSummary {
    RoomPhase phase = RoomPhase::open;
    std::uint32_t clients = 0, players = 0;
    bool recording_failing = false, recording_late = false;
    double stalled_s = 0.0;  // since the last tick, beyond the time of one
};

// The wish that a room ends. Any thread may use it.
class StopRequest {
  public:
    void set(std::string reason);  // the first reason stays
    std::optional<std::string> reason() const;

  private:
    mutable std::mutex mutex_;
    std::optional<std::string> reason_;
};

// Durations of the last ticks.
class Durations {
  public:
    void note(protocol::TimeNs duration) { of_[count_++ % of_.size()] = duration; }
    double percentile_ms(double fraction) const;  // 0 if there are none

  private:
    std::array<protocol::TimeNs, 1024> of_{};
    std::size_t count_ = 0;
};

class RoomHost final : private RoomObserver, private sim::StageObserver {
  public:
    // Null `link`: the virtual clock, each tick as soon as the one before it is done.
    RoomHost(Room& room, RoomLink* link, Outbox& outbox, StopRequest& stop, const HostSettings& settings);
    RoomHost(const RoomHost&) = delete;
    RoomHost& operator=(const RoomHost&) = delete;
    ~RoomHost();

    void set_token_file(TokenFile file) { token_file_ = std::move(file); }

    // Runs on this thread until the waits of `network` end or turn() is false; then finish().
    Result<Ok> run(NetworkThread* network);

    // For a pool of threads; one at a time calls them.
    protocol::TimeNs next_deadline() const { return room_.next_deadline(); }
    // Steps the due ticks, at most `most`. False: the room is to end: by the stop request, the tick limit, the end of a
    // drain, or because the world has halted.
    bool turn(std::uint32_t most);
    // Ends the room: says goodbye, which waits for nothing, and then closes the recording. finish() does both, each
    // once. An error means that the recording is not complete.
    void say_goodbye();
    Result<Ok> finish();

    // Any thread may call these. What is asked is done at the next turn. Errors: not_found, the room ends;
    // limit_reached, kMaxAsked wait.
    Result<Ok> ask(std::function<void(Room&)> what);
    // No newcomers; the room ends when its last client leaves, or at `ends_unix_ms`. Again: takes the earlier end.
    void drain(std::uint64_t ends_unix_ms, const std::string& reason);
    void publish_to(RoomView& view) const;      // the fields that change
    void publish_to(HostTotals& totals) const;  // adds what this room has done
    HostSummary summary(protocol::TimeNs now) const;

  private:
    void connected(std::uint32_t client, std::uint64_t client_id, const protocol::Address& from) override;
    void refused(std::uint32_t client, const protocol::Refusal& why) override;
    void disconnected(std::uint32_t client, std::uint64_t client_id, const Departure& how) override;
    void orders_dropped(std::uint64_t tick, const DroppedOrders& what) override;
    void slipped(std::uint64_t tick, std::uint64_t late_ns) override;
    void recording_news(const RecordingNews& news) override;
    void begin(sim::Stage stage) override;
    void end(sim::Stage stage) override;

    bool wait(NetworkThread* network);
    void tick(std::uint32_t most);
    void do_asked();
    bool drained();
    void publish();
    struct Published;
    void note_client(std::uint64_t Published::*count);
    void take_streams();
    void renew_token();
    void log_rigs();
    void log_ignored(protocol::TimeNs now);
    void log_clients(protocol::TimeNs now, bool last);
    void log_orders(protocol::TimeNs now);
    void print_status(protocol::TimeNs now);

    Room& room_;
    const protocol::TimeNs tick_duration_;
    RoomLink* link_;
    Outbox& outbox_;
    StopRequest& stop_;
    std::optional<TokenFile> token_file_;
    HostSettings settings_;
    DatagramQueue arrived_;
    StreamQueue streams_;  // likewise
    Durations rig_times_;
    protocol::TimeNs stage_start_ = 0, rigs_ns_ = 0;
    protocol::TimeNs last_status_ = 0, last_order_log_ = 0;
    sim::RigFaults rig_faults_;  // that were told of
    RoomStats last_stats_;
    IgnoredLog ignored_;
    LateTickLog late_ticks_;
    ClientLog clients_;
    DroppedOrders orders_unlogged_;
    bool recording_ended_ = false;  // a part of it
    bool said_goodbye_ = false;
    std::uint64_t lines_dropped_ = 0;  // of status, that stdout did not take at once
    bool members_changed_ = true, closed_to_newcomers_ = false;
    protocol::TimeNs empty_since_ = 0;

    struct Drain {
        std::uint64_t ends_unix_ms = 0;
        protocol::TimeNs ends_at = 0;  // whatever becomes of the clock
        std::string reason;
    };
    struct Published {
        RoomStats stats;
        std::uint32_t bodies = 0;
        std::vector<Room::Member> members;
        std::uint64_t connected = 0, disconnected = 0, refused = 0;
        Histogram tick_s, lateness_s;
        Durations tick_times, lateness;  // of a tick with all its work; from when it is due to its begin
        protocol::TimeNs last_tick_at = 0;
        bool failed = false;  // the world has halted, or the recording is not complete
        RoomPhase phase = RoomPhase::open;
    };
    mutable std::mutex mutex_;  // guards all below
    std::vector<std::function<void(Room&)>> asked_;
    std::optional<Drain> drain_;
    Published published_;
};

}  // namespace orrery::server
