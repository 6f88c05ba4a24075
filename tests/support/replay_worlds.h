// A small world in which every kind of command has an effect, and recordings of it.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/verify.h"
#include "tests/support/replay_files.h"

namespace orrery::test {

// A floor, a pile of boxes and balls, a weight on a hinge with a motor, and two seats that spawn a ball to push.
inline sim::WorldDef small_world() {
    using namespace sim;
    WorldDef def;
    def.name = "small";
    def.seed = 7;
    def.shapes.resize(3);
    def.shapes[0].type = ShapeType::plane;
    def.shapes[1].type = ShapeType::box;
    def.shapes[1].half_extents = {0.4f, 0.3f, 0.5f};
    def.shapes[2].type = ShapeType::sphere;
    def.shapes[2].radius = 0.35f;

    BodyDef floor;
    floor.name = "floor";
    floor.type = BodyType::fixed;
    floor.shape = 0;
    def.bodies.push_back(floor);
    for (int i = 0; i < 8; ++i) {
        BodyDef body;
        body.shape = i % 3 == 2 ? 2u : 1u;
        body.pose.position = {0.13f * static_cast<float>(i % 4), 0.6f + 0.75f * static_cast<float>(i), 0.0f};
        def.bodies.push_back(body);
    }
    BodyDef weight;
    weight.name = "weight";
    weight.shape = 2;
    weight.pose.position = {4.0f, 3.0f, 0.0f};
    def.bodies.push_back(weight);

    JointDef hinge;
    hinge.name = "hinge";
    hinge.body_b = static_cast<std::uint32_t>(def.bodies.size() - 1);
    hinge.constraint = Hinge{};
    Hinge& axle = std::get<Hinge>(hinge.constraint);
    axle.anchor_a = {4.0f, 4.0f, 0.0f};
    axle.anchor_b = {0.0f, 1.0f, 0.0f};
    axle.axis_a = axle.axis_b = {0.0f, 0.0f, 1.0f};
    def.joints.push_back(hinge);
    JointDef motor = hinge;
    motor.name = "motor";
    motor.constraint = AngularAxisMotor{.axis_a = {0.0f, 0.0f, 1.0f}, .target_radps = 2.0f, .motor = {}};
    def.joints.push_back(motor);

    PrefabDef player;
    player.name = "player";
    BodyDef ball;
    ball.shape = 2;
    player.bodies.push_back(ball);
    ActuatorDef push;
    push.kind = ActuatorKind::force;
    push.body = 0;
    push.weights[0] = 200.0f;
    push.direction_local = false;
    player.actuators.push_back(push);
    def.prefabs.push_back(player);
    for (int i = 0; i < 2; ++i) {
        SlotDef slot;
        slot.prefab = 0;
        slot.pose.position = {-3.0f, 1.0f, 2.0f * static_cast<float>(i)};
        def.slots.push_back(slot);
    }
    return def;
}

// What the players and the director do in a tick: a function of the seed and the tick alone.
inline std::vector<sim::Command> small_world_commands(const sim::World& world, std::uint64_t tick, std::uint64_t seed) {
    using namespace sim;
    Random random(seed * 1000 + tick);
    std::vector<Command> commands;
    const auto add = [&](CommandKind kind) -> Command& {
        commands.emplace_back();
        commands.back().kind = kind;
        commands.back().sequence = static_cast<std::uint32_t>(tick);
        return commands.back();
    };
    if (tick == 3 || tick == 40) add(CommandKind::join).slot = tick == 3 ? 0 : 1;
    if (tick == 70) add(CommandKind::leave).slot = 0;
    if (tick % 4 == 0) add(CommandKind::control).channels[0] = static_cast<float>(random.below(201)) / 100.0f - 1.0f;
    if (tick % 25 == 10) {
        Command& spawn = add(CommandKind::spawn);
        spawn.prefab = 0;
        spawn.tag = tick;
        spawn.pose.position = {1.0f, 9.0f, 0.1f * static_cast<float>(random.below(10))};
        spawn.linear = {0.0f, -3.0f, 0.5f};
    }
    if (tick % 17 == 5) {
        Command& impulse = add(CommandKind::impulse);
        impulse.body = world.find_body("weight");
        impulse.linear = {0.0f, 0.0f, static_cast<float>(random.below(900))};
    }
    if (tick == 55) {
        Command& teleport = add(CommandKind::teleport);
        teleport.body = {2, world.body({2, 0}).id.generation};
        teleport.pose.position = {0.0f, 8.0f, 0.0f};
    }
    if (tick == 30) add(CommandKind::despawn).body = {12345, 6};  // a stale id: rejected with an event
    return commands;
}

struct Recording {
    sim::Target target = sim::Target::scalar;
    std::uint64_t ticks = 120;
    std::uint64_t keyframe_every = 50;
    std::uint64_t seed = 1;
    bool closed = true;
    std::uint32_t ticks_per_chunk = 1;
    std::uint64_t cut_before = 0;  // a tick of a keyframe: the recording begins there
};

inline std::vector<std::uint8_t> record_small_world(const Recording& want) {
    using namespace protocol::replay;
    auto made = sim::World::create(small_world(), {.target = want.target});
    if (!made) std::abort();
    sim::World& world = **made;
    std::vector<std::uint8_t> file, state;
    ReplayWriter writer(want.ticks_per_chunk);
    FileHeader header;
    header.scene_name = "small";
    header.first_tick = want.cut_before;
    test::append(file, writer.begin(header));
    for (std::uint64_t tick = 1; tick <= want.ticks; ++tick) {
        const auto commands = small_world_commands(world, tick, want.seed);
        world.step(commands);
        if (tick > want.cut_before) test::append(file, writer.tick(tick, commands, world.hash()));
        if (tick % want.keyframe_every || tick < want.cut_before) continue;
        state.clear();
        world.save(state);
        test::append(file, writer.keyframe(state));
    }
    if (want.closed) test::append(file, writer.end());
    return file;
}

inline protocol::replay::VerifyReport verify_small_world(std::span<const std::uint8_t> file,
                                                         protocol::replay::VerifyOptions options = {}) {
    options.load_scene = [](const protocol::replay::FileHeader&) { return Result<sim::WorldDef>(small_world()); };
    return protocol::replay::verify(protocol::replay::MemorySource(file), options);
}

// Calls tasks from the last to the first: an order that a serial executor never gives.
class BackwardExecutor final : public sim::Executor {
  public:
    explicit BackwardExecutor(std::uint32_t workers) : workers_(workers) {}
    std::uint32_t worker_count() const override { return workers_; }
    void run(std::uint32_t count, Task task, void* context) override {
        while (count > 0) task(context, --count);
    }

  private:
    std::uint32_t workers_;
};

}  // namespace orrery::test
