// Prediction with rollback on a mirror, over a network of 100 ms round trip, 20 ms jitter and 5 % loss on a virtual
// clock. ORRERY_PREDICTION_SECONDS=600 runs the first test case for ten minutes of the game.
#include <doctest/doctest.h>

#include <time.h>

#include <cmath>
#include <set>
#include <tuple>

#include "client_sdk/src/prediction.h"
#include "client_sdk/src/smoothing.h"
#include "orrery/math.hpp"
#include "tests/support/mirror_room.h"

using namespace orrery;
using namespace orrery::testing;

namespace {

constexpr std::uint64_t kJoins = 4;  // commands that join and place two drivers

// Time that this thread has computed: other programs of the machine do not count.
std::uint64_t computed_ns(void*) {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<std::uint64_t>(at.tv_sec) * protocol::kNsPerSecond + static_cast<std::uint64_t>(at.tv_nsec);
}

client::PredictionSettings settings(std::uint32_t delay = 0) {
    client::PredictionSettings on;
    on.on = true;
    on.input_delay_ticks = delay;
    return on;
}

// In circles about its place, with changes of mind: nothing is near enough to touch.
std::array<float, sim::kControlChannels> circle(std::size_t driver, std::uint64_t tick) {
    Random random(7 + driver * 1000 + tick / 6);
    std::array<float, sim::kControlChannels> control{};
    control[0] = 0.2f + 0.2f * static_cast<float>(random.below(3));
    control[1] = 0.8f + 0.2f * static_cast<float>(random.below(2));
    return control;
}

// Whether anything but what never moves touches a body of this slot.
bool touched(const sim::World& world, std::uint16_t slot) {
    std::vector<sim::BodyState> bodies;
    std::vector<sim::BodyContact> contacts;
    world.read_bodies(bodies);
    for (const sim::BodyState& body : bodies) {
        if (body.slot != slot) continue;
        world.contacts_of(body.id, contacts);
        for (const sim::BodyContact& contact : contacts) {
            const sim::BodyState other = world.body(contact.other);
            if (contact.touching && other.type == sim::BodyType::dynamic && other.slot != slot) return true;
        }
    }
    return false;
}

double apart(const sim::Pose& a, const sim::Pose& b) { return static_cast<double>(length(a.position - b.position)); }

void print(const std::string& what, const client::MirrorStats& s) {
    const double rollbacks = s.rollbacks > 0 ? static_cast<double>(s.rollbacks) : 1.0;
    const double again = s.ticks_again > 0 ? static_cast<double>(s.ticks_again) : 1.0;
    MESSAGE(what << ": ticks " << s.confirmed_tick << ", as predicted " << s.ticks_as_predicted << ", rollbacks "
                 << s.rollbacks << " (others' controls " << s.others_controls << ", own late " << s.own_controls
                 << ", other commands " << s.other_commands << "), depth mean "
                 << static_cast<double>(s.ticks_again) / rollbacks << " max " << s.max_depth << ", ms mean "
                 << s.sum_rollback_ms / rollbacks << " max " << s.max_rollback_ms << ", ms of 10 ticks "
                 << 10.0 * s.sum_rollback_ms / again << ", corrections mm mean " << s.sum_correction_mm / rollbacks
                 << " max " << s.max_correction_mm << ", cut " << s.cuts);
}

}  // namespace

TEST_CASE("the own car is where the server will have it, and corrected by less than 5 cm while nothing touches it") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) {
        client::PredictionSettings on = settings();
        on.clock = computed_ns;
        on.max_rollback_ms = 1e9;  // the machine's speed has no part in this test
        m.set_prediction(on);
    });
    sim.add_client();
    sim.run(4.0, circle);
    REQUIRE(player.playing());
    const client::MirrorStats& stats = player.connection.mirror()->stats();
    const double seconds = seconds_of("ORRERY_PREDICTION_SECONDS", 20.0);
    double worst_mm = 0.0;
    std::uint64_t free_ticks = 0, since_touch = 0;
    const std::uint64_t first_tick = sim.room->world().tick();
    for (std::uint64_t rollbacks = stats.rollbacks, tick = first_tick;
         tick < first_tick + static_cast<std::uint64_t>(seconds * 60.0);) {
        sim.run(0.002, circle);  // one poll
        if (sim.room->world().tick() != tick) {
            tick = sim.room->world().tick();
            since_touch = touched(sim.room->world(), 0) ? 0 : since_touch + 1;
            free_ticks += since_touch > 30 ? 1 : 0;
        }
        if (since_touch > 30 && stats.rollbacks != rollbacks) worst_mm = std::max(worst_mm, stats.last_correction_mm);
        rollbacks = stats.rollbacks;
    }
    print("free", stats);
    MESSAGE("ticks without a touch " << free_ticks << ", worst correction of the own car there " << worst_mm << " mm");
    CHECK(stats.divergences == 0);
    CHECK(free_ticks > static_cast<std::uint64_t>(seconds * 20.0));
    CHECK(worst_mm < 50.0);
    CHECK(stats.rollbacks > 0);
    CHECK(stats.checkpoints <= stats.max_depth + 1 + client::kMaxSpareCheckpoints);
    // Ahead of the server by the way there.
    CHECK(stats.predicted_tick > sim.room->world().tick());
    CHECK(stats.ticks_as_predicted > stats.confirmed_tick / 2);
}

