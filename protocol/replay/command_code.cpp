#include "protocol/replay/command_code.h"

#include <algorithm>
#include <utility>

#include "sim/constraints/fields.h"

namespace orrery::protocol::replay {

namespace {

using sim::Command;
using sim::CommandKind;

enum Field : std::uint32_t {
    kAtPoint = 1u << 0,
    kSlot = 1u << 1,
    kSequence = 1u << 2,
    kTag = 1u << 3,
    kBody = 1u << 4,
    kJoint = 1u << 5,
    kPrefab = 1u << 6,
    kValue = 1u << 7,
    kPosition = 1u << 8,
    kOrientation = 1u << 9,
    kLinear = 1u << 10,
    kAngular = 1u << 11,
    kChannels = 1u << 12,
    kOrder = 1u << 13,  // of kinds that have one, always
    kType = 1u << 14,
    kCategory = 1u << 15,
    kMask = 1u << 16,
    kMaterial = 1u << 17,
    kLinearDamping = 1u << 18,
    kAngularDamping = 1u << 19,
    kAllFields = (1u << 20) - 1,
};

static_assert(sim::kControlChannels == 8, "the channel mask is one byte");

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
bool same(float a, float b) { return bits(a) == bits(b); }  // -0 is not 0 here, and a NaN equals itself
bool same(const sim::Vec3& a, const sim::Vec3& b) { return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z); }
bool same(const sim::Quat& a, const sim::Quat& b) {
    return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z) && same(a.w, b.w);
}

std::uint32_t channel_mask(const Command& command) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < sim::kControlChannels; ++i)
        if (bits(command.channels[i]) != 0) mask |= 1u << i;
    return mask;
}

std::uint32_t field_mask(const Command& command) {
    const Command defaults;
    std::uint32_t mask = 0;
    const auto mark = [&mask](Field field, bool differs) { mask |= differs ? field : 0u; };
    mark(kAtPoint, command.at_point);
    mark(kSlot, command.slot != defaults.slot);
    mark(kSequence, command.sequence != defaults.sequence);
    mark(kTag, command.tag != defaults.tag);
    mark(kBody, command.body != defaults.body);
    mark(kJoint, command.joint != defaults.joint);
    mark(kPrefab, command.prefab != defaults.prefab);
    mark(kValue, !same(command.value, defaults.value));
    mark(kPosition, !same(command.pose.position, defaults.pose.position));
    mark(kOrientation, !same(command.pose.orientation, defaults.pose.orientation));
    mark(kLinear, !same(command.linear, defaults.linear));
    mark(kAngular, !same(command.angular, defaults.angular));
    mark(kChannels, channel_mask(command) != 0);
    mark(kOrder, command.kind == CommandKind::create_joint || command.kind == CommandKind::set_joint);
    mark(kType, command.type != defaults.type);
    mark(kCategory, command.category != defaults.category);
    mark(kMask, command.mask != defaults.mask);
    mark(kMaterial, command.material != defaults.material);
    mark(kLinearDamping, !same(command.linear_damping, defaults.linear_damping));
    mark(kAngularDamping, !same(command.angular_damping, defaults.angular_damping));
    return mask;
}

void write(ByteWriter& out, const sim::Vec3& v) {
    out.f32(v.x);
    out.f32(v.y);
    out.f32(v.z);
}

template <class Id>
void write_id(ByteWriter& out, const Id& id) {
    out.u32(id.index);
    out.varint(id.generation);
}

sim::Vec3 read_vec3(ByteReader& in) {
    sim::Vec3 v;
    v.x = in.f32();
    v.y = in.f32();
    v.z = in.f32();
    return v;
}

