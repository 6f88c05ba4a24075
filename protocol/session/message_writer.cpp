#include <cmath>

#include "protocol/session/messages.h"
#include "protocol/session/messages_generated.h"

namespace orrery::protocol {

struct MessageWriter::State {
    flatbuffers::FlatBufferBuilder builder{4096};
    std::vector<std::uint8_t> bytes;

    // The type byte, then the buffer with its size in front.
    template <class Table>
    Bytes finish(MessageType type, flatbuffers::Offset<Table> root) {
        builder.FinishSizePrefixed(root);
        bytes.assign(1, static_cast<std::uint8_t>(type));
        bytes.insert(bytes.end(), builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
        builder.Clear();
        return bytes;
    }
};

MessageWriter::MessageWriter() : state_(std::make_unique<State>()) {}
MessageWriter::~MessageWriter() = default;
MessageWriter::MessageWriter(MessageWriter&&) noexcept = default;
MessageWriter& MessageWriter::operator=(MessageWriter&&) noexcept = default;

namespace {

std::vector<wire::BodyDescription> to_wire(const std::vector<BodyDescription>& descriptions) {
    std::vector<wire::BodyDescription> out;
    out.reserve(descriptions.size());
    for (const BodyDescription& d : descriptions) {
        out.emplace_back(d.id.index, d.id.generation, d.shape, d.material, d.slot, static_cast<std::uint8_t>(d.type));
    }
    return out;
}

std::vector<wire::BodyIdentity> identities_of(const std::vector<BodyDescription>& descriptions) {
    std::vector<wire::BodyIdentity> out;
    for (std::size_t i = 0; i < descriptions.size(); ++i) {
        const BodyDescription& d = descriptions[i];
        if (d.prefab == sim::kNone && d.member == sim::kNone && d.user_data == 0) continue;
        out.emplace_back(d.user_data, static_cast<std::uint32_t>(i), d.prefab, d.member);
    }
    return out;
}

// The beginning of `text` up to `most` bytes, without a part of a character at its end.
std::string_view cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<std::uint8_t>(text[most]) & 0xc0u) == 0x80u) --most;
    return text.substr(0, most);
}

}  // namespace

WireControl to_wire(const std::array<float, sim::kControlChannels>& channels) {
    WireControl out{};
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const float value = channels[i];
        if (!(value == value)) continue;
        const float clamped = value > 1.0f ? 1.0f : (value < -1.0f ? -1.0f : value);
        out[i] = static_cast<std::int16_t>(std::lround(clamped * static_cast<float>(kControlOne)));
    }
    return out;
}

std::array<float, sim::kControlChannels> from_wire(const WireControl& control) {
    std::array<float, sim::kControlChannels> out{};
    for (std::size_t i = 0; i < control.size(); ++i) {
        out[i] = static_cast<float>(control[i]) / static_cast<float>(kControlOne);
    }
    return out;
}

Bytes MessageWriter::write(const ClientHello& m) {
    const auto codecs = state_->builder.CreateVector(m.codecs);
    return state_->finish(
        MessageType::client_hello,
        wire::CreateClientHello(state_->builder, m.protocol_version, m.schema_hash, m.engine_version, m.scene_hash,
                                codecs, static_cast<std::uint8_t>(m.mode), m.scene_bytes_hash, m.baseline_hash));
}

Bytes MessageWriter::write(const KeyFrameReady& m) {
    return state_->finish(MessageType::key_frame_ready, wire::CreateKeyFrameReady(state_->builder, m.tick));
}

Bytes MessageWriter::write(const ServerHello& m) {
    const auto name = state_->builder.CreateString(m.scene_name);
    return state_->finish(
        MessageType::server_hello,
        wire::CreateServerHello(state_->builder, m.protocol_version, m.schema_hash, m.engine_version, m.scene_hash,
                                m.tick_rate_hz, m.slot, m.snapshot_codec, m.body_capacity, name,
                                static_cast<std::uint8_t>(m.role), m.scene_bytes_hash, m.scene_bytes,
                                static_cast<std::uint8_t>(m.mode), m.allow_mirror, m.from_scene));
}

Bytes MessageWriter::write(const Refusal& m) {
    return state_->finish(
        MessageType::refusal,
        wire::CreateRefusal(state_->builder, static_cast<std::uint8_t>(m.reason), m.server_value, m.client_value));
}

Bytes MessageWriter::write(const KeyFrameBegin& m) {
    std::vector<wire::Shape> shapes;
    shapes.reserve(m.shapes.size());
    for (const sim::ShapeDef& s : m.shapes) {
        shapes.emplace_back(s.half_extents.x, s.half_extents.y, s.half_extents.z, s.radius, s.half_height,
                            static_cast<std::uint8_t>(s.type));
    }
    flatbuffers::FlatBufferBuilder& builder = state_->builder;
    std::vector<flatbuffers::Offset<wire::TemplateNames>> templates;
    for (const TemplateNames& t : m.vocabulary.templates) {
        const auto name = builder.CreateString(t.name);
        templates.push_back(wire::CreateTemplateNames(builder, name, builder.CreateVectorOfStrings(t.members)));
    }
    const auto template_vector = builder.CreateVector(templates);
    const auto materials = builder.CreateVectorOfStrings(m.vocabulary.materials);
    const auto vector = builder.CreateVectorOfStructs(shapes);
    return state_->finish(
        MessageType::key_frame_begin,
        wire::CreateKeyFrameBegin(builder, m.tick, m.body_count, vector, template_vector, materials, m.part_count));
}

