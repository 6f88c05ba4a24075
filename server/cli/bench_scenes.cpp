#include "server/cli/bench_scenes.h"

#include <algorithm>
#include <cmath>

namespace orrery::server {

namespace {

constexpr double kPi = 3.14159265358979323846;

std::string scene(const std::string& rest) { return R"({"scene_version": 1, "solver": {"sleep": false}, )" + rest + "}"; }
const char* const kBead = R"("shapes": [{"name": "bead", "sphere": {"radius": 0.1}}], )";

std::string chains(std::uint32_t count) {
    return scene(kBead + ("\"generators\": [{\"chain\": {\"chains\": " + std::to_string(count)) +
                 R"(, "links": 40, "spacing": 0.25, "chain_pitch": 0.4, "shape": "bead"}}])");
}

std::string pyramid(std::uint32_t base) {
    return scene(R"("shapes": [{"name": "ground", "box": {"half_extents": [100, 1, 100]}},
                               {"name": "block", "box": {"half_extents": [0.5, 0.5, 0.5]}}],
                    "bodies": [{"name": "ground", "type": "static", "shape": "ground", "position": [0, -1, 0]}],
                    "generators": [{"pyramid": {"base": )" +
                 std::to_string(base) +
                 R"(, "pitch": 1.1, "row_pitch": 1, "origin": [0, 0.5, 0], "shape": "block"}}])");
}

std::string rain(std::uint32_t count) {
    const std::string side = count <= 1000 ? "8" : count <= 4000 ? "16" : "25";
    return scene(
        R"("shapes": [{"name": "ball", "sphere": {"radius": 0.5}}, {"name": "crate", "box": {"half_extents": [0.5, 0.5, 0.5]}},
                               {"name": "pill", "capsule": {"radius": 0.4, "half_height": 0.5}}],
                    "generators": [{"arena": {"half_x": )" +
        side + ", \"half_z\": " + side + R"(, "height": 60}}, {"rain": {"count": )" + std::to_string(count) +
        ", \"side\": " + side + R"(, "pitch": 2, "origin": [0, 1.5, 0], "shapes": ["ball", "crate", "pill"]}}])");
}

std::string net(std::uint32_t rows, const char* joint) {
    const std::string side = std::to_string(rows);
    return scene(kBead + ("\"generators\": [{\"net\": {\"columns\": " + side) + ", \"rows\": " + side +
                 R"(, "centred": true, "pin": "corners", "shape": "bead", "joint": ")" + joint + "\"}}]");
}
std::string ball_net(std::uint32_t rows) { return net(rows, "ball_socket"); }
std::string distance_net(std::uint32_t rows) { return net(rows, "distance"); }

std::string joint_grid(std::uint32_t rows) {
    const std::string side = std::to_string(rows);
    return scene(R"("shapes": [{"name": "ball", "sphere": {"radius": 0.4}}], "generators": [{"net": {"columns": )" +
                 side + ", \"rows\": " + side +
                 R"(, "column_step": [1, 0, 0], "row_step": [0, -1, 0], "pin": "first_row", "shape": "ball"}}])");
}

// The shipped scene with its generators exchanged.
std::string ragdolls(std::uint32_t count) {
    const bool small = count <= 100;
    const std::string text = ragdolls_text();
    return text.substr(0, text.rfind("\"generators\"")) + R"("generators": [{"arena": {"half_x": )" + (small ? "2.2" : "4.1") +
           ", \"half_z\": " + (small ? "2.3" : "4.3") + R"(, "height": 60}}, {"crowd": {"template": "ragdoll", "count": )" +
           std::to_string(count) + ", \"side_x\": " + (small ? "2" : "4") + ", \"side_z\": " + (small ? "4" : "8") +
           R"(, "pitch_x": 1.9, "pitch_y": 2.2, "pitch_z": 1, "origin": [0, 0.3, 0], "max_tilt_deg": 20, "tilt_pivot": [0, 1, 0]}}]})";
}

double bead_mass_kg() { return 1000.0 * 4.0 / 3.0 * kPi * 0.1 * 0.1 * 0.1; }

// A bead of a chain ends as far below its start's height as it began beside the chain's first joint.
double chain_energy_j(const sim::WorldDef& world) {
    double sum = 0.0;
    for (const sim::BodyDef& body : world.bodies)
        sum += bead_mass_kg() * 10.0 * static_cast<double>(body.pose.position.x);
    return sum;
}

// A bead of a net, below the pinned row by its distance from it.
double net_energy_j(const sim::WorldDef& world) {
    double sum = 0.0;
    for (const sim::BodyDef& body : world.bodies) {
        sum += bead_mass_kg() * 10.0 * static_cast<double>(body.pose.position.z - world.bodies.front().pose.position.z);
    }
    return sum;
}

constexpr BenchScene kScenes[] = {
    {"S1_1k", chains, 25, 300, false, chain_energy_j, false},
    {"S1_10k", chains, 250, 300, false, chain_energy_j, false},
    {"S1_100k", chains, 2500, 300, false, chain_energy_j, false},
    {"S2_20", pyramid, 20, 300, false, nullptr, true},
    {"S2_40", pyramid, 40, 300, false, nullptr, true},
    {"S2_60", pyramid, 60, 300, false, nullptr, true},
    {"S3_1000", rain, 1000, 600, true, nullptr, false},
    {"S3_4000", rain, 4000, 600, true, nullptr, false},
    {"S3_10000", rain, 10000, 600, true, nullptr, false},
    {"S4_100", ragdolls, 100, 600, true, nullptr, false},
    {"S4_400", ragdolls, 400, 600, true, nullptr, false},
    {"S5_ball", ball_net, 100, 300, false, net_energy_j, false},
    {"S5_dist", distance_net, 100, 300, false, net_energy_j, false},
    {"joint_grid", joint_grid, 100, 100, false, nullptr, false},
};

}  // namespace

std::span<const BenchScene> bench_scenes() { return kScenes; }

std::vector<const BenchScene*> select_bench_scenes(const std::vector<std::string>& names, std::string& unknown) {
    std::vector<const BenchScene*> selected;
    for (const std::string& name : names) {
        const auto begins = [&](const BenchScene& candidate) {
            return std::string_view(candidate.name).starts_with(name);
        };
        if (name.empty() || std::none_of(std::begin(kScenes), std::end(kScenes), begins)) {
            unknown = name;
            return {};
        }
    }
    for (const BenchScene& candidate : kScenes) {
        // A whole name stands for itself alone: S1_1k is not S1_10k's prefix in meaning.
        const auto meant = [&](const std::string& name) {
            const auto whole = [&](const BenchScene& other) { return name == other.name; };
            return std::any_of(std::begin(kScenes), std::end(kScenes), whole)
                       ? name == candidate.name
                       : std::string_view(candidate.name).starts_with(name);
        };
        if (names.empty() || std::any_of(names.begin(), names.end(), meant)) selected.push_back(&candidate);
    }
    return selected;
}

}  // namespace orrery::server
