// The SIMD targets of this build and machine.

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cfloat>

#include "orrery/sim.hpp"

static_assert(FLT_EVAL_METHOD == 0, "float expressions must be evaluated in single precision");
static_assert(std::endian::native == std::endian::little, "saved states and hashes are the little-endian memory image");

namespace orrery::sim {
namespace {

struct Entry {
    Target target;
    std::string_view name;
    std::int64_t highway_bit;  // 0: always there
};

// Narrowest first. HWY_TARGETS holds the targets that this build compiles.
constexpr Entry kEntries[] = {
#ifndef ORRERY_NO_SCALAR
    {Target::scalar, "scalar", 0},
#endif
#if HWY_ARCH_X86
    {Target::ssse3, "ssse3", HWY_SSSE3}, {Target::sse4, "sse4", HWY_SSE4},
    {Target::avx2, "avx2", HWY_AVX2},    {Target::avx3, "avx3", HWY_AVX3},
#elif HWY_ARCH_ARM
    {Target::neon, "neon", HWY_NEON},
#elif HWY_ARCH_WASM
    {Target::wasm, "wasm", HWY_WASM},
#endif
};

constexpr std::string_view kNames[] = {"auto", "scalar", "ssse3", "sse4", "avx2", "avx3", "neon", "wasm"};

struct Available {
    std::array<Target, std::size(kEntries)> targets{};
    std::size_t count = 0;
};

Available find_available() {
    const std::int64_t supported = HWY_SUPPORTED_TARGETS & (HWY_TARGETS);
    Available found;
    for (const Entry& entry : kEntries) {
        if (entry.highway_bit == 0 || (supported & entry.highway_bit) != 0) found.targets[found.count++] = entry.target;
    }
    return found;
}

}  // namespace

std::span<const Target> available_targets() {
    static const Available found = find_available();
    return {found.targets.data(), found.count};
}

Target best_target() { return available_targets().back(); }

std::string_view target_name(Target target) { return kNames[static_cast<std::size_t>(target)]; }

Result<Target> target_from_name(std::string_view name) {
    if (name == "auto") return best_target();
    const auto targets = available_targets();
    std::string list;
    for (const Target target : targets) {
        if (target_name(target) == name) return target;
        list += (list.empty() ? "" : ", ") + std::string(target_name(target));
    }
    const bool known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
    return Error{known ? ErrorCode::unsupported_target : ErrorCode::invalid_argument, "target",
                 (known ? "this machine or build has no target '" : "there is no target '") + std::string(name) +
                     "'; choose auto or one of " + list};
}

}  // namespace orrery::sim
