// Scenes as games have them: mostly at rest, asked by rays and casts, on meshes, of mixed shapes. Where nothing else is
// said, nothing sleeps.
#include <cstdlib>

#include "server/cli/bench_figures.h"
#include "server/cli/bench_scenes.h"

namespace orrery::server {

namespace {

std::string number(double value) { return std::to_string(value); }
std::string number(std::uint32_t value) { return std::to_string(value); }

std::string awake_scene(const std::string& rest) {
    return R"({"scene_version": 1, "solver": {"sleep": false}, )" + rest + "}";
}
// Falls asleep in six ticks of rest: a short way to the window.
std::string sleepy_scene(const std::string& rest) {
    return R"({"scene_version": 1, "solver": {"sleep_time_s": 0.1}, )" + rest + "}";
}

const char* const kThreeShapes =
    R"({"name": "ball", "sphere": {"radius": 0.5}}, {"name": "crate", "box": {"half_extents": [0.5, 0.5, 0.5]}},
       {"name": "pill", "capsule": {"radius": 0.4, "half_height": 0.5}})";
const char* const kGround = R"({"name": "ground", "box": {"half_extents": [500, 1, 500]}})";
const char* const kGroundBody = R"({"name": "ground", "type": "static", "shape": "ground", "position": [0, -1, 0]})";

// Stacks of five crates on the ground, two metres from one another.
std::string crates(std::uint32_t count, std::uint32_t rows) {
    return R"({"grid": {"count_x": )" + number(count / 5 / rows) + R"(, "count_y": 5, "count_z": )" + number(rows) +
           R"(, "pitch_x": 2, "pitch_y": 1, "pitch_z": 2, "origin": [0, 0.5, 0], "shape": "crate"}})";
}
std::string asleep(std::uint32_t count) {
    return sleepy_scene("\"shapes\": [" + (kThreeShapes + (", " + std::string(kGround))) + "], \"bodies\": [" +
                        kGroundBody + "], \"generators\": [" + crates(count, 50) + "]");
}

// Beside the stacks a pen, into which a hundred bodies fall that do not sleep.
std::string asleep_but_for_a_heap(std::uint32_t count) {
    constexpr double kPenX = 130.0;
    std::string bodies = kGroundBody;
    for (const double side : {-1.0, 1.0}) {
        bodies += R"(, {"type": "static", "shape": "wall_x", "position": [)" + number(kPenX + 4.5 * side) +
                  R"(, 5, 0]}, {"type": "static", "shape": "wall_z", "position": [)" + number(kPenX) + ", 5, " +
                  number(4.5 * side) + "]}";
    }
    const char* const shapes[] = {"ball", "crate", "pill"};
    for (int i = 0; i < 100; ++i) {
        bodies += R"(, {"can_sleep": false, "shape": ")" + std::string(shapes[i % 3]) + R"(", "position": [)" +
                  number(kPenX + 1.5 * (i % 5 - 2)) + ", " + number(1.0 + 1.9 * (i / 25)) + ", " +
                  number(1.5 * (i / 5 % 5 - 2)) + R"(], "rotation_deg": [)" + number(17.0 * i) + ", " +
                  number(31.0 * i) + ", 0]}";
    }
    return sleepy_scene("\"shapes\": [" + (kThreeShapes + (", " + std::string(kGround))) +
                        R"(, {"name": "wall_x", "box": {"half_extents": [0.5, 5, 5]}},
                             {"name": "wall_z", "box": {"half_extents": [5, 5, 0.5]}}], "bodies": [)" +
                        bodies + "], \"generators\": [" + crates(count, 100) + "]");
}

// A town of crates on the ground, and 1,000 bodies that fall among them.
std::string fixed(std::uint32_t count) {
    return awake_scene("\"shapes\": [" + (kThreeShapes + (", " + std::string(kGround))) + "], \"bodies\": [" +
                       kGroundBody + R"(], "generators": [{"grid": {"count_x": 250, "count_z": )" +
                       number(count / 250) +
                       R"(, "pitch_x": 2, "pitch_z": 2, "origin": [0, 0.5, 0], "shape": "crate", "type": "static"}},
                         {"rain": {"count": 1000, "side": 32, "pitch": 6, "origin": [0, 3, 0],
                                   "shapes": ["ball", "crate", "pill"]}}])");
}

