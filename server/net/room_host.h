// Runs a room on the wall clock: its thread is the caller's, its datagrams go through the network thread. Prints
// the status line, logs what happens, ends cleanly on SIGINT and SIGTERM.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "server/net/access.h"
#include "server/net/ignored_log.h"
#include "server/net/network_thread.h"
#include "server/room/room.h"

namespace orrery::server {

struct HostSettings {
    bool json = false;
    double status_every_s = 1.0;
};

class RoomHost final : private RoomObserver {
  public:
    RoomHost(Room& room, NetworkThread& network, Outbox& outbox, std::optional<TokenFile> token_file,
             const HostSettings& settings);

    // Until a signal comes or the world halts. An error: the recording is not whole.
    Result<Ok> run();

  private:
    void connected(std::uint32_t client, std::uint64_t client_id, const protocol::Address& from) override;
    void refused(std::uint32_t client, const protocol::Refusal& why) override;
    void disconnected(std::uint32_t client, std::uint64_t client_id, protocol::DisconnectReason why) override;
    void slipped(std::uint64_t tick, std::uint64_t late_ns) override;
    void recording_failed(const Error& error) override;

    void tick();
    void renew_token();
    void log_ignored(protocol::TimeNs now);
    void note_duration(protocol::TimeNs duration, std::uint32_t ticks);
    double tick_percentile_ms(double fraction) const;
    void print_status(protocol::TimeNs now);

    Room& room_;
    NetworkThread& network_;
    Outbox& outbox_;
    std::optional<TokenFile> token_file_;
    HostSettings settings_;
    DatagramQueue arrived_;
    // Durations of the last ticks with all that belongs to them, ns.
    std::array<protocol::TimeNs, 1024> durations_{};
    std::size_t duration_count_ = 0;
    protocol::TimeNs last_status_ = 0, last_slip_log_ = 0;
    std::uint64_t slips_unlogged_ = 0;
    RoomStats last_stats_;
    IgnoredLog ignored_;
    std::uint64_t lines_dropped_ = 0;  // of status, that stdout did not take at once
    bool token_used_ = false;
};

}  // namespace orrery::server
