// Contract: every byte of a replay is covered by a check, a file that was cut short is told from one that was altered,
// and hostile files are refused before they cost memory.
#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/replay_files.h"
#include "tests/support/seed.h"

using namespace orrery;
using namespace orrery::protocol::replay;
using test::made_up_replay;
using test::survey_bytes;
using Bytes = std::vector<std::uint8_t>;

namespace {

// Reads on from the chunk that holds `byte`: what stands before is as it was, and a reader's state is its position.
ReadStatus status_from(const Bytes& file, const std::vector<test::Piece>& parts, std::uint64_t byte) {
    const auto after = std::upper_bound(parts.begin(), parts.end(), byte,
                                        [](std::uint64_t b, const test::Piece& p) { return b < p.position.offset; });
    const test::Piece& piece = *(after - 1);
    const MemorySource source(file);
    if (piece.position.sequence == 0) return survey(source).status;
    ReplayReader reader(source, Mark{piece.position, piece.ticks_before, false});
    while (reader.next() != ReplayReader::Kind::stop) {
    }
    return reader.status();
}

// The survey of a file without its END, and a forged chunk after it.
Survey with_forged(const ChunkHeader& header, std::span<const std::uint8_t> payload) {
    return survey_bytes(test::with_forged(made_up_replay({.closed = false}), header, payload));
}

}  // namespace

