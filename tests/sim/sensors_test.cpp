// The contract of sensors: they touch nothing, and tell of every dynamic and kinematic body once when it enters and
// once when it leaves, in canonical order, whatever the target and the threads are and however often the world is saved
// and restored.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "server/room/thread_pool.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

std::uint32_t add_sensor(WorldDef& def, std::uint32_t shape, Vec3 position, BodyType type = BodyType::fixed) {
    const std::uint32_t body = add_body(def, shape, position);
    def.bodies[body].type = type;
    def.bodies[body].sensor = true;
    return body;
}

// Of a body of the definition, by its index there.
BodyId id_of(std::uint32_t body) { return {body + 1, 0}; }

// "+a:b" and "-a:b" of a tick's sensor events, by indices in the definition.
std::string news(const World& world) {
    std::string text;
    for (const Event& e : world.events()) {
        if (e.kind != EventKind::sensor_begin && e.kind != EventKind::sensor_end) continue;
        text += (e.kind == EventKind::sensor_begin ? "+" : "-") + std::to_string(e.a.index - 1) + ":" +
                std::to_string(e.b.index - 1) + " ";
    }
    return text;
}

// Sensors of every shape and type in the way of everything, some of them players'.
WorldDef sensing_world() {
    WorldDef def = varied_world();
    const std::uint32_t box = add_box_shape(def, {3.0f, 1.0f, 3.0f}), ball = add_sphere_shape(def, 2.0f),
                        capsule = add_capsule_shape(def, 0.5f, 2.0f),
                        plane = add_shape(def, {"", ShapeType::plane, 0.0f, 0.0f, {}});
    add_sensor(def, box, {0.0f, 2.0f, 0.0f});
    add_sensor(def, ball, {-3.0f, 1.0f, 5.0f});
    add_sensor(def, capsule, {0.0f, 6.0f, 0.0f}, BodyType::dynamic);
    add_sensor(def, plane, {0.0f, 0.3f, 0.0f});
    const std::uint32_t sweeping = add_sensor(def, ball, {-6.0f, 1.0f, 0.0f}, BodyType::kinematic);
    def.bodies[sweeping].linear_velocity = {3.0f, 0.0f, 0.0f};
    BodyDef aura;
    aura.shape = ball;
    aura.sensor = true;
    def.prefabs[0].bodies.push_back(aura);
    JointDef held;
    held.body_a = 0;
    held.body_b = static_cast<std::uint32_t>(def.prefabs[0].bodies.size() - 1);
    held.constraint = Weld{};
    def.prefabs[0].joints.push_back(held);
    return def;
}

struct Course {
    std::vector<HashTree> hashes;
    std::vector<std::string> events;
    int begun = 0, ended = 0;
};

Course run_course(const WorldDef& def, Target target, std::uint32_t threads, bool fresh_every_tick) {
    orrery::server::ThreadPool pool(threads);
    auto world = make_world(def, target);
    std::vector<std::uint8_t> saved;
    Course course;
    for (int n = 0; n < 120; ++n) {
        if (fresh_every_tick) {
            world->save(saved);
            world = make_world(def, available_targets()[static_cast<std::size_t>(n) % available_targets().size()]);
            REQUIRE(world->restore(saved).ok());
        }
        world->step(varied_commands(world->tick()), threads == 1 ? nullptr : &pool);
        course.hashes.push_back(world->hash());
        std::string text;
        for (const Event& e : world->events()) {
            text += std::to_string(static_cast<int>(e.kind)) + "/" + std::to_string(e.a.index) + "." +
                    std::to_string(e.a.generation) + "/" + std::to_string(e.b.index) + "." +
                    std::to_string(e.b.generation) + " ";
        }
        course.events.push_back(text);
        course.begun += count_events(*world, EventKind::sensor_begin);
        course.ended += count_events(*world, EventKind::sensor_end);
    }
    return course;
}

}  // namespace

