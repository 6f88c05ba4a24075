#include "protocol/replay/chunk.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

namespace {

constexpr std::size_t kSequenceOffset = 16;
constexpr const char* kCutOff = "the file ends before the bytes that a chunk header announces";
constexpr const char* kUnreadablePlace = "the file cannot be read at this place";

std::uint64_t load_u64(const std::uint8_t* bytes) { return ByteReader({bytes, 8}).u64(); }

void store_u64(std::uint64_t value, std::uint8_t* out) {
    for (int i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

bool known(ChunkKind kind, std::uint16_t format) {
    if (kind >= ChunkKind::file_header && kind <= ChunkKind::end) return true;
    return format > 1 && (kind == ChunkKind::ticks || is_ancillary(kind));
}

bool allowed_number(const ChunkHeader& header) {
    if (header.format == 1) return header.number == 0;  // the upper half of its length
    if (header.kind == ChunkKind::ticks) return header.number >= 1 && header.number <= kMaxTicksPerChunk;
    if (header.kind == ChunkKind::keyframe) return header.number < kMaxKeyframeParts;
    return header.number == 0 || header.kind > kLastAncillaryKind;
}

}  // namespace

HeaderBytes encode_header(const ChunkHeader& header) {
    HeaderBytes bytes{};
    for (int i = 0; i < 4; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(kMagic >> (8 * i));
    bytes[4] = static_cast<std::uint8_t>(header.format);
    bytes[5] = static_cast<std::uint8_t>(header.format >> 8);
    bytes[6] = static_cast<std::uint8_t>(header.kind);
    bytes[7] = header.flags;
    store_u64(header.length | std::uint64_t{header.number} << 32, bytes.data() + 8);
    store_u64(header.sequence, bytes.data() + kSequenceOffset);
    store_u64(XXH3_64bits(bytes.data(), kHeaderCheckedBytes), bytes.data() + kHeaderCheckedBytes);
    return bytes;
}

std::uint64_t payload_checksum(std::span<const std::uint8_t> payload) {
    return XXH3_64bits(payload.data(), payload.size());
}

Trailer make_trailer(std::span<const std::uint8_t> payload, const Chain& chain) {
    Trailer trailer;
    store_u64(payload_checksum(payload), trailer.data());
    std::copy(chain.begin(), chain.end(), trailer.begin() + 8);
    return trailer;
}

bool MemorySource::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) return false;
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return true;
}

ChunkReader::ChunkReader(const Source& source, const Position& start) : source_(source), position_(start) {
    begin_chains();
}

ReadStatus ChunkReader::stop(ReadStatus status, std::uint64_t offset, const char* message) {
    status_ = status;
    error_offset_ = offset;
    const auto code = status == ReadStatus::unreadable ? ErrorCode::io : ErrorCode::corrupt;
    error_ = Error{code, "byte " + std::to_string(offset), message};
    return status;
}

ReadStatus ChunkReader::next(Chunk& chunk) {
    if (status_ != ReadStatus::chunk) return status_;
    ChunkHeader header;
    HeaderBytes bytes{};
    if (read_header(header, bytes) != ReadStatus::chunk) return status_;
    Chain chain;
    if (read_payload(header, bytes, chain) != ReadStatus::chunk) return status_;

    chunk.kind = header.kind;
    chunk.number = header.number;
    chunk.offset = position_.offset;
    chunk.chain_before = position_.chain;
    chunk.payload = stored_;
    if (header.flags & kFlagZstd) {
        if (decompress(header.kind) != ReadStatus::chunk) return status_;
        chunk.payload = {plain_.get(), plain_size_};
    }
    advance(header, chain);
    return ReadStatus::chunk;
}

ReadStatus ChunkReader::skip(ChunkHeader& header) {
    if (status_ != ReadStatus::chunk) return status_;
    HeaderBytes bytes{};
    if (read_header(header, bytes) != ReadStatus::chunk) return status_;
    const std::uint64_t left = source_.size() - position_.offset - kHeaderBytes;
    if (left < header.length || left - header.length < kTrailerBytes)
        return stop(ReadStatus::torn, position_.offset, kCutOff);
    Chain chain;
    if (!source_.read(position_.offset + kHeaderBytes + header.length + kTrailerBytes - kChainBytes, chain))
        return stop(ReadStatus::unreadable, position_.offset, kUnreadablePlace);
    advance(header, chain);
    return ReadStatus::chunk;
}

void ChunkReader::advance(const ChunkHeader& header, const Chain& chain) {
    position_.offset += std::uint64_t{kHeaderBytes} + header.length + kTrailerBytes;
    position_.sequence += 1;
    position_.chain = chain;
    position_.format = header.format;
    position_.ended = header.kind == ChunkKind::end;
}

ReadStatus ChunkReader::read_header(ChunkHeader& header, HeaderBytes& bytes) {
    const std::uint64_t size = source_.size(), offset = position_.offset;
    if (offset == size) {
        status_ = position_.ended ? ReadStatus::closed : ReadStatus::open;
        return status_;
    }
    if (offset > size) return stop(ReadStatus::unreadable, size, "the file became shorter while it was read");
    if (position_.ended) return stop(ReadStatus::corrupt, offset, "bytes follow the end chunk; use an undamaged copy");
    const std::size_t have = static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, kHeaderBytes));
    if (!source_.read(offset, std::span(bytes).first(have)))
        return stop(ReadStatus::unreadable, offset, kUnreadablePlace);
    if (check_header(bytes, have, header) != ReadStatus::chunk) return status_;
    if (have < kHeaderBytes) return stop(ReadStatus::torn, offset, "the file ends inside a chunk header");
    return ReadStatus::chunk;
}

