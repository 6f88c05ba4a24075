// Contract: a player plays recordings of both formats, of ticks in chunks and such as were cut, as it plays any other:
// to the same worlds, with the same result.
#include <doctest/doctest.h>

#include "client_sdk/src/player.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using namespace orrery::client;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes state_of(const WorldPlayer& player) {
    Bytes state;
    player.world().save(state);
    return state;
}

// Plays to the end, and then goes to and fro.
void check_plays(const Bytes& file, std::uint64_t first, const Bytes& straight) {
    WorldPlayer player(file), plain(straight);
    const auto opened = player.open();
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().to_string()));
    REQUIRE(plain.open().ok());
    CHECK(player.tick() == first);
    CHECK(player.last_tick() == 240);
    while (player.step(1)) {
    }
    CHECK(player.tick() == 240);
    CHECK(player.verdict().state == PlayerState::same);
    CHECK(player.verdict().ticks_equal == 240 - first);
    while (player.check(10'000)) {
    }
    CHECK(player.verdict().bytes_checked == file.size());
    for (const std::uint64_t tick :
         {first + 5, std::uint64_t{217}, first + 61, std::uint64_t{180}, first, first + 77}) {
        CAPTURE(tick);
        REQUIRE(player.seek(tick, 1000));
        REQUIRE(plain.seek(tick, 1000));
        CHECK(state_of(player) == state_of(plain));
    }
    CHECK(player.verdict().state == PlayerState::same);
}

}  // namespace

TEST_CASE("a player plays format 1, ticks in chunks, and a recording that was cut") {
    const Bytes straight = test::record_yard();
    check_plays(test::in_format_1(straight), 0, straight);
    check_plays(test::record_yard({.ticks_per_chunk = 50}), 0, straight);
    check_plays(test::record_yard({.cut_before = 90}), 90, straight);
    check_plays(test::record_yard({.ticks_per_chunk = 60, .cut_before = 90}), 90, straight);
}

TEST_CASE("a player of ticks in chunks names the tick that differs, and of a damaged chunk its byte") {
    const Bytes file = test::record_yard({.ticks_per_chunk = 60});
    const Bytes changed = test::rewritten(
        file, {.header = {}, .tick = [](auto& record) { record.hash.root ^= record.tick == 75; }, .keyframe = {}}, 60);
    WorldPlayer player(changed);
    REQUIRE(player.open().ok());
    player.step(240);
    CHECK(player.verdict().state == PlayerState::differs);
    REQUIRE(player.verdict().difference.has_value());
    CHECK(player.verdict().difference->tick == 75);
    CHECK(player.verdict().difference->part == "root");
    CHECK(player.verdict().ticks_equal == 239);

    const auto parts = test::pieces(file);
    for (const test::Piece& piece : parts) {
        if (piece.kind != protocol::replay::ChunkKind::ticks || piece.ticks_before != 90) continue;
        Bytes damaged = file;
        damaged[static_cast<std::size_t>(piece.position.offset + piece.size - 50)] ^= 1;
        WorldPlayer other(damaged);
        REQUIRE(other.open().ok());
        other.step(240);
        CHECK(other.tick() == 90);
        CHECK(other.verdict().state == PlayerState::damaged);
        CHECK(other.verdict().broken_at == test::survey_bytes(damaged).error_offset);
        return;
    }
    FAIL("there is no chunk behind tick 90");
}

TEST_CASE("a player refuses a recording that was cut and has lost its keyframe") {
    const Bytes file = test::record_yard({.ticks = 100, .cut_before = 90});
    const auto parts = test::pieces(file);
    const Bytes headless(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(parts[1].position.offset));
    WorldPlayer player(headless);
    CHECK_FALSE(player.open().ok());
}
