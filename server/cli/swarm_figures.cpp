#include "server/cli/swarm_figures.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "server/base/json_line.h"

namespace orrery::server {

void Spread::add(double seconds) {
    const double octaves = std::log2(std::max(seconds, kLeast_s) / kLeast_s);
    const auto bin = static_cast<std::size_t>(octaves * static_cast<double>(kPerOctave));
    ++bins_[std::min(bin, bins_.size() - 1)];
    ++count_;
    max_s_ = std::max(max_s_, seconds);
}

double Spread::quantile_s(double share) const {
    const auto wanted =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        seen += bins_[i];
        if (seen >= wanted)
            return std::min(max_s_, kLeast_s * std::exp2(static_cast<double>(i + 1) / static_cast<double>(kPerOctave)));
    }
    return max_s_;
}

void Reasons::add(const std::string& reason) {
    const bool room = all_.size() < kMaxReasons || all_.count(reason) > 0;
    ++all_[room ? reason : "(other reasons)"];
    ++count_;
}

namespace {

double per_second(std::uint64_t count, double seconds) {
    return seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0;
}

double ms(double seconds) { return seconds * 1e3; }

std::optional<double> quantile_ms(const Spread& spread, double share) {
    return spread.count() == 0 ? std::nullopt : std::optional(ms(spread.quantile_s(share)));
}

std::string quantile_text(const Spread& spread, double share) {
    const std::optional<double> time = quantile_ms(spread, share);
    return time ? fmt::format("{:.2f}", *time) : "-";
}

std::string lost_text(std::uint64_t lost, bool may_lose) { return may_lose ? std::to_string(lost) : "-"; }

std::optional<double> lost_number(std::uint64_t lost, bool may_lose) {
    return may_lose ? std::optional(static_cast<double>(lost)) : std::nullopt;
}

struct Bytes {
    double mean = 0.0;
    std::uint64_t most = 0;
};

Bytes bytes_of(const std::vector<SwarmTraffic>& clients, std::uint64_t SwarmTraffic::*member) {
    Bytes out;
    for (const SwarmTraffic& client : clients) {
        out.mean += static_cast<double>(client.*member) / static_cast<double>(clients.size());
        out.most = std::max(out.most, client.*member);
    }
    return out;
}

std::string reason_lines(const char* what, const Reasons& reasons) {
    std::string out;
    for (const auto& [reason, count] : reasons.all())
        out += fmt::format("{} count={} reason={}\n", what, count, JsonLine::quote(reason));
    return out;
}

std::vector<JsonLine> reason_objects(const Reasons& reasons) {
    std::vector<JsonLine> out;
    for (const auto& [reason, count] : reasons.all())
        out.push_back(JsonLine().text("reason", reason).number("count", count));
    return out;
}

}  // namespace

std::string swarm_status_text(const SwarmStatus& s) {
    return fmt::format(
        "status t_s={:.1f} trying={} connected={} playing={} seated={} snapshots_per_s={:.0f} in_bytes_per_s={:.0f} "
        "out_bytes_per_s={:.0f} rtt_p50_ms={} rtt_p99_ms={} lost={} late={} cpu_percent={:.0f} "
        "lag_max_ms={:.1f}",
        s.at_s, s.trying, s.connected, s.playing, s.seated, per_second(s.traffic.snapshots, s.length_s),
        per_second(s.traffic.bytes_in, s.length_s), per_second(s.traffic.bytes_out, s.length_s),
        quantile_text(s.round_trip, 0.5), quantile_text(s.round_trip, 0.99), lost_text(s.traffic.lost, s.may_lose),
        s.traffic.late, 100.0 * s.cpu_share, ms(s.lag_max_s));
}