TEST_CASE("a body that passes a sensor is told of once when it enters and once when it leaves, and is not touched") {
    WorldDef def;
    const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 10.0f, 0.0f});
    auto alone = make_world(def);
    const std::uint32_t gate = add_sensor(def, add_box_shape(def, {1.0f, 1.0f, 1.0f}), {0.0f, 5.0f, 0.0f});
    auto world = make_world(def);
    int entered = 0, left = 0;
    for (int n = 1; n <= 120; ++n) {
        alone->step(), world->step();
        CHECK(state_of(*world, ball).pose == state_of(*alone, ball).pose);
        for (const Event& event : world->events()) {
            CHECK(event.a == id_of(gate));
            CHECK(event.b == id_of(ball));
            (event.kind == EventKind::sensor_begin ? entered : left) = n;
        }
        const float y = state_of(*world, ball).pose.position.y;
        CHECK((entered != 0 && left == 0) == (y <= 6.5f && y >= 3.5f));
        CHECK(world->events().size() <= 1);
    }
    CHECK(0 < entered);
    CHECK(entered < left);
    CHECK(world->stats().candidate_pairs == 0);
}

TEST_CASE(
    "sensors see dynamic and kinematic bodies, but neither fixed ones nor sensors, nor what filters and joints keep "
    "apart") {
    WorldDef def;
    def.gravity = {};
    const std::uint32_t big = add_sphere_shape(def, 2.0f), small = add_sphere_shape(def, 0.2f);
    const std::uint32_t sensor = add_sensor(def, big, {}, BodyType::dynamic);
    def.bodies[sensor].category = 2;
    def.bodies[sensor].mask = 1;
    std::vector<std::uint32_t> bodies;
    for (int i = 0; i < 7; ++i)
        bodies.push_back(add_body(def, small, {0.5f * static_cast<float>(i) - 1.5f, 0.0f, 0.0f}));
    def.bodies[bodies[0]].type = BodyType::fixed;
    def.bodies[bodies[1]].type = BodyType::kinematic;
    def.bodies[bodies[2]].sensor = true;  // another sensor, and sees nobody who would see it
    def.bodies[bodies[2]].mask = 0;
    def.bodies[bodies[3]].category = 4;  // not in the sensor's mask
    def.bodies[bodies[4]].mask = ~2u;    // the sensor is not in its mask
    add_joint(def, sensor, bodies[5], BallSocket{{1.0f, 0.0f, 0.0f}, {}, {}});
    auto world = make_world(def);
    world->step();
    CHECK(news(*world) == "+0:2 +0:7 ");
    world->step();
    CHECK(news(*world) == "");
    Command remove = command(CommandKind::remove_joint);
    remove.joint = {0, 0};
    world->step(std::array{remove});
    CHECK(news(*world) == "+0:6 ");
}

// One of every shape that a body may have, and how far it reaches down and up, m.
struct Reaching {
    std::uint32_t shape;
    float below, above;
    bool moves;  // some body that moves may have it
};
std::vector<Reaching> every_shape(WorldDef& def) {
    std::vector<Reaching> out;
    const std::uint32_t ball = add_sphere_shape(def, 0.51f), box = add_box_shape(def, {0.6f, 0.22f, 0.7f}),
                        bar = add_box_shape(def, {0.1f, 0.53f, 0.1f});
    out.push_back({ball, 0.51f, 0.51f, true});
    out.push_back({box, 0.22f, 0.22f, true});
    out.push_back({add_capsule_shape(def, 0.21f, 0.42f), 0.63f, 0.63f, true});
    out.push_back({add_shape(def, {"", ShapeType::cylinder, 0.4f, 0.37f, {}}), 0.37f, 0.37f, true});
    ShapeDef hull;
    hull.type = ShapeType::hull;
    for (const float y : {-0.43f, 0.43f}) {
        for (const float x : {-0.6f, 0.6f}) hull.points.insert(hull.points.end(), {{x, y, -0.5f}, {x, y, 0.5f}});
    }
    out.push_back({add_shape(def, hull), 0.43f, 0.43f, true});
    ShapeDef compound;
    compound.type = ShapeType::compound;
    for (const float x : {-0.8f, 0.0f, 0.8f})
        compound.children.push_back({x == 0.0f ? box : bar, {{x, 0.0f, 0.0f}, {}}});
    out.push_back({add_shape(def, compound), 0.53f, 0.53f, true});
    ShapeDef mesh;
    mesh.type = ShapeType::mesh;
    mesh.points = {
        {-2.0f, 0.31f, -2.0f}, {2.0f, -0.33f, -2.0f}, {2.0f, -0.33f, 2.0f}, {-2.0f, 0.31f, 2.0f}};  // a slope
    mesh.indices = {0, 2, 1, 0, 3, 2};
    out.push_back({add_shape(def, mesh), 0.33f, 0.31f, true});
    ShapeDef field;
    field.type = ShapeType::height_field;
    field.columns = 3;
    for (int k = 0; k < 3; ++k) field.heights.insert(field.heights.end(), {-0.02f, 0.15f, -0.02f});  // a ridge
    field.spacing = {2.0f, 1.0f, 2.0f};
    out.push_back({add_shape(def, field), 0.02f, 0.15f, true});
    out.push_back({add_shape(def, {"", ShapeType::plane, 0.0f, 0.0f, {}}), 100.0f, 0.0f, false});
    return out;
}