TEST_CASE("prediction confirms the server's hashes while cars touch, and counts a cause for each rollback") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck first(sim), second(sim);
    sim.add_mirror([&](client::Mirror& m) {
        m.set_prediction(settings());
        m.set_observer(&first);
    });
    sim.add_mirror([&](client::Mirror& m) {
        m.set_prediction(settings(3));
        m.set_observer(&second);
    });
    // Ticks in which the server's world has another control of a slot than in the tick before.
    std::array<std::uint64_t, 2> changes{};
    std::array<std::array<float, sim::kControlChannels>, 2> held{};
    sim.truth.on_step = [&](const sim::World& world) {
        for (std::uint16_t slot = 0; slot < 2; ++slot) {
            if (!world.slot_taken(slot)) continue;
            changes[slot] += world.controls(slot) != held[slot] ? 1 : 0;
            held[slot] = world.controls(slot);
        }
    };
    sim.run(25.0, wander);
    sim.truth.on_step = nullptr;
    for (const auto& player : sim.clients) {
        REQUIRE(player->playing());
        const std::uint16_t slot = player->connection.session()->hello().slot;
        const client::MirrorStats& stats = player->connection.mirror()->stats();
        // The other driver's changes, and where the server had no control of this one in time, its change and the next.
        CHECK(stats.rollbacks <= changes[1u - slot] + 2 * changes[slot] + kJoins);
        CHECK(stats.others_controls <= changes[1u - slot]);
        CHECK(stats.others_controls + 5 > changes[1u - slot] / 2);
    }
    for (const auto& player : sim.clients) {
        const client::MirrorStats& stats = player->connection.mirror()->stats();
        print("touching", stats);
        CHECK(stats.divergences == 0);
        CHECK(stats.hashes_compared > 300);
        CHECK(stats.rollbacks > 0);
        CHECK(stats.confirmed_tick + 30 > sim.room->world().tick());
    }
    CHECK(first.different + second.different == 0);
    const auto depth = [&](std::size_t i) {
        const client::MirrorStats& stats = sim.clients[i]->connection.mirror()->stats();
        return static_cast<double>(stats.ticks_again) / static_cast<double>(stats.rollbacks);
    };
    CHECK(depth(1) + 1.5 < depth(0));  // a delay of 3 ticks saves as many
}

TEST_CASE("a single driver's prediction is right unless its controls are late") {
    SimRoom sim(load_test_scene("yard"), {.allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(settings()); });
    sim.run(3.0, wander);
    const client::MirrorStats before = player.connection.mirror()->stats();
    sim.run(10.0, wander);
    const client::MirrorStats& stats = player.connection.mirror()->stats();
    print("alone, good network", stats);
    CHECK(stats.rollbacks == before.rollbacks);
    CHECK(stats.max_correction_mm == before.max_correction_mm);
    CHECK(stats.ticks_as_predicted >= before.ticks_as_predicted + 590);
    CHECK(stats.divergences == 0);
}

TEST_CASE("a predicting mirror that diverges goes on from a new state") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(settings()); });
    sim.add_client();
    sim.run(4.0, wander);
    std::vector<sim::BodyState> bodies;
    sim.room->world().read_bodies(bodies);
    const auto car = std::find_if(bodies.begin(), bodies.end(), [](const auto& body) { return body.slot == 1; });
    REQUIRE(car != bodies.end());
    player.connection.mirror()->disturb(sim::Command::impulse(car->id, {0.0f, 0.1f, 0.0f}));
    sim.run(6.0, wander);
    REQUIRE(player.divergences.size() == 1);
    CHECK(player.divergences[0].second == "bodies");
    CHECK(player.connection.mirror()->stats().states == 2);
    CHECK(player.connection.mirror()->stats().predicted_tick > sim.room->world().tick());
}