std::string swarm_status_json(const SwarmStatus& s) {
    const auto rate = [&](std::uint64_t count) { return std::optional(per_second(count, s.length_s)); };
    return JsonLine()
        .text("kind", "status")
        .number("t_s", std::optional(s.at_s))
        .number("trying", s.trying)
        .number("connected", s.connected)
        .number("playing", s.playing)
        .number("seated", s.seated)
        .number("snapshots_per_s", rate(s.traffic.snapshots))
        .number("in_bytes_per_s", rate(s.traffic.bytes_in))
        .number("out_bytes_per_s", rate(s.traffic.bytes_out))
        .number("rtt_p50_ms", quantile_ms(s.round_trip, 0.5))
        .number("rtt_p99_ms", quantile_ms(s.round_trip, 0.99))
        .number("lost", lost_number(s.traffic.lost, s.may_lose))
        .number("late", s.traffic.late)
        .number("cpu_percent", std::optional(100.0 * s.cpu_share))
        .number("lag_max_ms", std::optional(ms(s.lag_max_s)))
        .str();
}

std::string swarm_summary_text(const SwarmSummary& s) {
    const SwarmTotals& t = s.totals;
    const Bytes in = bytes_of(s.by_client, &SwarmTraffic::bytes_in);
    const Bytes out = bytes_of(s.by_client, &SwarmTraffic::bytes_out);
    return reason_lines("refused", t.refused) + reason_lines("disconnected", t.disconnected) +
           fmt::format(
               "summary clients={} seconds={:.1f} joins_tried={} joined={} refused={} given_up={} left={} "
               "disconnected={} join_p50_ms={} join_p99_ms={} rtt_p50_ms={} rtt_p99_ms={} "
               "gap_p50_ms={} gap_p99_ms={} gap_max_ms={:.2f} snapshots={} lost={} late={} "
               "in_bytes_per_client={:.0f} in_bytes_most={} out_bytes_per_client={:.0f} out_bytes_most={} "
               "cpu_s={:.2f} lag_max_ms={:.1f}",
               s.clients, s.seconds, t.tried, t.joined, t.refused.count(), t.given_up, t.left, t.disconnected.count(),
               quantile_text(t.join, 0.5), quantile_text(t.join, 0.99), quantile_text(t.round_trip, 0.5),
               quantile_text(t.round_trip, 0.99), quantile_text(t.gap, 0.5), quantile_text(t.gap, 0.99),
               ms(t.gap.max_s()), t.traffic.snapshots, lost_text(t.traffic.lost, s.may_lose), t.traffic.late, in.mean,
               in.most, out.mean, out.most, s.cpu_s, ms(s.lag_max_s));
}

std::string swarm_summary_json(const SwarmSummary& s) {
    const SwarmTotals& t = s.totals;
    const Bytes in = bytes_of(s.by_client, &SwarmTraffic::bytes_in);
    const Bytes out = bytes_of(s.by_client, &SwarmTraffic::bytes_out);
    return JsonLine()
        .text("kind", "summary")
        .number("clients", s.clients)
        .number("seconds", std::optional(s.seconds))
        .number("joins_tried", t.tried)
        .number("joined", t.joined)
        .number("refused", t.refused.count())
        .objects("refusals", reason_objects(t.refused))
        .number("given_up", t.given_up)
        .number("left", t.left)
        .number("disconnected", t.disconnected.count())
        .objects("disconnections", reason_objects(t.disconnected))
        .number("join_p50_ms", quantile_ms(t.join, 0.5))
        .number("join_p99_ms", quantile_ms(t.join, 0.99))
        .number("rtt_p50_ms", quantile_ms(t.round_trip, 0.5))
        .number("rtt_p99_ms", quantile_ms(t.round_trip, 0.99))
        .number("gap_p50_ms", quantile_ms(t.gap, 0.5))
        .number("gap_p99_ms", quantile_ms(t.gap, 0.99))
        .number("gap_max_ms", std::optional(ms(t.gap.max_s())))
        .number("snapshots", t.traffic.snapshots)
        .number("lost", lost_number(t.traffic.lost, s.may_lose))
        .number("late", t.traffic.late)
        .number("in_bytes_per_client", std::optional(in.mean))
        .number("in_bytes_most", in.most)
        .number("out_bytes_per_client", std::optional(out.mean))
        .number("out_bytes_most", out.most)
        .number("cpu_s", std::optional(s.cpu_s))
        .number("lag_max_ms", std::optional(ms(s.lag_max_s)))
        .str();
}

}  // namespace orrery::server
