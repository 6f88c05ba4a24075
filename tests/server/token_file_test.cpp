#include <doctest/doctest.h>

#include <filesystem>

#include "server/net/access.h"
#include "tests/support/temp_folder.h"

using namespace orrery;

TEST_CASE("a token file that cannot be renewed is tried again") {
    const test::TempFolder folder;
    const std::string below = folder / "below";
    const protocol::Key key{};
    server::TokenFile file(below + "/connect.token", key, protocol::Address::ipv4(127, 0, 0, 1, 7770));
    std::uint64_t now = 1'800'000'000;
    CHECK(file.due(now));
    CHECK_FALSE(file.renew(now));
    CHECK_FALSE(file.due(now));  // not at once: nothing will have changed
    now += server::kTokenRetry_s;
    CHECK(file.due(now));
    CHECK_FALSE(file.renew(now));

    REQUIRE(std::filesystem::create_directory(below));
    now += server::kTokenRetry_s;
    REQUIRE(file.due(now));
    CHECK(file.renew(now));
    CHECK_FALSE(file.due(now + 10 * server::kTokenRetry_s));
    file.used();
    CHECK(file.due(now));
}
