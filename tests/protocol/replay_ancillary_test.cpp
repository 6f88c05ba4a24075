// Contract: ancillary records are chained and checked as all others are, and a reader that does not know one goes on;
// the file header says where a recording comes from; a signature holds for its place alone.
#include <doctest/doctest.h>

#include "protocol/replay/client_ids.h"
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

template <class Record>
Bytes payload_of(const Record& record) {
    Bytes payload;
    encode(record, payload);
    return payload;
}

ReadStatus with_record(ChunkKind kind, const Bytes& payload) {
    return survey_bytes(test::with_forged(made_up_replay({.closed = false}), {.kind = kind}, payload)).status;
}

// All that a small world's recording may have beside its ticks. `signs`: at the keyframe and before the end.
Bytes world_with_all(bool signs = true) {
    const Bytes plain = test::record_small_world({.ticks = 30, .keyframe_every = 20, .ticks_per_chunk = 8});
    const MemorySource source(plain);
    ReplayReader reader(source);
    FileHeader header = reader.begin().value();
    header.run = {7, 7, 7};
    Bytes file;
    ReplayWriter writer(8);
    test::append(file, writer.begin(header));
    for (auto kind = reader.next(); kind != Kind::stop; kind = reader.next()) {
        if (kind == Kind::tick) {
            test::append(file, writer.tick(reader.tick().tick, reader.tick().commands, reader.tick().hash));
            continue;
        }
        test::append(file, writer.keyframe(reader.keyframe().state));
        test::append_ancillary(file, writer);
    }
    if (signs) test::append(file, writer.sign(test::made_up_key(), SignedExtent::whole));
    test::append(file, writer.end());
    return file;
}

// The same records in new chunks, with checksums that hold; `change` may change kind, number and payload.
using Change = std::function<void(std::size_t index, ChunkKind& kind, Bytes& payload)>;
Bytes rechained(const Bytes& file, const Change& change) {
    const MemorySource source(file);
    ChunkReader reader(source);
    ChunkWriter writer;
    Chunk chunk;
    Bytes out;
    for (std::size_t i = 0; reader.next(chunk) == ReadStatus::chunk; ++i) {
        Bytes payload(chunk.payload.begin(), chunk.payload.end());
        ChunkKind kind = chunk.kind;
        change(i, kind, payload);
        if (kind == ChunkKind::end) std::copy(writer.chain().begin(), writer.chain().end(), payload.begin() + 8);
        REQUIRE(writer.append(kind, payload, out, chunk.number).ok());
    }
    return out;
}

}  // namespace

TEST_CASE("ancillary: every kind is read back, with its tick, and next() passes over it") {
    const Bytes file = made_up_replay({.ticks = 30, .keyframe_every = 20, .ticks_per_chunk = 8, .with_all = true});
    const MemorySource source(file);
    ReplayReader reader(source);
    REQUIRE(reader.begin().ok());
    std::vector<AncillaryRecord> records;
    for (auto kind = reader.next_of_all(); kind != Kind::stop; kind = reader.next_of_all()) {
        if (kind != Kind::ancillary) continue;
        CHECK(reader.ticks() == 20);
        records.push_back(reader.ancillary());
        if (const auto* host = std::get_if<HostRecord>(&records.back()))
            CHECK(Bytes(host->state.begin(), host->state.end()) == Bytes{9, 8, 7});
        if (const auto* note = std::get_if<NoteRecord>(&records.back())) CHECK(note->text == "a goal");
    }
    REQUIRE(records.size() == 6);
    const auto& came = std::get<PlayerRecord>(records[0]);
    CHECK(came.tick == 20);
    CHECK(came.slot == 3);
    CHECK(came.change == PlayerChange::came);
    CHECK(came.id_form == IdForm::plain);
    CHECK(came.client_id == 0x1122334455667788u);
    const auto& left = std::get<PlayerRecord>(records[1]);
    CHECK(left.change == PlayerChange::left);
    CHECK(left.reason == 2);
    CHECK(left.id_form == IdForm::hashed);
    const auto& resume = std::get<ResumeRecord>(records[2]);
    CHECK(resume.unix_ms == 1'790'000'000'123);
    CHECK(resume.downtime_ms == 4567);
    CHECK(resume.build == "orrery 0.1.0");
    CHECK(std::holds_alternative<HostRecord>(records[3]));
    CHECK(std::holds_alternative<NoteRecord>(records[4]));
    CHECK(std::get<SignRecord>(records[5]).tick == 20);

    ReplayReader plain(source);
    REQUIRE(plain.begin().ok());
    int ticks = 0, keyframes = 0;
    for (auto kind = plain.next(); kind != Kind::stop; kind = plain.next()) ++(kind == Kind::tick ? ticks : keyframes);
    CHECK(ticks == 30);
    CHECK(keyframes == 1);
    const Survey seen = survey(source);
    CHECK(seen.ancillary.players == 2);
    CHECK(seen.ancillary.resumes == 1);
    CHECK(seen.ancillary.hosts == 1);
    CHECK(seen.ancillary.notes == 1);
    CHECK(seen.ancillary.signs == 1);
    CHECK(seen.ancillary.unknown == 0);
    CHECK(outline(source, seen.marks[0].position).ancillary == 6);
}