TEST_CASE("a sensor of any shape tells of a body of any other when it enters and when it leaves") {
    WorldDef shapes;
    const std::vector<Reaching> every = every_shape(shapes);
    constexpr float kFrom_m = 3.01f, kStep_m = 0.05f;
    std::uint32_t tried = 0;
    for (const Reaching& still : every) {
        for (const Reaching& falling : every) {
            if (!falling.moves) continue;
            WorldDef def = shapes;
            def.gravity = {};
            add_sensor(def, still.shape, {});
            const std::uint32_t visitor =
                add_body(def, falling.shape, {0.0f, kFrom_m, 0.0f}, {0.0f, 0.70710678f, 0.0f, 0.70710678f});
            def.bodies[visitor].type = BodyType::kinematic;
            def.bodies[visitor].linear_velocity = {0.0f, -kStep_m * 60.0f, 0.0f};
            auto world = make_world(def);
            CAPTURE(still.shape);
            CAPTURE(falling.shape);
            int entered = 0, left = 0;
            bool inside = false;
            for (int n = 1; n <= 120; ++n) {
                world->step();
                for (const Event& e : world->events()) {
                    entered += e.kind == EventKind::sensor_begin ? 1 : 0;
                    left += e.kind == EventKind::sensor_end ? 1 : 0;
                    if (e.kind == EventKind::sensor_begin || e.kind == EventKind::sensor_end) inside = !inside;
                }
                const float at = world->body({visitor + 1, 0}).pose.position.y;
                if (at - falling.below > still.above + 1e-4f || at + falling.above < -still.below - 1e-4f)
                    CHECK_FALSE(inside);
                if (at > -0.03f && at < 0.03f) CHECK(inside);
            }
            CHECK(entered == 1);
            CHECK(left == (def.shapes[still.shape].type == ShapeType::plane ? 0 : 1));
            ++tried;
        }
    }
    CHECK(tried == 72);
}

TEST_CASE("what is despawned has left, and a sensor that goes has nobody in it") {
    WorldDef def;
    def.gravity = {};
    const std::uint32_t big = add_sphere_shape(def, 2.0f), small = add_sphere_shape(def, 0.2f);
    add_sensor(def, big, {}), add_sensor(def, big, {0.5f, 0.0f, 0.0f});
    add_body(def, small, {0.0f, 0.0f, 0.0f}), add_body(def, small, {0.6f, 0.0f, 0.0f});
    auto world = make_world(def);
    world->step();
    CHECK(news(*world) == "+0:2 +0:3 +1:2 +1:3 ");
    Command despawn = command(CommandKind::despawn);
    despawn.body = id_of(2);
    world->step(std::array{despawn});
    CHECK(news(*world) == "-0:2 -1:2 ");
    CHECK(world->events().back().b == id_of(2));  // the generation that it had
    despawn.body = id_of(1);
    world->step(std::array{despawn});
    CHECK(news(*world) == "-1:3 ");
    Command teleport = command(CommandKind::teleport);
    teleport.body = id_of(3);
    teleport.pose.position = {9.0f, 0.0f, 0.0f};
    world->step(std::array{teleport});
    CHECK(news(*world) == "-0:3 ");
}

TEST_CASE("sensor events and hashes are the same for every target, thread count and way through save and restore") {
    const WorldDef def = sensing_world();
    const Course reference = run_course(def, Target::scalar, 1, false);
    CHECK(reference.begun > 40);
    CHECK(reference.ended > 20);
    for (const Target target : available_targets()) {
        for (const std::uint32_t threads : {1u, 3u}) {
            for (const bool fresh : {false, true}) {
                if (few() && (threads == 1 || !fresh)) continue;
                CAPTURE(std::string(target_name(target)));
                CAPTURE(threads);
                CAPTURE(fresh);
                const Course course = run_course(def, target, threads, fresh);
                CHECK((course.events == reference.events));
                CHECK((course.hashes == reference.hashes));
            }
        }
    }
}

