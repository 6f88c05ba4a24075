// Little-endian reading and writing within fixed bounds. A reader that runs out of bytes stays failed and returns
// zeros. So a layout is read without checks, with one check at its end.
#pragma once

#include <cstring>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline void store_le(std::uint8_t* out, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The nonce of ChaCha20-Poly1305 (IETF): 4 zero bytes, then the sequence.
inline std::array<std::uint8_t, 12> nonce_of(std::uint64_t sequence) {
    std::array<std::uint8_t, 12> nonce{};
    store_le(nonce.data() + 4, sequence, 8);
    return nonce;
}
inline std::uint64_t load_le(const std::uint8_t* in, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(in[i]) << (8 * i);
    return value;
}

class WireReader {
  public:
    explicit WireReader(Bytes bytes) : bytes_(bytes) {}

    bool ok() const { return ok_; }
    std::size_t remaining() const { return bytes_.size() - at_; }

    Bytes bytes(std::size_t count) {
        if (!ok_ || count > remaining()) {
            ok_ = false;
            return {};
        }
        const Bytes out = bytes_.subspan(at_, count);
        at_ += count;
        return out;
    }
    std::uint64_t integer(std::size_t width) {
        const Bytes raw = bytes(width);
        return ok_ ? load_le(raw.data(), width) : 0;
    }
    std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
    std::uint64_t u64() { return integer(8); }

    // LEB128 of at most 64 bits. A longer or padded form fails, so that every number has exactly one form.
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = u8();
            if (!ok_) return 0;
            const std::uint64_t part = byte & 0x7fu;
            if ((shift == 63 && part > 1) || (shift > 0 && byte == 0)) break;
            value |= part << shift;
            if (byte < 0x80) return value;
        }
        ok_ = false;
        return 0;
    }

    template <std::size_t N>
    void array(std::array<std::uint8_t, N>& out) {
        const Bytes raw = bytes(N);
        if (ok_) std::memcpy(out.data(), raw.data(), N);
    }

  private:
    Bytes bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

// The caller ensures that everything fits. Writing beyond the end is dropped, and ok() is false afterwards.
class WireWriter {
  public:
    explicit WireWriter(MutableBytes out) : out_(out) {}

    bool ok() const { return ok_; }
    std::size_t size() const { return at_; }
    std::size_t remaining() const { return out_.size() - at_; }

    void bytes(Bytes data) {
        if (!ok_ || data.size() > remaining()) {
            ok_ = false;
            return;
        }
        if (!data.empty()) std::memcpy(out_.data() + at_, data.data(), data.size());
        at_ += data.size();
    }
    void integer(std::uint64_t value, std::size_t width) {
        std::uint8_t raw[8];
        store_le(raw, value, width);
        bytes({raw, width});
    }
    void u8(std::uint8_t value) { integer(value, 1); }
    void u16(std::uint16_t value) { integer(value, 2); }
    void u32(std::uint32_t value) { integer(value, 4); }
    void u64(std::uint64_t value) { integer(value, 8); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) u8(static_cast<std::uint8_t>(value | 0x80));
        u8(static_cast<std::uint8_t>(value));
    }
    void zeros_to_end() {
        std::memset(out_.data() + at_, 0, remaining());
        at_ = out_.size();
    }

  private:
    MutableBytes out_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

constexpr std::size_t varint_size(std::uint64_t value) {
    std::size_t size = 1;
    for (; value >= 0x80; value >>= 7) ++size;
    return size;
}

}  // namespace orrery::protocol
