#include "server/net/hand_messages.h"

#include <array>
#include <cmath>

#include "protocol/replay/byte_io.h"

namespace orrery::server {
namespace {

using protocol::replay::ByteReader;
using protocol::replay::ByteWriter;

constexpr std::uint32_t kMagic = 0x444e4148;  // "HAND"

bool finite(const sim::Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

sim::Vec3 read_point(ByteReader& in) {
    sim::Vec3 point;
    point.x = in.f32(), point.y = in.f32(), point.z = in.f32();
    return point;
}

void write_point(ByteWriter& out, const sim::Vec3& point) { out.f32(point.x), out.f32(point.y), out.f32(point.z); }

void write_head(ByteWriter& out, HandKind kind, std::uint8_t hand, HandReason reason) {
    out.u32(kMagic), out.u8(kHandVersion), out.u8(static_cast<std::uint8_t>(kind));
    out.u8(hand), out.u8(static_cast<std::uint8_t>(reason));
}

}  // namespace

std::string_view describe(HandReason reason) {
    constexpr std::array<std::string_view, kHandReasons> kTexts = {
        "it holds a body",
        "the message is not one of hands",
        "only a client with a director's token takes hold of bodies",
        "all hands of this server hold something",
        "there is no such body",
        "the body is not dynamic",
        "another hand holds the body",
        "the point is too far away",
        "nothing was heard of the hand",
        "the body is gone",
    };
    return kTexts[static_cast<std::size_t>(reason)];
}

std::optional<HandOrder> read_hand_order(protocol::Bytes bytes) {
    ByteReader in(bytes);
    const bool mine = in.u32() == kMagic && in.u8() == kHandVersion;
    const std::uint8_t kind = in.u8();
    HandOrder order;
    order.hand = in.u8();
    if (!mine || in.u8() != 0 || order.hand >= kHandsPerClient) return std::nullopt;
    if (kind < static_cast<std::uint8_t>(HandKind::grab) || kind > static_cast<std::uint8_t>(HandKind::release))
        return std::nullopt;
    order.kind = static_cast<HandKind>(kind);
    if (order.kind == HandKind::grab) {
        order.body.index = in.u32(), order.body.generation = in.u32();
        order.point = read_point(in);
    }
    if (order.kind != HandKind::release) order.target = read_point(in);
    if (!in.at_end() || !finite(order.point) || !finite(order.target)) return std::nullopt;
    return order;
}

std::vector<std::uint8_t> write_hand_order(const HandOrder& order) {
    std::vector<std::uint8_t> bytes;
    ByteWriter out(bytes);
    write_head(out, order.kind, order.hand, HandReason::none);
    if (order.kind == HandKind::grab) {
        out.u32(order.body.index), out.u32(order.body.generation);
        write_point(out, order.point);
    }
    if (order.kind != HandKind::release) write_point(out, order.target);
    return bytes;
}

std::vector<std::uint8_t> write_hand_answer(std::uint8_t hand, HandReason reason) {
    std::vector<std::uint8_t> bytes;
    ByteWriter out(bytes);
    write_head(out, reason == HandReason::none ? HandKind::held : HandKind::ended, hand, reason);
    if (reason == HandReason::none) return bytes;
    const std::string_view text = describe(reason);
    out.bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return bytes;
}

}  // namespace orrery::server
