// A saved state comes from a file that anyone may have written: damaged bytes are an error and leave the world as it
// was.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/support/seed.h"
#include "tests/support/seeded_random.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr std::size_t kHeaderBytes = 40, kLengthAt = 24, kChecksumAt = 32;

// Makes length and checksum fit, so that what lies behind them is reached.
void seal(std::vector<std::uint8_t>& bytes) {
    const std::uint64_t length = bytes.size() - kHeaderBytes;
    const std::uint64_t checksum = XXH3_64bits(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes);
    std::memcpy(bytes.data() + kLengthAt, &length, 8);
    std::memcpy(bytes.data() + kChecksumAt, &checksum, 8);
}

struct Saved {
    WorldDef def = varied_world();
    std::unique_ptr<World> world;
    std::vector<std::uint8_t> bytes;

    explicit Saved(int ticks) {
        def.materials[1].rolling_resistance = 0.1f;  // whose impulses are saved too
        world = make_world(def);
        for (int n = 0; n < ticks; ++n) world->step(varied_commands(world->tick()));
        world->save(bytes);
    }
};

}  // namespace

TEST_CASE("saving what was restored gives the same bytes") {
    Saved saved(60);
    auto world = make_world(saved.def);
    REQUIRE(world->restore(saved.bytes).ok());
    CHECK(world->hash() == saved.world->hash());
    std::vector<std::uint8_t> again;
    world->save(again);
    CHECK(again == saved.bytes);
}

TEST_CASE("every truncation and every flipped bit of a saved state is refused") {
    Saved saved(40);
    auto world = make_world(saved.def);
    const HashTree before = world->hash();
    orrery::testing::Random random(7);
    for (int n = 0; n < 500; ++n) {
        const std::size_t size = n < 64 ? static_cast<std::size_t>(n) : random.below(saved.bytes.size());
        CHECK_FALSE(world->restore(std::span(saved.bytes).first(size)).ok());
    }
    std::vector<std::uint8_t> bytes = saved.bytes;
    for (int n = 0; n < 2'000; ++n) {
        const std::size_t at = n < 320 ? static_cast<std::size_t>(n / 8) : random.below(bytes.size());
        const auto bit = static_cast<std::uint8_t>(1u << (n % 8));
        bytes[at] ^= bit;
        CHECK_FALSE(world->restore(bytes).ok());
        bytes[at] ^= bit;
    }
    bytes.push_back(0);
    CHECK_FALSE(world->restore(bytes).ok());
    CHECK(world->hash() == before);
}

TEST_CASE("forged bytes under a true checksum are refused, or are a state that steps") {
    Saved saved(40);
    auto world = make_world(saved.def);
    orrery::testing::Random random(orrery::test::test_seed());
    int refused = 0, taken = 0;
    for (int n = 0; n < sampled(6'000); ++n) {
        std::vector<std::uint8_t> bytes = saved.bytes;
        for (std::size_t edits = 1 + random.below(3); edits > 0; --edits) {
            const std::size_t at = kHeaderBytes + random.below(bytes.size() - kHeaderBytes);
            switch (random.below(4)) {
                case 0:
                    bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
                    break;
                case 1:
                    bytes[at] = static_cast<std::uint8_t>(random.next());
                    break;
                case 2:
                    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                std::min<std::size_t>(4, bytes.size() - at), std::uint8_t{0xff});
                    break;
                default:
                    if (random.below(8) == 0)
                        bytes.resize(std::max(kHeaderBytes, at));
                    else
                        bytes[at] = 0;
            }
            if (bytes.size() == kHeaderBytes) break;
        }
        seal(bytes);
        const HashTree before = world->hash();
        if (!world->restore(bytes).ok()) {
            ++refused;
            CHECK(world->hash() == before);
            continue;
        }
        ++taken;
        std::vector<std::uint8_t> again;
        world->save(again);
        CHECK(again == bytes);
        for (int k = 0; k < 2; ++k) CHECK(world->step(varied_commands(world->tick())) == StepStatus::ok);
        world->save(again);  // what came of it is a valid state, too
        auto next = make_world(saved.def);
        const auto restored = next->restore(again);
        CHECK_MESSAGE(restored.ok(), (restored.ok() ? std::string() : restored.error().to_string()));
    }
    CHECK(refused > sampled(500));
    CHECK(taken > sampled(100));
}

TEST_CASE("a count that the bytes cannot hold is refused before memory is taken for it") {
    Saved saved(3);
    for (std::size_t at = kHeaderBytes + 16; at < kHeaderBytes + 20;
         ++at) {  // the number of bodies follows tick and definition
        std::vector<std::uint8_t> bytes = saved.bytes;
        bytes[at] = 0xff;
        seal(bytes);
        CHECK_FALSE(saved.world->restore(bytes).ok());
    }
}

