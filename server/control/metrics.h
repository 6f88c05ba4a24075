// The metrics of a process in Prometheus' text form. No label names a room, a client or a player: numbers of a room are
// the control API's.
#pragma once

#include <string>
#include <vector>

#include "server/control/rooms.h"

namespace orrery::server {

inline constexpr std::size_t kMaxMetricSeries = 200;

// All metrics of `rooms` and of the process, read when called.
std::string metrics_text(const Rooms& rooms, double stalled_after_s);

struct MetricAbout {
    std::string name, type, help;  // type: counter, gauge or histogram
};
std::vector<MetricAbout> metric_list();  // in the order of metrics_text()

}  // namespace orrery::server