// Checks the first `have` bytes of a header as far as they go; `header` is filled if all are there.
ReadStatus ChunkReader::check_header(const HeaderBytes& bytes, std::size_t have, ChunkHeader& header) {
    const auto corrupt = [&](const char* message) { return stop(ReadStatus::corrupt, position_.offset, message); };
    ByteReader fields(std::span<const std::uint8_t>(bytes).subspan(4));
    ChunkHeader expected;
    expected.format = fields.u16();
    const std::uint16_t stated = expected.format;
    if (position_.format != 0)
        expected.format = position_.format;
    else if (have < 6 || stated < kOldestFormat || stated > kFormatVersion)
        expected.format = have == 5 && bytes[4] == kOldestFormat ? kOldestFormat : kFormatVersion;
    expected.kind = static_cast<ChunkKind>(fields.u8());
    expected.flags = fields.u8();
    expected.length = fields.u32();
    expected.number = fields.u32();
    expected.sequence = position_.sequence;

    const HeaderBytes good = encode_header(expected);
    // A whole header of another format is not damage: its checksum holds.
    if (have == kHeaderBytes && (stated < kOldestFormat || stated > kFormatVersion) &&
        std::equal(bytes.begin(), bytes.begin() + 4, good.begin()) &&
        load_u64(bytes.data() + kHeaderCheckedBytes) == XXH3_64bits(bytes.data(), kHeaderCheckedBytes))
        return refuse_format(stated);
    for (std::size_t i = 0; i < have; ++i) {
        if (bytes[i] == good[i]) continue;
        if (i < 4)
            return corrupt(
                position_.sequence == 0
                    ? "not a replay: its first bytes are not those of a replay; name a file that ends in .orr"
                    : "a chunk header does not begin with its mark; use an undamaged copy");
        if (i < 6) return corrupt("a chunk header's format number is wrong; use an undamaged copy");
        if (i < kHeaderCheckedBytes)
            return corrupt("a chunk is out of sequence: one is missing, doubled or moved; use an undamaged copy");
        return corrupt("a chunk header's checksum is wrong; use an undamaged copy");
    }
    header = expected;
    return check_fields(header, have);
}

ReadStatus ChunkReader::refuse_format(std::uint16_t format) {
    stop(ReadStatus::unreadable, position_.offset, "");
    error_.code = ErrorCode::version_mismatch;
    error_.message = "replay format " + std::to_string(format) + ", this program reads formats " +
                     std::to_string(kOldestFormat) + " to " + std::to_string(kFormatVersion) +
                     ": use the version that recorded it";
    return status_;
}

