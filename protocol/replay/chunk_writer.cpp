#include <zstd.h>

#include <cstdlib>
#include <string>

#include "protocol/replay/chunk.h"

namespace orrery::protocol::replay {

namespace {

constexpr int kZstdLevel = 3;

}  // namespace

ChunkWriter::ChunkWriter(std::uint16_t format) : zstd_(ZSTD_createCCtx()), format_(format) {
    if (!zstd_) std::abort();  // out of memory
    begin_chains();
}
ChunkWriter::~ChunkWriter() { ZSTD_freeCCtx(zstd_); }

void ChunkWriter::go_on(const Position& end) {
    chain_ = end.chain;
    sequence_ = end.sequence;
}

bool ChunkWriter::compress(ChunkKind kind, std::span<const std::uint8_t> payload) {
    if (payload.size() < kCompressFromBytes) return false;
    compressed_.resize(ZSTD_compressBound(payload.size()));
    const std::size_t size =
        ZSTD_compressCCtx(zstd_, compressed_.data(), compressed_.size(), payload.data(), payload.size(), kZstdLevel);
    if (ZSTD_isError(size) || size >= payload.size() || payload.size() > max_unpacked_bytes(kind, size)) return false;
    compressed_.resize(size);
    return true;
}

Result<Ok> ChunkWriter::append(ChunkKind kind, std::span<const std::uint8_t> payload, std::vector<std::uint8_t>& out,
                               std::uint32_t number) {
    if (payload.size() > max_payload_bytes(kind))
        return Error{ErrorCode::limit_reached, "replay chunk " + std::to_string(sequence_),
                     std::to_string(payload.size()) + " bytes are too many for a chunk, which has at most " +
                         std::to_string(max_payload_bytes(kind)) +
                         (max_payload_bytes(kind) == kMaxTickBytes ? " (kMaxTickBytes)" : " (kMaxPayloadBytes)")};
    ChunkHeader header{.format = format_, .kind = kind, .number = number, .sequence = sequence_};
    if (compress(kind, payload)) {
        header.flags = kFlagZstd;
        payload = compressed_;
    }
    header.length = static_cast<std::uint32_t>(payload.size());
    const HeaderBytes bytes = encode_header(header);
    chain_ = next_chain(chain_, bytes, payload);
    ++sequence_;
    const Trailer trailer = make_trailer(payload, chain_);
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.insert(out.end(), payload.begin(), payload.end());
    out.insert(out.end(), trailer.begin(), trailer.end());
    return Ok{};
}

}  // namespace orrery::protocol::replay
