// By libzstd. Its counterpart in WebAssembly is client_sdk/web/unpack.cpp.
#include "protocol/replay/unpack.h"

#include <zstd.h>

#include <cstdlib>

namespace orrery::protocol::replay {

Unpacker::Unpacker() : zstd_(ZSTD_createDCtx()) {
    if (!zstd_) std::abort();  // out of memory
}
Unpacker::~Unpacker() { ZSTD_freeDCtx(zstd_); }

std::optional<std::uint64_t> Unpacker::stated_size(std::span<const std::uint8_t> frame) {
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
    return size;
}

bool Unpacker::is_one_frame(std::span<const std::uint8_t> frame) {
    return ZSTD_findFrameCompressedSize(frame.data(), frame.size()) == frame.size();
}

bool Unpacker::unpack(std::span<const std::uint8_t> frame, std::span<std::uint8_t> out) {
    const std::size_t got = ZSTD_decompressDCtx(zstd_, out.data(), out.size(), frame.data(), frame.size());
    return !ZSTD_isError(got) && got == out.size();
}

}  // namespace orrery::protocol::replay
