// The scenes of the benchmarks, made of the generators that scene files use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

struct BenchScene {
    const char* name;
    std::string (*text)(std::uint32_t count);  // the scene as JSON
    std::uint32_t count;                       // chains, base, bodies or rows
    std::uint64_t ticks;
    bool timed_last_half;  // else every tick counts
    double (*energy_scale_j)(
        const sim::WorldDef& world);  // potential energy released from start to hanging; null: no figure
    bool track_last_body;             // the top of a pyramid
};

std::span<const BenchScene> bench_scenes();

const char* ragdolls_text();  // deploy/scenes/ragdolls.json

// The scenes that any of the names, or prefixes of names, stands for, in order; all for no name. Empty if a name stands
// for none, which `unknown` then is.
std::vector<const BenchScene*> select_bench_scenes(const std::vector<std::string>& names, std::string& unknown);

}  // namespace orrery::server
