// The seed of tests that draw at random. Plain runs use 1, so that they are the same everywhere; deploy/test --long counts
// upwards through ORRERY_TEST_SEED, and runs the tests of those files that include this header.
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

}  // namespace orrery::test
