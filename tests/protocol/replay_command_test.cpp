// Contract: a command survives its coding with every bit, has one coded form, and no other bytes are accepted.
#include <doctest/doctest.h>

#include <algorithm>

#include "protocol/replay/command_code.h"
#include "tests/support/random_constraint.h"
#include "tests/support/replay_files.h"

using namespace orrery;
using namespace orrery::protocol::replay;

namespace {

std::vector<std::uint8_t> encoded(const sim::Command& command) {
    std::vector<std::uint8_t> bytes;
    ByteWriter writer(bytes);
    encode_command(command, writer);
    return bytes;
}

// Null if the bytes are exactly one command.
const char* decoded(std::span<const std::uint8_t> bytes, sim::Command& out) {
    ByteReader reader(bytes);
    if (const char* wrong = decode_command(reader, out)) return wrong;
    return reader.at_end() ? nullptr : "trailing";
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

bool same_bits(const sim::Command& a, const sim::Command& b) {
    const auto floats = [](const sim::Command& c) {
        const auto &p = c.pose.position, &l = c.linear, &w = c.angular;
        const auto& q = c.pose.orientation;
        std::vector<float> all{
            c.value,          p.x, p.y, p.z, q.x, q.y, q.z, q.w, l.x, l.y, l.z, w.x, w.y, w.z, c.linear_damping,
            c.angular_damping};
        all.insert(all.end(), c.channels.begin(), c.channels.end());
        return all;
    };
    const auto fa = floats(a), fb = floats(b);
    return a.kind == b.kind && a.at_point == b.at_point && a.slot == b.slot && a.sequence == b.sequence &&
           a.tag == b.tag && a.body == b.body && a.joint == b.joint && a.prefab == b.prefab && a.type == b.type &&
           a.category == b.category && a.mask == b.mask && a.material == b.material &&
           std::equal(fa.begin(), fa.end(), fb.begin(), [](float x, float y) { return same_bits(x, y); });
}

}  // namespace

TEST_CASE("replay: every field of a command comes back with every bit, NaN payloads and -0 among them") {
    test::Random random(3);
    for (int i = 0; i < 20'000; ++i) {
        const sim::Command command = test::random_command_of_any_kind(random);
        const auto bytes = encoded(command);
        sim::Command back;
        REQUIRE(decoded(bytes, back) == nullptr);
        REQUIRE(same_bits(command, back));
    }
}

TEST_CASE("replay: orders of joints come back with every field, of any constraint, and are no shorter") {
    test::Lcg random(31);
    for (std::size_t type = 0; type < 3 * sim::kConstraintTypes; ++type) {
        CAPTURE(type);
        sim::Command command;
        command.kind = type % 2 == 0 ? sim::CommandKind::create_joint : sim::CommandKind::set_joint;
        command.order.a = {7, 1}, command.order.b = {8, 300}, command.order.c = {9, 0};
        command.order.constraint = test::random_constraint(type % sim::kConstraintTypes, random);
        command.order.break_force_n = 12.5f;
        command.order.collide_connected = true;
        const auto bytes = encoded(command);
        sim::Command back;
        REQUIRE(decoded(bytes, back) == nullptr);
        CHECK(back.order.constraint.index() == type % sim::kConstraintTypes);
        CHECK(back.order.b == command.order.b);
        CHECK(encoded(back) == bytes);
        for (std::size_t size = 0; size < bytes.size(); ++size)
            REQUIRE(decoded(std::span(bytes).first(size), back) != nullptr);
    }
}

TEST_CASE("replay: a control vector costs its kind, mask, slot and the channels that are used") {
    sim::Command command;
    command.slot = 3;
    command.channels[0] = 0.5f;
    command.channels[5] = -1.0f;
    CHECK(encoded(command).size() == 1 + 2 + 1 + 1 + 8);
    CHECK(encoded(sim::Command{}).size() == kMinCommandBytes);
}

TEST_CASE("replay: whatever bytes are accepted as a command, coding it gives those bytes again") {
    test::Random random(4);
    int accepted = 0;
    for (int i = 0; i < 30'000; ++i) {
        auto bytes = encoded(test::random_command_of_any_kind(random));
        const auto at = random.below(bytes.size());
        bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
        sim::Command back;
        if (decoded(bytes, back)) continue;
        ++accepted;
        REQUIRE(encoded(back) == bytes);
    }
    CHECK(accepted > 1000);  // flips inside floats and ids are other commands
}

TEST_CASE("replay: a command cut short at any byte is refused") {
    test::Random random(5);
    for (int i = 0; i < 500; ++i) {
        const auto bytes = encoded(test::random_command_of_any_kind(random));
        sim::Command back;
        for (std::size_t size = 0; size < bytes.size(); ++size)
            REQUIRE(decoded(std::span(bytes).first(size), back) != nullptr);
    }
}

TEST_CASE("replay: unknown kinds, unknown fields, overlong numbers and written-out defaults are refused") {
    sim::Command out;
    const auto refused = [&](std::vector<std::uint8_t> bytes) { return decoded(bytes, out) != nullptr; };
    const auto control = static_cast<std::uint8_t>(sim::CommandKind::control);
    CHECK_FALSE(refused({control, 0}));
    CHECK(refused({static_cast<std::uint8_t>(control + 1), 0}));
    CHECK_FALSE(refused({static_cast<std::uint8_t>(sim::kLastCommandKind), 0}));
    CHECK(refused({static_cast<std::uint8_t>(sim::kLastCommandKind) + 1, 0}));
    CHECK(refused({control, 0x80, 0x80, 0x40}));     // mask bit 20
    CHECK(refused({control, 0x80, 0x80, 0x01}));     // a body type, which is not there
    CHECK(refused({control, 0x80, 0x80, 0x01, 2}));  // or is the default
    CHECK_FALSE(refused({control, 0x80, 0x80, 0x01, 1}));
    CHECK(refused({control, 0x80, 0x40}));  // an order, of a kind that has none
    CHECK(refused({control, 0x80, 0x00}));  // mask 0 in two bytes
    CHECK(refused({control, 2, 0}));        // slot, which is 0
    CHECK_FALSE(refused({control, 2, 1}));
    CHECK(refused({control, 2, 0x81, 0x00}));        // slot 1 in two bytes
    CHECK(refused({control, 2, 0x80, 0x80, 0x04}));  // slot 65536
    CHECK(refused({control, 0x80, 0x20, 0}));        // channels, none of them
    CHECK(refused({control, 0x80, 0x20, 1, 0, 0, 0, 0}));
    CHECK(refused({control, 0, 0}));  // a byte too many
}

TEST_CASE("replay: numbers have one form, up to the largest") {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
        std::vector<std::uint8_t> bytes;
        ByteWriter(bytes).varint(value);
        ByteReader reader(bytes);
        CHECK(reader.varint() == value);
        CHECK(reader.at_end());
    }
    const std::vector<std::uint8_t> too_large(9, std::uint8_t{0xff});
    auto bytes = too_large;
    bytes.push_back(2);
    ByteReader reader(bytes);
    CHECK(reader.varint() == 0);
    CHECK_FALSE(reader.ok());
}

TEST_CASE("replay: commands are recorded leaves first, then joins, director commands by sequence, controls by slot") {
    using K = sim::CommandKind;
    std::vector<sim::Command> commands(7);
    const auto set = [&](std::size_t i, K kind, std::uint16_t slot, std::uint32_t sequence, std::uint64_t tag) {
        commands[i].kind = kind;
        commands[i].slot = slot;
        commands[i].sequence = sequence;
        commands[i].tag = tag;
    };
    set(0, K::control, 2, 0, 6);
    set(1, K::impulse, 0, 9, 4);
    set(2, K::spawn, 0, 8, 2);
    set(3, K::join, 1, 0, 1);
    set(4, K::despawn, 0, 8, 3);
    set(5, K::control, 1, 7, 5);
    set(6, K::leave, 5, 0, 0);
    CHECK_FALSE(is_canonical(commands));
    sort_canonically(commands);
    CHECK(is_canonical(commands));
    for (std::size_t i = 0; i < commands.size(); ++i) CHECK(commands[i].tag == i);
}
