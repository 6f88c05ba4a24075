// The seed of tests that draw at random. Plain runs use 1, so that they are the same everywhere; deploy/test --long
// counts upwards through ORRERY_TEST_SEED, and runs the tests of those files that include this header.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace orrery::test {

inline std::uint64_t test_seed() {
    const char* text = std::getenv("ORRERY_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 1;
}

// For a test's n-th stream of numbers: n itself in a plain run.
inline std::uint64_t seeded(std::uint64_t n) { return n + 1'000'003 * (test_seed() - 1); }

// How many of n random inputs to draw: all, or one of every ORRERY_TEST_ONE_OF where an instruction costs a multiple
// (under a sanitizer, emulated).
inline int sampled(int n) {
    const char* text = std::getenv("ORRERY_TEST_ONE_OF");
    const int one_of = text ? std::atoi(text) : 1;
    return one_of > 1 ? (n + one_of - 1) / one_of : n;
}

// Whether each instruction costs so much (emulated) that a test takes one way through instead of all combinations of
// ways.
inline bool few() { return sampled(20) == 1; }

}  // namespace orrery::test
