// The part of RoomHost that has to do with operators: what they see, and what they ask.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "server/base/hex.h"
#include "server/net/room_host.h"

namespace orrery::server {

using protocol::TimeNs;

namespace {

constexpr std::uint64_t kPublishMembersEvery = 60;  // ticks, beside each change that the host sees

}  // namespace

Result<Ok> RoomHost::ask(std::function<void(Room&)> what) {
    const std::lock_guard lock(mutex_);
    if (published_.phase == RoomPhase::ending) return Error{ErrorCode::not_found, "id", "the room is ending"};
    if (asked_.size() >= kMaxAsked)
        return Error{ErrorCode::limit_reached, "id", "too much was asked of this room since its last tick"};
    asked_.push_back(std::move(what));
    return Ok{};
}

void RoomHost::do_asked() {
    std::vector<std::function<void(Room&)>> asked;
    {
        const std::lock_guard lock(mutex_);
        asked.swap(asked_);
    }
    for (const auto& what : asked) what(room_);
    members_changed_ |= !asked.empty();
}

void RoomHost::drain(std::uint64_t ends_unix_ms, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (drain_ && drain_->ends_unix_ms <= ends_unix_ms) return;
    const std::uint64_t now = NetworkThread::unix_ms(), left_ms = ends_unix_ms > now ? ends_unix_ms - now : 0;
    drain_ = Drain{ends_unix_ms, NetworkThread::now() + left_ms * protocol::kNsPerMs, reason};
    if (published_.phase == RoomPhase::open) published_.phase = RoomPhase::draining;
    spdlog::info("{}draining ({}): {} clients, ends in {:.1f} s at the latest", settings_.where, reason,
                 published_.stats.clients, static_cast<double>(left_ms) * 1e-3);
}

// The end of a drain, or of the time for which the room may be empty.
bool RoomHost::drained() {
    std::optional<Drain> drain;
    std::uint32_t clients = 0;
    {
        const std::lock_guard lock(mutex_);
        drain = drain_;
        clients = published_.stats.clients;
    }
    if (clients > 0 || (settings_.joinable && !*settings_.joinable)) empty_since_ = NetworkThread::now();
    if (drain) {
        if (!closed_to_newcomers_) room_.close_to_newcomers(drain->reason);
        closed_to_newcomers_ = true;
        const std::string ends = std::to_string(drain->ends_unix_ms);
        room_.board().set(kDrainBoardKey, {reinterpret_cast<const std::uint8_t*>(ends.data()), ends.size()});
        if (clients > 0 && NetworkThread::now() < drain->ends_at) return false;
        stop_.set(drain->reason);
        return true;
    }
    const auto empty_for = static_cast<double>(NetworkThread::now() - empty_since_) * 1e-9;
    if (settings_.end_when_empty_s == 0.0 || empty_for < settings_.end_when_empty_s) return false;
    stop_.set("the room was empty");
    return true;
}

void RoomHost::publish() {
    const RoomStats stats = room_.stats();
    const auto bodies = static_cast<std::uint32_t>(room_.world().stats().bodies);
    const bool members = members_changed_ || stats.tick % kPublishMembersEvery == 0;
    std::vector<Room::Member> now_there;
    if (members) now_there = room_.members();
    members_changed_ = false;
    const std::lock_guard lock(mutex_);
    published_.stats = stats;
    published_.bodies = bodies;
    published_.failed |= room_.halted().has_value();
    if (members) published_.members = std::move(now_there);
}

void RoomHost::publish_to(RoomView& view) const {
    Durations times, lateness;
    {
        const std::lock_guard lock(mutex_);
        const RoomStats& stats = published_.stats;
        view.phase = published_.phase;
        if (drain_) view.ends_unix_ms = drain_->ends_unix_ms;
        view.tick = stats.tick;
        view.clients = stats.clients;
        view.players = stats.playing;
        view.bodies = published_.bodies;
        for (const Room::Member& member : published_.members)
            view.members.push_back({member.client_id, member.role, member.slot});
        view.late_ticks = stats.slips;
        view.sent_bytes = stats.netcode.bytes_sent + stats.streams.bytes_sent;
        view.received_bytes = stats.netcode.bytes_received + stats.streams.bytes_received;
        view.recording = stats.recording;
        if (stats.recording.path) {
            view.replay = std::filesystem::path(*stats.recording.path).filename().string();
            view.run_id = to_hex(stats.recording.run);
        }
        times = published_.tick_times;
        lateness = published_.lateness;
    }
    view.times.p50_ms = times.percentile_ms(0.5), view.times.p99_ms = times.percentile_ms(0.99);
    view.times.late_p50_ms = lateness.percentile_ms(0.5), view.times.late_p99_ms = lateness.percentile_ms(0.99);
    view.times.budget_ms = static_cast<double>(tick_duration_) * 1e-6;
}

void RoomHost::publish_to(HostTotals& totals) const {
    const NetworkStats network = link_ ? link_->stats() : NetworkStats{};
    const std::lock_guard lock(mutex_);
    const RoomStats& stats = published_.stats;
    totals.rooms_failed += published_.failed ? 1 : 0;
    totals.ticks += stats.tick;
    totals.late_ticks += stats.slips;
    totals.clients_connected += published_.connected;
    totals.clients_disconnected += published_.disconnected;
    totals.clients_refused += published_.refused;
    totals.sent_bytes += stats.netcode.bytes_sent + stats.streams.bytes_sent;
    totals.received_bytes += stats.netcode.bytes_received + stats.streams.bytes_received;
    totals.sent_datagrams += stats.netcode.datagrams_sent;
    totals.received_datagrams += stats.netcode.datagrams_received;
    totals.dropped_datagrams += stats.datagrams_dropped + network.received_dropped + network.send_dropped;
    totals.ignored_datagrams += stats.netcode.ignored_total();
    totals.inputs_late += stats.inputs_late;
    totals.inputs_applied += stats.inputs_applied;
    totals.commands_rejected += stats.rejected_commands;
    totals.ticks_recorded += stats.recording.recorded;
    totals.ticks_durable += stats.recording.durable;
    totals.ticks_lost += stats.recording.lost;
    totals.tick_s.add(published_.tick_s);
    totals.lateness_s.add(published_.lateness_s);
}

HostSummary RoomHost::summary(TimeNs now) const {
    const std::lock_guard lock(mutex_);
    const RoomStats& stats = published_.stats;
    HostSummary summary{published_.phase,        stats.clients,        stats.playing,
                        stats.recording.failing, stats.recording.late, 0.0};
    // A room on the virtual clock, or one that ends, need not tick.
    if (link_ && summary.phase != RoomPhase::ending)
        summary.stalled_s = static_cast<double>(now - std::min(now, published_.last_tick_at + tick_duration_)) * 1e-9;
    return summary;
}

}  // namespace orrery::server