// Without gravity: they hang where they are, three metres apart, and sleep.
std::string cloud(std::uint32_t count) {
    return sleepy_scene(R"("gravity": [0, 0, 0], "shapes": [)" + std::string(kThreeShapes) +
                        R"(], "generators": [{"rain": {"count": )" + number(count) +
                        R"(, "side": 25, "pitch": 3, "shapes": ["ball", "crate", "pill"]}}])");
}
constexpr sim::Vec3 kCloudLowest{-37.5f, 0.0f, -37.5f}, kCloudHighest{37.5f, 46.0f, 37.5f};

// A mesh of cells by cells squares of two triangles, from 60 to 288 units high.
std::string mesh_hills(std::uint32_t cells, double pitch, double unit) {
    const auto wave = [](std::uint32_t k, int period) { return std::abs(2 * (static_cast<int>(k) % period) - period); };
    std::string vertices, indices;
    for (std::uint32_t k = 0; k <= cells; ++k) {
        for (std::uint32_t i = 0; i <= cells; ++i) {
            const int height = 60 + 6 * wave(2 * i + k, 16) + 6 * wave(i + 3 * k, 22);
            vertices += (vertices.empty() ? "[" : ", [") + number(pitch * (i - 0.5 * cells)) + ", " +
                        number(unit * height) + ", " + number(pitch * (k - 0.5 * cells)) + "]";
        }
    }
    for (std::uint32_t k = 0; k < cells; ++k) {
        for (std::uint32_t i = 0; i < cells; ++i) {
            const std::uint32_t here = k * (cells + 1) + i, next = here + cells + 1;
            for (const std::uint32_t corner : {here, next, here + 1, here + 1, next, next + 1})
                indices += (indices.empty() ? "" : ", ") + number(corner);
        }
    }
    return R"({"name": "hills", "mesh": {"vertices": [)" + vertices + R"(], "indices": [)" + indices + "]}}";
}
const char* const kHillsBody = R"("bodies": [{"name": "hills", "type": "static", "shape": "hills"}])";

std::string mesh_drop(std::uint32_t count) {
    return awake_scene("\"shapes\": [" + std::string(kThreeShapes) + ", " + bench_rock("rock") + ", " +
                       mesh_hills(200, 0.5, 0.005) + "], " + kHillsBody +
                       R"(, "generators": [{"arena": {"half_x": 48, "half_z": 48}}, {"rain": {"count": )" +
                       number(count) +
                       R"(, "side": 45, "pitch": 2.1, "origin": [0, 3, 0],
                           "shapes": ["ball", "crate", "pill", "rock"]}}])");
}

// They drive at 15 rad/s towards -z, by their back wheels.
std::string vehicles(std::uint32_t count) {
    std::string bodies = R"({"name": "chassis", "shape": "chassis", "material": "steel", "mass_kg": 1100})", joints;
    for (const bool back : {false, true}) {
        for (const bool right : {false, true}) {
            const std::string name = std::string(back ? "back" : "front") + (right ? "_right" : "_left");
            bodies += R"(, {"name": ")" + name +
                      R"(", "shape": "wheel", "material": "rubber", "mass_kg": 25, "rotation_deg": [0, 0, 90],
                          "position": [)" +
                      (right ? "1" : "-1") + ", -0.3, " + (back ? "1.3" : "-1.3") + "]}";
            joints += std::string(joints.empty() ? "" : ", ") + R"({"a": "chassis", "b": ")" + name +
                      R"(", "wheel": {"up": [0, 1, 0], "axle": [1, 0, 0], "min_m": -0.15, "max_m": 0.15,
                          "suspension": {"frequency_hz": 6, "damping_ratio": 1.7})" +
                      (back ? R"(, "target_radps": -15, "drive": {"max_force": 700, "damping": 40})" : "") + "}}";
        }
    }
    return awake_scene(
        R"("materials": [{"name": "earth", "friction": 0.8}, {"name": "steel", "friction": 0.3},
                         {"name": "rubber", "friction": 1, "rolling_resistance": 0.015}],
           "shapes": [{"name": "chassis", "box": {"half_extents": [0.85, 0.25, 2]}},
                      {"name": "wheel", "cylinder": {"radius": 0.38, "half_height": 0.12}}, )" +
        mesh_hills(128, 2.0, 0.008) + "], " + kHillsBody + R"(, "templates": [{"name": "car", "bodies": [)" + bodies +
        "], \"joints\": [" + joints +
        R"(]}], "generators": [{"crowd": {"template": "car", "side_x": 10, "side_z": 10, "pitch_x": 12, "pitch_z": 12,
                                          "origin": [0, 3.5, 0], "count": )" +
        number(count) + "}}]");
}