TEST_CASE("the picture of a predicting mirror moves without jumps, a vehicle as one") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(settings()); });
    sim.add_client();
    sim.run(4.0, circle);
    std::vector<client::ShownBody> before, now;
    double tick = player.connection.mirror()->picture(sim.now(), 0.0, before), worst_m = 0.0;
    for (int i = 0; i < 600; ++i) {
        sim.run(0.01, circle);
        const double next = player.connection.mirror()->picture(sim.now(), 0.0, now);
        CHECK(next >= tick - 0.05);
        tick = next;
        for (std::size_t k = 0; k < now.size() && now.size() == before.size(); ++k) {
            const sim::Vec3 &a = before[k].pose.position, &b = now[k].pose.position;
            worst_m = std::max(worst_m, std::hypot(static_cast<double>(a.x - b.x), static_cast<double>(a.y - b.y),
                                                   static_cast<double>(a.z - b.z)));
        }
        before = now;
    }
    MESSAGE("greatest step of a picture in 10 ms: " << worst_m << " m");
    CHECK(worst_m < 0.3);
}

TEST_CASE("the shown tick of a predicting mirror does not shake while the server stands still") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(settings()); });
    sim.run(4.0, circle);
    REQUIRE(player.playing());
    std::vector<client::ShownBody> shown;
    const auto worst_back = [&](double seconds) {
        double tick = player.connection.mirror()->picture(sim.now(), 0.0, shown), worst = 0.0;
        for (double at = 0.0; at < seconds; at += 0.01) {
            sim.run(0.01, circle);
            const double next = player.connection.mirror()->picture(sim.now(), 0.0, shown);
            worst = std::max(worst, tick - next);
            tick = next;
        }
        return worst;
    };
    sim.server_running = false;  // the prediction comes to its limit, and its world stands still
    CHECK(worst_back(3.0) < 0.01);
}

TEST_CASE("a predicting mirror that stood still for 5 s is back within 10 s, and its way back is no correction") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck check(sim);
    SimClient& player = sim.add_mirror([&](client::Mirror& m) {
        m.set_prediction(settings());
        m.set_observer(&check);
    });
    sim.add_client();
    sim.run(4.0, circle);
    REQUIRE(player.playing());
    const client::MirrorStats before = player.connection.mirror()->stats();
    player.runs = false;
    sim.run(5.0, circle);
    player.runs = true;
    const client::MirrorStats& stats = player.connection.mirror()->stats();
    double back_after = 0.0;
    while (back_after < 10.0 && stats.predicted_tick <= sim.room->world().tick()) {
        sim.run(0.1, circle);
        back_after += 0.1;
    }
    MESSAGE("ahead of the server again after " << back_after << " s");
    CHECK(back_after < 10.0);
    sim.run(3.0, circle);
    print("after a stop", stats);
    CHECK(player.playing());
    CHECK(stats.predicted_tick > sim.room->world().tick());
    CHECK(check.different == 0);
    CHECK(check.gaps == 0);
    CHECK(stats.states == 1);
    CHECK(stats.max_correction_mm < std::max(1000.0, 2.0 * before.max_correction_mm));
}

TEST_CASE("one slow rollback does not limit the prediction of a driver alone for long") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    struct Clock {
        std::uint64_t now = 0, step = protocol::kNsPerMs / 10;
    } clock;
    SimClient& player = sim.add_mirror([&](client::Mirror& m) {
        client::PredictionSettings on = settings();
        on.user = &clock;
        on.clock = [](void* user) {
            auto& of = *static_cast<Clock*>(user);
            return of.now += of.step;
        };
        m.set_prediction(on);
    });
    sim.add_client();
    sim.run(4.0, wander);
    REQUIRE(player.playing());
    const client::MirrorStats& stats = player.connection.mirror()->stats();
    clock.step = 500 * protocol::kNsPerMs;
    for (const std::uint64_t rollbacks = stats.rollbacks; stats.rollbacks == rollbacks;) sim.run(0.002, wander);
    clock.step = protocol::kNsPerMs / 10;
    sim.run(1.0, circle);
    CHECK(stats.max_rollback_ms == doctest::Approx(500.0));
    CHECK(stats.predicted_tick > sim.room->world().tick());
}