TEST_CASE("begin and end of a sensor's events alternate, and agree with what queries find") {
    const WorldDef def = sensing_world();
    auto world = make_world(def);
    std::set<std::pair<BodyId, BodyId>> inside;
    const auto ball_sensor = static_cast<std::uint32_t>(def.bodies.size() - 4);
    for (int n = 0; n < 120; ++n) {
        world->step(varied_commands(world->tick()));
        for (const Event& e : world->events()) {
            if (e.kind == EventKind::sensor_begin) CHECK(inside.insert({e.a, e.b}).second);
            if (e.kind == EventKind::sensor_end) CHECK(inside.erase({e.a, e.b}) == 1);
        }
        Overlap query;
        query.shape.index = def.bodies[ball_sensor].shape;
        query.pose = def.bodies[ball_sensor].pose;
        query.filter.types = kQueryDynamic | kQueryKinematic;
        std::vector<QueryHit> hits;
        world->overlap(query, hits);
        std::vector<BodyId> found, told;
        for (const QueryHit& hit : hits) found.push_back(hit.body);
        for (const auto& [sensor, visitor] : inside) {
            if (sensor == id_of(ball_sensor)) told.push_back(visitor);
        }
        CHECK((found == told));
    }
    CHECK(!inside.empty());
}

TEST_CASE("queries see sensors only where they are asked to") {
    WorldDef def;
    add_sensor(def, add_sphere_shape(def, 1.0f), {5.0f, 0.0f, 0.0f});
    auto world = make_world(def);
    RayCast ray;
    ray.translation = {10.0f, 0.0f, 0.0f};
    std::vector<QueryHit> hits;
    CHECK(world->cast_ray(ray, hits) == QueryStatus::miss);
    ray.filter.types = kQueryAllTypes | kQuerySensors;
    CHECK(world->cast_ray(ray, hits) == QueryStatus::hit);
    ray.filter.types = kQueryDynamic | kQuerySensors;
    CHECK(world->cast_ray(ray, hits) == QueryStatus::miss);
    CHECK(state_of(*world, 0).sensor);
}

TEST_CASE("a sensor needs a shape, and makes its definition another one") {
    WorldDef def = varied_world();
    auto world = make_world(def);
    std::vector<std::uint8_t> saved;
    world->save(saved);
    def.bodies[1].sensor = true;
    CHECK_FALSE(make_world(def)->restore(saved).ok());
    def.bodies[1].shape = kNone;
    def.bodies[1].mass_kg = 1.0f;
    auto refused = World::create(def);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().to_string().find("bodies[1].sensor") != std::string::npos);
}

TEST_CASE("saved overlaps that cannot be are refused") {
    WorldDef def;
    def.gravity = {};
    const std::uint32_t big = add_sphere_shape(def, 2.0f);
    add_sensor(def, big, {}), add_sensor(def, big, {});
    add_body(def, add_sphere_shape(def, 0.2f), {});
    auto world = make_world(def);
    world->step();
    std::vector<std::uint8_t> bytes;
    world->save(bytes);
    const std::uint32_t wanted[5] = {2, 1, 3, 2, 3};  // two overlaps: (1, 3) and (2, 3)
    const auto at = std::search(bytes.begin(), bytes.end(), reinterpret_cast<const std::uint8_t*>(wanted),
                                reinterpret_cast<const std::uint8_t*>(wanted) + sizeof wanted) -
                    bytes.begin();
    REQUIRE(static_cast<std::size_t>(at) + sizeof wanted <= bytes.size());
    REQUIRE(make_world(def)->restore(bytes).ok());
    const std::uint32_t bad[][5] = {{2, 2, 3, 1, 3}, {2, 1, 3, 1, 3}, {2, 1, 2, 2, 3}, {2, 3, 1, 3, 2},
                                    {2, 1, 3, 2, 4}, {2, 0, 3, 1, 3}, {1, 1, 3, 2, 3}};
    for (const auto& words : bad) {
        std::memcpy(bytes.data() + at, words, sizeof wanted);
        const std::uint64_t checksum = XXH3_64bits(bytes.data() + 40, bytes.size() - 40);
        std::memcpy(bytes.data() + 32, &checksum, sizeof checksum);
        const HashTree before = world->hash();
        CHECK_FALSE(world->restore(bytes).ok());
        CHECK(world->hash() == before);
    }
}
