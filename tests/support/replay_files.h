// Made-up replays for tests of the file form: random commands and hashes, no world behind them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/replay/reader.h"
#include "protocol/replay/writer.h"
#include "tests/support/seeded_random.h"

namespace orrery::test {

using orrery::testing::Random;

// Of the kinds of the first engine, whose files are kept (made_up_replay): any subset of the fields, floats of every
// bit pattern.
inline sim::Command random_command(Random& random) {
    sim::Command c;
    c.kind = static_cast<sim::CommandKind>(random.below(11));
    const std::uint64_t fields = random.next();
    if (fields & 1) c.at_point = true;
    if (fields & 2) c.slot = static_cast<std::uint16_t>(random.next());
    if (fields & 4) c.sequence = static_cast<std::uint32_t>(random.next() >> random.below(64));
    if (fields & 8) c.tag = random.next() >> random.below(64);
    if (fields & 16)
        c.body = {static_cast<std::uint32_t>(random.below(1000)), static_cast<std::uint32_t>(random.below(5))};
    if (fields & 32) c.joint = {static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next())};
    if (fields & 64) c.prefab = static_cast<std::uint32_t>(random.below(10));
    if (fields & 128) c.value = random.any_float();
    if (fields & 256) c.pose.position = {random.any_float(), random.any_float(), -0.0f};
    if (fields & 512) c.pose.orientation = {random.any_float(), 0.0f, random.any_float(), random.any_float()};
    if (fields & 1024) c.linear = {random.any_float(), random.any_float(), random.any_float()};
    if (fields & 2048) c.angular = {0.0f, -0.0f, 0.0f};
    for (std::uint32_t i = 0; i < sim::kControlChannels; ++i)
        if (fields & (std::uint64_t{4096} << i)) c.channels[i] = random.any_float();
    return c;
}
// Of any kind.
inline sim::Command random_command_of_any_kind(Random& random) {
    sim::Command c = random_command(random);
    c.kind = static_cast<sim::CommandKind>(random.below(static_cast<std::size_t>(sim::kLastCommandKind) + 1));
    const std::uint64_t more = random.next();
    if (more & 1) c.type = static_cast<sim::BodyType>(random.below(256));
    if (more & 2) c.category = static_cast<std::uint32_t>(random.next());
    if (more & 4) c.mask = static_cast<std::uint32_t>(random.next());
    if (more & 8) c.material = static_cast<std::uint32_t>(random.below(300));
    if (more & 16) c.linear_damping = random.any_float();
    if (more & 32) c.angular_damping = random.any_float();
    return c;
}

inline sim::HashTree random_hash(Random& random) {
    sim::HashTree hash;
    for (auto& leaf : hash.leaves) leaf = random.next();
    hash.root = random.next();
    return hash;
}

inline void append(std::vector<std::uint8_t>& file, const Result<protocol::replay::ReplayWriter::Bytes>& bytes) {
    file.insert(file.end(), bytes.value().begin(), bytes.value().end());
}

struct MadeUp {
    std::uint64_t seed = 1;
    std::uint64_t ticks = 20;
    std::uint64_t keyframe_every = 7;
    bool closed = true;
    std::uint32_t ticks_per_chunk = 1;
    bool with_all = false;  // ancillary records of each kind, pairs, a run id
};

inline protocol::replay::SigningKey made_up_key() {
    std::array<std::uint8_t, 32> seed{};
    seed[0] = 5;
    return protocol::replay::make_signing_key(seed);
}

// What stands behind each keyframe with `with_all`.
inline void append_ancillary(std::vector<std::uint8_t>& file, protocol::replay::ReplayWriter& writer) {
    using namespace protocol::replay;
    const std::uint8_t state[] = {9, 8, 7};
    PlayerRecord player{.slot = 3, .id_form = IdForm::plain, .client_id = 0x1122334455667788u};
    append(file, writer.add(player));
    player = {.slot = 3, .change = PlayerChange::left, .reason = 2, .id_form = IdForm::hashed, .client_id = 7};
    append(file, writer.add(player));
    append(file, writer.add(ResumeRecord{.unix_ms = 1'790'000'000'123, .downtime_ms = 4567, .build = "orrery 0.1.0"}));
    append(file, writer.add(HostRecord{.state = state}));
    append(file, writer.add(NoteRecord{.text = "a goal"}));
    append(file, writer.sign(made_up_key()));
}

