// The seed of tests that draw at random. Plain runs use 1, so that they are the same everywhere; deploy/test --long counts
// upwards through ORRERY_TEST_SEED. Such a test has the word "seed" in its name, by which --long finds it.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace orrery::test {

inline std::uint64_t test_seed() {
    const char* text = std::getenv("ORRERY_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace orrery::test
