#include "server/control/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>

#include "orrery/sim.hpp"
#include "server/base/build_info.h"
#include "server/control/health_server.h"
#include "server/control/process_stats.h"

namespace orrery::server {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// What one scrape reads.
struct Reading {
    HostView host;
    ProcessStats process;
    double stalled_after_s = 0.0;
};

struct Number {
    const char* name;
    MetricType type;
    const char* help;
    std::optional<double> (*value)(const Reading& reading);
};

struct Times {
    const char* name;
    const char* help;
    Histogram HostTotals::*value;
};

constexpr MetricType kCounter = MetricType::Counter, kGauge = MetricType::Gauge;

// A counter of HostTotals, and a gauge of HostView.
#define TOTAL(name, member, help)                                                                     \
    {                                                                                                 \
        name, kCounter, help,                                                                         \
            [](const Reading& r) { return std::optional(static_cast<double>(r.host.totals.member)); } \
    }
#define GAUGE(name, expression, help)                                                                       \
    {                                                                                                       \
        name, kGauge, help, [](const Reading& r) { return std::optional(static_cast<double>(expression)); } \
    }
#define PROCESS(name, type, member, help)                                   \
    {                                                                       \
        name, type, help, [](const Reading& r) { return r.process.member; } \
    }

constexpr Number kNumbers[] = {
    TOTAL("orrery_rooms_created_total", rooms_created, "Rooms that began."),
    TOTAL("orrery_rooms_ended_total", rooms_ended, "Rooms that ended, for any reason."),
    TOTAL("orrery_rooms_failed_total", rooms_failed, "Rooms that ended by a fault or a failed recording."),
    GAUGE("orrery_rooms", r.host.rooms, "Rooms at present."),
    GAUGE("orrery_rooms_open", r.host.open_rooms, "Rooms that take joins."),
    GAUGE("orrery_rooms_limit", r.host.max_rooms, "Largest number of rooms."),
    TOTAL("orrery_clients_connected_total", clients_connected, "Clients that connected."),
    TOTAL("orrery_clients_disconnected_total", clients_disconnected, "Clients that left or were disconnected."),
    TOTAL("orrery_clients_refused_total", clients_refused, "Clients that were refused."),
    GAUGE("orrery_clients", r.host.clients, "Clients that are connected, spectators and directors included."),
    GAUGE("orrery_players", r.host.players, "Clients that have a slot in a world."),
    GAUGE("orrery_room_clients_limit", r.host.max_clients, "Largest number of clients of one room."),
    TOTAL("orrery_ticks_total", ticks, "Ticks of all rooms."),
    TOTAL("orrery_late_ticks_total", late_ticks, "Ticks at which a room slipped: all later ticks begin later."),
    TOTAL("orrery_sent_bytes_total", sent_bytes, "Bytes that were sent to clients."),
    TOTAL("orrery_received_bytes_total", received_bytes, "Bytes that came from clients."),
    TOTAL("orrery_sent_datagrams_total", sent_datagrams, "Datagrams that were sent to clients."),
    TOTAL("orrery_received_datagrams_total", received_datagrams, "Datagrams that came from clients."),
    TOTAL("orrery_dropped_datagrams_total", dropped_datagrams,
          "Datagrams that a room did not take in time or the system did not send."),
    TOTAL("orrery_ignored_datagrams_total", ignored_datagrams,
          "Datagrams of no known client, of no room, or above a limit."),
    TOTAL("orrery_inputs_applied_total", inputs_applied, "Inputs of players that a tick used."),
    TOTAL("orrery_inputs_late_total", inputs_late, "Inputs of players that came after their tick."),
    TOTAL("orrery_commands_rejected_total", commands_rejected, "Commands that a world rejected."),
    TOTAL("orrery_ticks_recorded_total", ticks_recorded, "Ticks whose bytes are in a file."),
    TOTAL("orrery_ticks_durable_total", ticks_durable, "Ticks that a disk has confirmed."),
    TOTAL("orrery_ticks_lost_total", ticks_lost, "Ticks that no recording has, since its disk failed."),
    GAUGE("orrery_recordings_failing", r.host.recordings_failing, "Rooms whose recording has failed at present."),
    GAUGE("orrery_recordings_late", r.host.recordings_late, "Rooms whose recording is more than 1 s behind."),
    TOTAL("orrery_log_lines_dropped_total", log_lines_dropped, "Lines of log and status that no reader took."),
    GAUGE("orrery_stalled_seconds", r.host.stalled_s, "Longest time since a room that should tick has done so."),
    GAUGE("orrery_live", live(r.host, r.stalled_after_s).good ? 1 : 0, "1 if /livez is good, else 0."),
    GAUGE("orrery_ready", ready(r.host, r.stalled_after_s).good ? 1 : 0, "1 if /readyz is good, else 0."),
    GAUGE("orrery_draining", r.host.draining ? 1 : 0, "1 if the process drains: no new rooms and no joins; else 0."),
    PROCESS("process_cpu_seconds_total", kCounter, cpu_seconds, "User and system time of the process, s."),
    PROCESS("process_resident_memory_bytes", kGauge, resident_bytes, "Resident memory, bytes."),
    PROCESS("process_virtual_memory_bytes", kGauge, virtual_bytes, "Virtual memory, bytes."),
    PROCESS("process_open_fds", kGauge, open_fds, "Open file descriptors."),
    PROCESS("process_max_fds", kGauge, max_fds, "Largest number of open file descriptors."),
    PROCESS("process_start_time_seconds", kGauge, start_unix_s, "Start of the process, s since 1970."),
    PROCESS("process_threads", kGauge, threads, "Threads of the process."),
};
#undef TOTAL
#undef GAUGE
#undef PROCESS

constexpr Times kTimes[] = {
    {"orrery_tick_duration_seconds", "Work of a tick.", &HostTotals::tick_s},
    {"orrery_tick_lateness_seconds", "From the time at which a tick is due to its begin.", &HostTotals::lateness_s},
};

constexpr const char* kBuildInfo = "orrery_build_info";
constexpr const char* kBuildInfoHelp = "Always 1; the labels have the version and the engine version.";

MetricFamily family_of(const Number& about, double value) {
    MetricFamily family{about.name, about.help, about.type, {ClientMetric{}}};
    (about.type == kCounter ? family.metric[0].counter.value : family.metric[0].gauge.value) = value;
    return family;
}

MetricFamily family_of(const Times& about, const HostTotals& totals) {
    const Histogram& from = totals.*about.value;
    MetricFamily family{about.name, about.help, MetricType::Histogram, {ClientMetric{}}};
    ClientMetric::Histogram& to = family.metric[0].histogram;
    for (std::size_t i = 0; i < from.counts.size(); ++i) {
        to.sample_count += from.counts[i];
        const double bound = i < Histogram::kBounds_s.size() ? Histogram::kBounds_s[i] : INFINITY;
        to.bucket.push_back({to.sample_count, bound});
    }
    to.sample_sum = from.sum_s;
    return family;
}

MetricFamily build_info() {
    MetricFamily family{kBuildInfo, kBuildInfoHelp, kGauge, {ClientMetric{}}};
    family.metric[0].label = {{"version", std::string(build_version())},
                              {"engine_version", std::to_string(sim::kEngineVersion)}};
    family.metric[0].gauge.value = 1.0;
    return family;
}

class HostCollectable final : public prometheus::Collectable {
  public:
    HostCollectable(const Rooms& rooms, double stalled_after_s) : rooms_(rooms), stalled_after_s_(stalled_after_s) {}

    std::vector<MetricFamily> Collect() const override {
        const Reading reading{rooms_.host(), process_stats(), stalled_after_s_};
        std::vector<MetricFamily> families{build_info()};
        for (const Times& about : kTimes) families.push_back(family_of(about, reading.host.totals));
        for (const Number& about : kNumbers)
            if (const std::optional<double> value = about.value(reading)) families.push_back(family_of(about, *value));
        return families;
    }

  private:
    const Rooms& rooms_;
    double stalled_after_s_;
};

}  // namespace

std::string metrics_text(const Rooms& rooms, double stalled_after_s) {
    return prometheus::TextSerializer().Serialize(HostCollectable(rooms, stalled_after_s).Collect());
}

std::vector<MetricAbout> metric_list() {
    std::vector<MetricAbout> list{{kBuildInfo, "gauge", kBuildInfoHelp}};
    for (const Times& about : kTimes) list.push_back({about.name, "histogram", about.help});
    for (const Number& about : kNumbers)
        list.push_back({about.name, about.type == kCounter ? "counter" : "gauge", about.help});
    return list;
}

}  // namespace orrery::server
