#include <cmath>
#include <cstring>

#include "protocol/session/messages.h"
#include "protocol/session/messages_generated.h"

namespace orrery::protocol {
namespace {

struct Limits {
    std::size_t max_bytes;
    flatbuffers::uoffset_t max_tables;
};

// Depth: no message nests deeper than root, vector, table.
constexpr flatbuffers::uoffset_t kMaxDepth = 4;

Limits limits_of(MessageType type) {
    switch (type) {
        case MessageType::client_hello:
            return {192, 1};
        case MessageType::key_frame_ready:
        case MessageType::refusal:
        case MessageType::slip:
        case MessageType::scene_request:
            return {128, 1};
        case MessageType::goodbye:
            return {128 + kMaxGoodbyeTextBytes, 1};
        case MessageType::scene_part:
            return {128 + kScenePartBytes, 1};
        case MessageType::game_message:
            return {128 + kMaxGameMessageBytes, 1};
        case MessageType::board_state:
            return {256 + kMaxBoardBytes + kMaxBoardKeys * 64, 1 + kMaxBoardKeys};
        case MessageType::board_change:
            return {128 + kMaxBoardBytes, 1};
        case MessageType::world_events:
            return {128 + kMaxWorldEvents * sizeof(wire::WorldEvent), 1};
        case MessageType::server_hello:
            return {1024, 1};
        case MessageType::key_frame_begin:
            return {256 + kMaxShapes * sizeof(wire::Shape) + kMaxVocabularyBytes + kMaxWireTemplates * 64,
                    1 + kMaxWireTemplates};
        case MessageType::key_frame_bodies:
            return {1024 +
                        kMaxBodiesPerKeyFramePart *
                            (sizeof(wire::BodyDescription) + sizeof(wire::BodyIdentity) + kMaxWireNameBytes + 96) +
                        kMaxGonePerKeyFramePart * sizeof(std::uint32_t),
                    1 + kMaxBodiesPerKeyFramePart};
        case MessageType::bodies_changed:
            return {256 + kMaxBodiesPerChange * (sizeof(wire::BodyDescription) + sizeof(wire::BodyIdentity) +
                                                 sizeof(wire::BodyReference)),
                    1};
        case MessageType::input:
            return {128 + kMaxControlsPerInput * sizeof(wire::ControlRun), 1};
        case MessageType::snapshot:
            return {1200, 1};
        case MessageType::mirror_begin:  // these have a reader of their own: mirror_messages.h
        case MessageType::mirror_part:
        case MessageType::mirror_ticks:
        case MessageType::mirror_leaves:
        case MessageType::mirror_report:
        case MessageType::tick_commands:
            return {1, 0};
    }
    return {0, 0};
}

template <class Vector>
std::size_t size_of(const Vector* vector) {
    return vector ? vector->size() : 0;
}

bool tick_in_range(std::uint64_t tick) { return tick < kMaxTick; }

bool read_descriptions(const flatbuffers::Vector<const wire::BodyDescription*>* from,
                       const flatbuffers::Vector<const wire::BodyIdentity*>* identities,
                       std::vector<BodyDescription>& out) {
    out.clear();
    for (std::size_t i = 0; i < size_of(from); ++i) {
        const wire::BodyDescription& d = *from->Get(static_cast<flatbuffers::uoffset_t>(i));
        if (d.index() >= kMaxSnapshotBodyIndex || d.type() > static_cast<std::uint8_t>(sim::BodyType::dynamic))
            return false;
        if (d.shape() >= kMaxShapes && d.shape() != sim::kNone) return false;
        out.push_back(
            {{d.index(), d.generation()}, d.shape(), d.slot(), static_cast<sim::BodyType>(d.type()), d.material()});
    }
    // The verifier does not look at the alignment of a vector of structs, which a hostile message may have askew.
    if (size_of(identities) > 0 &&
        reinterpret_cast<std::uintptr_t>(identities->Data()) % alignof(wire::BodyIdentity) != 0)
        return false;
    for (flatbuffers::uoffset_t i = 0; i < size_of(identities); ++i) {
        const wire::BodyIdentity& identity = *identities->Get(i);
        if (identity.at() >= out.size() || (i > 0 && identity.at() <= identities->Get(i - 1)->at())) return false;
        BodyDescription& d = out[identity.at()];
        d.prefab = identity.prefab();
        d.member = identity.member();
        d.user_data = identity.user_data();
    }
    return true;
}

bool read_name(const flatbuffers::String* from, std::string& out) {
    if (!from || from->size() > kMaxWireNameBytes) return false;
    out = from->str();
    return true;
}

bool read_names(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* from, std::size_t most,
                std::vector<std::string>& out) {
    if (size_of(from) > most) return false;
    out.resize(size_of(from));
    for (flatbuffers::uoffset_t i = 0; i < size_of(from); ++i) {
        if (!read_name(from->Get(i), out[i])) return false;
    }
    return true;
}

bool read_vocabulary(const wire::KeyFrameBegin& from, Vocabulary& out) {
    if (size_of(from.templates()) > kMaxWireTemplates) return false;
    out.templates.resize(size_of(from.templates()));
    for (flatbuffers::uoffset_t i = 0; i < size_of(from.templates()); ++i) {
        const wire::TemplateNames& names = *from.templates()->Get(i);
        if (!read_name(names.name(), out.templates[i].name)) return false;
        if (!read_names(names.members(), kMaxWireMembers, out.templates[i].members)) return false;
    }
    return read_names(from.materials(), kMaxWireMaterials, out.materials) && fits(out);
}

void read_bytes(const flatbuffers::Vector<std::uint8_t>* from, std::vector<std::uint8_t>& out) {
    out.clear();
    if (from) out.assign(from->begin(), from->end());
}

bool read_entry(const flatbuffers::String* key, const flatbuffers::Vector<std::uint8_t>* value, BoardEntry& out) {
    if (!key || !Board::is_key(key->string_view()) || size_of(value) > kMaxBoardBytes) return false;
    out.key = key->str();
    read_bytes(value, out.value);
    return true;
}

bool body_in_range(const sim::BodyId& id) { return id.index < kMaxSnapshotBodyIndex || !id.valid(); }

bool length_in_range(float value) {
    return std::isfinite(value) && value >= 0.0f && value <= 2.0f * sim::kMaxCoordinate_m;
}

}  // namespace

bool fits(const Vocabulary& vocabulary) {
    std::size_t members = 0, bytes = 0;
    const auto count = [&](const std::string& name) {
        bytes += name.size() + 16;
        return name.size() <= kMaxWireNameBytes;
    };
    bool short_enough = true;
    for (const TemplateNames& names : vocabulary.templates) {
        short_enough = count(names.name) && short_enough;
        members += names.members.size();
        for (const std::string& member : names.members) short_enough = count(member) && short_enough;
    }
    for (const std::string& material : vocabulary.materials) short_enough = count(material) && short_enough;
    return short_enough && vocabulary.templates.size() <= kMaxWireTemplates &&
           vocabulary.materials.size() <= kMaxWireMaterials && members <= kMaxWireMembers &&
           bytes <= kMaxVocabularyBytes;
}

bool MessageReader::type_of(Bytes message, MessageType& out) {
    if (message.empty()) return false;
    out = static_cast<MessageType>(message[0]);
    return limits_of(out).max_bytes != 0;
}

template <class Table>
const Table* MessageReader::verify(Bytes message, MessageType type) {
    MessageType found;
    if (!type_of(message, found) || found != type) return nullptr;
    const Limits limits = limits_of(type);
    const Bytes buffer = message.subspan(1);
    if (buffer.size() < 2 * sizeof(flatbuffers::uoffset_t) || message.size() > limits.max_bytes) return nullptr;
    std::uint32_t announced = 0;
    for (int i = 0; i < 4; ++i) announced |= static_cast<std::uint32_t>(buffer[static_cast<std::size_t>(i)]) << (8 * i);
    if (announced != buffer.size() - sizeof announced) return nullptr;

    // The writer pads for alignment relative to the buffer's end, so any start that is a multiple of 8 from the size
    // prefix on will do.
    aligned_.resize((buffer.size() + 7) / 8);
    std::memcpy(aligned_.data(), buffer.data(), buffer.size());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(aligned_.data());
    flatbuffers::Verifier verifier(bytes, buffer.size(), kMaxDepth, limits.max_tables);
    if (!verifier.VerifySizePrefixedBuffer<Table>(nullptr)) return nullptr;
    return flatbuffers::GetSizePrefixedRoot<Table>(bytes);
}

bool MessageReader::read(Bytes message, ClientHello& out) {
    const auto* m = verify<wire::ClientHello>(message, MessageType::client_hello);
    if (!m || size_of(m->codecs()) > kMaxHelloCodecs || m->mode() >= kSessionModes) return false;
    out = {m->protocol_version(), m->schema_hash(), m->engine_version(), m->scene_hash()};
    read_bytes(m->codecs(), out.codecs);
    out.mode = static_cast<SessionMode>(m->mode());
    out.scene_bytes_hash = m->scene_bytes_hash();
    out.baseline_hash = m->baseline_hash();
    return true;
}

bool MessageReader::read(Bytes message, KeyFrameReady& out) {
    const auto* m = verify<wire::KeyFrameReady>(message, MessageType::key_frame_ready);
    if (!m || !tick_in_range(m->tick())) return false;
    out = {m->tick()};
    return true;
}

bool MessageReader::read(Bytes message, ServerHello& out) {
    const auto* m = verify<wire::ServerHello>(message, MessageType::server_hello);
    if (!m) return false;
    if (!std::isfinite(m->tick_rate_hz()) || m->tick_rate_hz() < 1.0f || m->tick_rate_hz() > 10'000.0f) return false;
    if (m->role() >= kTokenRoles || m->scene_bytes() > kMaxWireSceneBytes || m->mode() >= kSessionModes) return false;
    if ((m->slot() >= sim::kMaxSlots && m->slot() != kNoSlot) || m->body_capacity() > kMaxSnapshotBodyIndex)
        return false;
    if (m->scene_name() && m->scene_name()->size() > kMaxWireNameBytes) return false;
    out = {m->protocol_version(),
           m->schema_hash(),
           m->engine_version(),
           m->scene_hash(),
           m->tick_rate_hz(),
           m->slot(),
           m->snapshot_codec(),
           m->body_capacity(),
           m->scene_name() ? m->scene_name()->str() : std::string(),
           static_cast<TokenRole>(m->role()),
           m->scene_bytes_hash(),
           m->scene_bytes(),
           static_cast<SessionMode>(m->mode()),
           m->allow_mirror(),
           m->from_scene()};
    return true;
}

bool MessageReader::read(Bytes message, Refusal& out) {
    const auto* m = verify<wire::Refusal>(message, MessageType::refusal);
    if (!m || m->reason() >= kRefusalReasonCount) return false;
    out = {static_cast<RefusalReason>(m->reason()), m->server_value(), m->client_value()};
    return true;
}

bool MessageReader::read(Bytes message, KeyFrameBegin& out) {
    const auto* m = verify<wire::KeyFrameBegin>(message, MessageType::key_frame_begin);
    if (!m || !tick_in_range(m->tick()) || m->body_count() > kMaxSnapshotBodyIndex) return false;
    if (size_of(m->shapes()) > kMaxShapes) return false;
    out.tick = m->tick();
    out.body_count = m->body_count();
    out.part_count = m->part_count();
    out.shapes.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->shapes()); ++i) {
        const wire::Shape& s = *m->shapes()->Get(i);
        if (s.type() > static_cast<std::uint8_t>(sim::ShapeType::compound)) return false;
        for (const float length :
             {s.radius(), s.half_height(), s.half_extents_x(), s.half_extents_y(), s.half_extents_z()}) {
            if (!length_in_range(length)) return false;
        }
        sim::ShapeDef shape;
        shape.type = static_cast<sim::ShapeType>(s.type());
        shape.radius = s.radius();
        shape.half_height = s.half_height();
        shape.half_extents = {s.half_extents_x(), s.half_extents_y(), s.half_extents_z()};
        out.shapes.push_back(shape);
    }
    return read_vocabulary(*m, out.vocabulary);
}

