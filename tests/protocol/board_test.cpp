// The board: its limits, its versions, and that a reader who follows its changes has the same board.
#include "protocol/session/board.h"

#include <doctest/doctest.h>

#include "tests/support/seed.h"
#include "tests/support/seeded_random.h"

using namespace orrery;
using namespace orrery::protocol;

namespace {

using Buffer = std::vector<std::uint8_t>;
using Values = std::map<std::string, Buffer>;

Values values_of(const Board& board) {
    Values out;
    for (const auto& [key, value] : board.values()) out[key] = value.bytes;
    return out;
}

// What ServerSession::send_board does.
struct Follower {
    Values values;
    std::uint64_t version = 0;
    int wholes = 0;

    void follow(const Board& board) {
        if (version < board.forgotten()) {
            values = values_of(board);
            version = board.version();
            ++wholes;
        }
        for (auto at = board.changes().upper_bound(version); at != board.changes().end(); ++at) {
            const Board::Value* value = board.find(at->second);
            if (value)
                values[at->second] = value->bytes;
            else
                values.erase(at->second);
            version = at->first;
        }
    }
};

}  // namespace

TEST_CASE("a board refuses what is beyond its limits, and stays as it was") {
    Board board;
    const Buffer value(10, 1);
    CHECK(board.set("", value) == BoardStatus::bad_key);
    CHECK(board.set(std::string(kMaxBoardKeyBytes + 1, 'k'), value) == BoardStatus::bad_key);
    CHECK(board.set(std::string_view("a\0b", 3), value) == BoardStatus::bad_key);
    CHECK(board.set(std::string(kMaxBoardKeyBytes, 'k'), value) == BoardStatus::ok);
    CHECK(board.version() == 1);
    CHECK(board.set("big", Buffer(kMaxBoardBytes)) == BoardStatus::full);
    CHECK(board.set("big", Buffer(kMaxBoardBytes - 3 - board.bytes())) == BoardStatus::ok);
    CHECK(board.bytes() == kMaxBoardBytes);
    CHECK(board.set("x", {}) == BoardStatus::full);
    CHECK(board.set("big", Buffer(kMaxBoardBytes)) == BoardStatus::full);
    CHECK(board.find("big")->bytes.size() == kMaxBoardBytes - 3 - 74);
    CHECK(board.set("big", Buffer(5)) == BoardStatus::ok);
    CHECK(board.bytes() == 74 + 8);
    CHECK(board.remove("big"));
    CHECK_FALSE(board.remove("big"));
    CHECK(board.bytes() == 74);
    for (std::size_t i = board.values().size(); i < kMaxBoardKeys; ++i)
        REQUIRE(board.set("key " + std::to_string(i), value) == BoardStatus::ok);
    CHECK(board.set("one more", value) == BoardStatus::full);
    CHECK(board.set("key 5", Buffer(3)) == BoardStatus::ok);
}

TEST_CASE("an equal value is no change, and a key changes once however often it was set") {
    Board board;
    CHECK(board.set("score", Buffer{1}) == BoardStatus::ok);
    const std::uint64_t version = board.version();
    CHECK(board.set("score", Buffer{1}) == BoardStatus::ok);
    CHECK(board.version() == version);
    for (std::uint8_t i = 2; i < 50; ++i) CHECK(board.set("score", Buffer{i}) == BoardStatus::ok);
    CHECK(board.changes().size() == 1);
    CHECK(board.remove("score"));
    CHECK(board.changes().size() == 1);
    CHECK(board.set("score", Buffer{1}) == BoardStatus::ok);
    CHECK(board.changes().size() == 1);
    CHECK(board.version() == version + 50);
}

TEST_CASE("who follows the changes has the same board, however seldom, and memory is bounded") {
    testing::Random random(test::seeded(4));
    Board board;
    Follower often, seldom;
    for (int i = 0; i < 60'000; ++i) {
        // Ever new names, so that removals are many.
        const std::string key = "k" + std::to_string(i / 4 + static_cast<int>(random.below(60)));
        if (random.chance(0.45))
            board.remove(key);
        else
            board.set(key, Buffer(random.below(200), static_cast<std::uint8_t>(i)));
        board.remove("k" + std::to_string(i / 4 - 1));
        REQUIRE(board.changes().size() <= 2 * kMaxBoardKeys);
        REQUIRE(board.bytes() <= kMaxBoardBytes);
        if (i % 7 == 0) often.follow(board);
        if (i % 7'000 == 0) {
            seldom.follow(board);
            REQUIRE(seldom.values == values_of(board));
        }
    }
    often.follow(board);
    CHECK(often.values == values_of(board));
    CHECK(often.wholes == 0);
    CHECK(seldom.wholes > 0);
}

TEST_CASE("a key that is removed while the list of changes is walked is a copy by then") {
    Board board;
    board.set("a", Buffer{1});
    board.set("b", Buffer{2});
    CHECK(board.remove(board.changes().begin()->second));
    CHECK(board.changes().rbegin()->second == "a");
    CHECK(board.remove(board.values().begin()->first));
    CHECK(board.values().empty());
    CHECK(board.bytes() == 0);
}
