// The replay file: append-only, portable, little endian.
//
//   file   = chunk*                      FILE_HEADER, then TICK and KEYFRAME in order, END if the file was closed
//   chunk  = header payload trailer
//   header = magic u32 | format u16 | kind u8 | flags u8 | length u64 | sequence u64 | XXH3-64 of these 24 bytes
//   trailer= XXH3-64 of the payload as stored | chain
//   chain  = BLAKE2b-256 of (chain of the chunk before, header, payload); 32 zero bytes for the first chunk
//
// `length` counts the stored payload; `sequence` counts chunks from 0. With flag kFlagZstd the payload is exactly one
// Zstandard frame that states its content size, at most max_unpacked_bytes(kind, length). records.h describes the
// payloads.
//
// Every byte is checked: header fields by the header's checksum, the payload by its own, all by the chain. So a reader
// can distinguish a file that was cut off from one that was altered:
//   torn     the file ends inside a header, or before the bytes that a valid header announces
//   corrupt  any other check fails, which includes bytes after END
// The rest of a torn chunk must pass every check that its bytes allow. A payload that was cut off allows none and is
// not used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::protocol::replay {

inline constexpr std::uint32_t kMagic = 0x5952524fu;  // "ORRY"
inline constexpr std::uint16_t kFormatVersion = 1;    // of the framing and of all records
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kHeaderCheckedBytes = 24;
inline constexpr std::size_t kChainBytes = 32;
inline constexpr std::size_t kTrailerBytes = 8 + kChainBytes;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{64} << 20;  // stored, and again after decompression
// of a tick's payload: the most commands, each at its longest
inline constexpr std::size_t kMaxTickBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxTextBytes = 256;  // scene and room names
// smaller payloads gain nothing, because of the frame's own bytes
inline constexpr std::size_t kCompressFromBytes = 1024;
enum class ChunkKind : std::uint8_t { file_header = 1, tick = 2, keyframe = 3, end = 4 };

inline constexpr std::uint8_t kFlagZstd = 1;
inline constexpr std::uint8_t kKnownFlags = kFlagZstd;

// Largest payload of a kind, as stored and again after decompression.
inline constexpr std::size_t max_payload_bytes(ChunkKind kind) {
    return kind == ChunkKind::tick || kind == ChunkKind::end ? kMaxTickBytes : kMaxPayloadBytes;
}

// Largest unpacked size of a compressed payload: kFreePlainBytes however few bytes are stored, plus kMaxExpansion for
// each stored byte (ten thousand bodies that hang alike take 30 of one). A scene is in memory twice while it is read,
// so that one of more than kMaxPackedHeaderBytes is not compressed. A payload beyond these limits is stored
// uncompressed. So the size of a file bounds the memory of its reader.
inline constexpr std::size_t kFreePlainBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxExpansion = 256;
inline constexpr std::size_t kMaxPackedHeaderBytes = std::size_t{20} << 20;
inline constexpr std::size_t max_unpacked_bytes(ChunkKind kind, std::size_t stored) {
    const std::size_t most = stored * kMaxExpansion > kFreePlainBytes ? stored * kMaxExpansion : kFreePlainBytes;
    return kind == ChunkKind::file_header && most > kMaxPackedHeaderBytes ? kMaxPackedHeaderBytes : most;
}

using Chain = std::array<std::uint8_t, kChainBytes>;

struct ChunkHeader {
    std::uint16_t format = kFormatVersion;
    ChunkKind kind = ChunkKind::tick;
    std::uint8_t flags = 0;
    std::uint64_t length = 0;  // bytes of the payload as stored
    std::uint64_t sequence = 0;
};

}  // namespace orrery::protocol::replay
