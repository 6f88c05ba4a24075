// What `bench --check` holds scenes to, as figures of a report.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/cli/simulate.h"

namespace orrery::server {

// 0 where the figure does not apply.
template <std::uint64_t kTick>
double apart_at_mm(const SimulateReport& report) {
    for (const auto& [tick, apart] : report.quality.separation_at_m) {
        if (tick == kTick) return apart * 1e3;
    }
    return 0.0;
}
inline double mean_apart_mm(const SimulateReport& report) {
    return report.quality.mean_max_separation_m.value_or(0.0) * 1e3;
}
inline double top_m(const SimulateReport& report) { return report.quality.top_displacement_m.value_or(0.0); }
inline double apart_m(const SimulateReport& report) { return report.quality.max_separation_m.value_or(0.0); }
inline double deepest_mm(const SimulateReport& report) { return report.quality.max_penetration_m.value_or(0.0) * 1e3; }
inline double end_mm(const SimulateReport& report) { return report.quality.end_penetration_m.value_or(0.0) * 1e3; }
inline double gained(const SimulateReport& report) { return report.quality.max_energy_drift.value_or(0.0); }
inline double hinge_deg(const SimulateReport& report) { return report.quality.hinge_error_deg.value_or(0.0); }
inline double cone_deg(const SimulateReport& report) { return report.quality.cone_error_deg.value_or(0.0); }
inline double mean_hinge_deg(const SimulateReport& report) { return report.quality.mean_hinge_error_deg.value_or(0.0); }
inline double mean_cone_deg(const SimulateReport& report) { return report.quality.mean_cone_error_deg.value_or(0.0); }
inline double median_ms(const SimulateReport& report) { return report.ms_median; }
inline double save_ms(const SimulateReport& report) { return report.standing.save_ms; }
inline double restore_ms(const SimulateReport& report) { return report.standing.restore_ms; }
inline double checkpoint_ms(const SimulateReport& report) { return report.standing.checkpoint_ms; }
inline double definition_mb(const SimulateReport& report) {
    return static_cast<double>(report.standing.definition_bytes) * 1e-6;
}
inline double awake(const SimulateReport& report) {
    return static_cast<double>(report.stats.dynamic_bodies - report.stats.sleeping_bodies);
}
// By how much the tracked body ends nearer to where it began than a distance.
template <int kDistanceM>
double short_of_m(const SimulateReport& report) {
    return std::max(0.0, kDistanceM - top_m(report));
}
// By how much the lowest body ends below a height.
template <int kHeightMm>
double below_m(const SimulateReport& report) {
    return std::max(0.0, kHeightMm * 1e-3 - report.quality.lowest_m.value_or(0.0));
}

// Beyond what is stated for bodies and manifolds: 0 where it is kept to.
inline double bytes_beyond(const SimulateReport& report, std::size_t bytes, double of_body, double of_manifold) {
    const double stated = of_body * report.stats.bodies + of_manifold * report.stats.manifolds;
    return std::max(0.0, static_cast<double>(bytes) - stated);
}
inline double save_bytes_beyond(const SimulateReport& report) {
    return bytes_beyond(report, report.standing.save_bytes, 80.0, 64.0);
}
// Of one world alone: with the definition, which others could share.
inline double memory_beyond(const SimulateReport& report) {
    return bytes_beyond(report, report.standing.world_bytes + report.standing.definition_bytes, 400.0, 300.0);
}

}  // namespace orrery::server