bool MessageReader::read(Bytes message, KeyFrameBodies& out) {
    const auto* m = verify<wire::KeyFrameBodies>(message, MessageType::key_frame_bodies);
    if (!m || size_of(m->descriptions()) > kMaxBodiesPerKeyFramePart) return false;
    if (size_of(m->names()) > size_of(m->descriptions()) ||
        !read_descriptions(m->descriptions(), m->identities(), out.descriptions))
        return false;
    out.names.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->names()); ++i) {
        const wire::BodyName& n = *m->names()->Get(i);
        if (!n.name() || n.name()->size() > kMaxWireNameBytes) return false;
        out.names.push_back({n.index(), n.name()->str()});
    }
    out.gone.clear();
    if (size_of(m->gone()) > kMaxGonePerKeyFramePart) return false;
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->gone()); ++i) {
        if (i > 0 && m->gone()->Get(i) <= out.gone.back()) return false;
        out.gone.push_back(m->gone()->Get(i));
    }
    read_bytes(m->coded(), out.coded);
    return true;
}

bool MessageReader::read(Bytes message, BodiesChanged& out) {
    const auto* m = verify<wire::BodiesChanged>(message, MessageType::bodies_changed);
    if (!m || !tick_in_range(m->tick())) return false;
    if (size_of(m->added()) > kMaxBodiesPerChange || size_of(m->removed()) > kMaxBodiesPerChange) return false;
    out.tick = m->tick();
    if (!read_descriptions(m->added(), m->identities(), out.added)) return false;
    out.removed.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->removed()); ++i) {
        const wire::BodyReference& r = *m->removed()->Get(i);
        if (r.index() >= kMaxSnapshotBodyIndex) return false;
        out.removed.push_back({r.index(), r.generation()});
    }
    return true;
}

