// Contract: format 1 is read for ever, format 2 as it is now; TICKS, keyframes in parts, ancillary records, cuts and
// signatures are read as they were written, and what contradicts itself is found.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "protocol/replay/verify.h"
#include "tests/support/replay_worlds.h"
#include "tests/support/seed.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using test::made_up_replay;
using test::survey_bytes;
using Bytes = std::vector<std::uint8_t>;
using Kind = ReplayReader::Kind;

namespace {

Bytes golden(const char* name) {
    std::ifstream in(std::string(ORRERY_SOURCE_DIR "/tests/data/") + name, std::ios::binary);
    Bytes file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    REQUIRE_FALSE(file.empty());
    return file;
}

constexpr test::MadeUp kGolden2 = {.ticks = 100, .keyframe_every = 40, .ticks_per_chunk = 30, .with_all = true};

// The ticks and keyframes of a file, encoded one by one.
std::vector<Bytes> records_of(const Bytes& file, bool with_leaves = true) {
    const MemorySource source(file);
    ReplayReader reader(source);
    REQUIRE(reader.begin().ok());
    std::vector<Bytes> records;
    for (auto kind = reader.next(); kind != Kind::stop; kind = reader.next()) {
        TickRecord tick = reader.tick();
        if (!with_leaves) tick.hash.leaves = {};
        kind == Kind::tick ? encode(tick, records.emplace_back()) : encode(reader.keyframe(), records.emplace_back());
    }
    CHECK(reader.complete());
    CHECK(reader.ticks() == survey_bytes(file).ticks);
    return records;
}

Survey with_forged(const ChunkHeader& header, std::span<const std::uint8_t> payload) {
    return survey_bytes(test::with_forged(made_up_replay({.closed = false}), header, payload));
}

template <class Record>
Bytes payload_of(const Record& record) {
    Bytes payload;
    encode(record, payload);
    return payload;
}

}  // namespace

TEST_CASE("replay: a file of format 1 is read for ever, record by record") {
    // Made by made_up_replay() when it wrote format 1.
    const Bytes file = golden("replay_format_1.orr"), made = made_up_replay({});
    const Survey seen = survey_bytes(file), expected = survey_bytes(made);
    REQUIRE(seen.status == ReadStatus::closed);
    CHECK(seen.format == 1);
    CHECK(expected.format == kFormatVersion);
    CHECK(payload_of(seen.header) == payload_of(expected.header));
    CHECK(seen.header.run == RunId{});
    CHECK(seen.marks.size() == expected.marks.size());
    CHECK(seen.ancillary.all() == 0);
    CHECK(records_of(file) == records_of(made));
    for (const Mark& mark : seen.marks) {
        const MemorySource source(file);
        ReplayReader reader(source, mark);
        while (reader.next() != Kind::stop) {
        }
        CHECK(reader.complete());
        CHECK(reader.ticks() == seen.ticks);
    }
}

TEST_CASE("replay: a file of format 2 is read for ever, payload by payload") {
    // Made by made_up_replay(). A change that breaks this needs a new kFormatVersion, and a file of its own beside this
    // one.
    const Bytes file = golden("replay_format_2.orr"), made = made_up_replay(kGolden2);
    REQUIRE(survey_bytes(file).status == ReadStatus::closed);
    const MemorySource golden_source(file), made_source(made);
    ChunkReader golden_reader(golden_source), made_reader(made_source);
    Chunk expected, chunk;
    while (made_reader.next(expected) == ReadStatus::chunk) {
        REQUIRE(golden_reader.next(chunk) == ReadStatus::chunk);
        REQUIRE(chunk.kind == expected.kind);
        REQUIRE(chunk.number == expected.number);
        // The chain covers compressed bytes, which are Zstandard's to choose: what states or signs it may be another.
        const bool chained = chunk.kind == ChunkKind::end || chunk.kind == ChunkKind::sign;
        const std::size_t compared = chained ? 8 : chunk.payload.size();
        REQUIRE(chunk.payload.size() == expected.payload.size());
        REQUIRE(std::equal(chunk.payload.begin(), chunk.payload.begin() + static_cast<std::ptrdiff_t>(compared),
                           expected.payload.begin()));
    }
    CHECK(golden_reader.next(chunk) == ReadStatus::closed);
}

TEST_CASE("replay: recordings of worlds in both formats are read, and verified by the engine that recorded them") {
    for (const char* name : {"small_world_format_1.orr", "small_world_format_2.orr"}) {
        CAPTURE(name);
        const Bytes file = golden(name);
        const Survey seen = survey_bytes(file);
        REQUIRE(seen.status == ReadStatus::closed);
        CHECK(seen.format == (name[19] == '1' ? 1 : 2));
        CHECK(seen.ticks == 40);
        CHECK(seen.marks.size() == 3);
        CHECK(records_of(file).size() == 42);
        const VerifyReport report = test::verify_small_world(file);
        if (seen.header.engine_version == sim::kEngineVersion) {
            CHECK(report.verdict == Verdict::same);
            CHECK(report.ticks == 40);
            CHECK(report.complete);
            continue;
        }
        const std::string recorded = std::to_string(seen.header.engine_version);
        CHECK(report.verdict == Verdict::unreadable);
        CHECK(report.error.code == ErrorCode::version_mismatch);
        CHECK(report.error.message.find("engine version " + recorded + ",") != std::string::npos);
        CHECK(report.error.message.find("orrery:" + recorded) != std::string::npos);
    }
}

