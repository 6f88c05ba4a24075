#include "protocol/replay/ancillary.h"

#include <algorithm>

#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Result<Ok> read(ByteReader& reader, PlayerRecord& record) {
    record.tick = reader.u64();
    record.slot = reader.u16();
    const std::uint8_t change = reader.u8();
    record.reason = reader.u8();
    const std::uint8_t form = reader.u8();
    record.client_id = reader.u64();
    if (!reader.at_end()) return corrupt_record("a player record has the wrong length");
    if (change > static_cast<std::uint8_t>(PlayerChange::left) || form > static_cast<std::uint8_t>(IdForm::hashed))
        return corrupt_record("a player record has a change or a form of id that there is not");
    record.change = static_cast<PlayerChange>(change);
    record.id_form = static_cast<IdForm>(form);
    if (record.reason > (record.change == PlayerChange::left ? kLastLeaveReason : 0))
        return corrupt_record("a player record has a reason that there is not");
    if (record.id_form == IdForm::none && record.client_id != 0)
        return corrupt_record("a player record has a client id that it says is not recorded");
    return Ok{};
}

Result<Ok> read(ByteReader& reader, ResumeRecord& record) {
    record.tick = reader.u64();
    record.unix_ms = reader.u64();
    record.downtime_ms = reader.u64();
    record.build = reader.text(kMaxTextBytes);
    if (!reader.at_end()) return corrupt_record("a resume record has the wrong length");
    return Ok{};
}

Result<Ok> read(ByteReader& reader, HostRecord& record) {
    record.tick = reader.u64();
    if (!reader.ok()) return corrupt_record("a record of the host's state is cut off");
    record.state = reader.bytes(reader.remaining());
    return Ok{};
}

Result<Ok> read(ByteReader& reader, NoteRecord& record) {
    record.tick = reader.u64();
    const auto text = reader.bytes(reader.remaining());
    if (!reader.ok() || text.size() > kMaxNoteBytes) return corrupt_record("a note is cut off or too long");
    record.text = {reinterpret_cast<const char*>(text.data()), text.size()};
    return Ok{};
}

Result<Ok> read(ByteReader& reader, SignRecord& record) {
    record.tick = reader.u64();
    const auto key = reader.bytes(record.key.size());
    const auto signature = reader.bytes(record.signature.size());
    if (!reader.at_end()) return corrupt_record("a signature record has the wrong length");
    std::copy(key.begin(), key.end(), record.key.begin());
    std::copy(signature.begin(), signature.end(), record.signature.begin());
    return Ok{};
}

template <class Record>
Result<Ok> read_into(std::span<const std::uint8_t> payload, AncillaryRecord& out, std::uint64_t& tick) {
    ByteReader reader(payload);
    Record record;
    auto done = read(reader, record);
    tick = record.tick;
    out = std::move(record);
    return done;
}

}  // namespace

void encode(const PlayerRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.u16(record.slot);
    writer.u8(static_cast<std::uint8_t>(record.change));
    writer.u8(record.reason);
    writer.u8(static_cast<std::uint8_t>(record.id_form));
    writer.u64(record.client_id);
}

void encode(const ResumeRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.u64(record.unix_ms);
    writer.u64(record.downtime_ms);
    writer.text(record.build);
}

void encode(const HostRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.bytes(record.state);
}

void encode(const NoteRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.bytes(bytes_of(record.text));
}

void encode(const SignRecord& record, std::vector<std::uint8_t>& out) {
    ByteWriter writer(out);
    writer.u64(record.tick);
    writer.bytes(record.key);
    writer.bytes(record.signature);
}

Result<Ok> decode(ChunkKind kind, std::span<const std::uint8_t> payload, AncillaryRecord& record, std::uint64_t& tick) {
    switch (kind) {
        case ChunkKind::player:
            return read_into<PlayerRecord>(payload, record, tick);
        case ChunkKind::resume:
            return read_into<ResumeRecord>(payload, record, tick);
        case ChunkKind::host:
            return read_into<HostRecord>(payload, record, tick);
        case ChunkKind::note:
            return read_into<NoteRecord>(payload, record, tick);
        case ChunkKind::sign:
            return read_into<SignRecord>(payload, record, tick);
        default:
            break;
    }
    record = UnknownRecord{};
    tick = 0;
    return Ok{};
}

void AncillaryCounts::add(const AncillaryRecord& record) {
    std::uint64_t* const counts[] = {&unknown, &players, &resumes, &hosts, &notes, &signs};
    static_assert(std::size(counts) == std::variant_size_v<AncillaryRecord>);
    ++*counts[record.index()];
}

}  // namespace orrery::protocol::replay
