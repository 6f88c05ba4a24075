// Replay files: as they are, and with valid checksums and chain around payloads of the fuzzer's, so that the records
// behind the checks are reached, in both formats. Whatever the reader accepts it must accept again, and a survey and an
// outline agree with it.
#include <algorithm>
#include <type_traits>
#include <variant>

#include "input.h"
#include "protocol/replay/reader.h"
#include "protocol/replay/records.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using orrery::fuzz::require;

namespace {

void encode_again(const TickRecord& tick) {
    std::vector<std::uint8_t> bytes;
    TickRecord again;
    if (tick.has_leaves) {
        encode(tick, bytes);
        require(decode(bytes, again).ok());
        return;
    }
    TicksEncoder encoder;
    TicksDecoder decoder;
    require(encoder.add(tick));
    encoder.finish(bytes);
    require(decoder.begin(bytes).ok() && decoder.next(again).ok() && again.hash.root == tick.hash.root);
}

void encode_again(const ReplayReader& reader) {
    std::vector<std::uint8_t> bytes;
    std::visit(
        [&](const auto& record) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(record)>, UnknownRecord>) {
                encode(record, bytes);
                require(std::equal(bytes.begin(), bytes.end(), reader.chunk().payload.begin(),
                                   reader.chunk().payload.end()));
            }
        },
        reader.ancillary());
}

// Reads on from the last record that was read: the same ticks come.
void read_from_mark(const Source& source, const Mark& mark, std::uint64_t ticks) {
    ReplayReader reader(source, mark);
    while (reader.next() != ReplayReader::Kind::stop) {
    }
    require(reader.ticks() == ticks);
}

void read_all(std::span<const std::uint8_t> file) {
    const MemorySource source(file);
    const Survey survey_of_file = survey(source);
    ReplayReader reader(source);
    const auto header = reader.begin();
    require(header.ok() == survey_of_file.has_header || !survey_of_file.usable());
    if (!header.ok()) return;
    const Position start = reader.position();
    std::uint64_t last_tick = header->first_tick, ancillary = 0;
    Mark middle{.position = start, .tick = last_tick};
    for (auto kind = reader.next_of_all(); kind != ReplayReader::Kind::stop; kind = reader.next_of_all()) {
        if (kind == ReplayReader::Kind::ancillary) {
            ++ancillary;
            encode_again(reader);
            continue;
        }
        if (kind == ReplayReader::Kind::tick) {
            require(reader.tick().tick == last_tick + 1);
            last_tick = reader.tick().tick;
            encode_again(reader.tick());
            if (last_tick == header->first_tick + 2) middle = reader.mark();
        } else {
            require(reader.keyframe().tick == last_tick);
        }
    }
    require(reader.status() == survey_of_file.status || !survey_of_file.usable());
    require(reader.ticks() == survey_of_file.ticks);
    require(ancillary == survey_of_file.ancillary.all());
    if (!survey_of_file.usable()) return;
    const Outline found = outline(source, start, header->first_tick);
    require(found.ticks == last_tick && found.marks.size() == survey_of_file.marks.size());
    for (const Mark& mark : survey_of_file.marks) read_from_mark(source, mark, last_tick);
    if (middle.tick > header->first_tick) read_from_mark(source, middle, last_tick);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint8_t mode = input.u8();
    if (mode % 2 == 0) {
        read_all(input.rest());
        return 0;
    }
    std::vector<std::uint8_t> file;
    ChunkWriter writer(mode % 4 == 1 ? kFormatVersion : kOldestFormat);
    while (!input.empty()) {
        const std::uint32_t number = input.u8();
        const auto kind = static_cast<ChunkKind>(input.u8());
        if (!writer.append(kind, input.bytes(input.u16()), file, number).ok()) break;
    }
    read_all(file);
    return 0;
}
