// Replay files: as they are, and with valid checksums and chain around payloads of the fuzzer's, so that the records
// behind the checks are reached. Whatever the reader accepts it must accept again, and a survey agrees with it.
#include "input.h"
#include "protocol/replay/reader.h"
#include "protocol/replay/records.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using orrery::fuzz::require;

namespace {

void read_all(std::span<const std::uint8_t> file) {
    const MemorySource source(file);
    const Survey survey_of_file = survey(source);
    ReplayReader reader(source);
    const auto header = reader.begin();
    require(header.ok() == survey_of_file.has_header || !survey_of_file.usable());
    if (!header.ok()) return;
    std::uint64_t last_tick = 0;
    for (auto kind = reader.next(); kind != ReplayReader::Kind::stop; kind = reader.next()) {
        if (kind == ReplayReader::Kind::tick) {
            require(reader.tick().tick == last_tick + 1);
            last_tick = reader.tick().tick;
            std::vector<std::uint8_t> bytes;
            encode(reader.tick(), bytes);
            TickRecord again;
            require(decode(bytes, again).ok());
        } else {
            require(reader.keyframe().tick == last_tick);
        }
    }
    require(reader.status() == survey_of_file.status);
    require(reader.ticks() == survey_of_file.ticks);
    if (!survey_of_file.usable()) return;
    for (const Mark& mark : survey_of_file.marks) {
        ReplayReader from_mark(source, mark);
        while (from_mark.next() != ReplayReader::Kind::stop) {
        }
        require(from_mark.ticks() == survey_of_file.ticks);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    if (input.u8() % 2 == 0) {
        read_all(input.rest());
        return 0;
    }
    std::vector<std::uint8_t> file;
    ChunkWriter writer;
    while (!input.empty()) {
        const auto kind = static_cast<ChunkKind>(input.u8());
        if (!writer.append(kind, input.bytes(input.u16()), file).ok()) break;
    }
    read_all(file);
    return 0;
}