template <class Id>
Id read_id(ByteReader& in) {
    Id id;
    id.index = in.u32();
    id.generation = static_cast<std::uint32_t>(in.varint(0xffff'ffffu));
    return id;
}

// ---- orders: ids, settings and the constraint's fields in their canonical order, every one

struct WriteFields : sim::FieldVisitor<WriteFields> {
    ByteWriter& out;
    explicit WriteFields(ByteWriter& to) : out(to) {}
    void value(const float& x) { out.f32(x); }
    void value(const bool& x) { out.u8(x ? 1 : 0); }
    void value(const sim::Vec3& v) { write(out, v); }
    void value(const sim::Quat& q) {
        for (const float part : {q.x, q.y, q.z, q.w}) out.f32(part);
    }
};
struct ReadFields : sim::FieldVisitor<ReadFields> {
    ByteReader& in;
    explicit ReadFields(ByteReader& from) : in(from) {}
    void value(float& x) { x = in.f32(); }
    void value(bool& x) {
        const std::uint8_t byte = in.u8();
        if (byte > 1) in.fail();
        x = byte == 1;
    }
    void value(sim::Vec3& v) { v = read_vec3(in); }
    void value(sim::Quat& q) { q.x = in.f32(), q.y = in.f32(), q.z = in.f32(), q.w = in.f32(); }
};

constexpr std::uint8_t kCollides = 1, kBreakStays = 2;  // in one byte

void write_order(ByteWriter& out, const sim::JointOrder& order) {
    for (const sim::BodyId& id : {order.a, order.b, order.c, order.d}) write_id(out, id);
    out.u8(
        static_cast<std::uint8_t>((order.collide_connected ? kCollides : 0) | (order.break_removes ? 0 : kBreakStays)));
    out.f32(order.break_force_n);
    out.f32(order.break_torque_nm);
    out.u8(static_cast<std::uint8_t>(order.constraint.index()));
    WriteFields fields(out);
    std::visit([&]<class T>(const T& c) { T::fields(c, fields); }, order.constraint);
}

template <std::size_t I = 0>
void read_constraint(ByteReader& in, std::size_t type, sim::Constraint& constraint) {
    if constexpr (I < sim::kConstraintTypes) {
        if (type != I) return read_constraint<I + 1>(in, type, constraint);
        ReadFields fields(in);
        std::variant_alternative_t<I, sim::Constraint>::fields(constraint.emplace<I>(), fields);
    } else {
        in.fail();
    }
}

void read_order(ByteReader& in, sim::JointOrder& order) {
    for (sim::BodyId* id : {&order.a, &order.b, &order.c, &order.d}) *id = read_id<sim::BodyId>(in);
    const std::uint8_t settings = in.u8();
    if ((settings & ~(kCollides | kBreakStays)) != 0) in.fail();
    order.collide_connected = (settings & kCollides) != 0;
    order.break_removes = (settings & kBreakStays) == 0;
    order.break_force_n = in.f32();
    order.break_torque_nm = in.f32();
    read_constraint(in, in.u8(), order.constraint);
}

void read_fields(ByteReader& in, std::uint32_t mask, Command& out) {
    out.at_point = (mask & kAtPoint) != 0;
    if (mask & kSlot) out.slot = static_cast<std::uint16_t>(in.varint(0xffff));
    if (mask & kSequence) out.sequence = static_cast<std::uint32_t>(in.varint(0xffff'ffffu));
    if (mask & kTag) out.tag = in.varint();
    if (mask & kBody) out.body = read_id<sim::BodyId>(in);
    if (mask & kJoint) out.joint = read_id<sim::JointId>(in);
    if (mask & kPrefab) out.prefab = static_cast<std::uint32_t>(in.varint(0xffff'ffffu));
    if (mask & kValue) out.value = in.f32();
    if (mask & kPosition) out.pose.position = read_vec3(in);
    if (mask & kOrientation) {
        sim::Quat& q = out.pose.orientation;
        q.x = in.f32();
        q.y = in.f32();
        q.z = in.f32();
        q.w = in.f32();
    }
    if (mask & kLinear) out.linear = read_vec3(in);
    if (mask & kAngular) out.angular = read_vec3(in);
    if (mask & kChannels) {
        const std::uint32_t present = in.u8();
        for (std::uint32_t i = 0; i < sim::kControlChannels; ++i) {
            if (!(present & (1u << i))) continue;
            out.channels[i] = in.f32();
            if (bits(out.channels[i]) == 0) in.fail();
        }
    }
    if (mask & kOrder) read_order(in, out.order);
    if (mask & kType) out.type = static_cast<sim::BodyType>(in.u8());
    if (mask & kCategory) out.category = in.u32();
    if (mask & kMask) out.mask = in.u32();
    if (mask & kMaterial) out.material = static_cast<std::uint32_t>(in.varint(0xffff'ffffu));
    if (mask & kLinearDamping) out.linear_damping = in.f32();
    if (mask & kAngularDamping) out.angular_damping = in.f32();
}

// Leaves, joins, director commands, controls.
std::pair<int, std::uint32_t> order_key(const Command& command) {
    switch (command.kind) {
        case CommandKind::leave:
            return {0, command.slot};
        case CommandKind::join:
            return {1, command.slot};
        case CommandKind::control:
            return {3, command.slot};
        default:
            return {2, command.sequence};
    }
}

bool before(const Command& a, const Command& b) { return order_key(a) < order_key(b); }

}  // namespace

void encode_command(const Command& command, ByteWriter& out) {
    const std::uint32_t mask = field_mask(command);
    out.u8(static_cast<std::uint8_t>(command.kind));
    out.varint(mask);
    if (mask & kSlot) out.varint(command.slot);
    if (mask & kSequence) out.varint(command.sequence);
    if (mask & kTag) out.varint(command.tag);
    if (mask & kBody) write_id(out, command.body);
    if (mask & kJoint) write_id(out, command.joint);
    if (mask & kPrefab) out.varint(command.prefab);
    if (mask & kValue) out.f32(command.value);
    if (mask & kPosition) write(out, command.pose.position);
    if (mask & kOrientation) {
        const sim::Quat& q = command.pose.orientation;
        for (const float part : {q.x, q.y, q.z, q.w}) out.f32(part);
    }
    if (mask & kLinear) write(out, command.linear);
    if (mask & kAngular) write(out, command.angular);
    if (mask & kChannels) {
        out.u8(static_cast<std::uint8_t>(channel_mask(command)));
        for (const float channel : command.channels)
            if (bits(channel) != 0) out.f32(channel);
    }
    if (mask & kOrder) write_order(out, command.order);
    if (mask & kType) out.u8(static_cast<std::uint8_t>(command.type));
    if (mask & kCategory) out.u32(command.category);
    if (mask & kMask) out.u32(command.mask);
    if (mask & kMaterial) out.varint(command.material);
    if (mask & kLinearDamping) out.f32(command.linear_damping);
    if (mask & kAngularDamping) out.f32(command.angular_damping);
}

const char* decode_command(ByteReader& in, Command& out) {
    out = Command{};
    const std::uint8_t kind = in.u8();
    const std::uint64_t mask = in.varint(kAllFields);
    if (!in.ok()) return "a command is cut off or has unknown fields";
    if (kind > static_cast<std::uint8_t>(sim::kLastCommandKind)) return "a command is of an unknown kind";
    out.kind = static_cast<CommandKind>(kind);
    read_fields(in, static_cast<std::uint32_t>(mask), out);
    if (!in.ok()) return "a command's fields are cut off or not in their shortest form";
    if (field_mask(out) != mask) return "a command states a field that has its default value";
    return nullptr;
}

void sort_canonically(std::vector<Command>& commands) { std::stable_sort(commands.begin(), commands.end(), before); }

bool is_canonical(std::span<const Command> commands) {
    return std::is_sorted(commands.begin(), commands.end(), before);
}

void encode_commands(std::span<const sim::Command> commands, ByteWriter& out) {
    out.varint(commands.size());
    for (const sim::Command& command : commands) encode_command(command, out);
}

const char* decode_commands(ByteReader& in, std::vector<sim::Command>& out) {
    const std::uint64_t count = in.varint(sim::kMaxCommandsPerTick);
    out.clear();
    if (!in.ok()) return "it is cut off or not in its shortest form";
    if (count > in.remaining() / kMinCommandBytes) return "it announces more commands than it has";
    out.resize(static_cast<std::size_t>(count));
    for (sim::Command& command : out)
        if (const char* wrong = decode_command(in, command)) return wrong;
    return is_canonical(out) ? nullptr : "its commands are not in canonical order";
}

}  // namespace orrery::protocol::replay