TEST_CASE("ancillary: a record of another tick, a wrong length or a value that there is not is refused") {
    CHECK(with_record(ChunkKind::note, payload_of(NoteRecord{.tick = 20, .text = "x"})) == ReadStatus::open);
    CHECK(with_record(ChunkKind::note, payload_of(NoteRecord{.tick = 19, .text = "x"})) == ReadStatus::corrupt);
    CHECK(with_record(ChunkKind::note, payload_of(NoteRecord{.tick = 20, .text = std::string(1025, 'x')})) ==
          ReadStatus::corrupt);
    PlayerRecord player{.tick = 20, .change = PlayerChange::left, .reason = kLastLeaveReason};
    CHECK(with_record(ChunkKind::player, payload_of(player)) == ReadStatus::open);
    player.reason = kLastLeaveReason + 1;
    CHECK(with_record(ChunkKind::player, payload_of(player)) == ReadStatus::corrupt);
    player.reason = 0;
    player.client_id = 1;  // which it says it has not
    CHECK(with_record(ChunkKind::player, payload_of(player)) == ReadStatus::corrupt);
    player.id_form = IdForm::plain;
    CHECK(with_record(ChunkKind::player, payload_of(player)) == ReadStatus::open);
    player.change = static_cast<PlayerChange>(4);
    CHECK(with_record(ChunkKind::player, payload_of(player)) == ReadStatus::corrupt);
    for (const auto& [kind, good] : {std::pair{ChunkKind::player, payload_of(PlayerRecord{.tick = 20})},
                                     std::pair{ChunkKind::resume, payload_of(ResumeRecord{.tick = 20, .build = "b"})},
                                     std::pair{ChunkKind::sign, payload_of(SignRecord{.tick = 20})}}) {
        CHECK(with_record(kind, good) == ReadStatus::open);
        CHECK(with_record(kind, Bytes(good.begin(), good.end() - 1)) == ReadStatus::corrupt);
        Bytes longer = good;
        longer.push_back(0);
        CHECK(with_record(kind, longer) == ReadStatus::corrupt);
    }
}

TEST_CASE("ancillary: chunks of a kind that is not known are the same, and counted; of a critical kind they are not") {
    const Bytes file = world_with_all(false);
    const Bytes unknown = rechained(file, [](std::size_t, ChunkKind& kind, Bytes& payload) {
        if (kind == ChunkKind::sign) kind = static_cast<ChunkKind>(255);
        if (kind != ChunkKind::note) return;
        kind = static_cast<ChunkKind>(200);
        payload.assign(5000, 3);
    });
    const VerifyReport report = test::verify_small_world(unknown);
    CHECK(report.verdict == Verdict::same);
    CHECK(report.complete);
    CHECK(report.ancillary.unknown == 2);
    CHECK(report.ancillary.notes == 0);
    CHECK(report.ancillary.players == 2);
    for (const std::uint8_t kind : {std::uint8_t{0}, std::uint8_t{6}, std::uint8_t{127}})
        CHECK(with_record(static_cast<ChunkKind>(kind), Bytes(40)) == ReadStatus::corrupt);
}

