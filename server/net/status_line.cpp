#include "server/net/status_line.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "server/base/json_line.h"

namespace orrery::server {

namespace {

const char* recording(const Status& status) {
    if (!status.records) return "off";
    if (status.recording.failing) return "failed";
    return status.recording.late ? "late" : "on";
}

double sent_per_client(const Status& status) {
    return status.sent_bytes_per_s / static_cast<double>(std::max<std::uint32_t>(status.clients, 1));
}

}  // namespace

std::string status_text(const Status& status) {
    std::string line = fmt::format(
        "status tick={} players={} clients={} tick_p50_ms={:.3f} tick_p99_ms={:.3f} budget_ms={:.3f} late_ticks={} "
        "sent_bytes_per_s_per_client={:.0f} recording={} recorded_tick={}",
        status.tick, status.players, status.clients, status.tick_p50_ms, status.tick_p99_ms, status.budget_ms,
        status.late_ticks, sent_per_client(status), recording(status), status.recording.recorded);
    if (status.recording.lost > 0) line += fmt::format(" lost_ticks={}", status.recording.lost);
    if (status.rigs_p99_ms > 0.0)
        line += fmt::format(" rigs_p50_ms={:.3f} rigs_p99_ms={:.3f}", status.rigs_p50_ms, status.rigs_p99_ms);
    if (status.late_inputs > 0) line += fmt::format(" late_inputs={}", status.late_inputs);
    if (status.rejected_commands > 0) line += fmt::format(" rejected_commands={}", status.rejected_commands);
    if (status.lines_dropped > 0) line += fmt::format(" lines_dropped={}", status.lines_dropped);
    return line;
}

std::string status_json(const Status& status) {
    return JsonLine()
        .number("tick", status.tick)
        .number("players", status.players)
        .number("clients", status.clients)
        .number("tick_p50_ms", std::optional(status.tick_p50_ms))
        .number("tick_p99_ms", std::optional(status.tick_p99_ms))
        .number("budget_ms", std::optional(status.budget_ms))
        .number("late_ticks", status.late_ticks)
        .number("sent_bytes_per_s_per_client", std::optional(sent_per_client(status)))
        .number("sent_bytes_per_s", std::optional(status.sent_bytes_per_s))
        .number("received_bytes_per_s", std::optional(status.received_bytes_per_s))
        .text("recording", recording(status))
        .number("recorded_tick", status.recording.recorded)
        .number("durable_tick", status.recording.durable)
        .number("lost_ticks", status.recording.lost)
        .number("rigs_p50_ms", std::optional(status.rigs_p50_ms))
        .number("rigs_p99_ms", std::optional(status.rigs_p99_ms))
        .number("late_inputs", status.late_inputs)
        .number("rejected_commands", status.rejected_commands)
        .number("lines_dropped", status.lines_dropped)
        .str();
}

}  // namespace orrery::server