bool MessageReader::read(Bytes message, Slip& out) {
    const auto* m = verify<wire::Slip>(message, MessageType::slip);
    if (!m || !tick_in_range(m->tick())) return false;
    out = {m->tick(), m->late_ns()};
    return true;
}

bool MessageReader::read(Bytes message, Goodbye& out) {
    const auto* m = verify<wire::Goodbye>(message, MessageType::goodbye);
    if (!m || m->reason() >= kGoodbyeReasonCount) return false;
    if (m->text() && m->text()->size() > kMaxGoodbyeTextBytes) return false;
    out = {static_cast<GoodbyeReason>(m->reason()), m->text() ? m->text()->str() : std::string()};
    return true;
}

bool MessageReader::read(Bytes message, Input& out) {
    const auto* m = verify<wire::Input>(message, MessageType::input);
    if (!m || !m->header() || !tick_in_range(m->header()->first_tick())) return false;
    if (!tick_in_range(m->header()->snapshot_newest()) || !tick_in_range(m->header()->mirror_tick())) return false;
    out.first_tick = m->header()->first_tick();
    out.snapshots = {m->header()->snapshot_newest(), m->header()->snapshot_older()};
    out.mirror_tick = m->header()->mirror_tick();
    out.controls.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->controls()); ++i) {
        const wire::ControlRun& run = *m->controls()->Get(i);
        if (run.count() == 0 || run.count() > kMaxControlsPerInput - out.controls.size()) return false;
        WireControl control;
        for (std::uint32_t c = 0; c < sim::kControlChannels; ++c) {
            control[c] = run.channels()->Get(c);
            if (control[c] < -kControlOne) return false;  // the one value outside [-1, 1]
        }
        out.controls.insert(out.controls.end(), run.count(), control);
    }
    return true;
}