// Within walls, in layers of side by side bodies.
std::string heap(const std::string& shapes, const char* names, std::uint32_t count, const char* half, const char* side,
                 const char* pitch) {
    return awake_scene("\"shapes\": [" + shapes + R"(], "generators": [{"arena": {"half_x": )" + half +
                       ", \"half_z\": " + half + R"(}}, {"rain": {"count": )" + number(count) + ", \"side\": " + side +
                       ", \"pitch\": " + pitch + R"(, "origin": [0, 1.5, 0], "shapes": [)" + names + "]}}]");
}
// The walls are too far away for the pile to lean on them.
std::string hull_pile(std::uint32_t count) {
    return heap(bench_rocks(), R"("rock8", "rock16", "rock32")", count, "30", "7", "1.2");
}
std::string junkyard(std::uint32_t count) {
    return heap(bench_rocks() + ", " + bench_compounds() +
                    R"(, {"name": "crate", "box": {"half_extents": [0.5, 0.5, 0.5]}},
                        {"name": "globe", "sphere": {"radius": 0.5}},
                        {"name": "pill", "capsule": {"radius": 0.4, "half_height": 0.5}},
                        {"name": "drum", "cylinder": {"radius": 0.4, "half_height": 0.5}})",
                R"("rock16", "jack", "pill", "drum", "crate", "globe", "rock32", "dumbbell")", count, "10", "10", "2");
}

