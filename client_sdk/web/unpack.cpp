// In the place of protocol/replay/unpack.cpp: WebAssembly has no libzstd, and JavaScript decompresses (player.ts). What
// a frame says of itself is read here (RFC 8878, section 3.1).
#include "protocol/replay/unpack.h"

#include <algorithm>

extern "C" {

// 1: `out` was filled exactly.
__attribute__((import_module("orrery"), import_name("unpack"))) std::int32_t orrery_web_unpack(
    const std::uint8_t* frame, std::size_t size, std::uint8_t* out, std::size_t out_size);
}

namespace orrery::protocol::replay {

namespace {

constexpr std::uint64_t kMagicNumber = 0xfd2fb528u;

// Little endian, of at most 8 bytes.
std::uint64_t number(std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return value;
}

struct FrameHeader {
    std::size_t bytes = 0;  // 0: damaged
    std::optional<std::uint64_t> content_size;
    std::uint64_t window = 0;  // bytes that JavaScript keeps of what was decompressed
    bool checksum = false;
};

FrameHeader header_of(std::span<const std::uint8_t> frame) {
    if (frame.size() < 6 || number(frame.first(4)) != kMagicNumber) return {};
    const unsigned descriptor = frame[4], size_flag = descriptor >> 6;
    const bool single_segment = (descriptor & 32) != 0;
    constexpr std::size_t kDictionaryBytes[] = {0, 1, 2, 4};
    const std::size_t before = 5 + (single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3];
    const std::size_t size_bytes = size_flag == 0 ? (single_segment ? 1 : 0) : std::size_t{1} << size_flag;
    if (frame.size() < before + size_bytes) return {};
    FrameHeader header{before + size_bytes, std::nullopt, 0, (descriptor & 4) != 0};
    if (size_bytes > 0) header.content_size = number(frame.subspan(before, size_bytes)) + (size_bytes == 2 ? 256 : 0);
    const std::uint64_t window_base = std::uint64_t{1} << (10 + (frame[5] >> 3));
    header.window = single_segment ? header.content_size.value_or(0) : window_base + window_base / 8 * (frame[5] & 7);
    return header;
}

}  // namespace

Unpacker::Unpacker() : zstd_(nullptr) {}
Unpacker::~Unpacker() = default;

std::optional<std::uint64_t> Unpacker::stated_size(std::span<const std::uint8_t> frame) {
    return header_of(frame).content_size;
}

bool Unpacker::is_one_frame(std::span<const std::uint8_t> frame) {
    constexpr std::size_t kBlockHeaderBytes = 3;
    constexpr unsigned kRepeatedByte = 1;  // the type of a block that holds one byte
    const FrameHeader header = header_of(frame);
    std::size_t at = header.bytes;
    for (bool last = at == 0; !last;) {
        if (frame.size() - at < kBlockHeaderBytes) return false;
        const std::uint64_t block = number(frame.subspan(at, kBlockHeaderBytes));
        last = (block & 1) != 0;
        const std::uint64_t stored = (block >> 1 & 3) == kRepeatedByte ? 1 : block >> 3;
        at += kBlockHeaderBytes;
        if (frame.size() - at < stored) return false;
        at += static_cast<std::size_t>(stored);
    }
    return at > 0 && at + (header.checksum ? 4 : 0) == frame.size();
}

bool Unpacker::unpack(std::span<const std::uint8_t> frame, std::span<std::uint8_t> out) {
    constexpr std::uint64_t kAnyWindow = std::uint64_t{8} << 20;  // which each decoder should support
    const FrameHeader header = header_of(frame);
    if (header.content_size != out.size() || header.window > std::max<std::uint64_t>(out.size(), kAnyWindow))
        return false;
    return orrery_web_unpack(frame.data(), frame.size(), out.data(), out.size()) == 1;
}

}  // namespace orrery::protocol::replay