TEST_CASE("as many ticks are predicted as can be stepped again in max_rollback_ms") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    std::uint64_t time = 0;
    SimClient& player = sim.add_mirror([&](client::Mirror& m) {
        client::PredictionSettings slow = settings();
        slow.user = &time;
        slow.clock = [](void* user) { return *static_cast<std::uint64_t*>(user) += 20 * protocol::kNsPerMs; };
        m.set_prediction(slow);
    });
    sim.add_client();
    sim.run(20.0, wander);
    const client::MirrorStats& stats = player.connection.mirror()->stats();
    CHECK(stats.max_rollback_ms == doctest::Approx(20.0));
    CHECK(stats.max_depth > 5);  // at first
    CHECK(stats.last_depth < 4);
    CHECK(stats.predicted_tick >= stats.confirmed_tick);
    CHECK(stats.predicted_tick <= stats.confirmed_tick + 3);
    CHECK(stats.divergences == 0);
}

TEST_CASE("prediction may be turned on and off while the mirror runs") {
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    HashCheck check(sim);
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_observer(&check); });
    sim.add_client();
    for (int i = 0; i < 6; ++i) {
        client::PredictionSettings on = settings();
        on.on = i % 2 == 1;
        player.connection.mirror()->set_prediction(on);
        sim.run(3.0, wander);
        REQUIRE(player.playing());
        CHECK((player.connection.mirror()->stats().predicted_tick > 0) == on.on);
    }
    CHECK(check.different == 0);
    CHECK(player.connection.mirror()->stats().divergences == 0);
    CHECK(player.connection.mirror()->stats().states == 1);
}

TEST_CASE("a correction is hidden at first, fades by half in 80 ms, and is cut where it is large") {
    std::vector<sim::BodyState> bodies(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        bodies[i].id = {i, 0};
        bodies[i].type = sim::BodyType::dynamic;
        bodies[i].group = i < 2 ? sim::BodyId{0, 0} : sim::BodyId{};
    }
    client::Smoothing smoothing;
    smoothing.set_groups(bodies);
    const auto picture = [](float x) {
        std::vector<client::ShownBody> shown(3);
        for (std::uint32_t i = 0; i < 3; ++i) {
            shown[i].id = {i, 0};
            shown[i].pose.position = {x + static_cast<float>(i), 0.0f, 0.0f};
        }
        return shown;
    };
    CHECK(smoothing.correct(picture(0.0f), picture(0.4f), protocol::kNsPerSecond) == 0);
    std::vector<client::ShownBody> shown = picture(0.4f);
    smoothing.apply(shown, protocol::kNsPerSecond);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(shown[i].pose.position.x == doctest::Approx(static_cast<double>(i)));
    shown = picture(0.4f);
    smoothing.apply(shown, protocol::kNsPerSecond + client::kSmoothingHalfLife);
    CHECK(shown[0].pose.position.x == doctest::Approx(0.2));
    // A turn about the first body of a group moves the others of the group on a circle about it.
    std::vector<client::ShownBody> turned = picture(0.0f);
    turned[0].pose.orientation = {0.0f, 0.1305262f, 0.0f, 0.9914449f};  // 15 degrees about y
    smoothing.drop_offsets();
    CHECK(smoothing.correct(turned, picture(0.0f), protocol::kNsPerSecond) == 0);
    shown = picture(0.0f);
    smoothing.apply(shown, protocol::kNsPerSecond);
    CHECK(shown[1].pose.position.x == doctest::Approx(std::cos(0.2617994)));
    CHECK(shown[1].pose.position.z == doctest::Approx(-std::sin(0.2617994)));
    CHECK(shown[2].pose.position.x == doctest::Approx(2.0));
    CHECK(smoothing.correct(picture(0.0f), picture(1.5f), 2 * protocol::kNsPerSecond) == 2);
    CHECK(smoothing.active() == 0);
}

