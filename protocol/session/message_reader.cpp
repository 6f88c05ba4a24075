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
        case MessageType::key_frame_ready:
        case MessageType::refusal:
        case MessageType::slip:
        case MessageType::goodbye:
            return {128, 1};
        case MessageType::server_hello:
            return {1024, 1};
        case MessageType::key_frame_begin:
            return {64 + kMaxShapes * sizeof(wire::Shape), 1};
        case MessageType::key_frame_bodies:
            return {1024 + kMaxBodiesPerKeyFramePart * (sizeof(wire::BodyDescription) + kMaxWireNameBytes + 96),
                    1 + kMaxBodiesPerKeyFramePart};
        case MessageType::bodies_changed:
            return {256 + kMaxBodiesPerChange * (sizeof(wire::BodyDescription) + sizeof(wire::BodyReference)), 1};
        case MessageType::input:
            return {128 + kMaxControlsPerInput * sizeof(wire::Control), 1};
        case MessageType::snapshot:
            return {1200, 1};
    }
    return {0, 0};
}

template <class Vector>
std::size_t size_of(const Vector* vector) {
    return vector ? vector->size() : 0;
}

bool tick_in_range(std::uint64_t tick) { return tick < kMaxTick; }

bool read_descriptions(const flatbuffers::Vector<const wire::BodyDescription*>* from,
                       std::vector<BodyDescription>& out) {
    out.clear();
    for (std::size_t i = 0; i < size_of(from); ++i) {
        const wire::BodyDescription& d = *from->Get(static_cast<flatbuffers::uoffset_t>(i));
        if (d.index() >= kMaxSnapshotBodyIndex || d.type() > static_cast<std::uint8_t>(sim::BodyType::dynamic))
            return false;
        if (d.shape() >= kMaxShapes && d.shape() != sim::kNone) return false;
        out.push_back({{d.index(), d.generation()}, d.shape(), d.slot(), static_cast<sim::BodyType>(d.type())});
    }
    return true;
}

bool length_in_range(float value) {
    return std::isfinite(value) && value >= 0.0f && value <= 2.0f * sim::kMaxCoordinate_m;
}

}  // namespace

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
    if (!m) return false;
    out = {m->protocol_version(), m->schema_hash(), m->engine_version(), m->scene_hash()};
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
    if ((m->slot() >= sim::kMaxSlots && m->slot() != kNoSlot) || m->body_capacity() > kMaxSnapshotBodyIndex)
        return false;
    if (m->scene_name() && m->scene_name()->size() > kMaxWireNameBytes) return false;
    out = {m->protocol_version(), m->schema_hash(),   m->engine_version(),
           m->scene_hash(),       m->tick_rate_hz(),  m->slot(),
           m->snapshot_codec(),   m->body_capacity(), m->scene_name() ? m->scene_name()->str() : std::string()};
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
    return true;
}

bool MessageReader::read(Bytes message, KeyFrameBodies& out) {
    const auto* m = verify<wire::KeyFrameBodies>(message, MessageType::key_frame_bodies);
    if (!m || size_of(m->descriptions()) > kMaxBodiesPerKeyFramePart) return false;
    if (size_of(m->names()) > size_of(m->descriptions()) || !read_descriptions(m->descriptions(), out.descriptions))
        return false;
    out.names.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->names()); ++i) {
        const wire::BodyName& n = *m->names()->Get(i);
        if (!n.name() || n.name()->size() > kMaxWireNameBytes) return false;
        out.names.push_back({n.index(), n.name()->str()});
    }
    out.coded.clear();
    if (m->coded()) out.coded.assign(m->coded()->begin(), m->coded()->end());
    return true;
}

bool MessageReader::read(Bytes message, BodiesChanged& out) {
    const auto* m = verify<wire::BodiesChanged>(message, MessageType::bodies_changed);
    if (!m || !tick_in_range(m->tick())) return false;
    if (size_of(m->added()) > kMaxBodiesPerChange || size_of(m->removed()) > kMaxBodiesPerChange) return false;
    out.tick = m->tick();
    if (!read_descriptions(m->added(), out.added)) return false;
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
    out = {static_cast<GoodbyeReason>(m->reason())};
    return true;
}

bool MessageReader::read(Bytes message, Input& out) {
    const auto* m = verify<wire::Input>(message, MessageType::input);
    if (!m || !m->header() || !tick_in_range(m->header()->first_tick())) return false;
    if (size_of(m->controls()) > kMaxControlsPerInput) return false;
    out.first_tick = m->header()->first_tick();
    out.snapshots = {m->header()->snapshot_newest(), m->header()->snapshot_older()};
    out.controls.clear();
    for (flatbuffers::uoffset_t i = 0; i < size_of(m->controls()); ++i) {
        WireControl control;
        for (std::uint32_t c = 0; c < sim::kControlChannels; ++c) {
            control[c] = m->controls()->Get(i)->channels()->Get(c);
            if (control[c] < -kControlOne) return false;  // the one value outside [-1, 1]
        }
        out.controls.push_back(control);
    }
    return true;
}

bool MessageReader::read(Bytes message, Snapshot& out) {
    const auto* m = verify<wire::Snapshot>(message, MessageType::snapshot);
    if (!m || !m->header() || !m->coded()) return false;
    const wire::SnapshotHeader& h = *m->header();
    if (!tick_in_range(h.tick()) || !tick_in_range(h.input_tick()) || h.complete() > 1 || h.sequence() == 0)
        return false;
    out.tick = h.tick();
    out.sequence = h.sequence();
    out.complete = h.complete() == 1;
    out.input_tick = h.input_tick();
    out.input_slack_us = h.input_slack_us();
    out.late_inputs = h.late_inputs();
    out.coded.assign(m->coded()->begin(), m->coded()->end());
    return true;
}

}  // namespace orrery::protocol