// Of the fields that the first `have` bytes hold.
ReadStatus ChunkReader::check_fields(const ChunkHeader& header, std::size_t have) {
    const auto corrupt = [&](const char* message) { return stop(ReadStatus::corrupt, position_.offset, message); };
    if (have > 6 && !known(header.kind, header.format))
        return corrupt("a chunk is of an unknown kind; use an undamaged copy");
    if (have > 6 && (header.kind == ChunkKind::file_header) != (position_.sequence == 0))
        return corrupt("the file header is not the first chunk, or not the only one; use an undamaged copy");
    if (have > 7 && (header.flags & ~kKnownFlags))
        return corrupt("a chunk header has unknown flags; use an undamaged copy");
    if (have > 11 && header.length > max_payload_bytes(header.kind))
        return corrupt("a chunk header announces more bytes than a chunk of its kind may have; use an undamaged copy");
    if (have > 15 && !allowed_number(header))
        return corrupt("a chunk header has a number that its kind cannot have; use an undamaged copy");
    return ReadStatus::chunk;
}

ReadStatus ChunkReader::read_payload(const ChunkHeader& header, const HeaderBytes& bytes, Chain& chain) {
    const std::uint64_t offset = position_.offset + kHeaderBytes;
    const std::uint64_t left = source_.size() - std::min(source_.size(), offset);
    if (left < header.length) return stop(ReadStatus::torn, position_.offset, kCutOff);
    stored_.resize(static_cast<std::size_t>(header.length));
    Trailer trailer;
    const std::size_t have = static_cast<std::size_t>(std::min<std::uint64_t>(left - header.length, kTrailerBytes));
    if (!source_.read(offset, stored_) || !source_.read(offset + header.length, std::span(trailer).first(have)))
        return stop(ReadStatus::unreadable, offset, kUnreadablePlace);

    chain = next_chain(position_.chain, bytes, stored_);
    const Trailer good = make_trailer(stored_, chain);
    for (std::size_t i = 0; i < have; ++i) {
        if (trailer[i] == good[i]) continue;
        return i < 8
                   ? stop(ReadStatus::corrupt, offset, "a chunk's checksum is wrong; use an undamaged copy")
                   : stop(ReadStatus::corrupt, offset,
                          "a chunk's chain hash does not continue that of the chunk before it; use an undamaged copy");
    }
    if (have < kTrailerBytes) return stop(ReadStatus::torn, position_.offset, kCutOff);
    return ReadStatus::chunk;
}

ReadStatus ChunkReader::decompress(ChunkKind kind) {
    const auto corrupt = [&](const char* message) { return stop(ReadStatus::corrupt, position_.offset, message); };
    // The stated size bounds the allocation, the buffer bounds the decompression.
    const std::optional<std::uint64_t> size = Unpacker::stated_size(stored_);
    if (!size) return corrupt("a compressed chunk does not state its size; use an undamaged copy");
    if (*size > max_payload_bytes(kind))
        return corrupt("a chunk decompresses to more bytes than a chunk of its kind may have; use an undamaged copy");
    if (*size > max_unpacked_bytes(kind, stored_.size()))
        return corrupt("a chunk decompresses to more bytes than its compressed size allows; use an undamaged copy");
    if (!Unpacker::is_one_frame(stored_))
        return corrupt("a compressed chunk is not exactly one frame; use an undamaged copy");
    plain_size_ = static_cast<std::size_t>(*size);
    if (plain_size_ > plain_room_) {
        plain_ =
            std::make_unique_for_overwrite<std::uint8_t[]>(plain_size_);  // not cleared first: that takes as long again
        plain_room_ = plain_size_;
    }
    if (!unpacker_.unpack(stored_, {plain_.get(), plain_size_}))
        return corrupt("a chunk cannot be decompressed; use an undamaged copy");
    return ReadStatus::chunk;
}

}  // namespace orrery::protocol::replay
