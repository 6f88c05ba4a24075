// Bits in little-endian order; the first written bit is the lowest. A writer never grows beyond its limit, and a reader
// never reads beyond its end. Both remember a failure, which their users check once at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/assert.h"

namespace orrery::protocol {

class BitWriter {
  public:
    explicit BitWriter(std::vector<std::uint8_t>& out, std::size_t limit_bytes)
        : out_(out), limit_bits_(limit_bytes * 8) {}

    void write(std::uint32_t value, std::uint32_t bits) {
        ORRERY_DEBUG_ASSERT(bits <= 32 && (bits == 32 || (value >> bits) == 0));
        if (bit_count_ + bits > limit_bits_) {
            overflowed_ = true;
            return;
        }
        pending_ |= static_cast<std::uint64_t>(value) << pending_bits_;
        pending_bits_ += bits;
        bit_count_ += bits;
        while (pending_bits_ >= 8) {
            out_.push_back(static_cast<std::uint8_t>(pending_));
            pending_ >>= 8;
            pending_bits_ -= 8;
        }
    }

    // Zero bits up to the next byte. Call once, at the end.
    void finish() {
        if (pending_bits_ > 0) out_.push_back(static_cast<std::uint8_t>(pending_));
        pending_ = 0;
        pending_bits_ = 0;
    }

    bool overflowed() const { return overflowed_; }
    std::size_t bit_count() const { return bit_count_; }

  private:
    std::vector<std::uint8_t>& out_;
    std::size_t limit_bits_;
    std::size_t bit_count_ = 0;
    std::uint64_t pending_ = 0;
    std::uint32_t pending_bits_ = 0;
    bool overflowed_ = false;
};

class BitReader {
  public:
    explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    // 0 beyond the end; from then on failed() is true.
    std::uint32_t read(std::uint32_t bits) {
        if (position_ + bits > bytes_.size() * 8) {
            failed_ = true;
            return 0;
        }
        std::uint64_t value = 0;
        std::uint32_t have = 0;
        while (have < bits) {
            const std::uint32_t offset = position_ & 7;
            const std::uint32_t take = bits - have < 8 - offset ? bits - have : 8 - offset;
            const std::uint64_t chunk = (bytes_[position_ >> 3] >> offset) & ((1u << take) - 1u);
            value |= chunk << have;
            have += take;
            position_ += take;
        }
        return static_cast<std::uint32_t>(value);
    }

    bool failed() const { return failed_; }
    std::size_t position() const { return position_; }  // bits that were read
    // True if only the zero bits are left that fill the last byte.
    bool at_end() {
        const std::size_t left = bytes_.size() * 8 - position_;
        return !failed_ && left < 8 && read(static_cast<std::uint32_t>(left)) == 0;
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

// Counts the bits that a BitWriter would write.
class BitCounter {
  public:
    void write(std::uint32_t, std::uint32_t bits) { bit_count_ += bits; }
    std::size_t bit_count() const { return bit_count_; }

  private:
    std::size_t bit_count_ = 0;
};

}  // namespace orrery::protocol
