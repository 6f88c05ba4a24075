// Guards the hash of bodies of which few move: whatever changes, it is XXH3-64 of all bytes, and what did not change is
// not read again.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "sim/world/block_digest.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// Arrays of 2, 32 and 32 bytes an element, as a world has them.
struct Arrays {
    explicit Arrays(std::uint32_t n) : count(n), bytes{std::vector<std::byte>(2 * n), {}, {}} {
        bytes[1].resize(std::size_t{32} * n), bytes[2].resize(std::size_t{32} * n);
    }
    std::vector<BlockDigest::Array> views() const {
        return {{bytes[0].data(), 2}, {bytes[1].data(), 32}, {bytes[2].data(), 32}};
    }
    std::uint64_t whole() const {
        std::vector<std::byte> all;
        for (const auto& part : bytes) all.insert(all.end(), part.begin(), part.end());
        return XXH3_64bits(all.data(), all.size());
    }
    void change(std::uint32_t element, Lcg& random) {
        const auto some_byte = [&] { return static_cast<std::byte>(random.between(0.0f, 255.9f)); };
        bytes[0][2 * element] = some_byte();
        for (std::size_t k = 1; k < 3; ++k) {
            for (std::size_t i = 0; i < 32; ++i) bytes[k][32 * element + i] = some_byte();
        }
    }
    std::uint32_t count;
    std::vector<std::byte> bytes[3];
};

}  // namespace

TEST_CASE("a digest of what changed is that of all bytes, at any length") {
    Lcg random(11);
    BlockDigest digest;
    for (std::uint32_t count = 128; count < 1500; count += count < 200 ? 1 : 61) {
        Arrays arrays(count);
        for (int round = 0; round < 6; ++round) {
            for (int k = 0; k < round * round; ++k) {
                const auto element = static_cast<std::uint32_t>(random.unit() * static_cast<float>(count));
                arrays.change(element, random);
                digest.note(element);
            }
            if (round == 3) arrays.change(count - 1, random), digest.note(count - 1);
            if (round == 4) arrays.change(0, random), digest.note_all();
            REQUIRE(digest.of(arrays.views(), count) == arrays.whole());
        }
    }
}

TEST_CASE("what did not change is not read again") {
    constexpr std::uint32_t kCount = 20'000;
    Lcg random(3);
    Arrays arrays(kCount);
    BlockDigest digest;
    digest.of(arrays.views(), kCount);
    const std::uint64_t first = digest.bytes_read();
    CHECK(first > 60 * kCount);
    digest.of(arrays.views(), kCount);
    CHECK(digest.bytes_read() == first);
    for (const std::uint32_t element : {17u, 9'000u, 19'999u}) {
        arrays.change(element, random);
        digest.note(element);
    }
    CHECK(digest.of(arrays.views(), kCount) == arrays.whole());
    CHECK(digest.bytes_read() > first);
    CHECK(digest.bytes_read() < first + 3 * 5 * 512);
}