inline std::vector<std::uint8_t> made_up_replay(const MadeUp& want) {
    using namespace protocol::replay;
    Random random(want.seed);
    std::vector<std::uint8_t> file, state(3000, std::uint8_t{7});
    ReplayWriter writer(want.ticks_per_chunk);
    FileHeader header;
    header.engine_version = 1;
    header.scene_hash = random.next();
    header.start_unix_s = 1'790'000'000;
    header.scene_name = "made up";
    header.room = "test";
    header.scene.assign(200, std::uint8_t{42});
    if (want.with_all) {
        header.run = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        header.parent.run[3] = 77;
        header.parent.chain[31] = 78;
        header.about = {{"build", "orrery 0.1.0"}, {"room.allow_mirror", "off"}, {"rules", ""}};
    }
    append(file, writer.begin(header));
    for (std::uint64_t tick = 1; tick <= want.ticks; ++tick) {
        std::vector<sim::Command> commands(random.below(4));
        for (auto& command : commands) command = random_command(random);
        // One draw a statement: compilers evaluate arguments in different orders.
        const std::uint64_t slip_ns = random.below(8) ? 0 : random.below(1'000'000);
        const sim::HashTree hash = random_hash(random);
        append(file, writer.tick(tick, commands, hash, slip_ns));
        if (tick % want.keyframe_every == 0) {
            state[random.below(state.size())] ^= static_cast<std::uint8_t>(random.next());
            append(file, writer.keyframe(state));
            if (want.with_all) append_ancillary(file, writer);
        }
    }
    if (want.closed) append(file, writer.end());
    return file;
}

// Writes the records anew with checksums that hold, each after an edit. Signatures are left out.
struct Edit {
    std::function<void(protocol::replay::FileHeader&)> header{};
    std::function<void(protocol::replay::TickRecord&)> tick{};
    std::function<void(std::uint64_t tick, std::vector<std::uint8_t>& state)> keyframe{};
};

inline std::vector<std::uint8_t> rewritten(std::span<const std::uint8_t> file, const Edit& edit,
                                           std::uint32_t ticks_per_chunk = 1) {
    using namespace protocol::replay;
    const MemorySource source(file);
    ReplayReader reader(source);
    FileHeader header = reader.begin().value();
    if (edit.header) edit.header(header);
    std::vector<std::uint8_t> out;
    ReplayWriter writer(ticks_per_chunk);
    append(out, writer.begin(header));
    const auto copy = [&](const auto& record) {
        using Record = std::decay_t<decltype(record)>;
        if constexpr (!std::is_same_v<Record, UnknownRecord> && !std::is_same_v<Record, SignRecord>)
            append(out, writer.add(record));
    };
    for (auto kind = reader.next_of_all(); kind != ReplayReader::Kind::stop; kind = reader.next_of_all()) {
        if (kind == ReplayReader::Kind::tick) {
            TickRecord record = reader.tick();
            if (edit.tick) edit.tick(record);
            append(out, writer.tick(record.tick, record.commands, record.hash, record.slip_ns));
        } else if (kind == ReplayReader::Kind::ancillary) {
            std::visit(copy, reader.ancillary());
        } else {
            std::vector<std::uint8_t> state(reader.keyframe().state.begin(), reader.keyframe().state.end());
            if (edit.keyframe) edit.keyframe(reader.keyframe().tick, state);
            append(out, writer.keyframe(state));
        }
    }
    append(out, writer.end());
    return out;
}