std::string rope(std::uint32_t count) {
    return R"({"scene_version": 1, "solver": {"sleep": false, "rig_joints": 8},
               "shapes": [{"name": "bead", "sphere": {"radius": 0.1}}], "generators": [{"chain": {"links": )" +
           number(count) + R"(, "shape": "bead"}}]})";
}

constexpr const char *kDeepest = "deepest penetration, mm", *kDeepestAtEnd = "deepest penetration at the end, mm";
// Hulls: Box3D's figures for hulls_1000, the same shapes. Else about twice what this engine reaches.
constexpr BenchTarget kAsleepTargets[] = {{"bodies awake at the end", awake, 0.0}};
constexpr BenchTarget kAllButAHeapTargets[] = {
    {"bodies awake at the end", awake, 100.0}, {kDeepest, deepest_mm, 50.0}, {kDeepestAtEnd, end_mm, 3.0}};
constexpr BenchTarget kFixedTargets[] = {{kDeepest, deepest_mm, 120.0}, {kDeepestAtEnd, end_mm, 5.0}};
constexpr BenchTarget kMeshTargets[] = {{"bytes of the definition, MB", definition_mb, 10.0},
                                        {kDeepest, deepest_mm, 65.0},
                                        {kDeepestAtEnd, end_mm, 2.0},
                                        {"lowest body below 0.5 m, m", below_m<500>, 0.0}};
constexpr BenchTarget kVehiclesTargets[] = {{kDeepest, deepest_mm, 65.0},
                                            {kDeepestAtEnd, end_mm, 25.0},
                                            {"last car short of 20 m, m", short_of_m<20>, 0.0},
                                            {"lowest body below 0.5 m, m", below_m<500>, 0.0}};
constexpr BenchTarget kHullPileTargets[] = {{kDeepest, deepest_mm, 420.0}, {kDeepestAtEnd, end_mm, 7.14}};
constexpr BenchTarget kJunkyardTargets[] = {{kDeepest, deepest_mm, 420.0}, {kDeepestAtEnd, end_mm, 25.0}};
constexpr BenchTarget kRopeTargets[] = {{"largest separation on average, mm", mean_apart_mm, 0.12},
                                        {"energy gained since the start after any tick", gained, 0.002}};

constexpr BenchScene kWorlds[] = {
    {.name = "asleep_10k",
     .about = "10,000 crates in stacks of five, all asleep; 300 ticks once they sleep",
     .text = asleep,
     .count = 10'000,
     .ticks = 300,
     .targets = kAsleepTargets,
     .settle_ticks = 15,
     .by_name_only = true},
    {.name = "asleep_50k",
     .about = "50,000 such crates asleep, 100 balls, crates and capsules awake in a pen; 100 ticks once they sleep",
     .text = asleep_but_for_a_heap,
     .count = 50'000,
     .ticks = 100,
     .targets = kAllButAHeapTargets,
     .settle_ticks = 15,
     .by_name_only = true},
    {.name = "fixed_50k",
     .about = "50,000 fixed crates, 1,000 balls, crates and capsules that fall among them; the last 100 of 200 ticks",
     .text = fixed,
     .count = 50'000,
     .ticks = 200,
     .timed_last_half = true,
     .targets = kFixedTargets,
     .by_name_only = true},
    {.name = "rays",
     .about = "20,000 random rays a tick of up to 69 m against 10,000 balls, crates and capsules asleep; 50 ticks",
     .text = cloud,
     .count = 10'000,
     .ticks = 50,
     .targets = kAsleepTargets,
     .settle_ticks = 15,
     .queries = {.rays = 20'000, .lowest = kCloudLowest, .highest = kCloudHighest, .longest_ray_m = 40.0f},
     .by_name_only = true},
    {.name = "casts",
     .about = "2,000 random casts a tick of four shapes by up to 17 m against the same bodies; 50 ticks",
     .text = cloud,
     .count = 10'000,
     .ticks = 50,
     .targets = kAsleepTargets,
     .settle_ticks = 15,
     .queries = {.casts = 2'000, .lowest = kCloudLowest, .highest = kCloudHighest, .longest_cast_m = 10.0f},
     .by_name_only = true},
    {.name = "mesh_drop",
     .about =
         "2,000 balls, crates, capsules and hulls dropped on a mesh of 80,000 triangles; the last 150 of 300 ticks",
     .text = mesh_drop,
     .count = 2'000,
     .ticks = 300,
     .timed_last_half = true,
     .targets = kMeshTargets,
     .by_name_only = true},
    {.name = "vehicles",
     .about =
         "100 cars of a box and four cylinders that drive on a mesh of 32,768 triangles; the last 300 of 600 ticks",
     .text = vehicles,
     .count = 100,
     .ticks = 600,
     .timed_last_half = true,
     .track_last_body = true,
     .targets = kVehiclesTargets,
     .by_name_only = true},
    {.name = "hull_pile",
     .about = "1,500 hulls of 8, 16 and 32 corners that fall into a pile; the last 300 of 600 ticks",
     .text = hull_pile,
     .count = 1'500,
     .ticks = 600,
     .timed_last_half = true,
     .targets = kHullPileTargets,
     .by_name_only = true},
    {.name = "junkyard",
     .about = "2,000 hulls, compounds, capsules, cylinders, crates and balls that fall between walls; the last 300 of "
              "600 ticks",
     .text = junkyard,
     .count = 2'000,
     .ticks = 600,
     .timed_last_half = true,
     .targets = kJunkyardTargets,
     .by_name_only = true},
    {.name = "rope_4000",
     .about = "a rig: one chain of 4,000 beads, let go when horizontal; 300 ticks",
     .text = rope,
     .count = 4'000,
     .ticks = 300,
     .energy_scale_j = chain_energy_j,
     .targets = kRopeTargets,
     .by_name_only = true},
};

}  // namespace

std::span<const BenchScene> bench_worlds() { return kWorlds; }

}  // namespace orrery::server
