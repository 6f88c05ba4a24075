// Contract: the named fields of a state are the bytes of its save behind the header, in order, each once.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "orrery/state_fields.hpp"
#include "tests/support/varied_world.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr std::size_t kSaveHeaderBytes = 40;

struct Gather final : StateFieldVisitor {
    std::vector<std::uint8_t> bytes;
    std::map<std::string, int> count;  // by "list.name"
    std::set<Subsystem> subsystems;
    void field(const StateField& field) override {
        constexpr std::size_t kSize[] = {1, 2, 4, 8, 4};
        REQUIRE(field.bytes.size() == field.count * kSize[static_cast<std::size_t>(field.type)]);
        bytes.insert(bytes.end(), field.bytes.begin(), field.bytes.end());
        ++count[std::string(field.list) + "." + std::string(field.name)];
        subsystems.insert(field.subsystem);
    }
};

void check_against_save(const World& world, Gather& gathered) {
    std::vector<std::uint8_t> saved;
    world.save(saved);
    world.visit_fields(gathered);
    REQUIRE(saved.size() - kSaveHeaderBytes == gathered.bytes.size());
    CHECK(std::equal(gathered.bytes.begin(), gathered.bytes.end(), saved.begin() + kSaveHeaderBytes));
}

}  // namespace

TEST_CASE("the fields of a state are the bytes of its save, with every list") {
    auto world = make_world(varied_world());
    for (int tick = 1; tick <= 90; ++tick) {
        world->step(varied_commands(static_cast<std::uint64_t>(tick)));
        if (tick % 30 != 0) continue;
        Gather gathered;
        check_against_save(*world, gathered);
        CHECK(gathered.subsystems.size() == kSubsystemCount);
        CHECK(gathered.count["bodies.position"] == gathered.count["bodies.flags"]);
        for (const char* name : {"joints.impulse", "contacts.normal_impulse", "slots.controls", "actuators.body"})
            CHECK_MESSAGE(gathered.count[name] > 0, name);
    }
}

TEST_CASE("a field's numbers are those of the public interface") {
    WorldDef def;
    add_ground(def);
    const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.5f), {1.0f, 2.0f, 3.0f});
    auto world = make_world(def);
    run(*world, 10);
    struct Position final : StateFieldVisitor {
        std::uint32_t body = 0;
        Vec3 position;
        std::uint64_t tick = 0;
        void field(const StateField& field) override {
            if (field.name == "tick") tick = field.integer(0);
            if (field.list == "bodies" && field.index == body && field.name == "position")
                position = {field.number(0), field.number(1), field.number(2)};
        }
    } read;
    read.body = ball + 1;
    world->visit_fields(read);
    CHECK(read.tick == 10);
    CHECK(read.position == state_of(*world, ball).pose.position);
}
