// How well a world holds together, measured from outside in double precision.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "orrery/sim.hpp"
#include "server/base/json_line.h"

namespace orrery::server {

struct Quality {                             // an absent figure does not apply to the scene
    std::optional<double> max_separation_m;  // of the anchors of any joint, over all ticks
    // Of that tick alone, at the ticks that the benchmarks' tables name.
    std::vector<std::pair<std::uint64_t, double>> separation_at_m;
    std::optional<double> mean_separation_m;      // over all joints, at the last tick
    std::optional<double> mean_max_separation_m;  // of the largest of each tick, over all ticks
    std::optional<double> energy_drift;       // energy gained since the start over `energy_scale_j`, at the last tick
    std::optional<double> max_energy_drift;   // the most of it after any tick: above 0, energy has grown
    std::optional<double> kinetic_j;          // of a dynamic body on average, at the last tick
    std::optional<double> lowest_m;           // height of the lowest dynamic body's centre, at the last tick
    std::optional<double> max_penetration_m;  // of any contact, over all ticks
    std::optional<double> end_penetration_m;  // of any contact, at the last tick
    std::optional<double> hinge_error_deg;    // the worst angle beyond a hinge's limits, at the last tick
    std::optional<double> cone_error_deg;     // the same of swing limits
    // Means over all such limits, one that holds counting as 0.
    std::optional<double> mean_hinge_error_deg, mean_cone_error_deg;
    std::optional<double> top_displacement_m;  // of the tracked body since the start, at the last tick
    std::optional<double> max_displacement_m;  // of any dynamic body, where one is tracked
    std::uint64_t quarantined = 0;    // bodies, over all ticks: whose state was no longer a number or out of bounds
    std::uint64_t speed_limited = 0;  // bodies, over all ticks: that came to a speed limit
};

JsonLine quality_json(const Quality& quality);

class QualityMeter {
  public:
    // `energy_scale_j` 0: no energy figure. `tracked`: an index into the definition's bodies, or kNone.
    QualityMeter(const sim::World& world, double energy_scale_j, std::uint32_t tracked);

    void sample(const sim::World& world);  // after every step
    const Quality& figures() const { return quality_; }

  private:
    struct Energy {
        double total_j = 0.0, kinetic_j = 0.0;
        double lowest_m = 0.0;
        std::uint64_t bodies = 0;  // that move
    };
    Energy energy(const sim::World& world) const;
    void measure_joints(const sim::World& world);
    void measure_angles(const sim::JointState& joint, const sim::BodyState* a, const sim::BodyState* b);
    void measure_limits();

    double energy_scale_j_;
    double start_energy_j_ = 0.0;
    std::optional<sim::BodyState> tracked_;  // as it was at the start
    std::vector<sim::BodyState> start_;      // all bodies, where one is tracked
    double sum_of_largest_m_ = 0.0;
    std::uint64_t ticks_with_joints_ = 0;
    std::vector<sim::BodyState> bodies_;  // of the tick at hand; kept for their memory
    std::vector<std::uint32_t> place_;    // body index to place in bodies_
    std::vector<sim::JointState> joints_;
    std::vector<double> beyond_hinge_rad_, beyond_cone_rad_;  // of the tick at hand, negative within
    bool has_contacts_ = false;
    Quality quality_;
};

}  // namespace orrery::server
