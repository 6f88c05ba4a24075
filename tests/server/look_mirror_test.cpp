// What a client tells of the world: contacts, joints, the state of bodies, and what is confirmed beside what is
// predicted.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "client_sdk/src/world_look.h"
#include "tests/support/api_player.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

// The bodies of the server's world at each tick.
struct History {
    explicit History(SimRoom& sim) {
        sim.truth.on_step = [this](const sim::World& world) {
            std::vector<sim::BodyState> all;
            world.read_bodies(all);
            for (const sim::BodyState& body : all) bodies[world.tick()][id_of(body.id)] = body;
        };
    }
    static orrery_body_id id_of(sim::BodyId id) {
        return (static_cast<orrery_body_id>(id.generation) << 32) | id.index;
    }
    std::map<std::uint64_t, std::map<orrery_body_id, sim::BodyState>> bodies;
};

bool same_place(const sim::Pose& pose, const float* position, const float* orientation) {
    const sim::Pose other{{position[0], position[1], position[2]},
                          {orientation[0], orientation[1], orientation[2], orientation[3]}};
    return pose == other;
}

template <class Struct>
Struct sized() {
    Struct out{};
    out.struct_size = sizeof out;
    return out;
}

void predict(Player& player) {
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    auto prediction = sized<orrery_prediction>();
    prediction.on = 1;
    REQUIRE(player.client->set_prediction(prediction) == ORRERY_OK);
}

}  // namespace

