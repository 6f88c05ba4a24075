#include "server/base/key_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_folder.h"

using namespace orrery;

namespace {
std::string write_key(const test::TempFolder& folder, const std::string& text, mode_t mode) {
    const std::string path = folder.path() + "/key";
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
}
}  // namespace

TEST_CASE("a key is 64 hex digits in a file for its owner alone") {
    const test::TempFolder folder;
    std::string digits;
    for (int i = 0; i < 32; ++i) digits += "aF";
    const auto key = server::read_key_file(write_key(folder, digits + "\n", 0600));
    REQUIRE(key);
    for (const std::uint8_t byte : *key) CHECK(byte == 0xaf);
    CHECK(server::read_key_file(write_key(folder, digits + "\r\n", 0400)).ok());
    CHECK_FALSE(server::read_key_file(write_key(folder, digits, 0640)).ok());
    CHECK_FALSE(server::read_key_file(write_key(folder, digits + "a", 0600)).ok());
    CHECK_FALSE(server::read_key_file(write_key(folder, digits.substr(1), 0600)).ok());
    digits[5] = 'g';
    CHECK_FALSE(server::read_key_file(write_key(folder, digits, 0600)).ok());
    CHECK_FALSE(server::read_key_file(folder.path() + "/none").ok());
    CHECK_FALSE(server::read_key_file(folder.path()).ok());
}

TEST_CASE("a secret file is replaced whole and readable by its owner alone") {
    const test::TempFolder folder;
    const std::string path = folder.path() + "/token";
    const std::vector<std::uint8_t> first(100, 1), second(50, 2);
    REQUIRE(server::write_secret_file(path, first));
    REQUIRE(server::write_secret_file(path, second));
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(status.st_size == 50);
    CHECK_FALSE(server::write_secret_file(folder.path() + "/none/token", first).ok());
}
