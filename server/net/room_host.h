// Runs a room on the wall clock, on the caller's thread. The room's datagrams go through the network thread. The host
// prints the status line, logs events, and ends cleanly on SIGINT and SIGTERM.
#pragma once

#include <array>
#include <memory>
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
    bool json = false;            // status lines are JSON objects
    double status_every_s = 1.0;  // s between status lines; 0: only the last one
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
    RoomHost(Room& room, NetworkThread& network, Outbox& outbox, std::optional<TokenFile> token_file,
             const HostSettings& settings);
    RoomHost(const RoomHost&) = delete;
    RoomHost& operator=(const RoomHost&) = delete;
    ~RoomHost();

    // Runs until a signal comes or the world halts. An error means that the recording is not complete.
    Result<Ok> run();

  private:
    void connected(std::uint32_t client, std::uint64_t client_id, const protocol::Address& from) override;
    void refused(std::uint32_t client, const protocol::Refusal& why) override;
    void disconnected(std::uint32_t client, std::uint64_t client_id, const Departure& how) override;
    void orders_dropped(std::uint64_t tick, const DroppedOrders& what) override;
    void slipped(std::uint64_t tick, std::uint64_t late_ns) override;
    void recording_failed(const Error& error) override;
    void begin(sim::Stage stage) override;
    void end(sim::Stage stage) override;

    void tick();
    void renew_token();
    void log_rigs();
    void log_ignored(protocol::TimeNs now);
    void log_clients(protocol::TimeNs now, bool last);
    void log_orders(protocol::TimeNs now);
    void print_status(protocol::TimeNs now);

    Room& room_;
    NetworkThread& network_;
    Outbox& outbox_;
    std::optional<TokenFile> token_file_;
    HostSettings settings_;
    DatagramQueue arrived_;
    Durations tick_times_, rig_times_;  // of a tick with all its work, and of its rigs
    protocol::TimeNs stage_start_ = 0, rigs_ns_ = 0;
    protocol::TimeNs last_status_ = 0, last_order_log_ = 0;
    sim::RigFaults rig_faults_;  // that were told of
    RoomStats last_stats_;
    IgnoredLog ignored_;
    LateTickLog late_ticks_;
    ClientLog clients_;
    DroppedOrders orders_unlogged_;
    std::uint64_t lines_dropped_ = 0;  // of status, that stdout did not take at once
};

}  // namespace orrery::server
