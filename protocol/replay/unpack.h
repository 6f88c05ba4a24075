// Decompresses a payload: exactly one Zstandard frame that states its content size (format.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

struct ZSTD_DCtx_s;

namespace orrery::protocol::replay {

class Unpacker {
  public:
    Unpacker();
    ~Unpacker();
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    // Nothing: the frame states none, or its header is damaged.
    static std::optional<std::uint64_t> stated_size(std::span<const std::uint8_t> frame);
    // Whether nothing follows the first frame.
    static bool is_one_frame(std::span<const std::uint8_t> frame);
    // False: the frame is damaged, or does not fill `out` exactly.
    bool unpack(std::span<const std::uint8_t> frame, std::span<std::uint8_t> out);

  private:
    [[maybe_unused]] ZSTD_DCtx_s* zstd_;  // null in WebAssembly
};

}  // namespace orrery::protocol::replay