TEST_CASE("a correction turns and moves a vehicle as one: its wheels stay where the simulation has them on it") {
    SimRoom sim(load_test_scene("yard"), {});
    sim.add_client();
    sim.run(4.0, circle);
    const sim::World& world = sim.room->world();
    std::vector<std::uint8_t> state;
    world.save(state);
    auto other = sim::World::create(load_test_scene("yard").world);
    REQUIRE(other);
    REQUIRE((*other)->restore(state));
    std::vector<sim::BodyState> bodies, elsewhere;
    world.read_bodies(bodies);
    const auto chassis = std::find_if(bodies.begin(), bodies.end(), [](const auto& body) { return body.slot == 0; });
    REQUIRE(chassis != bodies.end());
    const std::array<sim::Command, 1> knock{sim::Command::impulse(chassis->id, {600.0f, 0.0f, 300.0f}, {0, 400, 0})};
    for (int i = 0; i < 8; ++i)
        REQUIRE((*other)->step(i == 0 ? std::span(knock) : std::span<const sim::Command>()) == sim::StepStatus::ok);
    (*other)->read_bodies(elsewhere);
    const auto picture = [](std::span<const sim::BodyState> of) {
        std::vector<client::ShownBody> shown;
        for (const sim::BodyState& body : of) shown.push_back({body.id, body.pose, {}, {}});
        return shown;
    };
    client::Smoothing smoothing;
    smoothing.set_groups(bodies);
    smoothing.correct(picture(elsewhere), picture(bodies), protocol::kNsPerSecond);
    const std::size_t first = static_cast<std::size_t>(chassis - bodies.begin());
    for (const double half_lives : {0.0, 0.5, 3.0}) {
        CAPTURE(half_lives);
        std::vector<client::ShownBody> shown = picture(bodies);
        smoothing.apply(
            shown, protocol::kNsPerSecond +
                       static_cast<protocol::TimeNs>(half_lives * static_cast<double>(client::kSmoothingHalfLife)));
        CHECK(apart(shown[first].pose, bodies[first].pose) > 0.005);  // it is a correction
        std::size_t wheels = 0;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (i == first || bodies[i].group != bodies[first].group) continue;
            ++wheels;
            const sim::Pose is = inverse(shown[first].pose) * shown[i].pose,
                            should = inverse(bodies[first].pose) * bodies[i].pose;
            CHECK(apart(is, should) < 1e-5);
            const sim::Quat turn = conjugate(should.orientation) * is.orientation;
            CHECK(length(sim::Vec3{turn.x, turn.y, turn.z}) < 1e-5f);
        }
        CHECK(wheels == 4);
    }
}

TEST_CASE("each event of the world is told once; what was predicted is confirmed or cancelled") {
    using client::Certainty;
    using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // tick, indices of both bodies
    SimRoom sim(load_test_scene("yard"), {.link = far_link(), .allow_mirror = true});
    SimClient& player = sim.add_mirror([&](client::Mirror& m) { m.set_prediction(settings()); });
    REQUIRE(player.connection.set_mirror_events(protocol::EventRule{.least_hit_impulse = 5.0f}));
    sim.add_client();
    sim.run(4.0, wander);
    player.details.clear();
    const std::uint64_t from = player.connection.mirror()->stats().predicted_tick + 10;
    std::set<Key> happened, told;
    sim.truth.on_step = [&](const sim::World& world) {
        for (const sim::Event& event : world.events()) {
            if (event.kind == sim::EventKind::contact_hit && event.impulse >= 5.0f && world.tick() >= from)
                happened.insert({world.tick(), event.a.index, event.b.index});
        }
    };
    sim.run(25.0, wander);
    sim.truth.on_step = nullptr;
    sim.run(0.5, wander);
    const std::uint64_t until = sim.room->world().tick() - 30;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> open;
    int predicted = 0, confirmed = 0, cancelled = 0, certain = 0;
    for (const client::ConnectionEvent& event : player.details) {
        if (event.kind != client::ConnectionEvent::Kind::world) continue;
        const protocol::WorldEvent& hit = event.detail->world;
        int& waiting = open[{hit.a.index, hit.b.index}];
        predicted += event.certainty == Certainty::predicted ? 1 : 0;
        confirmed += event.certainty == Certainty::confirmed ? 1 : 0;
        cancelled += event.certainty == Certainty::cancelled ? 1 : 0;
        certain += event.certainty == Certainty::certain ? 1 : 0;
        if (event.certainty == Certainty::predicted) ++waiting;
        if ((event.certainty == Certainty::confirmed || event.certainty == Certainty::cancelled) && event.tick >= from)
            CHECK(waiting-- > 0);
        const bool is_told = event.certainty == Certainty::confirmed || event.certainty == Certainty::certain;
        if (is_told && event.tick >= from && event.tick <= until) {
            const bool first = told.insert({event.tick, hit.a.index, hit.b.index}).second;
            CHECK(first);
        }
    }
    MESSAGE("hits " << happened.size() << ": predicted " << predicted << ", confirmed " << confirmed << ", cancelled "
                    << cancelled << ", told when certain " << certain);
    std::erase_if(happened, [&](const Key& key) { return std::get<0>(key) > until; });
    CHECK(happened.size() > 10);
    CHECK(told == happened);
    CHECK(confirmed > 5);
}