TEST_CASE("ancillary: every flipped bit is found, and every chunk that is missing, doubled, swapped or spliced in") {
    Bytes file = world_with_all();
    const auto parts = test::pieces(file);
    REQUIRE(test::verify_small_world(file).verdict == Verdict::same);
    std::uint64_t missed = 0;
    const std::uint64_t stride = test::few() ? 41 : 1;
    for (std::uint64_t bit = 0; bit < file.size() * 8; bit += stride) {
        file[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        missed += survey_bytes(file).status == ReadStatus::corrupt ? 0 : 1;
        file[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    }
    CHECK(missed == 0);
    const Bytes other = test::record_small_world({.ticks = 30, .keyframe_every = 20, .seed = 2, .ticks_per_chunk = 8});
    const auto others = test::pieces(other);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool end = i + 1 == parts.size();
        auto without = parts;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        const VerifyReport lost = test::verify_small_world(test::joined(file, without));
        CHECK(lost.verdict == (end ? Verdict::same : Verdict::unreadable));  // END cut off
        CHECK_FALSE(lost.complete);
        auto doubled = parts;
        doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), parts[i]);
        CHECK(survey_bytes(test::joined(file, doubled)).status == ReadStatus::corrupt);
        if (i == 0) continue;
        auto swapped = parts;
        std::swap(swapped[i - 1], swapped[i]);
        CHECK(survey_bytes(test::joined(file, swapped)).status == ReadStatus::corrupt);
        if (i >= others.size()) continue;
        Bytes spliced(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(parts[i].position.offset));
        const Bytes chunk = test::joined(other, {others[i]});
        spliced.insert(spliced.end(), chunk.begin(), chunk.end());
        CHECK(survey_bytes(spliced).status == ReadStatus::corrupt);
    }
}

TEST_CASE("sign: a signature holds for its recording and its place, and nowhere else") {
    const Bytes file = world_with_all();
    const Survey seen = survey_bytes(file);
    REQUIRE(seen.signs.size() == 2);
    CHECK_FALSE(seen.signs[0].before_end);
    CHECK(seen.signs[1].before_end);
    CHECK(seen.signs[0].record.tick == 20);
    CHECK(seen.signs[1].record.tick == 30);
    for (const SignedPlace& place : seen.signs) {
        CHECK(place.record.key == public_key(test::made_up_key()));
        CHECK(signed_extent(place.record, seen.header.run, place.before) ==
              (place.before_end ? SignedExtent::whole : SignedExtent::so_far));
        CHECK_FALSE(signed_extent(place.record, RunId{}, place.before));
        CHECK_FALSE(signed_extent(place.record, seen.header.run, seen.head));
        SignRecord other = place.record;
        other.tick += 1;
        CHECK_FALSE(signed_extent(other, seen.header.run, place.before));
    }
    CHECK(test::verify_small_world(file).verdict == Verdict::same);
    CHECK_FALSE(survey_bytes(made_up_replay({.with_all = true})).signs.back().before_end);

    // Copied into a recording of the same ticks that says something else before: its checksums hold, it does not.
    const Bytes copied = rechained(file, [](std::size_t, ChunkKind& kind, Bytes& payload) {
        if (kind == ChunkKind::note) payload.push_back('!');
    });
    CHECK(survey_bytes(copied).status == ReadStatus::closed);
    const VerifyReport report = test::verify_small_world(copied);
    CHECK(report.verdict == Verdict::unreadable);
    REQUIRE(report.corrupt_at_byte.has_value());
    CHECK(*report.corrupt_at_byte == survey_bytes(copied).signs[0].offset);
    CHECK(report.error.message.find("signature") != std::string::npos);
}