// A recording of ticks and keyframes, as format 1 had it.
inline std::vector<std::uint8_t> in_format_1(std::span<const std::uint8_t> file) {
    using namespace protocol::replay;
    const MemorySource source(file);
    ReplayReader reader(source);
    const FileHeader header = reader.begin().value();
    ChunkWriter chunks(1);
    std::vector<std::uint8_t> out, payload;
    ByteWriter bytes(payload);
    const auto append_chunk = [&](ChunkKind kind) {
        static_cast<void>(chunks.append(kind, payload, out));
        payload.clear();
    };
    bytes.u32(header.engine_version);
    bytes.u64(header.scene_hash);
    bytes.f32(header.tick_rate_hz);
    bytes.u8(header.leaves);
    bytes.u64(header.start_unix_s);
    bytes.text(header.scene_name);
    bytes.text(header.room);
    bytes.bytes(header.scene);
    append_chunk(ChunkKind::file_header);
    for (auto kind = reader.next(); kind != ReplayReader::Kind::stop; kind = reader.next()) {
        if (kind == ReplayReader::Kind::tick) {
            encode(reader.tick(), payload);
            append_chunk(ChunkKind::tick);
        } else {
            bytes.u64(reader.keyframe().tick);
            bytes.bytes(reader.keyframe().state);
            append_chunk(ChunkKind::keyframe);
        }
    }
    if (!reader.complete()) return out;
    encode(EndRecord{reader.ticks(), chunks.chain()}, payload);
    append_chunk(ChunkKind::end);
    return out;
}

inline protocol::replay::Survey survey_bytes(std::span<const std::uint8_t> bytes) {
    return protocol::replay::survey(protocol::replay::MemorySource(bytes));
}

struct Piece {  // a whole chunk in a file
    protocol::replay::Position position;
    std::uint64_t ticks_before = 0;
    std::uint64_t size = 0;
    protocol::replay::ChunkKind kind{};
};

inline std::vector<Piece> pieces(std::span<const std::uint8_t> file) {
    using namespace protocol::replay;
    std::vector<Piece> all;
    const MemorySource source(file);
    ChunkReader reader(source);
    Chunk chunk;
    std::uint64_t ticks = 0;
    for (Position before = reader.position(); reader.next(chunk) == ReadStatus::chunk; before = reader.position()) {
        all.push_back({before, ticks, reader.position().offset - before.offset, chunk.kind});
        if (chunk.kind == ChunkKind::tick) ++ticks;
        if (chunk.kind == ChunkKind::ticks) ticks += chunk.number;
    }
    return all;
}

// The chunks of these pieces, one after the other.
inline std::vector<std::uint8_t> joined(std::span<const std::uint8_t> file, const std::vector<Piece>& parts) {
    std::vector<std::uint8_t> out;
    for (const Piece& part : parts) {
        const auto chunk =
            file.subspan(static_cast<std::size_t>(part.position.offset), static_cast<std::size_t>(part.size));
        out.insert(out.end(), chunk.begin(), chunk.end());
    }
    return out;
}

// A chunk made by hand: any header, any payload, checksums that hold.
inline std::vector<std::uint8_t> forged(const protocol::replay::ChunkHeader& header,
                                        const protocol::replay::Chain& before, std::span<const std::uint8_t> payload) {
    using namespace protocol::replay;
    const HeaderBytes bytes = encode_header(header);
    std::vector<std::uint8_t> out(bytes.begin(), bytes.end());
    out.insert(out.end(), payload.begin(), payload.end());
    const Trailer trailer = make_trailer(payload, next_chain(before, bytes, payload));
    out.insert(out.end(), trailer.begin(), trailer.end());
    return out;
}

// A file that was not closed, and a forged chunk behind it.
inline std::vector<std::uint8_t> with_forged(std::vector<std::uint8_t> file, protocol::replay::ChunkHeader header,
                                             std::span<const std::uint8_t> payload) {
    header.sequence = pieces(file).size();
    header.length = header.length ? header.length : static_cast<std::uint32_t>(payload.size());
    const std::vector<std::uint8_t> chunk = forged(header, survey_bytes(file).head, payload);
    file.insert(file.end(), chunk.begin(), chunk.end());
    return file;
}

}  // namespace orrery::test
