// A body store filled by hand, for tests of collision that need no world.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/bodies/bodies.h"
#include "sim/collision/manifold_store.h"
#include "sim/shapes/shape.h"
#include "tests/support/body_store.h"
#include "tests/support/seeded_random.h"

namespace orrery::test {

// The generator of tests, with what worlds are made of.
class Random : public testing::Random {
  public:
    using testing::Random::Random;
    std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(testing::Random::below(n)); }
    sim::Vec3 vec(float extent) { return {in(-extent, extent), in(-extent, extent), in(-extent, extent)}; }
    sim::Quat rotation() {
        for (;;) {
            const float x = in(-1, 1), y = in(-1, 1), z = in(-1, 1), w = in(-1, 1), n = x * x + y * y + z * z + w * w;
            if (n < 0.01f || n > 1.0f) continue;
            const float s = 1.0f / std::sqrt(n);
            return {x * s, y * s, z * s, w * s};
        }
    }
};

inline sim::ShapeDef cylinder(float radius, float half_height) {
    return {{}, sim::ShapeType::cylinder, radius, half_height, {}};
}
// Of so many points in a box of these half extents.
inline sim::ShapeDef hull_of(std::uint64_t seed, int points, sim::Vec3 size) {
    sim::ShapeDef def;
    def.type = sim::ShapeType::hull;
    Random random(seed);
    for (int i = 0; i < points; ++i) {
        const sim::Vec3 v = random.vec(1.0f);
        def.points.push_back({v.x * size.x, v.y * size.y, v.z * size.z});
    }
    return def;
}

struct TestBodies {
    sim::Bodies bodies;
    std::vector<sim::Shape> shapes;

    TestBodies() { push_body(bodies, sim::kBodyAlive); }

    std::uint32_t shape(const sim::ShapeDef& def) {
        shapes.push_back(*sim::make_shape(def, "shape"));
        return static_cast<std::uint32_t>(shapes.size() - 1);
    }
    std::uint32_t sphere(float radius) { return shape({{}, sim::ShapeType::sphere, radius, 0.5f, {}}); }
    std::uint32_t box(float x, float y, float z) { return shape({{}, sim::ShapeType::box, 0.5f, 0.5f, {x, y, z}}); }
    std::uint32_t capsule(float radius, float half_height) {
        return shape({{}, sim::ShapeType::capsule, radius, half_height, {}});
    }
    std::uint32_t plane() { return shape({{}, sim::ShapeType::plane, 0.5f, 0.5f, {}}); }

    std::uint32_t add(std::uint32_t shape_index, std::uint8_t flags, sim::Pose pose) {
        const std::uint32_t i = push_body(bodies, static_cast<std::uint8_t>(sim::kBodyAlive | flags));
        body_info(bodies, i).shape = shape_index;
        place(i, pose);
        return i;
    }
    void place(std::uint32_t i, const sim::Pose& pose) {
        const sim::Vec3 p = pose.position;
        const sim::Quat q = pose.orientation;
        bodies.pose[i] = {{p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}, 0.0f};
    }
    void move(std::uint32_t i, sim::Vec3 linear, sim::Vec3 angular) {
        bodies.velocity[i] = {{linear.x, linear.y, linear.z}, {angular.x, angular.y, angular.z}, {}};
    }
};

// What was found, each in full.
inline std::vector<sim::Manifold> copies(sim::Manifolds manifolds) {
    std::vector<sim::Manifold> out(manifolds.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        std::memcpy(static_cast<void*>(&out[i]), &manifolds[i], sim::manifold_bytes(manifolds[i].count));
    return out;
}

// Of a Collision for a target, or of a BroadPhase with kernels and maybe a limit.
template <class Finder, class With, class... Limit>
bool find_pairs(Finder& finder, const sim::Bodies& bodies, std::span<const sim::Pair> excluded, const With& with,
                sim::Executor& executor, std::vector<sim::Pair>& pairs, Limit... limit) {
    sim::TickArena arena;
    std::span<const sim::Pair> found;
    if (!finder.find_pairs(bodies, excluded, with, executor, arena, found, limit...)) return false;
    pairs.assign(found.begin(), found.end());
    return true;
}

}  // namespace orrery::test