TEST_CASE("all contacts are those of each body, once, and lie where both bodies are") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .serve_scene = true, .allow_mirror = true});
    SimClient& mirror = sim.add_mirror([](client::Mirror&) {});
    sim.add_client();
    sim.run(6.0, wander);
    REQUIRE(mirror.playing());
    const sim::World& world = *mirror.connection.mirror()->world();
    client::Seen all, one;
    REQUIRE(client::look_at_contacts(world, {}, all));
    client::look_at_bodies(world, one);
    std::map<sim::BodyId, client::SeenBody> bodies;
    for (const client::SeenBody& body : one.bodies) bodies[body.state.id] = body;
    using Key = std::tuple<sim::BodyId, std::uint32_t, sim::BodyId, std::uint32_t>;
    const auto key = [](const client::SeenContact& c) {
        const Key there{c.a, c.contact.child, c.contact.other, c.contact.other_child},
            back{c.contact.other, c.contact.other_child, c.a, c.contact.child};
        return std::min(there, back);
    };
    const auto awake = [&](sim::BodyId id) {
        const sim::BodyState& state = bodies.at(id).state;
        return state.type == sim::BodyType::dynamic && !state.asleep;
    };
    std::set<Key> expected, found;
    for (const auto& [id, body] : bodies) {
        REQUIRE(client::look_at_contacts(world, id, one));
        for (const client::SeenContact& contact : one.contacts) {
            CHECK(contact.a == id);
            if (awake(id) || awake(contact.contact.other)) expected.insert(key(contact));
        }
    }
    for (const client::SeenContact& contact : all.contacts) {
        CHECK(found.insert(key(contact)).second);
        const sim::BodyContact& c = contact.contact;
        CHECK(std::abs(c.normal.x * c.normal.x + c.normal.y * c.normal.y + c.normal.z * c.normal.z - 1.0f) < 1e-4f);
        for (const client::SeenBody& body : {bodies.at(contact.a), bodies.at(c.other)}) {
            constexpr float kNear = 0.35f;  // bodies have moved since the start of the step
            CHECK(c.point.x >= body.low.x - kNear);
            CHECK(c.point.x <= body.high.x + kNear);
            CHECK(c.point.y >= body.low.y - kNear);
            CHECK(c.point.y <= body.high.y + kNear);
            CHECK(c.point.z >= body.low.z - kNear);
            CHECK(c.point.z <= body.high.z + kNear);
        }
    }
    CHECK(expected.size() >= 8);  // the wheels
    CHECK(found == expected);
    CHECK_FALSE(client::look_at_contacts(world, {123'456, 7}, one));
}

TEST_CASE("a mirror's bodies, joints and marks are the server's of that tick") {
    SimRoom sim(load_test_scene("gallery/drive_bridge"),
                {.link = far_link(), .serve_scene = true, .allow_mirror = true});
    History history(sim);
    Player player(sim);
    REQUIRE(player.client->set_mode(ORRERY_MODE_MIRROR) == ORRERY_OK);
    player.connect();
    player.run(4.0);
    REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
    orrery_client* client = player.client->handle();

    std::array<orrery_body_id, 64> ids{};
    std::array<std::uint8_t, 64> asleep{};
    std::array<float, 6 * 64> bounds{};
    auto marks = sized<orrery_marks>();
    marks.capacity = 64, marks.ids = ids.data(), marks.asleep = asleep.data(), marks.bounds = bounds.data();
    REQUIRE(orrery_client_marks(client, &marks) == ORRERY_OK);
    CHECK(marks.count == sim.room->world().stats().bodies);
    int dynamic = 0;
    for (std::uint32_t i = 0; i < marks.count; ++i) {
        auto state = sized<orrery_body_state>();
        REQUIRE(orrery_client_get_body_state(client, ids[i], &state) == ORRERY_OK);
        REQUIRE(history.bodies.contains(state.tick));
        const sim::BodyState& truth = history.bodies[state.tick].at(ids[i]);
        CHECK(state.known == 1);
        CHECK(same_place(truth.pose, state.position, state.orientation));
        CHECK(truth.linear_velocity ==
              sim::Vec3{state.linear_velocity[0], state.linear_velocity[1], state.linear_velocity[2]});
        CHECK((truth.asleep ? 1 : 0) == state.asleep);
        CHECK(state.asleep == asleep[i]);
        CHECK(state.mass_kg * truth.inverse_mass == doctest::Approx(truth.inverse_mass > 0.0f ? 1.0 : 0.0));
        CHECK(state.category == truth.category);
        CHECK(state.age_ticks == 0.0);
        CHECK(state.confirmed_tick == state.tick);  // without prediction all is confirmed
        CHECK(same_place(truth.pose, state.confirmed_position, state.confirmed_orientation));
        CHECK(state.error_mm == 0.0f);
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(bounds[6 * i + k] == state.bounds_min[k]);
            CHECK(bounds[6 * i + 3 + k] == state.bounds_max[k]);
            CHECK(state.bounds_min[k] < state.position[k]);
            CHECK(state.bounds_max[k] > state.position[k]);
        }
        dynamic += truth.inverse_mass > 0.0f ? 1 : 0;
    }
    CHECK(dynamic > 10);

    std::array<orrery_body_id, 4 * 64> bodies{};
    std::array<std::uint32_t, 64> kinds{};
    std::array<float, 6 * 64> anchors{};
    std::array<float, 64> forces{};
    auto joints = sized<orrery_joints>();
    joints.capacity = 64, joints.bodies = bodies.data(), joints.kinds = kinds.data(), joints.anchors = anchors.data();
    joints.forces = forces.data();
    REQUIRE(orrery_client_joints(client, ORRERY_NO_BODY, &joints) == ORRERY_OK);
    CHECK(joints.count == sim.room->world().stats().joints);
    std::map<std::string, int> names;
    orrery_body_id chassis = ORRERY_NO_BODY;
    float most_force = 0.0f;
    for (std::uint32_t i = 0; i < joints.count; ++i) {
        const std::string name = orrery_joint_kind_name(kinds[i]);
        ++names[name];
        most_force = std::max(most_force, forces[i]);
        if (name == "wheel") chassis = bodies[4 * i];
        if (name != "ball_socket") continue;
        for (std::size_t k = 0; k < 3; ++k)  // it holds its two points together
            CHECK(std::abs(anchors[6 * i + k] - anchors[6 * i + 3 + k]) < 0.02f);
    }
    CHECK(names["ball_socket"] == 34);
    CHECK(names["wheel"] == 4);
    CHECK(most_force > 100.0f);
    REQUIRE(orrery_client_joints(client, chassis, &joints) == ORRERY_OK);
    CHECK(joints.count == 4);
    joints.capacity = 3;
    CHECK(orrery_client_joints(client, chassis, &joints) == ORRERY_TOO_SMALL);
    CHECK(joints.count == 3);
    CHECK(joints.available == 4);
    CHECK(orrery_client_joints(client, 999'999, &joints) == ORRERY_EMPTY);
    CHECK(std::string(orrery_joint_kind_name(1'000)).empty());
}

TEST_CASE("what is confirmed is the server's, and its error is what the prediction of that tick was off") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .serve_scene = true, .allow_mirror = true});
    History history(sim);
    sim.add_client();
    Player player(sim);
    predict(player);
    REQUIRE(orrery_client_set_confirmed(player.client->handle(), 1) == ORRERY_OK);
    player.connect();
    player.run(3.0);
    REQUIRE(player.client->state() == ORRERY_STATE_PLAYING);
    orrery_client* client = player.client->handle();
    std::vector<orrery_body_id> ids(200);
    std::vector<float> positions(600), orientations(800);
    auto samples = sized<orrery_samples>();
    samples.capacity = 200, samples.ids = ids.data(), samples.positions = positions.data();
    samples.orientations = orientations.data();
    float worst_mm = 0.0f;
    std::uint64_t checked = 0;
    for (int i = 0; i < 100; ++i) {
        player.run(0.05);
        REQUIRE(orrery_client_sample_confirmed(client, &samples) == ORRERY_OK);
        const auto tick = static_cast<std::uint64_t>(samples.tick);
        CHECK(tick == player.client->mirror_stats()->confirmed_tick);
        const auto& truth = history.bodies.at(tick);
        REQUIRE(samples.count == truth.size());
        for (std::uint32_t k = 0; k < samples.count; ++k, ++checked) {
            CHECK(same_place(truth.at(ids[k]).pose, &positions[3 * k], &orientations[4 * k]));
            auto state = sized<orrery_body_state>();
            REQUIRE(orrery_client_get_body_state(client, ids[k], &state) == ORRERY_OK);
            CHECK(state.confirmed_tick == tick);
            CHECK(state.tick == player.client->mirror_stats()->predicted_tick);
            CHECK(same_place(truth.at(ids[k]).pose, state.confirmed_position, state.confirmed_orientation));
            worst_mm = std::max(worst_mm, state.error_mm);
        }
    }
    MESSAGE("bodies checked " << checked << ", greatest error " << worst_mm << " mm");
    CHECK(worst_mm > 0.1f);  // the other's changes of control are not known before
    CHECK(worst_mm < 2000.0f);
    REQUIRE(orrery_client_set_confirmed(client, 0) == ORRERY_OK);
    player.run(1.0);
    CHECK(orrery_client_sample_confirmed(client, &samples) == ORRERY_WRONG_STATE);
    auto state = sized<orrery_body_state>();
    REQUIRE(orrery_client_get_body_state(client, player.client->own_body(), &state) == ORRERY_OK);
    CHECK(state.confirmed_tick == 0);
}

TEST_CASE("a client of snapshots knows the newest state of a body and its age, and nothing of contacts") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link()});
    History history(sim);
    Player player(sim);
    player.connect();
    player.run(4.0);
    orrery_client* client = player.client->handle();
    auto state = sized<orrery_body_state>();
    const orrery_body_id own = player.client->own_body();
    REQUIRE(orrery_client_get_body_state(client, own, &state) == ORRERY_OK);
    CHECK(state.known == 0);
    CHECK(state.age_ticks >= 0.0);
    CHECK(state.age_ticks < 30.0);
    CHECK(static_cast<double>(state.tick) + state.age_ticks == static_cast<double>(player.client->stats().newest_tick));
    const sim::Vec3 truth = history.bodies.at(state.tick).at(own).pose.position;
    CHECK(std::abs(truth.x - state.position[0]) < 0.002f);
    CHECK(std::abs(truth.z - state.position[2]) < 0.002f);
    CHECK(state.group == ORRERY_NO_BODY);
    CHECK(state.confirmed_tick == 0);
    CHECK(orrery_client_get_body_state(client, 999'999, &state) == ORRERY_EMPTY);
    auto contacts = sized<orrery_contacts>();
    auto joints = sized<orrery_joints>();
    auto marks = sized<orrery_marks>();
    auto samples = sized<orrery_samples>();
    CHECK(orrery_client_contacts(client, own, &contacts) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_joints(client, own, &joints) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_marks(client, &marks) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_set_confirmed(client, 1) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_sample_confirmed(client, &samples) == ORRERY_WRONG_STATE);
    contacts.struct_size = 8;
    CHECK(orrery_client_contacts(client, own, &contacts) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_contacts(nullptr, own, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_joints(nullptr, own, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_marks(client, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_get_body_state(client, own, nullptr) == ORRERY_INVALID_ARGUMENT);
}

TEST_CASE("a scene's shapes through the C interface") {
    orrery_scene* scene = nullptr;
    const std::vector<std::uint8_t> bytes = load_test_scene("gallery/terrain").binary;
    CHECK(orrery_scene_open(nullptr, 4, &scene) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_scene_open(bytes.data(), 40, &scene) == ORRERY_INVALID_ARGUMENT);
    CHECK(scene == nullptr);
    REQUIRE(orrery_scene_open(bytes.data(), bytes.size(), &scene) == ORRERY_OK);
    std::uint32_t children = 0;
    for (std::uint32_t i = 0; i < orrery_scene_shape_count(scene); ++i) {
        auto shape = sized<orrery_shape>();
        REQUIRE(orrery_scene_get_shape(scene, i, &shape) == ORRERY_OK);
        auto triangles = sized<orrery_triangles>();
        const orrery_status counted = orrery_scene_shape_triangles(scene, i, &triangles);
        REQUIRE(counted == ORRERY_TOO_SMALL);
        std::vector<float> positions(3 * triangles.vertex_count), normals(3 * triangles.vertex_count);
        std::vector<std::uint32_t> indices(triangles.index_count, 0xffff'ffffu);
        triangles.vertex_capacity = triangles.vertex_count, triangles.index_capacity = triangles.index_count;
        triangles.positions = positions.data(), triangles.normals = normals.data(), triangles.indices = indices.data();
        REQUIRE(orrery_scene_shape_triangles(scene, i, &triangles) == ORRERY_OK);
        CHECK(indices.size() % 3 == 0);
        for (const std::uint32_t index : indices) CHECK(index < triangles.vertex_count);
        auto child = sized<orrery_child>();
        while (orrery_scene_get_child(scene, i, children, &child) == ORRERY_OK) {
            CHECK(shape.type == ORRERY_SHAPE_COMPOUND);
            CHECK(child.shape < i);
            ++children;
        }
    }
    CHECK(children == 5);  // of the table
    auto triangles = sized<orrery_triangles>();
    CHECK(orrery_scene_shape_triangles(scene, 999, &triangles) == ORRERY_EMPTY);
    orrery_scene_close(scene);
    orrery_scene_close(nullptr);
}