TEST_CASE("replay: format 1 has no kind but its own four, and no number") {
    const Bytes file = golden("replay_format_1.orr");
    const auto parts = test::pieces(file);
    const Bytes open(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(parts.back().position.offset));
    const auto status = [&](ChunkKind kind, std::uint32_t number, const Bytes& payload) {
        return survey_bytes(test::with_forged(open, {.format = 1, .kind = kind, .number = number}, payload)).status;
    };
    const Bytes tick = payload_of(TickRecord{.tick = 21});
    CHECK(status(ChunkKind::tick, 0, tick) == ReadStatus::open);
    CHECK(status(ChunkKind::tick, 1, tick) == ReadStatus::corrupt);
    CHECK(status(ChunkKind::note, 0, payload_of(NoteRecord{.tick = 20, .text = ""})) == ReadStatus::corrupt);
    CHECK(status(static_cast<ChunkKind>(200), 0, {}) == ReadStatus::corrupt);
    CHECK(status(ChunkKind::ticks, 1, tick) == ReadStatus::corrupt);
}

TEST_CASE("replay: ticks in chunks are the ticks that were written, at any number in a chunk") {
    const auto expected = records_of(made_up_replay({.ticks = 150, .keyframe_every = 40}), false);
    for (const std::uint32_t size : {2u, 7u, 30u, 60u}) {
        const Bytes file = made_up_replay({.ticks = 150, .keyframe_every = 40, .ticks_per_chunk = size});
        CHECK(records_of(file, false) == expected);
        std::uint64_t chunks = 0;
        for (const test::Piece& piece : test::pieces(file)) chunks += piece.kind == ChunkKind::ticks ? 1 : 0;
        CHECK(chunks == 3 * ((40 + size - 1) / size) + (30 + size - 1) / size);
    }
}

TEST_CASE("replay: the last tick of a chunk alone has leaves, and reading goes on behind any tick") {
    const Bytes file = made_up_replay({.ticks = 100, .keyframe_every = 40, .ticks_per_chunk = 30});
    const MemorySource source(file);
    ReplayReader reader(source);
    REQUIRE(reader.begin().ok());
    for (auto kind = reader.next(); kind != Kind::stop; kind = reader.next()) {
        if (kind != Kind::tick) continue;
        const std::uint64_t tick = reader.tick().tick;
        const bool last = tick == 30 || tick == 40 || tick == 70 || tick == 80 || tick == 100;
        REQUIRE(reader.tick().has_leaves == last);
        REQUIRE((reader.tick().hash.leaves == sim::HashTree{}.leaves) == !last);
        ReplayReader other(source, reader.mark());
        auto next = other.next();
        if (next == Kind::keyframe) next = other.next();
        if (tick == 100) {
            REQUIRE(next == Kind::stop);
            REQUIRE(other.complete());
        } else {
            REQUIRE(next == Kind::tick);
            REQUIRE(other.tick().tick == tick + 1);
        }
    }
}

TEST_CASE("replay: an idle tick takes at most 15 bytes, keyframes apart") {
    Bytes file;
    ReplayWriter writer(kMaxTicksPerChunk);
    test::append(file, writer.begin({}));
    const std::size_t before = file.size();
    test::Random random(3);
    for (std::uint64_t tick = 1; tick <= 6000; ++tick) {
        test::append(file, writer.tick(tick, {}, test::random_hash(random)));
        CHECK(writer.ticks() == tick);
        CHECK(writer.written_ticks() == tick / 60 * 60);
    }
    CHECK(static_cast<double>(file.size() - before) / 6000.0 < 12.5);
}

TEST_CASE("replay: ticks that wait are written before anything else, when they are many bytes, and when asked") {
    const auto longest = [](std::size_t count) {
        sim::Command command;
        command.kind = sim::CommandKind::spawn;
        command.tag = ~std::uint64_t{0};
        command.pose = {{1.0f, 2.0f, 3.0f}, {1.0f, 2.0f, 3.0f, 4.0f}};
        command.linear = command.angular = {1.0f, 2.0f, 3.0f};
        command.channels.fill(-0.5f);
        return std::vector<sim::Command>(count, command);
    };
    Bytes file;
    ReplayWriter writer(kMaxTicksPerChunk);
    test::append(file, writer.begin({}));
    CHECK(writer.tick(1, {}, {})->empty());
    const auto bytes = writer.flush();
    REQUIRE(bytes.ok());
    CHECK_FALSE(bytes->empty());
    test::append(file, bytes);
    CHECK(writer.flush()->empty());
    test::append(file, writer.tick(2, {}, {}));
    test::append(file, writer.tick(3, longest(sim::kMaxCommandsPerTick), {}));  // alone more than may wait
    CHECK(writer.written_ticks() == 3);
    test::append(file, writer.tick(4, {}, {}));
    test::append(file, writer.add(NoteRecord{.text = "here"}));
    CHECK(writer.written_ticks() == 4);
    test::append(file, writer.tick(5, {}, {}));
    test::append(file, writer.end());
    CHECK_FALSE(writer.flush()->size() > 0);
    const Survey seen = survey_bytes(file);
    CHECK(seen.status == ReadStatus::closed);
    CHECK(seen.ticks == 5);
    CHECK(seen.ancillary.notes == 1);
}

