// Little-endian fields and canonical variable-length integers, for the records of a replay. A reader never goes past
// the end. At the first error it fails, and from then on returns zeros.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace orrery::protocol::replay {

class ByteWriter {
  public:
    explicit ByteWriter(std::vector<std::uint8_t>& out) : out_(out) {}

    void u8(std::uint8_t value) { out_.push_back(value); }
    void u16(std::uint16_t value) { fixed(value, 2); }
    void u32(std::uint32_t value) { fixed(value, 4); }
    void u64(std::uint64_t value) { fixed(value, 8); }
    void f32(float value) { u32(std::bit_cast<std::uint32_t>(value)); }  // every bit pattern survives, NaN payloads too

    // Seven bits in each byte, low bits first. The high bit means that more bytes follow. Only the shortest form is
    // valid.
    void varint(std::uint64_t value) {
        while (value >= 0x80) {
            u8(static_cast<std::uint8_t>(value | 0x80));
            value >>= 7;
        }
        u8(static_cast<std::uint8_t>(value));
    }
    void bytes(std::span<const std::uint8_t> data) { out_.insert(out_.end(), data.begin(), data.end()); }
    void text(std::string_view value) {
        varint(value.size());
        out_.insert(out_.end(), value.begin(), value.end());
    }

  private:
    void fixed(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    std::vector<std::uint8_t>& out_;
};

class ByteReader {
  public:
    explicit ByteReader(std::span<const std::uint8_t> data) : data_(data) {}

    bool ok() const { return ok_; }
    std::size_t remaining() const { return data_.size(); }
    bool at_end() const { return ok_ && data_.empty(); }
    void fail() {
        ok_ = false;
        data_ = {};
    }

    std::uint8_t u8() { return static_cast<std::uint8_t>(fixed(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(fixed(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
    std::uint64_t u64() { return fixed(8); }
    float f32() { return std::bit_cast<float>(u32()); }

    // Fails for a form that is longer than needed, and for a value above `max`.
    std::uint64_t varint(std::uint64_t max = ~std::uint64_t{0}) {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = u8();
            const std::uint64_t part = byte & 0x7f;
            if (shift == 63 && part > 1) break;
            value |= part << shift;
            if (byte & 0x80) continue;
            if ((part == 0 && shift > 0) || value > max) break;
            return ok_ ? value : 0;
        }
        fail();
        return 0;
    }
    std::span<const std::uint8_t> bytes(std::uint64_t count) {
        if (count > data_.size()) {
            fail();
            return {};
        }
        const auto taken = data_.first(static_cast<std::size_t>(count));
        data_ = data_.subspan(static_cast<std::size_t>(count));
        return taken;
    }
    std::string_view text(std::size_t max_bytes) {
        const auto taken = bytes(varint(max_bytes));
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }

  private:
    std::uint64_t fixed(std::size_t size) {
        const auto taken = bytes(size);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < taken.size(); ++i) value |= std::uint64_t{taken[i]} << (8 * i);
        return value;
    }
    std::span<const std::uint8_t> data_;
    bool ok_ = true;
};

}  // namespace orrery::protocol::replay
