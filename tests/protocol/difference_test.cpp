// Contract: the first difference of two states is named by the field in whose bytes it is, with both numbers' bits.
#include "protocol/replay/difference.h"

#include <doctest/doctest.h>

#include "tests/support/bodies.h"
#include "tests/support/seeded_random.h"
#include "tests/support/varied_world.h"
#include "tests/support/worlds.h"

using namespace orrery;
using orrery::testing::Random;
using protocol::replay::first_difference;
using protocol::replay::StateDifference;

namespace {

// The field that has a byte of the fields.
struct Owner final : sim::StateFieldVisitor {
    std::size_t wanted = 0, place = 0;
    std::string list, name;
    std::uint32_t index = 0, number = 0;
    std::uint64_t bits = 0;
    void field(const sim::StateField& field) override {
        if (wanted >= place && wanted < place + field.bytes.size()) {
            list = field.list, name = field.name, index = field.index;
            number = static_cast<std::uint32_t>((wanted - place) / (field.bytes.size() / field.count));
            bits = field.integer(number);
        }
        place += field.bytes.size();
    }
};

StateDifference of_floats(float here, float there) {
    StateDifference d;
    d.type = sim::FieldType::f32;
    d.here = std::bit_cast<std::uint32_t>(here);
    d.there = std::bit_cast<std::uint32_t>(there);
    return d;
}

}  // namespace

TEST_CASE("a difference is named by the field that has the byte, wherever it is") {
    auto world = test::make_world(test::varied_world());
    for (std::uint64_t tick = 1; tick <= 60; ++tick) world->step(test::varied_commands(tick));
    std::vector<std::uint8_t> save;
    world->save(save);
    CHECK_FALSE(first_difference(*world, save));
    Owner all;
    world->visit_fields(all);
    const std::size_t header = save.size() - all.place;
    Random random(50);
    for (int i = 0; i < 200; ++i) {
        const std::size_t at = random.below(save.size());
        const auto bit = static_cast<std::uint8_t>(1u << random.below(8));
        save[at] ^= bit;
        const auto found = first_difference(*world, save);
        save[at] ^= bit;
        REQUIRE(found);
        if (at < header) {
            CHECK(found->list == "header");
            CHECK(found->index == at);
            continue;
        }
        Owner owner;
        owner.wanted = at - header;
        world->visit_fields(owner);
        CHECK(found->list == owner.list);
        CHECK(found->field == owner.name);
        CHECK(found->index == owner.index);
        CHECK(found->number == owner.number);
        CHECK(found->here == owner.bits);
        REQUIRE(found->there);
        CHECK(std::popcount(found->here ^ *found->there) == 1);
        if (found->list == "bodies") CHECK(found->bodies == std::vector{found->index});
    }
}

TEST_CASE("of several differences the first is named; bytes that end early or late are a difference") {
    auto world = test::make_world(test::varied_world());
    test::run(*world, 5);
    std::vector<std::uint8_t> save;
    world->save(save);
    auto other = save;
    other[other.size() - 1] ^= 1;
    const auto last = first_difference(*world, other);
    other[save.size() / 2] ^= 1;
    const auto first = first_difference(*world, other);
    REQUIRE(first);
    REQUIRE(last);
    CHECK(first->name() + std::to_string(first->index) != last->name() + std::to_string(last->index));
    other = save;
    other.resize(save.size() / 2);
    const auto ended = first_difference(*world, other);
    REQUIRE(ended);
    CHECK_FALSE(ended->there);
    CHECK_FALSE(ended->ulps());
    other = save;
    other.push_back(7);
    const auto longer = first_difference(*world, other);
    REQUIRE(longer);
    CHECK(longer->list == "end");
    CHECK(first_difference(*world, {}));
}

TEST_CASE("a contact's difference names its bodies") {
    sim::WorldDef def;
    test::add_ground(def);
    const std::uint32_t ball = test::add_body(def, test::add_sphere_shape(def, 0.5f), {0.0f, 0.49f, 0.0f});
    auto world = test::make_world(def);
    test::run(*world, 5);
    std::vector<std::uint8_t> save;
    world->save(save);
    struct Place final : sim::StateFieldVisitor {
        std::size_t place = 0, found = 0;
        void field(const sim::StateField& field) override {
            if (field.list == "contacts" && field.name == "normal_impulse") found = place;
            place += field.bytes.size();
        }
    } impulse;
    world->visit_fields(impulse);
    REQUIRE(impulse.found > 0);
    save[save.size() - impulse.place + impulse.found] ^= 1;
    const auto found = first_difference(*world, save);
    REQUIRE(found);
    CHECK(found->list == "contacts");
    CHECK(found->subsystem == sim::Subsystem::contacts);
    CHECK(found->ulps() == 1u);
    CHECK(std::count(found->bodies.begin(), found->bodies.end(), ball + 1) == 1);
}

TEST_CASE("the distance of floats is counted in floats, across zero too") {
    CHECK(of_floats(1.0f, 1.0f).ulps() == 0u);
    CHECK(of_floats(1.0f, std::nextafterf(1.0f, 2.0f)).ulps() == 1u);
    CHECK(of_floats(std::nextafterf(2.0f, 0.0f), 2.0f).ulps() == 1u);
    CHECK(of_floats(1.0f, 2.0f).ulps() == 1u << 23);
    CHECK(of_floats(0.0f, -0.0f).ulps() == 0u);
    CHECK(of_floats(-1e-45f, 1e-45f).ulps() == 2u);
    CHECK_FALSE(of_floats(std::nanf(""), 1.0f).ulps());
}

TEST_CASE("numbers of a field have names") {
    StateDifference d = of_floats(1.0f, 2.0f);
    d.field = "position", d.count = 3, d.number = 1;
    CHECK(d.name() == "position.y");
    d.field = "orientation", d.count = 4, d.number = 3;
    CHECK(d.name() == "orientation.w");
    d.field = "controls", d.count = 8, d.number = 2;
    CHECK(d.name() == "controls[2]");
    d.field = "slow_ticks", d.count = 1, d.number = 0;
    CHECK(d.name() == "slow_ticks");
}