TEST_CASE("replay: a record of ticks that is cut off, has bytes behind, or another number than its header is refused") {
    TicksEncoder encoder;
    for (std::uint64_t tick = 21; tick <= 24; ++tick) REQUIRE(encoder.add({.tick = tick}));
    Bytes good;
    encoder.finish(good);
    const auto status = [](std::uint32_t number, const Bytes& payload) {
        return with_forged({.kind = ChunkKind::ticks, .number = number}, payload).status;
    };
    CHECK(status(4, good) == ReadStatus::open);
    CHECK(status(3, good) == ReadStatus::corrupt);
    CHECK(status(0, good) == ReadStatus::corrupt);
    CHECK(status(61, good) == ReadStatus::corrupt);
    for (std::size_t size = 1; size < good.size(); ++size)
        CHECK(status(4, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))) == ReadStatus::corrupt);
    Bytes longer = good;
    longer.push_back(0);
    CHECK(status(4, longer) == ReadStatus::corrupt);
    Bytes later = good;
    later[0] += 1;
    CHECK(status(4, later) == ReadStatus::corrupt);
}

TEST_CASE("replay: a state above 64 MiB is in parts, which a reader joins") {
    Bytes state(kKeyframePartBytes + 5000);
    test::Random random(17);
    for (std::size_t i = 0; i < state.size(); i += 16) state[i] = static_cast<std::uint8_t>(random.next());
    Bytes file;
    ReplayWriter writer;
    test::append(file, writer.begin({}));
    test::append(file, writer.tick(1, {}, {}));
    test::append(file, writer.keyframe(state));
    test::append(file, writer.tick(2, {}, {}));
    const auto open = file;
    test::append(file, writer.end());
    const MemorySource source(file);
    const Survey seen = survey(source);
    REQUIRE(seen.status == ReadStatus::closed);
    REQUIRE(seen.marks.size() == 2);
    ReplayReader reader(source, seen.marks[1]);
    REQUIRE(reader.next() == Kind::keyframe);
    CHECK(reader.keyframe().tick == 1);
    CHECK(reader.keyframe().parts == 1);
    CHECK(std::equal(state.begin(), state.end(), reader.keyframe().state.begin(), reader.keyframe().state.end()));
    CHECK(reader.next() == Kind::tick);
    const auto parts = test::pieces(file);
    REQUIRE(parts.size() == 6);
    CHECK(outline(source, parts[1].position).marks.size() == 2);

    // Cut off between the parts: there is no keyframe. A part that is missing is found by the sequence alone; here by
    // what the parts say.
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(parts[3].position.offset));
    CHECK(survey_bytes(cut).status == ReadStatus::open);
    CHECK(survey_bytes(cut).marks.size() == 1);
    CHECK(outline(MemorySource(cut), parts[1].position).marks.size() == 1);
    if (test::few()) return;  // each reads the 64 MiB some times
    CHECK(survey_bytes(test::with_forged(cut, {.kind = ChunkKind::tick}, payload_of(TickRecord{.tick = 2}))).status ==
          ReadStatus::corrupt);
    const Bytes rest(state.end() - 5000, state.end());
    const auto with_part = [&](std::uint32_t number, const KeyframeRecord& record) {
        return survey_bytes(test::with_forged(cut, {.kind = ChunkKind::keyframe, .number = number}, payload_of(record)))
            .status;
    };
    CHECK(with_part(0, {.tick = 1, .part = 1, .parts = 2, .state = rest}) == ReadStatus::open);
    CHECK(with_part(1, {.tick = 1, .part = 1, .parts = 2, .state = rest}) == ReadStatus::corrupt);
    CHECK(with_part(0, {.tick = 1, .part = 2, .parts = 3, .state = rest}) == ReadStatus::corrupt);
    CHECK(with_part(0, {.tick = 1, .part = 0, .parts = 1, .state = rest}) == ReadStatus::corrupt);
    CHECK(with_part(0, {.tick = 1, .part = 1, .parts = 2, .state = {}}) == ReadStatus::corrupt);
}

TEST_CASE("replay: a part that is not full but the last is refused, so that few bytes cannot become many") {
    const Bytes piece(1000);
    const auto status = [&](std::uint32_t part, std::uint32_t parts) {
        const KeyframeRecord record{.tick = 20, .part = part, .parts = parts, .state = piece};
        return with_forged({.kind = ChunkKind::keyframe, .number = parts - 1 - part}, payload_of(record)).status;
    };
    CHECK(status(0, 1) == ReadStatus::open);
    CHECK(status(0, 2) == ReadStatus::corrupt);
    CHECK(status(0, 17) == ReadStatus::corrupt);
}
