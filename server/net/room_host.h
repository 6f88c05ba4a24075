// Runs a room on the caller's thread: on the wall clock, with its datagrams through the network thread, or on a virtual
// clock without a network. The host prints the status line and logs events.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>

#include "server/net/access.h"
#include "server/net/client_log.h"
#include "server/net/ignored_log.h"
#include "server/net/late_tick_log.h"
#include "server/net/network_thread.h"
#include "server/room/room.h"

namespace orrery::server {

struct HostSettings {
    bool json = false;                  // status lines are JSON objects
    double status_every_s = 1.0;        // s between status lines; 0: only the last one
    bool print = true;                  // the status lines
    bool records = true;                // the room has a recorder
    std::uint64_t stop_at_tick = 0;     // 0: no such tick
    bool stops_with_recording = false;  // the room ends when a part of its recording does
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
    // Null `network`: the virtual clock, each tick as soon as the one before it is done.
    RoomHost(Room& room, NetworkThread* network, Outbox& outbox, const StopRequest& stop,
             std::optional<TokenFile> token_file, const HostSettings& settings);
    RoomHost(const RoomHost&) = delete;
    RoomHost& operator=(const RoomHost&) = delete;
    ~RoomHost();

    // Runs until a signal ends the waits of `network`, the stop request or the tick limit holds, or the world halts. An
    // error means that the recording is not complete.
    Result<Ok> run();

  private:
    void connected(std::uint32_t client, std::uint64_t client_id, const protocol::Address& from) override;
    void refused(std::uint32_t client, const protocol::Refusal& why) override;
    void disconnected(std::uint32_t client, std::uint64_t client_id, const Departure& how) override;
    void orders_dropped(std::uint64_t tick, const DroppedOrders& what) override;
    void slipped(std::uint64_t tick, std::uint64_t late_ns) override;
    void recording_news(const RecordingNews& news) override;
    void begin(sim::Stage stage) override;
    void end(sim::Stage stage) override;

    bool wait();
    void tick();
    void take_streams();
    void renew_token();
    void log_rigs();
    void log_ignored(protocol::TimeNs now);
    void log_clients(protocol::TimeNs now, bool last);
    void log_orders(protocol::TimeNs now);
    void print_status(protocol::TimeNs now);

    Room& room_;
    NetworkThread* network_;
    Outbox& outbox_;
    const StopRequest& stop_;
    std::optional<TokenFile> token_file_;
    HostSettings settings_;
    DatagramQueue arrived_;
    StreamQueue streams_;               // likewise
    Durations tick_times_, rig_times_;  // of a tick with all its work, and of its rigs
    protocol::TimeNs stage_start_ = 0, rigs_ns_ = 0;
    protocol::TimeNs last_status_ = 0, last_order_log_ = 0;
    sim::RigFaults rig_faults_;  // that were told of
    RoomStats last_stats_;
    IgnoredLog ignored_;
    LateTickLog late_ticks_;
    ClientLog clients_;
    DroppedOrders orders_unlogged_;
    bool recording_ended_ = false;     // a part of it
    std::uint64_t lines_dropped_ = 0;  // of status, that stdout did not take at once
};

}  // namespace orrery::server
