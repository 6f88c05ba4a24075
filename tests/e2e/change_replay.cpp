// change_replay FROM TO TICK: a copy of a recording whose hash of a tick's contacts is another one, with checksums that
// hold. Who verifies it finds that the tick differs.
// change_replay FROM TO format-1 | in-chunks: the same recording in format 1, or with 60 ticks in a chunk and a note.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/replay_files.h"

using namespace orrery;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Empty: the recording has no such tick.
Bytes with_other_hash(const Bytes& file, std::uint64_t tick) {
    bool changed = false;
    const auto change = [&](protocol::replay::TickRecord& record) {
        if (record.tick != tick) return;
        record.hash.leaves[static_cast<std::size_t>(sim::Subsystem::contacts)] ^= 1;
        changed = true;
    };
    Bytes out = test::rewritten(file, {.tick = change});
    return changed ? out : Bytes();
}

Bytes in_chunks(const Bytes& file) {
    Bytes out = test::rewritten(file, {}, protocol::replay::kMaxTicksPerChunk);
    const auto parts = test::pieces(out);
    const std::uint64_t ticks = test::survey_bytes(out).ticks;
    if (test::survey_bytes(out).status == protocol::replay::ReadStatus::closed)
        out.resize(static_cast<std::size_t>(parts.back().position.offset));
    Bytes note, end;
    encode(protocol::replay::NoteRecord{.tick = ticks, .text = "in chunks"}, note);
    out = test::with_forged(out, {.kind = protocol::replay::ChunkKind::note}, note);
    encode(protocol::replay::EndRecord{ticks, test::survey_bytes(out).head}, end);
    return test::with_forged(out, {.kind = protocol::replay::ChunkKind::end}, end);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return std::fputs("usage: change_replay FROM TO TICK|format-1|in-chunks\n", stderr), 64;
    std::ifstream from(arguments[1], std::ios::binary);
    const Bytes file{std::istreambuf_iterator<char>(from), {}};
    const std::string what = arguments[3];
    const Bytes out = what == "format-1"    ? test::in_format_1(file)
                      : what == "in-chunks" ? in_chunks(file)
                                            : with_other_hash(file, std::strtoull(arguments[3], nullptr, 10));
    std::ofstream to(arguments[2], std::ios::binary);
    to.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return !out.empty() && to.flush() ? 0 : 1;
}
