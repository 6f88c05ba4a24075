// Contract: every scene of the gallery that shows a constraint or what contacts can, stays finite for 60 simulated seconds and
// within the bounds that it shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "protocol/scene/scene.h"

#include "tests/support/seed.h"
using namespace orrery;

namespace {

constexpr int kTicksPerSecond = 60, kSeconds = 60;
const std::filesystem::path kGallery = std::filesystem::path(ORRERY_SOURCE_DIR) / "deploy" / "scenes" / "gallery";

std::unique_ptr<sim::World> make_scene(const std::string& name) {
    std::ifstream file(kGallery / (name + ".json"), std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    const Result<protocol::LoadedScene> scene = protocol::load_scene(text, name);
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    Result<std::unique_ptr<sim::World>> world = sim::World::create(scene->world);
    REQUIRE_MESSAGE(world.ok(), (world.ok() ? std::string() : world.error().to_string()));
    return std::move(*world);
}

enum class What { x, y, z, spin_x, spin_y, spin_z, turn_z_deg, from_hub_m, tilt_x_deg, tilt_z_deg, x_to_z_deg };

// Of a body; the hub is the point (0, 2, 0) that most scenes hang from, a tilt the angle of a local axis to the world's.
double measure(const sim::BodyState& b, What what) {
    const auto& p = b.pose.position;
    const double x = b.pose.orientation.x, y = b.pose.orientation.y, z = b.pose.orientation.z, w = b.pose.orientation.w;
    const auto degrees = [](double cosine) { return std::acos(std::clamp(cosine, -1.0, 1.0)) * 57.29577951308232; };
    switch (what) {
        case What::x: return p.x;
        case What::y: return p.y;
        case What::z: return p.z;
        case What::spin_x: return b.angular_velocity.x;
        case What::spin_y: return b.angular_velocity.y;
        case What::spin_z: return b.angular_velocity.z;
        case What::turn_z_deg: return 2 * std::atan2(w < 0 ? -z : z, std::fabs(w)) * 57.29577951308232;
        case What::from_hub_m: return std::hypot(p.x, p.y - 2.0, p.z);
        case What::tilt_x_deg: return degrees(1 - 2 * (y * y + z * z));
        case What::tilt_z_deg: return degrees(1 - 2 * (x * x + y * y));
        case What::x_to_z_deg: return degrees(2 * (x * z - w * y));
    }
    return 0;
}

struct Bound {
    const char *scene, *body;
    What what;
    double low, high;
    int from_s;  // holds from then on
};

constexpr Bound kBounds[] = {
    {"ball_socket", "one", What::from_hub_m, 0.49, 0.51, 0},
    {"hinge", "one", What::turn_z_deg, -64, 34, 0},
    {"weld", "two", What::y, 1.97, 2.01, 0},
    {"distance_limit", "one", What::from_hub_m, 0, 1.22, 0},
    {"one_body_linear_servo", "one", What::x, 0.95, 1.05, 10},
    {"one_body_linear_servo", "one", What::y, 1.9, 2.05, 10},
    {"angular_axis_motor", "one", What::spin_z, 2.95, 3.05, 10},
    {"swing_limit", "one", What::tilt_x_deg, 0, 44, 0},
    {"twist_limit", "one", What::turn_z_deg, -22, 47, 0},
    {"twist_servo", "one", What::turn_z_deg, 25, 31, 10},
    {"twist_motor", "one", What::spin_z, 1.9, 2.1, 5},
    {"angular_swivel_hinge", "one", What::x_to_z_deg, 88, 92, 0},
    {"angular_axis_gear_motor", "two", What::spin_z, -4.1, -3.9, 10},
    {"distance_servo", "one", What::y, 0.5, 1.5, 0},
    {"center_distance", "n33", What::y, 0.2, 2.2, 0},
    {"center_distance_limit", "n33", What::y, 0, 2.2, 0},
    {"linear_axis_servo", "one", What::x, 0.98, 1.02, 10},
    {"linear_axis_limit", "one", What::x, -0.72, 0.72, 0},
    {"linear_axis_motor", "one", What::x, 5.7, 6.1, 59},
    {"gear", "two", What::spin_z, -6.2, -5.8, 10},
    {"rack_and_pinion", "two", What::x, 0.5, 0.55, 10},
    {"pulley", "one", What::y, 2.4, 2.6, 30},
    {"pulley", "two", What::y, -0.55, -0.4, 30},
    {"ball_socket_servo", "one", What::from_hub_m, 0, 0.05, 10},
    {"ball_socket_motor", "one", What::x, 5.7, 6.1, 59},
    {"angular_servo", "one", What::tilt_x_deg, 0, 6, 5},
    {"angular_motor", "one", What::spin_y, 1.9, 2.1, 5},
    {"one_body_linear_motor", "one", What::y, 7.6, 8.1, 59},
    {"one_body_angular_servo", "one", What::turn_z_deg, -3, 3, 10},
    {"one_body_angular_motor", "one", What::spin_y, 1.95, 2.05, 5},
    {"swivel_hinge", "one", What::spin_x, 1.8, 2.2, 5},
    {"swivel_hinge", "two", What::from_hub_m, 0.49, 0.51, 0},
    {"angular_hinge", "one", What::tilt_z_deg, 0, 3, 0},
    {"point_on_line_servo", "one", What::y, 1.95, 2.01, 0},
    {"slider", "one", What::y, 1.55, 2.45, 0},
    {"slider", "one", What::x, -0.01, 0.01, 0},
    {"wheel", "chassis", What::y, 0.5, 1.2, 0},
    {"wheel", "chassis", What::x, -40, 40, 0},
    {"area", "n33", What::y, 0, 2.2, 0},
    {"volume", "p3", What::y, 0.1, 2.1, 0},
    {"character", "walks", What::y, 0.85, 1.75, 0},
    {"character", "walks", What::x, 25, 27, 59},
    {"character", "stands", What::x, -0.5, 0.5, 1},
    {"character", "stands", What::y, 2.5, 3.2, 0},
    {"character", "rides", What::x, -11, -9, 0},
    {"character", "rides", What::y, 1.28, 1.34, 1},
    {"conveyor", "one", What::y, 0.74, 0.76, 30},
    {"conveyor", "one", What::z, -6.6, -6.2, 30},
    {"conveyor", "three", What::z, -6.0, -4.5, 30},
    {"conveyor", "slow", What::x, 5.8, 6.05, 59},
    {"rigs", "tree[0]", What::y, 5.8, 5.95, 0},
    {"rigs", "tree[39]", What::y, 4.5, 6, 0},
    {"rigs", "ring[0]", What::y, 5.95, 6.02, 0},
    {"rigs", "ring[10]", What::y, 3.2, 6, 0},
    {"rigs", "net[60]", What::y, 1.5, 4.2, 0},
    {"rigs", "crate", What::y, 1.8, 4.6, 0},
    {"rigs", "bridge[8]", What::y, 1.0, 2.1, 0},
    {"rigs", "boulder", What::y, 1.5, 4.1, 0},
    {"rigs", "ladder[11]", What::y, 1.9, 2.6, 10},
    {"rope_ladder", "swings[9]", What::x, -1.5, 1.5, 0},
    {"rope_ladder", "swings[9]", What::x, -0.05, 0.05, 30},
    {"rope_ladder", "swings[9]", What::y, 1.5, 2.6, 0},
    {"rope_ladder", "carries[7]", What::y, 2.125, 2.151, 0},
    {"rope_ladder", "crate", What::y, 1.775, 1.801, 0},
    {"drive_bridge", "chassis", What::x, -0.2, 0.2, 0},
    {"drive_bridge", "chassis", What::y, 0.35, 1.9, 0},
    {"drive_bridge", "chassis", What::z, -11.8, -10.8, 10},
    {"drive_bridge", "bridge[8]", What::y, -0.3, -0.05, 0},
    {"rolling", "stops", What::x, 2.7, 2.9, 10},
    {"rolling", "log", What::x, 2.85, 3.15, 10},
    {"rolling", "spins", What::spin_y, -0.01, 0.01, 10},
    {"rolling", "rests", What::x, 0.03, 0.04, 0},
    {"rolling", "goes", What::x, 6, 9.5, 20},
    {"modes", "rod_discrete", What::spin_z, -23.6, -23.5, 0},
    {"modes", "rod_passive", What::turn_z_deg, 0, 80, 0},
    {"modes", "rod_passive", What::spin_z, -0.01, 0.01, 1},
    {"modes", "rod_continuous", What::turn_z_deg, 1, 80, 0},
    {"modes", "rod_continuous", What::spin_z, -0.01, 0.01, 1},
    {"modes", "ball_discrete", What::x, 3, 5.9, 0},
    {"modes", "ball_passive", What::x, 3, 5.9, 0},
    {"modes", "ball_continuous", What::x, 3, 5.9, 0},
    {"nonconvex", "ball", What::x, -0.01, 0.01, 10},
    {"nonconvex", "ball", What::y, 1.703, 1.709, 10},
    {"nonconvex", "dumbbell", What::y, 1.279, 1.285, 10},
    {"nonconvex", "slides", What::x, 6.6, 6.85, 10},
    {"nonconvex", "slides", What::y, 0.09, 0.11, 0},
    {"nonconvex", "turns", What::x, 5.95, 6.05, 0},
    {"nonconvex", "turns", What::spin_y, -0.001, 0.001, 10},
    {"nonconvex", "jacks[0]", What::y, 0.09, 1, 0},
    {"soft_contacts", "ball_on_foam", What::y, 0.371, 0.373, 10},
    {"soft_contacts", "crate_on_foam", What::y, 0.371, 0.373, 10},
    {"soft_contacts", "ball_on_rubber", What::y, 0.392, 0.394, 10},
    {"soft_contacts", "foam_on_rubber", What::y, 0.371, 0.373, 10},
    {"soft_contacts", "in_putty", What::y, -0.101, 0.401, 0},
    {"soft_contacts", "in_putty", What::y, 0.35, 0.401, 12},
    {"sensors", "ball", What::x, -0.001, 0.001, 0},
    {"sensors", "ball", What::y, 0.29, 0.31, 10},
    {"sensors", "crate", What::x, 6, 60, 20},
};

std::set<std::string> scenes_with_bounds() {
    std::set<std::string> scenes;
    for (const Bound& bound : kBounds) scenes.insert(bound.scene);
    return scenes;
}

}  // namespace

TEST_CASE("every constraint has a scene in the gallery, and every scene there a bound") {
    const std::set<std::string> bounded = scenes_with_bounds();
    for (const char* name : sim::kConstraintNames) {
        CAPTURE(name);
        CHECK(bounded.count(name) == 1);
    }
    for (const std::string& name : bounded) {
        CAPTURE(name);
        CHECK(std::filesystem::exists(kGallery / (name + ".json")));
    }
}

TEST_CASE("every scene of the gallery keeps its bounds for 60 s") {
    int scenes = 0;
    for (const std::string& name : scenes_with_bounds()) {
        if (test::few() && scenes++ % 10 != 0) continue;
        CAPTURE(name);
        const auto world_of_scene = make_scene(name);
        double low[std::size(kBounds)], high[std::size(kBounds)];
        std::fill(std::begin(low), std::end(low), 1e9);
        std::fill(std::begin(high), std::end(high), -1e9);
        int quarantined = 0;
        for (int tick = 1; tick <= kSeconds * kTicksPerSecond; ++tick) {
            world_of_scene->step();
            for (const sim::Event& event : world_of_scene->events()) quarantined += event.kind == sim::EventKind::quarantined ? 1 : 0;
            for (std::size_t i = 0; i < std::size(kBounds); ++i) {
                if (kBounds[i].scene != name || tick < kBounds[i].from_s * kTicksPerSecond) continue;
                const double now = measure(world_of_scene->body(world_of_scene->find_body(kBounds[i].body)), kBounds[i].what);
                low[i] = std::min(low[i], now), high[i] = std::max(high[i], now);
            }
        }
        CHECK(quarantined == 0);
        for (std::size_t i = 0; i < std::size(kBounds); ++i) {
            if (kBounds[i].scene != name) continue;
            CAPTURE(i);
            CHECK(low[i] >= kBounds[i].low);
            CHECK(high[i] <= kBounds[i].high);
        }
    }
}
