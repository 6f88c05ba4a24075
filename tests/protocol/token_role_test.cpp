#include "protocol/session/token_role.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

using namespace orrery::protocol;

TEST_CASE("a role and the game's bytes stand in a token's user data, and are read from it") {
    std::vector<std::uint8_t> of_the_game(kRoleGameBytes);
    std::iota(of_the_game.begin(), of_the_game.end(), std::uint8_t{1});
    for (std::uint8_t role = 0; role < kTokenRoles; ++role) {
        const auto written = write_token_identity(static_cast<TokenRole>(role), of_the_game);
        REQUIRE(written);
        CHECK(std::memcmp(written->data(), "ORRYROLE\x01", 9) == 0);
        CHECK((*written)[9] == role);
        const auto read = read_token_identity(*written);
        REQUIRE(read);
        CHECK(static_cast<std::uint8_t>(read->role) == role);
        CHECK(std::equal(read->game_data.begin(), read->game_data.end(), of_the_game.begin(), of_the_game.end()));
    }
    of_the_game.push_back(0);
    CHECK_FALSE(write_token_identity(TokenRole::player, of_the_game));
    // What is shorter is followed by zeros.
    const auto little = write_token_identity(TokenRole::spectator, std::vector<std::uint8_t>{7});
    REQUIRE(little);
    CHECK(std::count(little->begin() + 11, little->end(), 0) == 245);
}

TEST_CASE("user data of other makers is the game's as a whole, and its client a player") {
    UserData data{};
    std::iota(data.begin(), data.end(), std::uint8_t{0});
    for (const bool almost : {false, true}) {
        if (almost) std::memcpy(data.data(), "ORRYROLe\x01\x02", 10);
        const auto read = read_token_identity(data);
        REQUIRE(read);
        CHECK(read->role == TokenRole::player);
        CHECK(read->game_data.data() == data.data());
        CHECK(read->game_data.size() == kUserDataBytes);
    }
}

TEST_CASE("a version or role of the future is none of this server's") {
    UserData data = write_token_identity(TokenRole::director, {}).value();
    REQUIRE(read_token_identity(data));
    data[9] = 3;
    CHECK_FALSE(read_token_identity(data));
    data[9] = 2;
    for (const std::uint8_t version : {0, 2, 255}) {
        data[8] = version;
        CHECK_FALSE(read_token_identity(data));
    }
}
