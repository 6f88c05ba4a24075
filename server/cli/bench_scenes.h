// The scenes of the benchmarks, made of the generators that scene files use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/bench_queries.h"
#include "server/cli/simulate.h"

namespace orrery::server {

inline constexpr std::uint32_t kBenchSubsteps = 4;  // of every scene

// A figure that `bench --check` holds a scene to, at the scene's own ticks.
struct BenchTarget {
    const char* what;  // with its unit
    double (*figure)(const SimulateReport& report);
    double at_most;
    std::uint32_t substeps = kBenchSubsteps;
    sim::Target stated_for = sim::Target::automatic;  // the only one that it is stated for; automatic: any
};

struct BenchScene {
    const char* name;
    const char* about;                         // count, shapes, window
    std::string (*text)(std::uint32_t count);  // the scene as JSON
    std::uint32_t count;                       // chains, base, bodies or rows
    std::uint64_t ticks;
    bool timed_last_half = false;  // else every tick counts
    double (*energy_scale_j)(const sim::WorldDef& world) =
        nullptr;                   // potential energy released from start to hanging; null: no figure
    bool track_last_body = false;  // the top of a pyramid, a wheel of the last car
    std::span<const BenchTarget> targets;
    double two_threads_at_least = 0.0;  // times as fast as one; 0: no target
    std::uint64_t settle_ticks = 0;     // before the first of `ticks`, neither timed nor measured
    QueryLoad queries = {};             // of each tick, in its time
    bool by_name_only = false;          // not among the scenes of a bench without names
};

inline constexpr double kEmptyWorldBytes = 64.0 * 1024.0;  // at most

std::span<const BenchScene> bench_scenes();
std::span<const BenchScene> bench_worlds();  // the part of them that bench_worlds.cpp has

// Of chains along x from x = 0: BenchScene::energy_scale_j.
double chain_energy_j(const sim::WorldDef& world);

// Elements of a list of shapes: hulls rock8, rock16 and rock32; one of 8 corners by another name; jacks of three bars
// and dumbbells of two balls and a bar, by these names.
std::string bench_rocks();
std::string bench_rock(const char* name);
std::string bench_compounds();

// deploy/scenes/ragdolls.json, yard.json
const char* ragdolls_text();
const char* yard_text();

// The scenes that any of the names, or prefixes of names, stands for, in order; for no name those that are not by name
// only. Empty if a name stands for none, which `unknown` then is.
std::vector<const BenchScene*> select_bench_scenes(const std::vector<std::string>& names, std::string& unknown);

}  // namespace orrery::server
