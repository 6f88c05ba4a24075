// Contract: an outline is what a survey finds of ticks and keyframes, by reading the headers of the chunks alone; and
// the chain hash of WebAssembly is that of libsodium.
#include <doctest/doctest.h>

#include "client_sdk/web/blake2b.h"
#include "protocol/replay/chain.h"
#include "tests/support/replay_files.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using Bytes = std::vector<std::uint8_t>;

namespace {

// Counts the bytes that are read.
class CountingSource final : public Source {
  public:
    explicit CountingSource(const Bytes& file) : memory_(file) {}
    std::uint64_t size() const override { return memory_.size(); }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        bytes_ += out.size();
        return memory_.read(offset, out);
    }
    std::uint64_t bytes() const { return bytes_; }

  private:
    MemorySource memory_;
    mutable std::uint64_t bytes_ = 0;
};

Outline outline_of(const Bytes& file) {
    const MemorySource source(file);
    ReplayReader reader(source);
    REQUIRE(reader.begin().ok());
    return outline(source, reader.position());
}

}  // namespace

TEST_CASE("an outline has the ticks and marks of a survey, and reads 64 bytes a chunk") {
    const Bytes file = test::made_up_replay({.seed = 3, .ticks = 500, .keyframe_every = 40});
    const Survey seen = survey(MemorySource(file));
    const Outline found = outline_of(file);
    CHECK(found.status == ReadStatus::closed);
    CHECK(found.ticks == seen.ticks);
    REQUIRE(found.marks.size() == seen.marks.size());
    for (std::size_t i = 0; i < found.marks.size(); ++i) {
        CHECK(found.marks[i].tick == seen.marks[i].tick);
        CHECK(found.marks[i].keyframe == seen.marks[i].keyframe);
        CHECK(found.marks[i].position.offset == seen.marks[i].position.offset);
        CHECK(found.marks[i].position.sequence == seen.marks[i].position.sequence);
        CHECK(found.marks[i].position.chain == seen.marks[i].position.chain);
    }
    const CountingSource source(file);
    outline(source, seen.marks.front().position);
    CHECK(source.bytes() == (500 + 12 + 1) * (kHeaderBytes + kChainBytes));
}

TEST_CASE("an outline finds where a file is cut off, and a header that is damaged") {
    const Bytes file = test::made_up_replay({.ticks = 20, .closed = false});
    CHECK(outline_of(file).status == ReadStatus::open);
    const std::vector<test::Piece> pieces = test::pieces(file);
    for (const test::Piece& piece : pieces) {
        if (piece.kind == ChunkKind::file_header) continue;
        const auto at = static_cast<std::ptrdiff_t>(piece.position.offset);
        for (const std::ptrdiff_t more : {1, 31, 32, static_cast<int>(piece.size) - 1}) {
            const Bytes torn(file.begin(), file.begin() + at + more);
            CHECK(outline_of(torn).status == ReadStatus::torn);
            CHECK(outline_of(torn).error_offset == piece.position.offset);
            CHECK(outline_of(torn).ticks == piece.ticks_before);
        }
        Bytes damaged = file;
        damaged[piece.position.offset + 9] ^= 1;
        CHECK(outline_of(damaged).status == ReadStatus::corrupt);
        CHECK(outline_of(damaged).error_offset == survey(MemorySource(damaged)).error_offset);
    }
}

TEST_CASE("the chain hash without libsodium is that of libsodium") {
    begin_chains();
    Bytes payload;
    for (std::size_t size = 0; size < 600; ++size) {
        const Chain before = {static_cast<std::uint8_t>(size), 7};
        const HeaderBytes header = {1, static_cast<std::uint8_t>(size / 3)};
        client::Blake2b256 hash;
        hash.update(before);
        hash.update(header);
        hash.update(payload);
        REQUIRE(hash.finish() == next_chain(before, header, payload));
        payload.push_back(static_cast<std::uint8_t>(size * 37));
    }
}
