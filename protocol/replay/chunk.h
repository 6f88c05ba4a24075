// Chunks: the framing of a replay file (format.h). ChunkWriter turns payloads into chunks. ChunkReader returns them in
// order and states how the file ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/replay/chain.h"
#include "protocol/replay/format.h"
#include "protocol/replay/unpack.h"
#include "sim/base/result.h"

struct ZSTD_CCtx_s;

namespace orrery::protocol::replay {

HeaderBytes encode_header(const ChunkHeader& header);
std::uint64_t payload_checksum(std::span<const std::uint8_t> payload);
using Trailer = std::array<std::uint8_t, kTrailerBytes>;
Trailer make_trailer(std::span<const std::uint8_t> payload, const Chain& chain);

// The source of a replay's bytes. Several threads may read at once.
class Source {
  public:
    virtual ~Source() = default;
    virtual std::uint64_t size() const = 0;
    // Fills `out` from `offset`. False: that many bytes cannot be read.
    virtual bool read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
};

class MemorySource final : public Source {
  public:
    explicit MemorySource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) const override;

  private:
    std::span<const std::uint8_t> bytes_;
};

// A place between two chunks where reading or writing can go on.
struct Position {
    std::uint64_t offset = 0;
    std::uint64_t sequence = 0;
    Chain chain{};
    std::uint16_t format = 0;  // of the file; 0: no chunk was read
    bool ended = false;        // END was read
};

class ChunkWriter {
  public:
    explicit ChunkWriter(std::uint16_t format = kFormatVersion);
    ~ChunkWriter();
    ChunkWriter(const ChunkWriter&) = delete;
    ChunkWriter& operator=(const ChunkWriter&) = delete;

    // Appends one whole chunk to `out`. A payload above max_payload_bytes(kind) is an error and changes nothing.
    Result<Ok> append(ChunkKind kind, std::span<const std::uint8_t> payload, std::vector<std::uint8_t>& out,
                      std::uint32_t number = 0);

    // The next chunk is that behind `end`, in a file of the same format.
    void go_on(const Position& end);

    const Chain& chain() const { return chain_; }
    std::uint64_t sequence() const { return sequence_; }  // of the next chunk

  private:
    bool compress(ChunkKind kind, std::span<const std::uint8_t> payload);

    ZSTD_CCtx_s* zstd_;
    std::uint16_t format_;
    std::vector<std::uint8_t> compressed_;
    Chain chain_{};
    std::uint64_t sequence_ = 0;
};

enum class ReadStatus : std::uint8_t {
    chunk,       // one more chunk was read
    closed,      // the file ends right after END
    open,        // the file ends at the end of a chunk, without END
    torn,        // the file ends inside a chunk
    corrupt,     // a check failed at error_offset()
    unreadable,  // the source could not be read, or the format is another
};

struct Chunk {
    ChunkKind kind = ChunkKind::tick;
    std::uint32_t number = 0;  // of its header
    std::uint64_t offset = 0;  // of its header in the file
    Chain chain_before{};
    std::span<const std::uint8_t> payload;  // decompressed; valid until the next call
};

class ChunkReader {
  public:
    explicit ChunkReader(const Source& source, const Position& start = {});
    ChunkReader(const ChunkReader&) = delete;
    ChunkReader& operator=(const ChunkReader&) = delete;

    // After any status other than `chunk`, every call returns that status again.
    ReadStatus next(Chunk& chunk);
    // As next(), but reads the chunk's header and chain hash alone: nothing of the payload is checked.
    ReadStatus skip(ChunkHeader& header);

    const Position& position() const { return position_; }  // after the last chunk that was read
    const Error& error() const { return error_; }           // torn, corrupt, unreadable
    std::uint64_t error_offset() const { return error_offset_; }

  private:
    ReadStatus stop(ReadStatus status, std::uint64_t offset, const char* message);
    ReadStatus read_header(ChunkHeader& header, HeaderBytes& bytes);
    ReadStatus check_header(const HeaderBytes& bytes, std::size_t have, ChunkHeader& header);
    ReadStatus check_fields(const ChunkHeader& header, std::size_t have);
    ReadStatus refuse_format(std::uint16_t format);
    ReadStatus read_payload(const ChunkHeader& header, const HeaderBytes& bytes, Chain& chain);
    ReadStatus decompress(ChunkKind kind);
    void advance(const ChunkHeader& header, const Chain& chain);

    const Source& source_;
    Position position_;
    ReadStatus status_ = ReadStatus::chunk;
    Error error_;
    std::uint64_t error_offset_ = 0;
    Unpacker unpacker_;
    std::vector<std::uint8_t> stored_;
    std::unique_ptr<std::uint8_t[]> plain_;
    std::size_t plain_size_ = 0, plain_room_ = 0;
};

}  // namespace orrery::protocol::replay