TEST_CASE("replay: what is written is read back, record by record") {
    ReplayWriter writer;
    test::Random random(11);
    Bytes file;
    FileHeader header;
    header.scene_hash = 0x0123456789abcdefu;
    header.tick_rate_hz = 30.0f;
    header.start_unix_s = 1'790'000'001;
    header.scene_name = "yard";
    header.room = "room 7";
    header.scene = {1, 2, 3};
    test::append(file, writer.begin(header));
    std::vector<sim::HashTree> hashes;
    Bytes state(100'000);
    for (std::uint64_t tick = 1; tick <= 5; ++tick) {
        hashes.push_back(test::random_hash(random));
        sim::Command command;
        command.slot = static_cast<std::uint16_t>(9 - tick);
        const std::vector<sim::Command> commands(tick, command);
        test::append(file, writer.tick(tick, commands, hashes.back(), tick * 1000));
        if (tick == 3) test::append(file, writer.keyframe(state));
    }
    test::append(file, writer.end());
    CHECK(file.size() < 3000);  // the keyframe of zeros was compressed

    const MemorySource source(file);
    ReplayReader reader(source);
    const auto back = reader.begin();
    REQUIRE(back.ok());
    CHECK(back->scene_hash == header.scene_hash);
    CHECK(back->tick_rate_hz == 30.0f);
    CHECK(back->engine_version == sim::kEngineVersion);
    CHECK(back->start_unix_s == header.start_unix_s);
    CHECK(back->scene_name == "yard");
    CHECK(back->room == "room 7");
    CHECK(back->scene == header.scene);
    for (std::uint64_t tick = 1; tick <= 5; ++tick) {
        REQUIRE(reader.next() == ReplayReader::Kind::tick);
        CHECK(reader.tick().tick == tick);
        CHECK(reader.tick().slip_ns == tick * 1000);
        CHECK(reader.tick().hash == hashes[tick - 1]);
        CHECK(reader.tick().commands.size() == tick);
        if (tick != 3) continue;
        REQUIRE(reader.next() == ReplayReader::Kind::keyframe);
        CHECK(std::equal(state.begin(), state.end(), reader.keyframe().state.begin(), reader.keyframe().state.end()));
    }
    CHECK(reader.next() == ReplayReader::Kind::stop);
    CHECK(reader.complete());
    CHECK(reader.ticks() == 5);
}

TEST_CASE("replay: reading can start at every keyframe") {
    const Bytes file = made_up_replay({.ticks = 50, .keyframe_every = 8});
    const MemorySource source(file);
    const Survey seen = survey(source);
    REQUIRE(seen.marks.size() == 7);
    for (const Mark& mark : seen.marks) {
        ReplayReader reader(source, mark);
        std::uint64_t ticks = mark.tick;
        if (mark.keyframe) REQUIRE(reader.next() == ReplayReader::Kind::keyframe);
        for (auto kind = reader.next(); kind != ReplayReader::Kind::stop; kind = reader.next())
            if (kind == ReplayReader::Kind::tick) CHECK(reader.tick().tick == ++ticks);
        CHECK(ticks == 50);
        CHECK(reader.complete());
    }
}

TEST_CASE("replay: a tick of as many commands as a step takes, each at its longest, fits") {
    sim::Command longest;
    longest.kind = sim::CommandKind::spawn;
    longest.at_point = true;
    longest.slot = 0xffff;
    longest.sequence = 0xffff'ffffu;
    longest.tag = ~std::uint64_t{0};
    longest.body = {1, 0xffff'ffffu};
    longest.joint = {1, 0xffff'ffffu};
    longest.prefab = 0xffff'fffeu;
    longest.value = 1.5f;
    longest.pose = {{1.0f, 2.0f, 3.0f}, {1.0f, 2.0f, 3.0f, 4.0f}};
    longest.linear = longest.angular = {1.0f, 2.0f, 3.0f};
    longest.channels.fill(-0.5f);
    const std::vector<sim::Command> commands(sim::kMaxCommandsPerTick, longest);
    ReplayWriter writer;
    Bytes file;
    test::append(file, writer.begin({}));
    test::append(file, writer.tick(1, commands, {}));
    test::append(file, writer.end());
    CHECK(survey_bytes(file).status == ReadStatus::closed);
}

TEST_CASE("replay: the writer refuses calls out of order and goes on unharmed") {
    ReplayWriter writer;
    const sim::HashTree hash;
    CHECK_FALSE(writer.tick(1, {}, hash).ok());
    CHECK_FALSE(writer.end().ok());
    Bytes file;
    FileHeader header;
    header.room.assign(257, 'x');
    CHECK_FALSE(writer.begin(header).ok());
    header.room.assign(1, 'r');
    test::append(file, writer.begin(header));
    CHECK_FALSE(writer.begin(header).ok());
    CHECK_FALSE(writer.tick(2, {}, hash).ok());
    test::append(file, writer.tick(1, {}, hash));
    CHECK_FALSE(writer.tick(1, {}, hash).ok());
    const std::vector<sim::Command> many(sim::kMaxCommandsPerTick + 1);
    CHECK_FALSE(writer.tick(2, many, hash).ok());
    // Never read: the size alone refuses it.
    const std::span<const std::uint8_t> huge(file.data(), kMaxKeyframeParts * kKeyframePartBytes + 1);
    const auto refused = writer.keyframe(huge);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::limit_reached);
    test::append(file, writer.end());
    CHECK_FALSE(writer.tick(2, {}, hash).ok());
    CHECK_FALSE(writer.keyframe({}).ok());
    const Survey seen = survey_bytes(file);
    CHECK(seen.status == ReadStatus::closed);
    CHECK(seen.ticks == 1);
}

TEST_CASE("replay: every flipped bit of the first 64 KiB, and 10,000 of the rest, is found") {
    Bytes file = made_up_replay({.seed = 5, .ticks = 900, .keyframe_every = 100});
    constexpr std::uint64_t kAll = 64 * 1024;
    REQUIRE(file.size() > kAll * 3 / 2);
    const auto parts = test::pieces(file);
    REQUIRE(survey_bytes(file).status == ReadStatus::closed);
    test::Random random(6);
    std::uint64_t missed = 0;
    const auto flip = [&](std::uint64_t bit) {
        const auto mask = static_cast<std::uint8_t>(1u << (bit % 8));
        file[bit / 8] ^= mask;
        if (status_from(file, parts, bit / 8) != ReadStatus::corrupt) ++missed;
        if (bit % 1009 == 0 && survey_bytes(file).status != ReadStatus::corrupt) ++missed;  // the whole file, at times
        file[bit / 8] ^= mask;
    };
    const std::uint64_t stride = test::few() ? 21 : 1;
    for (std::uint64_t bit = 0; bit < kAll * 8; bit += stride) flip(bit);
    for (int i = 0; i < test::sampled(10'000); ++i) flip(kAll * 8 + random.below((file.size() - kAll) * 8));
    CHECK(missed == 0);
    CHECK(survey_bytes(file).status == ReadStatus::closed);
}

TEST_CASE("replay: every flipped bit of a file that was not closed is found") {
    Bytes file = made_up_replay({.seed = 8, .ticks = 12, .keyframe_every = 5, .closed = false});
    REQUIRE(survey_bytes(file).status == ReadStatus::open);
    std::uint64_t missed = 0;
    for (std::uint64_t bit = 0; bit < file.size() * 8; ++bit) {
        const auto mask = static_cast<std::uint8_t>(1u << (bit % 8));
        file[bit / 8] ^= mask;
        if (survey_bytes(file).status != ReadStatus::corrupt) ++missed;
        file[bit / 8] ^= mask;
    }
    CHECK(missed == 0);
}

TEST_CASE("replay: cut at any byte it is torn, never corrupt, and keeps all whole ticks") {
    const Bytes file = made_up_replay({.seed = 9, .ticks = 12, .keyframe_every = 5});
    const auto parts = test::pieces(file);
    for (std::size_t size = 0; size < file.size(); ++size) {
        std::uint64_t whole_ticks = 0;
        bool at_edge = size > 0, edge = false;
        for (const auto& part : parts) {
            edge = edge || part.position.offset + part.size == size;
            if (part.kind == ChunkKind::tick && part.position.offset + part.size <= size) ++whole_ticks;
        }
        at_edge = at_edge && edge;
        const Survey seen = survey_bytes(std::span(file).first(size));
        REQUIRE(seen.status == (at_edge ? ReadStatus::open : ReadStatus::torn));
        REQUIRE(seen.ticks == whole_ticks);
        REQUIRE(seen.usable() == (size >= parts[0].size));
    }
}

TEST_CASE("replay: a flipped bit in a torn header or a torn trailer is found") {
    const Bytes whole = made_up_replay({.seed = 10, .ticks = 3, .closed = false});
    const auto parts = test::pieces(whole);
    const test::Piece last = parts.back();
    const std::uint64_t payload_end = last.position.offset + last.size - kTrailerBytes;
    const auto found = [&](std::size_t size, std::uint64_t from, std::uint64_t to) {
        Bytes file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        for (std::uint64_t bit = from * 8; bit < to * 8; ++bit) {
            const auto mask = static_cast<std::uint8_t>(1u << (bit % 8));
            file[bit / 8] ^= mask;
            if (survey_bytes(file).status != ReadStatus::corrupt) return false;
            file[bit / 8] ^= mask;
        }
        return true;
    };
    // A header cut inside its checksum still has all its fields; a payload that is whole is held to what is left after
    // it.
    const std::uint64_t header_cut = last.position.offset + kHeaderCheckedBytes + 4;
    CHECK(found(header_cut, last.position.offset, header_cut));
    CHECK(found(whole.size() - 1, last.position.offset, whole.size() - 1));
    CHECK(found(payload_end + 5, last.position.offset, payload_end + 5));
}

TEST_CASE("replay: chunks that are missing, doubled, swapped or from another file are found") {
    const Bytes file = made_up_replay({.ticks = 10, .keyframe_every = 4});
    const auto parts = test::pieces(file);
    REQUIRE(survey_bytes(test::joined(file, parts)).status == ReadStatus::closed);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto without = parts;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        const bool end_lost = i + 1 == parts.size();
        CHECK(survey_bytes(test::joined(file, without)).status == (end_lost ? ReadStatus::open : ReadStatus::corrupt));
        auto doubled = parts;
        doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), parts[i]);
        CHECK(survey_bytes(test::joined(file, doubled)).status == ReadStatus::corrupt);
        if (i == 0) continue;
        auto swapped = parts;
        std::swap(swapped[i - 1], swapped[i]);
        CHECK(survey_bytes(test::joined(file, swapped)).status == ReadStatus::corrupt);
    }
    // The same place in a file of another seed: the sequence fits, the chain does not.
    const Bytes other = made_up_replay({.seed = 2, .ticks = 10, .keyframe_every = 4});
    const auto other_parts = test::pieces(other);
    Bytes mixed(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(parts[3].position.offset));
    mixed.insert(mixed.end(), other.begin() + static_cast<std::ptrdiff_t>(other_parts[3].position.offset), other.end());
    CHECK(survey_bytes(mixed).status == ReadStatus::corrupt);
}

TEST_CASE("replay: bytes after the end are corruption, not a torn chunk") {
    Bytes file = made_up_replay({});
    for (int i = 0; i < 100; ++i) {
        file.push_back(file[static_cast<std::size_t>(i)]);
        REQUIRE(survey_bytes(file).status == ReadStatus::corrupt);
    }
}

TEST_CASE("replay: an end with a false count or head is found although its checksums hold") {
    const Bytes file = made_up_replay({.closed = false});
    const Survey seen = survey_bytes(file);
    const auto end_with = [&](std::uint64_t ticks, Chain head) {
        Bytes payload;
        encode(EndRecord{ticks, head}, payload);
        return with_forged({.kind = ChunkKind::end, .length = static_cast<std::uint32_t>(payload.size())}, payload)
            .status;
    };
    CHECK(end_with(seen.ticks, seen.head) == ReadStatus::closed);
    CHECK(end_with(seen.ticks + 1, seen.head) == ReadStatus::corrupt);
    CHECK(end_with(seen.ticks - 1, seen.head) == ReadStatus::corrupt);
    Chain other = seen.head;
    other[31] ^= 1;
    CHECK(end_with(seen.ticks, other) == ReadStatus::corrupt);
}

TEST_CASE("replay: forged chunks of unknown kind or flags, or a second file header, are refused") {
    const Bytes payload(40);
    CHECK(with_forged({.kind = static_cast<ChunkKind>(9), .length = 40}, payload).status == ReadStatus::corrupt);
    CHECK(with_forged({.kind = ChunkKind::tick, .flags = 2, .length = 40}, payload).status == ReadStatus::corrupt);
    CHECK(with_forged({.kind = ChunkKind::file_header, .length = 40}, payload).status == ReadStatus::corrupt);
    CHECK(with_forged({.kind = ChunkKind::tick, .length = 40}, payload).status == ReadStatus::corrupt);
}

TEST_CASE("replay: another format is refused by its number, an older one in the midst of a file as damage") {
    const Survey seen = with_forged({.format = 3, .kind = ChunkKind::end, .length = 0}, {});
    CHECK(seen.status == ReadStatus::unreadable);
    CHECK(seen.error.code == ErrorCode::version_mismatch);
    CHECK(seen.error.message.find("format 3") != std::string::npos);
    CHECK(with_forged({.format = 1, .kind = ChunkKind::tick}, Bytes(40)).status == ReadStatus::corrupt);
}

TEST_CASE("replay: a length of 64 MiB or more is refused before memory is taken, a fitting one without bytes is torn") {
    const auto status = [](ChunkKind kind, std::size_t length) {
        return with_forged({.kind = kind, .length = static_cast<std::uint32_t>(length)}, {}).status;
    };
    CHECK(status(ChunkKind::keyframe, kMaxPayloadBytes + 1) == ReadStatus::corrupt);
    CHECK(status(ChunkKind::keyframe, 0xffff'ffffu) == ReadStatus::corrupt);
    CHECK(status(ChunkKind::keyframe, kMaxPayloadBytes) == ReadStatus::torn);
    CHECK(status(ChunkKind::tick, kMaxTickBytes + 1) == ReadStatus::corrupt);
    CHECK(status(static_cast<ChunkKind>(200), kMaxTickBytes + 1) == ReadStatus::corrupt);
}

TEST_CASE("replay: a payload that packs too well is stored as it is, and read back") {
    Bytes file;
    ReplayWriter writer;
    test::append(file, writer.begin(FileHeader{}));
    const Bytes even(2 * kFreePlainBytes);
    Bytes uneven = even;
    test::Random random(14);
    for (std::size_t i = 0; i < uneven.size(); i += 64) uneven[i] = static_cast<std::uint8_t>(random.next());
    const auto stored = [&](std::span<const std::uint8_t> state) {
        const std::size_t before = file.size();
        test::append(file, writer.keyframe(state));
        return file.size() - before;
    };
    CHECK(stored(even) > even.size());
    CHECK(stored(uneven) < uneven.size() / 10);
    CHECK(stored(std::span(even).first(kFreePlainBytes / 2)) < 1000);
    test::append(file, writer.end());
    CHECK(survey_bytes(file).status == ReadStatus::closed);
}

TEST_CASE(
    "replay: a scene that would unpack to more than 20 MiB is stored as it is; packed by another's hand it is "
    "refused") {
    Bytes scene(kMaxPackedHeaderBytes + 1000);
    test::Random random(15);
    for (std::size_t i = 0; i < scene.size(); i += 64) scene[i] = static_cast<std::uint8_t>(random.next());
    FileHeader header;
    header.scene = scene;
    ReplayWriter writer;
    Bytes file;
    test::append(file, writer.begin(header));
    CHECK(file.size() > scene.size());
    const Survey seen = survey_bytes(file);
    REQUIRE(seen.has_header);
    CHECK(seen.header.scene == scene);

    Bytes packed(ZSTD_compressBound(scene.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), scene.data(), scene.size(), 1));
    CHECK(packed.size() < scene.size() / 10);
    const Survey other = survey_bytes(test::forged(
        {.kind = ChunkKind::file_header, .flags = kFlagZstd, .length = static_cast<std::uint32_t>(packed.size())}, {},
        packed));
    CHECK(other.status == ReadStatus::corrupt);
    CHECK(other.error.message.find("than its compressed size allows") != std::string::npos);
}

TEST_CASE("replay: a compression bomb is refused by the size that it states") {
    Bytes bomb;
    {
        const Bytes zeros(kMaxPayloadBytes + 1);
        bomb.resize(ZSTD_compressBound(zeros.size()));
        bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
    }
    const auto status = [](std::span<const std::uint8_t> payload) {
        return with_forged(
            {.kind = ChunkKind::keyframe, .flags = kFlagZstd, .length = static_cast<std::uint32_t>(payload.size())},
            payload);
    };
    CHECK(bomb.size() < 100'000);
    const Survey seen = status(bomb);
    CHECK(seen.status == ReadStatus::corrupt);
    CHECK(seen.error.message.find("decompresses to more") != std::string::npos);

    // A payload of the largest size, too, costs no more than its stored bytes warrant.
    const Bytes zeros(kMaxPayloadBytes);
    bomb.resize(ZSTD_compressBound(zeros.size()));
    bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
    CHECK(status(bomb).error.message.find("than its compressed size allows") != std::string::npos);
    const Survey first = survey_bytes(test::forged(
        {.kind = ChunkKind::file_header, .flags = kFlagZstd, .length = static_cast<std::uint32_t>(bomb.size())}, {},
        bomb));
    CHECK(first.status == ReadStatus::corrupt);
    CHECK(first.error.message.find("than its compressed size allows") != std::string::npos);

    // A frame that states less than it holds, one that states nothing, two frames, and no frame at all.
    const Bytes plain(5000, std::uint8_t{3});
    Bytes frame(ZSTD_compressBound(plain.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), 1));
    CHECK(status(frame).error.message.find("keyframe") != std::string::npos);  // unpacked; then not of this tick
    Bytes lying = frame;
    REQUIRE(lying[4] == 0x60);  // single segment, two bytes of content size, less 256
    lying[6] -= 1;
    CHECK(status(lying).error.message.find("decompressed") != std::string::npos);
    Bytes doubled = frame;
    doubled.insert(doubled.end(), frame.begin(), frame.end());
    CHECK(status(doubled).error.message.find("one frame") != std::string::npos);
    CHECK(status(plain).error.message.find("size") != std::string::npos);
}