Bytes MessageWriter::write(const KeyFrameBodies& m) {
    flatbuffers::FlatBufferBuilder& builder = state_->builder;
    std::vector<flatbuffers::Offset<wire::BodyName>> names;
    for (const BodyName& n : m.names) {
        names.push_back(wire::CreateBodyName(builder, n.index, builder.CreateString(n.name)));
    }
    const auto descriptions = builder.CreateVectorOfStructs(to_wire(m.descriptions));
    const auto name_vector = builder.CreateVector(names);
    const auto coded = builder.CreateVector(m.coded);
    const auto gone = m.gone.empty() ? 0 : builder.CreateVector(m.gone);
    const auto identities = builder.CreateVectorOfStructs(identities_of(m.descriptions));
    return state_->finish(MessageType::key_frame_bodies,
                          wire::CreateKeyFrameBodies(builder, descriptions, name_vector, coded, identities, gone));
}

Bytes MessageWriter::write(const BodiesChanged& m) {
    std::vector<wire::BodyReference> removed;
    for (const sim::BodyId& id : m.removed) removed.emplace_back(id.index, id.generation);
    const auto added_vector = state_->builder.CreateVectorOfStructs(to_wire(m.added));
    const auto removed_vector = state_->builder.CreateVectorOfStructs(removed);
    return state_->finish(MessageType::bodies_changed,
                          wire::CreateBodiesChanged(state_->builder, m.tick, added_vector, removed_vector,
                                                    state_->builder.CreateVectorOfStructs(identities_of(m.added))));
}

Bytes MessageWriter::write(const Slip& m) {
    return state_->finish(MessageType::slip, wire::CreateSlip(state_->builder, m.tick, m.late_ns));
}

Bytes MessageWriter::write(const Goodbye& m) {
    const std::string_view text = cut(m.text, kMaxGoodbyeTextBytes);
    const auto string = state_->builder.CreateString(text.data(), text.size());
    return state_->finish(MessageType::goodbye,
                          wire::CreateGoodbye(state_->builder, static_cast<std::uint8_t>(m.reason), string));
}

Bytes MessageWriter::write(const Input& m) {
    std::vector<wire::ControlRun> runs;
    for (std::size_t i = 0; i < m.controls.size();) {
        std::size_t end = i + 1;
        while (end < m.controls.size() && m.controls[end] == m.controls[i] && end - i < kMaxControlsPerInput) ++end;
        runs.emplace_back(flatbuffers::span<const std::int16_t, sim::kControlChannels>(m.controls[i]),
                          static_cast<std::uint8_t>(end - i));
        i = end;
    }
    const wire::InputHeader header(m.first_tick, m.snapshots.newest, m.snapshots.older, m.mirror_tick);
    const auto vector = state_->builder.CreateVectorOfStructs(runs);
    return state_->finish(MessageType::input, wire::CreateInput(state_->builder, &header, vector));
}

Bytes MessageWriter::write(const Snapshot& m) {
    const wire::SnapshotHeader header(m.tick, m.input_tick, m.input_slack_us, m.late_inputs, m.ticks_since_last,
                                      m.complete ? 1 : 0);
    const auto coded = state_->builder.CreateVector(m.coded);
    return state_->finish(MessageType::snapshot, wire::CreateSnapshot(state_->builder, &header, coded));
}

Bytes MessageWriter::write(const SceneRequest&) {
    return state_->finish(MessageType::scene_request, wire::CreateSceneRequest(state_->builder));
}

Bytes MessageWriter::write(const ScenePart& m) {
    const auto bytes = state_->builder.CreateVector(m.bytes);
    return state_->finish(MessageType::scene_part, wire::CreateScenePart(state_->builder, m.offset, m.total, bytes));
}

Bytes MessageWriter::write(const GameMessage& m) {
    const auto bytes = state_->builder.CreateVector(m.bytes);
    return state_->finish(MessageType::game_message, wire::CreateGameMessage(state_->builder, m.type, bytes));
}

Bytes MessageWriter::write(const BoardState& m) {
    flatbuffers::FlatBufferBuilder& builder = state_->builder;
    std::vector<flatbuffers::Offset<wire::BoardEntry>> entries;
    for (const BoardEntry& e : m.entries) {
        const auto key = builder.CreateString(e.key);
        entries.push_back(wire::CreateBoardEntry(builder, key, builder.CreateVector(e.value)));
    }
    const auto vector = builder.CreateVector(entries);
    return state_->finish(MessageType::board_state, wire::CreateBoardState(builder, m.tick, vector));
}

Bytes MessageWriter::write(const BoardChange& m) {
    const auto key = state_->builder.CreateString(m.entry.key);
    const auto value = state_->builder.CreateVector(m.entry.value);
    return state_->finish(MessageType::board_change,
                          wire::CreateBoardChange(state_->builder, m.tick, key, value, m.removed));
}

Bytes MessageWriter::write(const WorldEvents& m) {
    std::vector<wire::WorldEvent> events;
    for (const WorldEvent& e : m.events) {
        events.emplace_back(e.a.index, e.a.generation, e.b.index, e.b.generation, e.joint.index, e.joint.generation,
                            e.point.x, e.point.y, e.point.z, e.normal.x, e.normal.y, e.normal.z, e.impulse,
                            static_cast<std::uint8_t>(e.kind));
    }
    const auto vector = state_->builder.CreateVectorOfStructs(events);
    return state_->finish(MessageType::world_events,
                          wire::CreateWorldEvents(state_->builder, m.tick, vector, m.dropped));
}

}  // namespace orrery::protocol
