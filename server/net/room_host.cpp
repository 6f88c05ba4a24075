#include "server/net/room_host.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "protocol/session/handshake.h"
#include "server/net/line_output.h"
#include "server/net/status_line.h"
#include "server/room/rig_faults.h"

namespace orrery::server {

using protocol::kNsPerSecond;
using protocol::TimeNs;

namespace {

constexpr TimeNs kOrderLogEvery = 5 * kNsPerSecond;

std::uint64_t unix_now_s() { return static_cast<std::uint64_t>(std::time(nullptr)); }

}  // namespace

void StopRequest::set(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (!reason_) reason_ = std::move(reason);
}

std::optional<std::string> StopRequest::reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
}

RoomHost::RoomHost(Room& room, RoomLink* link, Outbox& outbox, StopRequest& stop, const HostSettings& settings)
    : room_(room),
      tick_duration_(static_cast<TimeNs>(1e9 / double{room.world().definition().tick_rate_hz})),
      link_(link),
      outbox_(outbox),
      stop_(stop),
      settings_(settings) {
    room_.set_observer(this);
    room_.set_stage_observer(this);
    last_status_ = empty_since_ = published_.last_tick_at = NetworkThread::now();
    publish();
}

RoomHost::~RoomHost() {
    room_.set_observer(nullptr);
    room_.set_stage_observer(nullptr);
}

Result<Ok> RoomHost::run(NetworkThread* network) {
    last_status_ = NetworkThread::now();
    while (wait(network) && turn(kMaxCatchUpTicks)) {
    }
    return finish();
}

bool RoomHost::wait(NetworkThread* network) {
    if (stop_.reason()) return false;
    if (settings_.stop_at_tick != 0 && room_.world().tick() >= settings_.stop_at_tick) return false;
    return !network || network->wait_until(room_.next_deadline());
}

bool RoomHost::turn(std::uint32_t most) {
    if (stop_.reason()) return false;
    do_asked();
    tick(most);
    publish();
    if (room_.halted()) {
        spdlog::error("{}the world has halted: {}", settings_.where, room_.halted()->to_string());
        return false;
    }
    if (recording_ended_ && settings_.stops_with_recording) return false;
    log_rigs();
    if (token_file_ && token_file_->due(unix_now_s())) renew_token();
    const TimeNs now = NetworkThread::now();
    log_clients(now, false);
    log_orders(now);
    if (ignored_.due(now)) log_ignored(now);
    if (const std::optional<std::string> late = late_ticks_.line(now)) spdlog::warn("{}{}", settings_.where, *late);
    const auto status_every = static_cast<TimeNs>(settings_.status_every_s * static_cast<double>(kNsPerSecond));
    if (status_every > 0 && now - last_status_ >= status_every) print_status(now);
    return !drained() && !(settings_.stop_at_tick != 0 && room_.world().tick() >= settings_.stop_at_tick);
}

void RoomHost::say_goodbye() {
    if (said_goodbye_) return;
    {
        const std::lock_guard lock(mutex_);
        published_.phase = RoomPhase::ending;
        asked_.clear();
    }
    const std::optional<std::string> reason = stop_.reason();
    spdlog::info("{}stopping{}: {} clients get a goodbye", settings_.where,
                 reason && !reason->empty() ? " (" + *reason + ")" : "", room_.stats().clients);
    room_.say_goodbye(link_ ? NetworkThread::now() : room_.next_deadline(), reason.value_or(std::string()));
    said_goodbye_ = true;  // not before: a director may throw
    if (!link_) return;
    link_->send(outbox_.queue());
    link_->send_streams();
    link_->leave();
}

Result<Ok> RoomHost::finish() {
    say_goodbye();
    const Result<Ok> closed = room_.close_recording();
    log_clients(NetworkThread::now(), true);
    print_status(NetworkThread::now());
    publish();
    if (closed && !room_.halted()) return closed;
    const std::lock_guard lock(mutex_);
    published_.failed = true;
    return closed;
}