bool MessageReader::read(Bytes message, Snapshot& out) {
    const auto* m = verify<wire::Snapshot>(message, MessageType::snapshot);
    if (!m || !m->header() || !m->coded()) return false;
    const wire::SnapshotHeader& h = *m->header();
    if (h.tick() == 0 || !tick_in_range(h.tick()) || !tick_in_range(h.input_tick()) || h.complete() > 1) return false;
    out.tick = h.tick();
    out.ticks_since_last = h.ticks_since_last();
    out.complete = h.complete() == 1;
    out.input_tick = h.input_tick();
    out.input_slack_us = h.input_slack_us();
    out.late_inputs = h.late_inputs();
    out.coded.assign(m->coded()->begin(), m->coded()->end());
    return true;
}

bool MessageReader::read(Bytes message, SceneRequest&) {
    return verify<wire::SceneRequest>(message, MessageType::scene_request) != nullptr;
}

bool MessageReader::read(Bytes message, ScenePart& out) {
    const auto* m = verify<wire::ScenePart>(message, MessageType::scene_part);
    if (!m || size_of(m->bytes()) == 0 || size_of(m->bytes()) > kScenePartBytes) return false;
    if (m->total() > kMaxWireSceneBytes || m->offset() > m->total() || size_of(m->bytes()) > m->total() - m->offset())
        return false;
    out.offset = m->offset();
    out.total = m->total();
    read_bytes(m->bytes(), out.bytes);
    return true;
}