TEST_CASE("header: the origin and the pairs of a recording are read back; pairs out of order or too long are refused") {
    const Survey seen = survey_bytes(made_up_replay({.with_all = true}));
    REQUIRE(seen.has_header);
    CHECK(seen.header.run[15] == 16);
    CHECK(seen.header.parent.run[3] == 77);
    CHECK(seen.header.parent.chain[31] == 78);
    REQUIRE(seen.header.about.size() == 3);
    CHECK(seen.header.about[1].key == "room.allow_mirror");
    CHECK(seen.header.about[1].value == "off");

    const auto accepted = [](std::vector<KeyValue> about) {
        FileHeader header, back;
        header.about = std::move(about);
        const bool decoded = decode(payload_of(header), back).ok();
        CHECK(ReplayWriter().begin(header).ok() == decoded);
        return decoded;
    };
    CHECK(accepted({{"a", ""}, {"b", std::string(kMaxValueBytes, 'x')}}));
    CHECK_FALSE(accepted({{"b", ""}, {"a", ""}}));
    CHECK_FALSE(accepted({{"a", ""}, {"a", ""}}));
    CHECK_FALSE(accepted({{"", ""}}));
    CHECK_FALSE(accepted({{std::string(kMaxKeyBytes + 1, 'k'), ""}}));
    CHECK_FALSE(accepted({{"a", std::string(kMaxValueBytes + 1, 'x')}}));
    std::vector<KeyValue> many;
    for (std::size_t i = 0; i <= kMaxPairs; ++i) many.push_back({std::to_string(1000 + i), ""});
    CHECK_FALSE(accepted(many));
    many.pop_back();
    CHECK(accepted(many));
}

TEST_CASE("cut: a recording from a keyframe on is verified from there, and is not one without the keyframe") {
    const Bytes file = test::record_small_world({.ticks = 70, .keyframe_every = 20, .cut_before = 40});
    const Survey seen = survey_bytes(file);
    REQUIRE(seen.status == ReadStatus::closed);
    CHECK(seen.header.first_tick == 40);
    CHECK(seen.ticks == 70);
    REQUIRE(seen.marks.size() == 2);
    CHECK(seen.marks[0].tick == 40);
    CHECK(seen.marks[0].keyframe);
    const VerifyReport report = test::verify_small_world(file);
    CHECK(report.verdict == Verdict::same);
    CHECK(report.ticks == 30);
    test::BackwardExecutor backward(2);
    CHECK(test::verify_small_world(file, {.stretches = &backward, .load_scene = {}}).ticks == 30);
    const Bytes changed = test::rewritten(
        file, {.header = {}, .tick = [](TickRecord& r) { r.hash.leaves[0] ^= r.tick == 55; }, .keyframe = {}});
    const VerifyReport diverged = test::verify_small_world(changed);
    CHECK(diverged.first_divergent_tick == 55);
    CHECK(diverged.ticks == 14);

    ReplayWriter writer;
    FileHeader header;
    header.first_tick = 40;
    Bytes made;
    test::append(made, writer.begin(header));
    CHECK_FALSE(writer.tick(41, {}, {}).ok());
    CHECK_FALSE(writer.end().ok());
    CHECK_FALSE(survey_bytes(made).usable());
    CHECK_FALSE(survey_bytes(made).error.message.empty());
    const Bytes tick = payload_of(TickRecord{.tick = 41});
    CHECK(survey_bytes(test::with_forged(made, {.kind = ChunkKind::tick}, tick)).status == ReadStatus::corrupt);
}

TEST_CASE("client ids: a hash needs the secret, and is the same with it") {
    std::array<std::uint8_t, 32> secret{}, other{};
    other[0] = 1;
    CHECK(hashed_client_id(7, secret) == hashed_client_id(7, secret));
    CHECK(hashed_client_id(7, secret) != hashed_client_id(8, secret));
    CHECK(hashed_client_id(7, secret) != hashed_client_id(7, other));
}
