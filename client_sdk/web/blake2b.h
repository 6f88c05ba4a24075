// BLAKE2b (RFC 7693) with 32 bytes of hash and no key: libsodium's crypto_generichash, which Debian has for no
// WebAssembly.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace orrery::client {

class Blake2b256 {
  public:
    Blake2b256() {
        state_ = kStart;
        state_[0] ^= 0x01010000u ^ 32u;  // sequential, without a key, 32 bytes
    }

    void update(std::span<const std::uint8_t> bytes) {
        for (const std::uint8_t byte : bytes) {
            if (filled_ == block_.size()) compress(false);  // the last block is another: it waits for more
            block_[filled_++] = byte;
        }
    }

    std::array<std::uint8_t, 32> finish() {
        std::memset(block_.data() + filled_, 0, block_.size() - filled_);
        compress(true);
        std::array<std::uint8_t, 32> hash;
        for (std::size_t i = 0; i < hash.size(); ++i)
            hash[i] = static_cast<std::uint8_t>(state_[i / 8] >> (8 * (i % 8)));
        return hash;
    }

  private:
    using Words = std::array<std::uint64_t, 8>;
    static constexpr Words kStart = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu,
                                     0xa54ff53a5f1d36f1u, 0x510e527fade682d1u, 0x9b05688c2b3e6c1fu,
                                     0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};
    static constexpr std::uint8_t kOrder[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

    void compress(bool last) {
        count_ += filled_;
        filled_ = 0;
        std::uint64_t m[16], v[16];
        std::memcpy(m, block_.data(), sizeof m);  // WebAssembly is little endian
        for (std::size_t i = 0; i < 8; ++i) {
            v[i] = state_[i];
            v[i + 8] = kStart[i];
        }
        v[12] ^= count_;
        if (last) v[14] = ~v[14];
        for (int round = 0; round < 12; ++round) {
            const std::uint8_t* order = kOrder[round % 10];
            for (std::size_t i = 0; i < 8; ++i) {  // four columns, then four diagonals
                const std::size_t turn = i / 4, column = i % 4;
                mix(v[column], v[4 + (column + turn) % 4], v[8 + (column + 2 * turn) % 4],
                    v[12 + (column + 3 * turn) % 4], m[order[2 * i]], m[order[2 * i + 1]]);
            }
        }
        for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
    }

    static void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, std::uint64_t x,
                    std::uint64_t y) {
        a += b + x;
        d = std::rotr(d ^ a, 32);
        c += d;
        b = std::rotr(b ^ c, 24);
        a += b + y;
        d = std::rotr(d ^ a, 16);
        c += d;
        b = std::rotr(b ^ c, 63);
    }

    Words state_;
    std::array<std::uint8_t, 128> block_;
    std::size_t filled_ = 0;
    std::uint64_t count_ = 0;  // bytes that were compressed
};

}  // namespace orrery::client