void RoomHost::tick(std::uint32_t most) {
    if (link_) link_->take_received(arrived_);
    for (const DatagramQueue::Entry& entry : arrived_.entries()) {
        room_.receive(entry.address, arrived_.bytes_of(entry), entry.time);
    }
    if (link_) take_streams();
    const TimeNs start = NetworkThread::now(), due = room_.next_deadline();
    const std::uint64_t tick = room_.world().tick();
    // One tick at a time: always on the virtual clock, and before a tick limit, which a room that catches up could
    // miss.
    const bool single = !link_ || (settings_.stop_at_tick != 0 && settings_.stop_at_tick - tick < kMaxCatchUpTicks);
    const std::uint32_t ticks = room_.advance(link_ ? start : room_.next_deadline(), unix_now_s(), single ? 1 : most);
    if (link_) link_->send(outbox_.queue()), link_->send_streams();
    const TimeNs all = NetworkThread::now() - start;
    const std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < ticks; ++i) {
        published_.tick_times.note(all / ticks), rig_times_.note(rigs_ns_ / ticks);
        published_.tick_s.note(static_cast<double>(all / ticks) * 1e-9);
        if (!link_) continue;
        const TimeNs late = start - std::min(start, due + i * tick_duration_);
        published_.lateness.note(late);
        published_.lateness_s.note(static_cast<double>(late) * 1e-9);
    }
    if (ticks > 0) published_.last_tick_at = start;
    rigs_ns_ = 0;
}

// ---------------------------------------------------------------- datagrams, messages, the log

void RoomHost::take_streams() {
    link_->take_streams(streams_);
    for (const StreamQueue::Entry& entry : streams_.entries()) {
        switch (entry.kind) {
            case StreamQueue::Kind::opened:
                room_.stream_opened(entry.connection, entry.address, entry.time);
                break;
            case StreamQueue::Kind::received:
                room_.stream_received(entry.connection, streams_.bytes_of(entry), entry.time);
                break;
            case StreamQueue::Kind::closed:
                room_.stream_closed(entry.connection, entry.lost, entry.time);
                break;
        }
    }
}

void RoomHost::renew_token() {
    const Result<Ok> written = token_file_->renew(unix_now_s());
    if (!written) {
        spdlog::warn("{}no new connect token, next attempt in {} s: {}", settings_.where, kTokenRetry_s,
                     written.error().to_string());
    }
}

void RoomHost::log_rigs() {
    const sim::RigFaults faults = room_.world().rig_faults();
    if (faults == rig_faults_) return;
    rig_faults_ = faults;
    for (const std::string& text : rig_fault_texts(faults, room_.world().definition()))
        spdlog::warn("{}{}", settings_.where, text);
}

void RoomHost::log_ignored(TimeNs now) {
    const RoomStats stats = room_.stats();
    const std::optional<std::string> line =
        ignored_.line(stats.netcode, link_ ? link_->stats() : NetworkStats{}, now, stats.streams);
    if (line) spdlog::info("{}{}", settings_.where, *line);
}

void RoomHost::begin(sim::Stage stage) {
    if (stage == sim::Stage::rigs) stage_start_ = NetworkThread::now();
}
void RoomHost::end(sim::Stage stage) {
    if (stage == sim::Stage::rigs) rigs_ns_ += NetworkThread::now() - stage_start_;
}

double Durations::percentile_ms(double fraction) const {
    std::array<TimeNs, 1024> sorted = of_;
    const std::size_t count = std::min(count_, sorted.size());
    if (count == 0) return 0.0;
    const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(count - 1) * fraction);
    std::nth_element(sorted.begin(), place, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<double>(*place) * 1e-6;
}

// Announces the last tick that is recorded: written after that tick's bytes have reached the file. Nobody need read it:
// a line that would have to wait is dropped.
void RoomHost::print_status(TimeNs now) {
    if (!settings_.print) return;
    const RoomStats stats = room_.stats();
    Durations tick_times;
    {
        const std::lock_guard lock(mutex_);
        tick_times = published_.tick_times;
    }
    const double seconds = std::max(1e-3, static_cast<double>(now - last_status_) * 1e-9);
    Status status;
    status.tick = stats.tick;
    status.clients = stats.clients;
    status.players = stats.playing;
    status.tick_p50_ms = tick_times.percentile_ms(0.5), status.tick_p99_ms = tick_times.percentile_ms(0.99);
    status.rigs_p50_ms = rig_times_.percentile_ms(0.5), status.rigs_p99_ms = rig_times_.percentile_ms(0.99);
    status.budget_ms = 1e3 / static_cast<double>(room_.world().definition().tick_rate_hz);
    status.late_ticks = stats.slips;
    const auto sent = [](const RoomStats& of) { return of.netcode.bytes_sent + of.streams.bytes_sent; };
    const auto received = [](const RoomStats& of) { return of.netcode.bytes_received + of.streams.bytes_received; };
    status.sent_bytes_per_s = static_cast<double>(sent(stats) - sent(last_stats_)) / seconds;
    status.received_bytes_per_s = static_cast<double>(received(stats) - received(last_stats_)) / seconds;
    status.records = settings_.records;
    status.recording = stats.recording;
    status.late_inputs = stats.inputs_late;
    status.rejected_commands = stats.rejected_commands;
    status.lines_dropped = lines_dropped_ + log_lines_dropped();
    std::string line = settings_.json ? status_json(status) : status_text(status);
    line += '\n';
    if (!write_if_ready(STDOUT_FILENO, line)) ++lines_dropped_;
    last_status_ = now;
    last_stats_ = stats;
}

