// The replay file: append-only, portable, little endian. This is format 2; what format 1 has instead is at the end.
//
//   file   = chunk*       FILE_HEADER; then TICK, TICKS and KEYFRAME in order; END if the file was closed. Between
//                         FILE_HEADER and END ancillary chunks, but not between the parts of a keyframe
//   chunk  = header payload trailer
//   header = magic u32 | format u16 | kind u8 | flags u8 | length u32 | number u32 | sequence u64 |
//            XXH3-64 of these 24 bytes
//   trailer= XXH3-64 of the payload as stored | chain
//   chain  = BLAKE2b-256 of (chain of the chunk before, header, payload); 32 zero bytes for the first chunk
//
// All chunks of a file are of one format. `length` counts the stored payload. `number` is, of TICKS, how many ticks it
// has, of KEYFRAME, how many parts follow this one, and 0 of other known kinds: so the headers alone show where ticks
// and keyframes are. `sequence` counts chunks from 0. With flag kFlagZstd the payload is exactly one Zstandard frame
// that states its content size, at most max_unpacked_bytes(kind, length). records.h and ancillary.h describe the
// payloads.
//
// Kinds 128 to 255 are ancillary: they are chained and checked as all others are, and a reader that does not know one
// skips and counts it. So this format can take further records without another break. Unknown kinds below 128 are
// corrupt.
//
// Every byte is checked: header fields by the header's checksum, the payload by its own, all by the chain. So a reader
// can distinguish a file that was cut off from one that was altered:
//   torn     the file ends inside a header, or before the bytes that a valid header announces
//   corrupt  any other check fails, which includes bytes after END
// The rest of a torn chunk must pass every check that its bytes allow. A payload that was cut off allows none and is
// not used.
//
// Format 1 is read, and no longer written. It has the kinds FILE_HEADER, TICK, KEYFRAME and END alone; length is a u64
// in the place of length and number; FILE_HEADER and KEYFRAME have fewer fields (records.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::protocol::replay {

inline constexpr std::uint32_t kMagic = 0x5952524fu;  // "ORRY"
inline constexpr std::uint16_t kFormatVersion = 2;    // of the framing and of all records that are written
inline constexpr std::uint16_t kOldestFormat = 1;     // that is read
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kHeaderCheckedBytes = 24;
inline constexpr std::size_t kChainBytes = 32;
inline constexpr std::size_t kTrailerBytes = 8 + kChainBytes;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{64} << 20;  // stored, and again after decompression
// of a tick's payload: the most commands, each at its longest
inline constexpr std::size_t kMaxTickBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxTextBytes = 256;  // scene and room names
inline constexpr std::uint32_t kMaxTicksPerChunk = 60;
inline constexpr std::uint32_t kMaxKeyframeParts = 16;  // a state of 1 GiB: more than that of kMaxBodies boxes
// smaller payloads gain nothing, because of the frame's own bytes
inline constexpr std::size_t kCompressFromBytes = 1024;

inline constexpr std::uint8_t kFirstAncillaryKind = 128;
enum class ChunkKind : std::uint8_t {
    file_header = 1,
    tick = 2,
    keyframe = 3,
    end = 4,
    ticks = 5,
    player = kFirstAncillaryKind,
    resume,
    host,
    note,
    sign,
};
inline constexpr ChunkKind kLastAncillaryKind = ChunkKind::sign;  // of those that this version knows

inline constexpr bool is_ancillary(ChunkKind kind) { return static_cast<std::uint8_t>(kind) >= kFirstAncillaryKind; }

inline constexpr std::uint8_t kFlagZstd = 1;
inline constexpr std::uint8_t kKnownFlags = kFlagZstd;

// Largest payload of a kind, as stored and again after decompression.
inline constexpr std::size_t max_payload_bytes(ChunkKind kind) {
    return kind == ChunkKind::file_header || kind == ChunkKind::keyframe ? kMaxPayloadBytes : kMaxTickBytes;
}

// Largest unpacked size of a compressed payload: kFreePlainBytes however few bytes are stored, plus kMaxExpansion for
// each stored byte (ten thousand bodies that hang alike take 30 of one). A scene is in memory twice while it is read,
// so that one of more than kMaxPackedHeaderBytes is not compressed. A payload beyond these limits is stored
// uncompressed. So the size of a file bounds the memory of its reader: of the parts of a keyframe all but the last are
// full, so that only one of them takes kFreePlainBytes; of TICKS one tick at a time is decoded.
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
    std::uint32_t length = 0;  // bytes of the payload as stored
    std::uint32_t number = 0;
    std::uint64_t sequence = 0;
};

}  // namespace orrery::protocol::replay
