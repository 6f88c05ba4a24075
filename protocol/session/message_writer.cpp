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

namespace {

std::vector<wire::BodyDescription> to_wire(const std::vector<BodyDescription>& descriptions) {
    std::vector<wire::BodyDescription> out;
    out.reserve(descriptions.size());
    for (const BodyDescription& d : descriptions) {
        out.emplace_back(d.id.index, d.id.generation, d.shape, d.slot, static_cast<std::uint8_t>(d.type));
    }
    return out;
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
    return state_->finish(
        MessageType::client_hello,
        wire::CreateClientHello(state_->builder, m.protocol_version, m.schema_hash, m.engine_version, m.scene_hash));
}

Bytes MessageWriter::write(const KeyFrameReady& m) {
    return state_->finish(MessageType::key_frame_ready, wire::CreateKeyFrameReady(state_->builder, m.tick));
}

Bytes MessageWriter::write(const ServerHello& m) {
    const auto name = state_->builder.CreateString(m.scene_name);
    return state_->finish(
        MessageType::server_hello,
        wire::CreateServerHello(state_->builder, m.protocol_version, m.schema_hash, m.engine_version, m.scene_hash,
                                m.tick_rate_hz, m.slot, m.snapshot_codec, m.body_capacity, name));
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
    const auto vector = state_->builder.CreateVectorOfStructs(shapes);
    return state_->finish(MessageType::key_frame_begin,
                          wire::CreateKeyFrameBegin(state_->builder, m.tick, m.body_count, vector));
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
    return state_->finish(MessageType::key_frame_bodies,
                          wire::CreateKeyFrameBodies(builder, descriptions, name_vector, coded));
}

Bytes MessageWriter::write(const BodiesChanged& m) {
    std::vector<wire::BodyReference> removed;
    for (const sim::BodyId& id : m.removed) removed.emplace_back(id.index, id.generation);
    const auto added_vector = state_->builder.CreateVectorOfStructs(to_wire(m.added));
    const auto removed_vector = state_->builder.CreateVectorOfStructs(removed);
    return state_->finish(MessageType::bodies_changed,
                          wire::CreateBodiesChanged(state_->builder, m.tick, added_vector, removed_vector));
}

Bytes MessageWriter::write(const Slip& m) {
    return state_->finish(MessageType::slip, wire::CreateSlip(state_->builder, m.tick, m.late_ns));
}

Bytes MessageWriter::write(const Goodbye& m) {
    return state_->finish(MessageType::goodbye,
                          wire::CreateGoodbye(state_->builder, static_cast<std::uint8_t>(m.reason)));
}

Bytes MessageWriter::write(const Input& m) {
    std::vector<wire::Control> controls;
    for (const WireControl& control : m.controls) {
        controls.emplace_back(flatbuffers::span<const std::int16_t, sim::kControlChannels>(control));
    }
    const wire::InputHeader header(m.first_tick, m.snapshots.older, m.snapshots.newest);
    const auto vector = state_->builder.CreateVectorOfStructs(controls);
    return state_->finish(MessageType::input, wire::CreateInput(state_->builder, &header, vector));
}

Bytes MessageWriter::write(const Snapshot& m) {
    const wire::SnapshotHeader header(m.tick, m.input_tick, m.sequence, m.input_slack_us, m.late_inputs,
                                      m.complete ? 1 : 0);
    const auto coded = state_->builder.CreateVector(m.coded);
    return state_->finish(MessageType::snapshot, wire::CreateSnapshot(state_->builder, &header, coded));
}

}  // namespace orrery::protocol