namespace {

// A prefab of one body without a shape, held to the world by `constraint`.
WorldDef held_body(const Constraint& constraint) {
    WorldDef def;
    PrefabDef prefab;
    BodyDef body;
    body.mass_kg = 1.0f;
    prefab.bodies.push_back(body);
    JointDef joint;
    joint.body_b = 0;
    joint.constraint = constraint;
    prefab.joints.push_back(joint);
    def.prefabs.push_back(prefab);
    return def;
}

EventCause rejection_of(const World& world) {
    for (const Event& event : world.events()) {
        if (event.kind == EventKind::command_rejected) return event.cause;
    }
    return EventCause::none;
}

void check_that_save_restores(const WorldDef& def, const World& world) {
    std::vector<std::uint8_t> bytes, again;
    world.save(bytes);
    auto copy = make_world(def);
    const auto restored = copy->restore(bytes);
    REQUIRE_MESSAGE(restored.ok(), (restored.ok() ? std::string() : restored.error().to_string()));
    copy->save(again);
    CHECK(again == bytes);
}

}  // namespace

TEST_CASE(
    "a spawn whose joints would hold the world too far out is refused, one just inside can be saved and restored") {
    BallSocket ball;
    ball.anchor_a = {0.0f, 20.0f, 0.0f};
    Hinge hinge;
    hinge.anchor_a = {0.0f, 20.0f, 0.0f};
    Weld weld;
    weld.anchor_a = {0.0f, 20.0f, 0.0f};
    DistanceLimit distance;
    distance.anchor_a = {0.0f, 20.0f, 0.0f};
    OneBodyLinearServo servo;
    servo.target = {0.0f, 20.0f, 0.0f};
    for (const Constraint& constraint :
         {Constraint(ball), Constraint(hinge), Constraint(weld), Constraint(distance), Constraint(servo)}) {
        CAPTURE(constraint.index());
        const WorldDef def = held_body(constraint);
        for (const bool far : {false, true}) {
            auto world = make_world(def);
            Command spawn = command(CommandKind::spawn);
            spawn.prefab = 0;
            spawn.pose.position = {0.0f, kMaxCoordinate_m - (far ? 19.0f : 20.0f), 0.0f};
            world->step({&spawn, 1});
            CHECK(rejection_of(*world) == (far ? EventCause::too_far : EventCause::none));
            CHECK(world->stats().bodies == (far ? 0 : 1));
            CHECK(world->stats().joints == (far ? 0 : 1));
            check_that_save_restores(def, *world);
        }
    }
}

TEST_CASE(
    "a slot that puts its prefab or what its joints hold too far out is an error of the definition, by its pose") {
    OneBodyLinearServo servo;
    servo.target = {0.0f, 0.0f, -20.0f};
    for (const bool far : {false, true}) {
        WorldDef def = held_body(servo);
        def.slots.push_back({"edge", 0, {{0.0f, 0.0f, (far ? 19.0f : 20.0f) - kMaxCoordinate_m}, {}}});
        const auto world = World::create(def);
        CHECK(world.ok() != far);
        if (far) {
            CHECK(world.error().place == "slots[0].pose");
            CHECK(world.error().message.find("4096 m") != std::string::npos);
        } else {
            const Command join = command(CommandKind::join, 0);
            (*world)->step({&join, 1});
            CHECK(rejection_of(**world) == EventCause::none);
            CHECK((*world)->slot_taken(0));
            check_that_save_restores(def, **world);
        }
    }
    WorldDef body = held_body(servo);
    body.prefabs[0].joints.clear();
    body.prefabs[0].bodies[0].pose.position = {20.0f, 0.0f, 0.0f};
    body.slots.push_back({"edge", 0, {{kMaxCoordinate_m - 10.0f, 0.0f, 0.0f}, {}}});
    const auto refused = World::create(body);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().place == "slots[0].pose");
}

TEST_CASE("a hinge at the edge of what a definition may be is restored wherever it was spawned") {
    orrery::testing::Random random(11);
    int made = 0;
    for (int n = 0; n < 300; ++n) {
        const float tilt = 0.001f - 1.0e-9f * static_cast<float>(n);
        Hinge hinge;
        hinge.normal_a = {1.0f, tilt, 0.0f};
        hinge.axis_a = hinge.axis_b = {0.0f, 1.0f, 0.0f};
        hinge.normal_b = {1.0f, 0.0f, 0.0f};
        const WorldDef def = held_body(hinge);
        auto world = World::create(def);
        if (!world.ok()) continue;
        ++made;
        Command spawn = command(CommandKind::spawn);
        spawn.prefab = 0;
        const float turn = 0.001f * static_cast<float>(random.below(700));
        spawn.pose.orientation = exact_turn(turn);
        (*world)->step({&spawn, 1});
        CHECK(rejection_of(**world) == EventCause::none);
        check_that_save_restores(def, **world);
    }
    CHECK(made > 100);
}
