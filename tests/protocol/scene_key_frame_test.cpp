// Contract: a client that has the scene is told what differs from it, and then knows what every client knows.
#include "protocol/session/scene_key_frame.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "protocol/scene/scene.h"
#include "tests/support/session_pair.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::testing::SessionPair;

namespace {

using Buffer = std::vector<std::uint8_t>;

Buffer scene_file(const std::string& name) {
    std::ifstream file(std::string(ORRERY_SOURCE_DIR) + "/deploy/scenes/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A scene of `count` bodies with gaps between them, and what a room made of it.
struct Room {
    std::mt19937 random;
    std::vector<sim::BodyState> bodies;
    QuantisedWorld scene, world;

    Room(std::uint32_t seed, std::uint32_t count) : random(seed) {
        for (std::uint32_t i = 0; i < count; ++i) {
            if (random() % 9 == 0) continue;
            sim::BodyState body;
            body.id = {i, static_cast<std::uint32_t>(random() % 3)};
            body.shape = random() % 4;
            body.pose.position.x = static_cast<float>(i);
            bodies.push_back(body);
        }
        scene.update(0, bodies);
        world.update(0, bodies);
    }
    void change(std::uint32_t one_of) {
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            sim::BodyState& body = bodies[i];
            if (random() % one_of != 0) continue;
            switch (random() % 4) {
                case 0:
                    body.pose.position.y += 0.5f;
                    break;
                case 1:
                    body.type = body.type == sim::BodyType::fixed ? sim::BodyType::dynamic : sim::BodyType::fixed;
                    break;
                case 2:
                    ++body.id.generation;  // another body at the same index
                    body.user_data = random();
                    break;
                default:
                    bodies.erase(bodies.begin() + static_cast<std::ptrdiff_t>(i--));
            }
        }
        sim::BodyState newcomer;
        newcomer.id = {bodies.empty() ? 0 : bodies.back().id.index + 3, 0};
        bodies.push_back(newcomer);
        world.update(world.tick() + 1, bodies);
    }
};

void check_same_bodies(std::span<const QuantisedWorld::Body> got, const QuantisedWorld& want) {
    std::uint32_t living = 0;
    for (const QuantisedWorld::Body& body : got) {
        if (!body.alive) continue;
        ++living;
        REQUIRE(body.state.index < want.bodies().size());
        const QuantisedWorld::Body& other = want.bodies()[body.state.index];
        REQUIRE(other.alive);
        REQUIRE(body.state == other.state);
        REQUIRE(describe(body) == describe(other));
    }
    CHECK(living == want.living());
}

std::shared_ptr<const SceneBaseline> baseline_of(const SessionPair& pair) {
    SceneBaseline scene;
    scene.shapes = pair.room.shapes;
    scene.names = {{{3, 0}, "three"}, {{5, 0}, "five"}, {{40, 0}, "last"}};
    scene.vocabulary = {{{"rover", {"chassis"}}}, {"ice"}};
    scene.world = pair.world;
    scene.scene_bytes_hash = 1234;
    scene.hash = hash_of(scene);
    return std::make_shared<const SceneBaseline>(scene);
}

// A pair whose client came in the 60th tick, with `scene` or without.
void join_late(SessionPair& pair, const std::shared_ptr<const SceneBaseline>& scene) {
    for (int i = 0; i < 60; ++i) {
        pair.step(false, false);
        pair.bodies[7].pose.position.z += 0.25f;
    }
    pair.server = std::make_unique<ServerSession>(pair.room, pair.codec, std::uint16_t{0}, pair.now);
    pair.client = std::make_unique<ClientSession>(default_client_hello(), pair.now, client_channel_config(), scene);
    pair.warm_up();
}

}  // namespace

TEST_CASE("the parts turn the bodies of the scene into those of the room") {
    const DeltaCodec codec;
    MessageWriter writer;
    MessageReader reader;
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
        Room room(seed, seed < 10 ? 300 : 9000);
        for (std::uint32_t n = 0; n < seed % 5; ++n) room.change(seed % 3 == 0 ? 1 : 6);
        SceneKeyFrameReader got(room.scene);
        for (const KeyFrameBodies& part : make_scene_key_frame_parts(room.scene, room.world, codec)) {
            KeyFrameBodies read;
            REQUIRE(reader.read(writer.write(part), read));
            REQUIRE(got.apply(read, codec, 20'000));
        }
        check_same_bodies(got.bodies(), room.world);
    }
}

TEST_CASE("a world that is as in the scene takes no parts, and an empty one lists what is gone") {
    const DeltaCodec codec;
    Room room(3, 20'000);
    CHECK(make_scene_key_frame_parts(room.scene, room.world, codec).empty());
    CHECK(make_scene_key_frame(room.scene, room.world, codec).message_count() == 1);
    CHECK(make_scene_key_frame(room.scene, room.world, codec).size_bytes() < 200);
    QuantisedWorld empty;
    empty.update(1, std::span<const sim::BodyState>());
    const std::vector<KeyFrameBodies> parts = make_scene_key_frame_parts(room.scene, empty, codec);
    CHECK(parts.size() == (room.scene.living() + kMaxGonePerKeyFramePart - 1) / kMaxGonePerKeyFramePart);
    SceneKeyFrameReader got(room.scene);
    for (const KeyFrameBodies& part : parts) REQUIRE(got.apply(part, codec, 20'000));
    check_same_bodies(got.bodies(), empty);
}

TEST_CASE("parts that do not fit the scene are refused, never crash") {
    const DeltaCodec codec;
    Room room(4, 300);
    room.change(5);
    const std::vector<KeyFrameBodies> parts = make_scene_key_frame_parts(room.scene, room.world, codec);
    REQUIRE(parts.size() == 2);
    REQUIRE(!parts[0].gone.empty());
    REQUIRE(parts[1].descriptions.size() > 3);
    const auto applies = [&](const KeyFrameBodies& first, const KeyFrameBodies& second, std::uint32_t capacity) {
        SceneKeyFrameReader reader(room.scene);
        return reader.apply(first, codec, capacity) && reader.apply(second, codec, capacity);
    };
    CHECK(applies(parts[0], parts[1], 1000));
    CHECK_FALSE(applies(parts[0], parts[1], 200));
    CHECK_FALSE(applies(parts[1], parts[1], 1000));
    CHECK_FALSE(applies(parts[0], parts[0], 1000));  // gone twice
    KeyFrameBodies wrong = parts[0];
    wrong.gone.push_back(5000);
    CHECK_FALSE(applies(wrong, parts[1], 1000));
    wrong = parts[1];
    wrong.descriptions.pop_back();  // the newcomer's
    CHECK_FALSE(applies(parts[0], wrong, 1000));
    wrong = parts[1];
    wrong.descriptions[1].id.generation += 1;
    CHECK_FALSE(applies(parts[0], wrong, 1000));
    wrong = parts[1];
    std::swap(wrong.descriptions[0], wrong.descriptions[1]);
    CHECK_FALSE(applies(parts[0], wrong, 1000));
    std::mt19937 random(6);
    for (int n = 0; n < 5000; ++n) {
        wrong = parts[1];
        for (std::uint32_t i = 0; i < 1 + random() % 4; ++i)
            wrong.coded[random() % wrong.coded.size()] ^= static_cast<std::uint8_t>(1u << (random() % 8));
        (void)applies(parts[0], wrong, 1000);
    }
}

TEST_CASE("a client that has the scene knows after its join what one without it knows, for fewer bytes") {
    SessionPair without, with;
    const std::shared_ptr<const SceneBaseline> scene = baseline_of(with);
    without.room.begin_with(*scene);
    with.room.begin_with(*scene);
    join_late(without, nullptr);
    join_late(with, scene);
    CHECK_FALSE(without.client->hello().from_scene);
    CHECK(with.client->hello().from_scene);
    CHECK(with.key_frame_bytes < without.key_frame_bytes / 2);
    CHECK(with.client->shapes().size() == without.client->shapes().size());
    CHECK(with.client->vocabulary() == without.client->vocabulary());
    const auto bodies = with.client->bodies(), others = without.client->bodies();
    REQUIRE(bodies.size() == others.size());
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
        CHECK(bodies[i].alive == others[i].alive);
        if (!bodies[i].alive || !others[i].alive) continue;
        CHECK(bodies[i].description == others[i].description);
        CHECK(with.client->body_name(bodies[i].description.id) == without.client->body_name(others[i].description.id));
        REQUIRE(!with.client->history(i).empty());
        CHECK(with.client->history(i).back().state == without.client->history(i).back().state);
    }
    CHECK(with.client->body_name({3, 0}) == "three");
    CHECK(with.client->body_name({40, 0}).empty());  // gone before the join
    // Each with the events of a join.
    SessionEvent event;
    std::vector<SessionEvent::Kind> events, other_events;
    while (with.client->next_event(event)) events.push_back(event.kind);
    while (without.client->next_event(event)) other_events.push_back(event.kind);
    CHECK(events == other_events);
}

TEST_CASE("a client that made another world of the scene, or has another scene, is told everything") {
    for (const bool other_bytes : {false, true}) {
        SessionPair pair;
        SceneBaseline scene = *baseline_of(pair);
        pair.room.begin_with(scene);
        if (other_bytes) {
            ++scene.scene_bytes_hash;
        } else {
            scene.vocabulary.materials[0] = "water";
            scene.hash = hash_of(scene);
        }
        join_late(pair, std::make_shared<const SceneBaseline>(scene));
        CHECK_FALSE(pair.client->hello().from_scene);
        CHECK(pair.client->vocabulary().materials == std::vector<std::string>{"ice"});
    }
}

TEST_CASE("the hash of a scene's baseline depends on all that a client is told of it") {
    SessionPair pair;
    const SceneBaseline scene = *baseline_of(pair);
    std::vector<std::uint64_t> hashes{hash_of(scene)};
    const auto changed = [&](auto change) {
        SceneBaseline other = scene;
        change(other);
        hashes.push_back(hash_of(other));
    };
    changed([](SceneBaseline& s) { s.shapes[1].radius += 1.0f; });
    changed([](SceneBaseline& s) { s.shapes.pop_back(); });
    changed([](SceneBaseline& s) { s.names[{3, 0}] = "drei"; });
    changed([](SceneBaseline& s) { s.vocabulary.templates[0].members[0] += "s"; });
    changed([](SceneBaseline& s) { s.vocabulary.materials[0] = "snow"; });
    for (int what = 0; what < 5; ++what) {
        changed([&](SceneBaseline& s) {
            std::vector<sim::BodyState> bodies = pair.bodies;
            if (what == 0) bodies[4].pose.position.x += 1.0f;
            if (what == 1) bodies[4].shape += 1;
            if (what == 2) bodies[4].user_data = 9;
            if (what == 3) bodies[4].type = sim::BodyType::kinematic;
            if (what == 4) bodies.pop_back();
            s.world = {};
            s.world.update(0, bodies);
        });
    }
    std::sort(hashes.begin(), hashes.end());
    CHECK(std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end());
}

TEST_CASE("room and client make the same of a scene, of its JSON as of its binary form") {
    for (const std::string name : {"yard.json", "vehicle.json", "gallery/slider.json"}) {
        CAPTURE(name);
        const Buffer json = scene_file(name);
        auto loaded = load_scene(json, name);
        REQUIRE(loaded);
        const Buffer binary = loaded->binary;
        const auto shared = share_scene(std::move(loaded).value());
        REQUIRE(shared);
        const auto world = sim::World::create(shared->definition);
        REQUIRE(world);
        const SceneBaseline of_room = describe_scene(**world, shared->binary);
        CHECK(of_room.world.living() > 0);
        for (const Buffer& bytes : {json, binary}) {
            const auto of_client = make_scene_baseline(bytes);
            REQUIRE(of_client);
            CHECK(of_client->scene_bytes_hash == of_room.scene_bytes_hash);
            CHECK(of_client->hash == of_room.hash);
            CHECK(of_client->names == of_room.names);
            CHECK(of_client->vocabulary == of_room.vocabulary);
        }
    }
    CHECK_FALSE(make_scene_baseline(Buffer(100, 7)));
}
