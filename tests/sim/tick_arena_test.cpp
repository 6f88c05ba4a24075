// A tick's arena: what is allocated is apart from all else that is, until a reset; lists in it keep what they hold as
// they grow.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/world/state.h"
#include "tests/support/body_worlds.h"

namespace orrery {
namespace {

using sim::TickArena;
using sim::TickList;

TEST_CASE("what is allocated of a tick's arena is aligned and apart, tick by tick") {
    test::Random random(11);
    TickArena arena;
    CHECK(arena.allocate<std::uint32_t>(0) == nullptr);
    for (int tick = 0; tick < 200; ++tick) {
        std::vector<std::pair<std::uint8_t*, std::size_t>> allocated;
        const std::uint32_t count = random.below(12);
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::size_t size = 1 + random.below(tick % 7 == 0 ? 100'000 : 3000);
            std::uint8_t* const at = arena.allocate<std::uint8_t>(size);
            REQUIRE(reinterpret_cast<std::uintptr_t>(at) % TickArena::kAlignment == 0);
            std::memset(at, static_cast<int>(k + 1), size);
            allocated.emplace_back(at, size);
        }
        for (std::uint32_t k = 0; k < count; ++k) {
            const auto [at, size] = allocated[k];
            REQUIRE(std::all_of(at, at + size, [&](std::uint8_t x) { return x == k + 1; }));
        }
        arena.reset();
    }
}

TEST_CASE("after a reset the same memory is there again, though more than one block was needed at first") {
    TickArena arena;
    for (int k = 0; k < 5; ++k) arena.allocate<std::uint8_t>(10'000);
    arena.reset();
    const std::uint8_t* const first = arena.allocate<std::uint8_t>(20'000);
    const std::uint8_t* const second = arena.allocate<std::uint8_t>(20'000);
    CHECK(second > first);
    CHECK(second < first + 21'000);
    arena.reset();
    CHECK(arena.allocate<std::uint8_t>(50'000) == first);
}

TEST_CASE(
    "steady ticks allocate where they did, whichever of their parts is the larger and though one is left out now and "
    "then") {
    for (const bool front : {false, true}) {
        TickArena arena;
        const std::uint8_t *first = nullptr, *second = nullptr;
        for (int tick = 0; tick < 40; ++tick) {
            const std::uint8_t* const x = arena.allocate<std::uint8_t>(front ? 200'000 : 60'000);
            if (tick == 5) first = x;
            if (tick > 5) REQUIRE(x == first);
            arena.reset();
            if (tick % 9 == 8) continue;
            const std::uint8_t* const y = arena.allocate<std::uint8_t>(front ? 60'000 : 200'000);
            if (tick == 5) second = y;
            if (tick > 5) REQUIRE(y == second);
            arena.reset();
        }
    }
}

TEST_CASE("memory that is no longer needed is given back") {
    TickArena arena;
    arena.allocate<std::uint8_t>(10'000'000);
    for (int k = 0; k < 6; ++k) {
        arena.reset();
        arena.allocate<std::uint8_t>(1000);
    }
    std::uint8_t* const x = arena.allocate<std::uint8_t>(100);
    CHECK_FALSE(arena.extend(x, 100, 100'000));
}

TEST_CASE(
    "a list of contacts holds its own when copied, moved or adopted, and what lies elsewhere only as long as that") {
    using sim::ContactList, sim::KeptContact;
    std::vector<KeptContact> elsewhere(5);
    for (std::uint32_t i = 0; i < 5; ++i) elsewhere[i].a = i;
    ContactList list;
    list.view(elsewhere);
    ContactList copy(list), other;
    other = list;
    elsewhere[2].a = 77;
    CHECK(list[2].a == 77);
    CHECK(copy[2].a == 2);
    CHECK(other[2].a == 2);
    CHECK(erase_if(copy, [](const KeptContact& c) { return c.a % 2 == 1; }) == 2);
    REQUIRE(copy.size() == 3);
    CHECK(copy[2].a == 4);
    const ContactList& same = copy;
    copy = same;
    CHECK(copy.size() == 3);
    const KeptContact* const at = copy.data();
    ContactList moved(std::move(copy));
    CHECK(moved.data() == at);
    CHECK(copy.size() == 0);
    other = moved;
    REQUIRE(other.size() == 3);
    CHECK(other[1].a == 2);
    std::vector<KeptContact> more(7);
    list.adopt(more);
    CHECK(list.size() == 7);
    CHECK(more.empty());
    other.adopt(more);
    CHECK(other.size() == 0);
    CHECK(more.size() >= 3);
}

TEST_CASE("lists in a tick's arena keep what they hold as they grow, beside others") {
    TickArena arena;
    for (int round = 0; round < 3; ++round) {
        TickList<std::uint64_t> alone(arena);
        for (std::uint64_t i = 0; i < 5000; ++i) alone.push_back(i * i);
        TickList<std::uint32_t> x(arena), y(arena);
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
        arena.reset();
    }
}

TEST_CASE("what was allocated last may grow where it is, and nothing else") {
    TickArena arena;
    arena.allocate<std::uint8_t>(100'000);
    arena.reset();
    std::uint32_t* const x = arena.allocate<std::uint32_t>(100);
    CHECK(arena.extend(x, 100, 1000));
    std::uint32_t* const y = arena.allocate<std::uint32_t>(10);
    CHECK(y >= x + 1100);
    CHECK_FALSE(arena.extend(x, 1100, 1));
    CHECK_FALSE(arena.extend(y, 10, 100'000));
    CHECK(arena.extend(y, 10, 10));
}

}  // namespace
}  // namespace orrery
