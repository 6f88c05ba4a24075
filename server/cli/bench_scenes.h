// The scenes of the benchmarks, made of the generators that scene files use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    std::string (*text)(std::uint32_t count);  // the scene as JSON
    std::uint32_t count;                       // chains, base, bodies or rows
    std::uint64_t ticks;
    bool timed_last_half;  // else every tick counts
    double (*energy_scale_j)(
        const sim::WorldDef& world);  // potential energy released from start to hanging; null: no figure
    bool track_last_body;             // the top of a pyramid
    std::span<const BenchTarget> targets;
    double two_threads_at_least = 0.0;  // times as fast as one; 0: no target
};

inline constexpr double kEmptyWorldBytes = 64.0 * 1024.0;  // at most

std::span<const BenchScene> bench_scenes();

// deploy/scenes/ragdolls.json, yard.json
const char* ragdolls_text();
const char* yard_text();

// The scenes that any of the names, or prefixes of names, stands for, in order; all for no name. Empty if a name stands
// for none, which `unknown` then is.
std::vector<const BenchScene*> select_bench_scenes(const std::vector<std::string>& names, std::string& unknown);

}  // namespace orrery::server
