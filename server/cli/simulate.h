// Steps a world and measures it: what `run` and `bench` share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "orrery/sim.hpp"
#include "server/cli/bench_queries.h"
#include "server/cli/quality.h"
#include "sim/base/result.h"

namespace orrery::server {

struct SimulateSettings {
    std::string scene;  // for errors
    sim::Target target = sim::Target::automatic;
    std::uint32_t threads = 1;
    std::uint64_t ticks = 0;
    std::uint64_t window_begin = 0;  // times count from the tick after this one
    bool profile = false;
    bool quality = true;           // measured after every step, which leaves little of the world in the caches
    bool time_going_back = false;  // at the end: what Standing says of time
    double energy_scale_j = 0.0;   // of the energy figure; 0: none
    std::uint32_t tracked_body = sim::kNone;  // of the displacement figure

    // The commands of a tick, counted from 1; none if empty.
    std::function<std::span<const sim::Command>(std::uint64_t tick)> commands;
    // Asked after every step, in its time; their answers become part of the hash. None if null.
    BenchQueries* queries = nullptr;
    // After every step; an error ends the run.
    std::function<Result<Ok>(const sim::World&, std::span<const sim::Command>)> after_tick;
};

struct Profile {  // mean ms a tick, over the window
    std::array<double, sim::kStageCount> stage_ms{};
    std::array<double, sim::kStageCount> spread_ms{};  // of it in tasks that workers share
    double lanes_filled = 0.0;                         // of the 16 of a bundle
    double pairs = 0.0;                                // with overlapping bounds
    sim::DeviceTimes device;
    double hash_ms = 0.0, save_ms = 0.0;  // sampled, outside of the step
    double queries_ms = 0.0;
};

// What the last state costs to keep and to go back to: the shortest of a few times.
struct Standing {
    double save_ms = 0.0, restore_ms = 0.0, checkpoint_ms = 0.0, roll_back_ms = 0.0;
    double first_step_ms = 0.0;  // after a restore: caches are made anew in it
    std::size_t save_bytes = 0;
    // Of the heap; filled by who made the world.
    std::size_t world_bytes = 0;       // caches and scratch memory included
    std::size_t definition_bytes = 0;  // beside it: of what all worlds of the scene share
};

struct SimulateReport {
    sim::Target target = sim::Target::automatic;  // that was used
    std::string_view solver;                      // of the rigs, as the scene says; coloured where it can have none
    std::uint64_t ticks = 0;
    std::uint64_t rejected_commands = 0;
    std::uint64_t queries = 0, queries_found = 0;                         // over all ticks; that hit something
    std::uint32_t bounds = 0, bounds_broken = 0, bounds_not_reached = 0;  // of the scene; filled by who watched them
    double ms_median = 0.0, ms_p99 = 0.0, ms_least = 0.0;  // of a step alone: without hash, save and measurement
    sim::HashTree hash;                                    // after the last tick
    sim::WorldStats stats;                                 // after the last tick
    std::vector<std::string> rig_faults;                   // as told
    Quality quality;
    Profile profile;
    Standing standing;
    std::size_t heap_bytes = 0;  // in use by this process when the last tick was over
};

std::size_t heap_bytes();  // in use by this process now

Result<SimulateReport> simulate(sim::World& world, const SimulateSettings& settings);

// The fields that `run` and `bench` share, in the order of the documentation.
struct ReportHead {
    std::string scene;
    std::uint32_t threads = 1, substeps = 0;
    bool profile = false;
    std::string rigs;  // RigBackend::text
};
std::string report_json(const ReportHead& head, const SimulateReport& report);
std::string report_text(const ReportHead& head, const SimulateReport& report);

}  // namespace orrery::server
