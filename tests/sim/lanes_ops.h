// The table of lane operations that lanes_parity_test.cpp runs on every target.
#pragma once

#include <cstddef>
#include <span>

namespace orrery::sim {

inline constexpr std::size_t kMaxOpInputs = 21, kMaxOpOutputs = 21;

struct LaneOp {
    const char* name;
    std::size_t inputs, outputs;
    bool moves_bits;  // NaN payloads pass through unchanged; elsewhere one NaN is as good as another
    void (*run)(const float* const* in, float* const* out, std::size_t count);  // count is a multiple of 16
};

}  // namespace orrery::sim
