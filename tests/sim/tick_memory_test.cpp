// Memory of a tick: what is taken is apart from all else that is, until a reset; lists in it keep what they hold as they grow.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "sim/tick_memory.h"
#include "tests/support/body_worlds.h"

namespace orrery {
namespace {

using sim::TickList;
using sim::TickMemory;

TEST_CASE("what is taken of a tick's memory is aligned and apart, tick by tick") {
    test::Random random(11);
    TickMemory memory;
    CHECK(memory.take<std::uint32_t>(0) == nullptr);
    for (int tick = 0; tick < 200; ++tick) {
        std::vector<std::pair<std::uint8_t*, std::size_t>> taken;
        const std::uint32_t count = random.below(12);
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::size_t size = 1 + random.below(tick % 7 == 0 ? 100'000 : 3000);
            std::uint8_t* const at = memory.take<std::uint8_t>(size);
            REQUIRE(reinterpret_cast<std::uintptr_t>(at) % TickMemory::kAlignment == 0);
            std::memset(at, static_cast<int>(k + 1), size);
            taken.emplace_back(at, size);
        }
        for (std::uint32_t k = 0; k < count; ++k) {
            const auto [at, size] = taken[k];
            REQUIRE(std::all_of(at, at + size, [&](std::uint8_t x) { return x == k + 1; }));
        }
        memory.reset();
    }
}

TEST_CASE("after a reset the same memory is taken again, though more than one block was needed at first") {
    TickMemory memory;
    for (int k = 0; k < 5; ++k) memory.take<std::uint8_t>(10'000);
    memory.reset();
    const std::uint8_t* const first = memory.take<std::uint8_t>(20'000);
    const std::uint8_t* const second = memory.take<std::uint8_t>(20'000);
    CHECK(second > first);
    CHECK(second < first + 21'000);
    memory.reset();
    CHECK(memory.take<std::uint8_t>(50'000) == first);
}

TEST_CASE("lists in a tick's memory keep what they hold as they grow, beside others") {
    TickMemory memory;
    for (int round = 0; round < 3; ++round) {
        TickList<std::uint64_t> alone(memory);
        for (std::uint64_t i = 0; i < 5000; ++i) alone.push_back(i * i);
        TickList<std::uint32_t> x(memory), y(memory);
        for (std::uint32_t i = 0; i < 3000; ++i) {
            x.push_back(i);
            if (i % 3 == 0) y.push_back(~i);
        }
        x.resize(4000);
        std::iota(x.begin() + 3000, x.end(), 3000u);
        REQUIRE(alone.size() == 5000);
        for (std::uint64_t i = 0; i < 5000; ++i) REQUIRE(alone[i] == i * i);
        for (std::uint32_t i = 0; i < 4000; ++i) REQUIRE(x[i] == i);
        REQUIRE(y.size() == 1000);
        for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(y[i] == ~(3 * i));
        y.clear();
        CHECK(y.size() == 0);
        memory.reset();
    }
}

TEST_CASE("what was taken last may grow where it is, and nothing else") {
    TickMemory memory;
    memory.take<std::uint8_t>(100'000);
    memory.reset();
    std::uint32_t* const x = memory.take<std::uint32_t>(100);
    CHECK(memory.extend(x, 100, 1000));
    std::uint32_t* const y = memory.take<std::uint32_t>(10);
    CHECK(y >= x + 1100);
    CHECK_FALSE(memory.extend(x, 1100, 1));
    CHECK_FALSE(memory.extend(y, 10, 100'000));
    CHECK(memory.extend(y, 10, 10));
}

}  // namespace
}  // namespace orrery