bool MessageReader::read(Bytes message, GameMessage& out) {
    const auto* m = verify<wire::GameMessage>(message, MessageType::game_message);
    if (!m || size_of(m->bytes()) > kMaxGameMessageBytes) return false;
    out.type = m->type();
    read_bytes(m->bytes(), out.bytes);
    return true;
}

bool MessageReader::read(Bytes message, BoardState& out) {
    const auto* m = verify<wire::BoardState>(message, MessageType::board_state);
    if (!m || !tick_in_range(m->tick()) || size_of(m->entries()) > kMaxBoardKeys) return false;
    out.tick = m->tick();
    out.entries.resize(size_of(m->entries()));
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->entries()); ++i) {
        const wire::BoardEntry& entry = *m->entries()->Get(i);
        if (!read_entry(entry.key(), entry.value(), out.entries[i])) return false;
    }
    return true;
}

bool MessageReader::read(Bytes message, BoardChange& out) {
    const auto* m = verify<wire::BoardChange>(message, MessageType::board_change);
    if (!m || !tick_in_range(m->tick()) || !read_entry(m->key(), m->value(), out.entry)) return false;
    out.tick = m->tick();
    out.removed = m->removed();
    return true;
}

bool MessageReader::read(Bytes message, WorldEvents& out) {
    const auto* m = verify<wire::WorldEvents>(message, MessageType::world_events);
    if (!m || !tick_in_range(m->tick()) || size_of(m->events()) > kMaxWorldEvents) return false;
    out.tick = m->tick();
    out.dropped = m->dropped();
    out.events.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->events()); ++i) {
        const wire::WorldEvent& e = *m->events()->Get(i);
        if (e.kind() == 0 || e.kind() > kLastWorldEventKind) return false;
        for (const float number :
             {e.point_x(), e.point_y(), e.point_z(), e.normal_x(), e.normal_y(), e.normal_z(), e.impulse()}) {
            if (!std::isfinite(number)) return false;
        }
        WorldEvent event;
        event.kind = static_cast<WorldEventKind>(e.kind());
        event.a = {e.a_index(), e.a_generation()};
        event.b = {e.b_index(), e.b_generation()};
        event.joint = {e.joint_index(), e.joint_generation()};
        event.point = {e.point_x(), e.point_y(), e.point_z()};
        event.normal = {e.normal_x(), e.normal_y(), e.normal_z()};
        event.impulse = e.impulse();
        if (!body_in_range(event.a) || !body_in_range(event.b)) return false;
        out.events.push_back(event);
    }
    return true;
}

}  // namespace orrery::protocol