void RoomHost::log_clients(TimeNs now, bool last) {
    if (const std::optional<std::string> line = clients_.summary(now, last))
        spdlog::info("{}{}", settings_.where, *line);
}

void RoomHost::log_orders(TimeNs now) {
    const DroppedOrders dropped = orders_unlogged_;
    // A bot that wants the seat of a client which is about to join is nothing to warn of.
    if (dropped.not_a_directors + dropped.too_many == 0 || now - last_order_log_ < kOrderLogEvery) return;
    spdlog::warn(
        "{}orders of the director dropped since the last such line: {} of a kind that a director may not give, "
        "{} beyond the {} that a tick takes",
        settings_.where, dropped.not_a_directors, dropped.too_many, kMaxOrdersPerTick);
    orders_unlogged_ = {};
    last_order_log_ = now;
}

void RoomHost::orders_dropped(std::uint64_t, const DroppedOrders& what) {
    orders_unlogged_.not_a_directors += what.not_a_directors;
    orders_unlogged_.too_many += what.too_many;
}

void RoomHost::note_client(std::uint64_t Published::*count) {
    members_changed_ = true;
    const std::lock_guard lock(mutex_);
    ++(published_.*count);
}

void RoomHost::connected(std::uint32_t client, std::uint64_t client_id, const protocol::Address& from) {
    if (token_file_) token_file_->used();
    note_client(&Published::connected);
    if (!clients_.admit(ClientLog::What::connected, NetworkThread::now())) return;
    const bool stream = room_.transport_of(client) == protocol::Transport::streams;
    spdlog::info("{}client {} connected: id {:016x}, from {}{}", settings_.where, client, client_id,
                 stream ? "ws " : "", from.to_string());
}

void RoomHost::refused(std::uint32_t client, const protocol::Refusal& why) {
    note_client(&Published::refused);
    if (!clients_.admit(ClientLog::What::refused, NetworkThread::now())) return;
    spdlog::warn("{}client {} refused: {}", settings_.where, client, protocol::describe(why));
}

void RoomHost::disconnected(std::uint32_t client, std::uint64_t client_id, const Departure& how) {
    note_client(&Published::disconnected);
    if (!clients_.admit(ClientLog::What::disconnected, NetworkThread::now())) return;
    const bool kept_out = closed_to_newcomers_ && how.goodbye == protocol::GoodbyeReason::refused_by_game;
    spdlog::info("{}client {} (id {:016x}) disconnected: {}", settings_.where, client, client_id,
                 kept_out ? "the room drains, and takes no newcomers" : describe(how));
}

void RoomHost::slipped(std::uint64_t tick, std::uint64_t late_ns) { late_ticks_.late(tick, late_ns); }

void RoomHost::recording_news(const RecordingNews& news) {
    switch (news.kind) {
        case RecordingNews::Kind::failed:
            recording_ended_ = true;
            spdlog::error("{}the recording has ended: {}", settings_.where, news.error.to_string());
            break;
        case RecordingNews::Kind::went_on:
            spdlog::warn("{}the recording goes on in a new part, {}: ticks {} to {} are in none", settings_.where,
                         news.path, news.first_lost, news.last_lost);
            break;
        case RecordingNews::Kind::late:
            spdlog::warn("{}the disk does not keep up with the recording: nothing is lost yet", settings_.where);
            break;
        case RecordingNews::Kind::host_too_large:
            spdlog::error("{}{}", settings_.where, news.error.to_string());
            break;
        case RecordingNews::Kind::in_time:
            spdlog::info("{}the disk keeps up with the recording again", settings_.where);
            break;
    }
}

}  // namespace orrery::server
