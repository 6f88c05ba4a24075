#include "server/cli/bench_queries.h"

#include <xxhash.h>

#include <bit>

namespace orrery::server {

namespace {

// A shape of its own for cast i: a ball, a box, a capsule and a cylinder in turn.
sim::QueryShape shape_of(std::uint32_t i) {
    constexpr sim::ShapeType kTypes[] = {sim::ShapeType::sphere, sim::ShapeType::box, sim::ShapeType::capsule,
                                         sim::ShapeType::cylinder};
    sim::QueryShape shape;
    shape.type = kTypes[i % 4];
    shape.radius = shape.half_height = 0.3f;
    shape.half_extents = {0.3f, 0.3f, 0.3f};
    return shape;
}

}  // namespace

// All room is taken here, so that a world's memory is measured without it.
BenchQueries::BenchQueries(const QueryLoad& load) : load_(load), rays_(load.rays), casts_(load.casts) {
    for (std::uint32_t i = 0; i < load.casts; ++i) casts_[i].shape = shape_of(i);
    ray_answers_.answers.reserve(load.rays);
    ray_answers_.hits.reserve(load.rays);
    cast_answers_.answers.reserve(load.casts);
    cast_answers_.hits.reserve(load.casts);
    words_.reserve(16 * std::size_t(load.rays + load.casts));
}

float BenchQueries::number() {
    random_ = random_ * 1664525u + 1013904223u;
    return static_cast<float>(random_ >> 8) * 0x1p-24f;
}

// One draw after the other: the order of a function's arguments is the compiler's.
sim::Vec3 BenchQueries::place() {
    const auto between = [&](float least, float most) { return least + (most - least) * number(); };
    sim::Vec3 at;
    at.x = between(load_.lowest.x, load_.highest.x);
    at.y = between(load_.lowest.y, load_.highest.y);
    at.z = between(load_.lowest.z, load_.highest.z);
    return at;
}
sim::Vec3 BenchQueries::way(float longest_m) {
    sim::Vec3 way;
    for (float* axis : {&way.x, &way.y, &way.z}) *axis = longest_m * (2.0f * number() - 1.0f);
    return way;
}

void BenchQueries::prepare() {
    for (sim::RayCast& ray : rays_) {
        ray.origin = place();
        ray.translation = way(load_.longest_ray_m);
    }
    for (sim::ShapeCast& cast : casts_) {
        cast.pose.position = place();
        cast.translation = way(load_.longest_cast_m);
    }
}

void BenchQueries::ask(const sim::World& world, sim::Executor* executor) {
    if (!rays_.empty()) world.cast_rays(rays_, ray_answers_, executor);
    if (!casts_.empty()) world.cast_shapes(casts_, cast_answers_, executor);
}

void BenchQueries::note() {
    if (!rays_.empty()) note(ray_answers_);
    if (!casts_.empty()) note(cast_answers_);
}

void BenchQueries::note(const sim::QueryAnswers& answers) {
    words_.clear();
    const auto add = [&](std::uint32_t word) { words_.push_back(word); };
    for (std::size_t i = 0; i < answers.answers.size(); ++i) {
        add(static_cast<std::uint32_t>(answers.answers[i].status));
        found_ += answers.answers[i].status == sim::QueryStatus::hit ? 1 : 0;
        for (const sim::QueryHit& hit : answers.of(i)) {
            add(hit.body.index);
            add(hit.child << 1 | (hit.inside ? 1u : 0u));
            for (const float number : {hit.distance, hit.fraction, hit.point.x, hit.point.y, hit.point.z, hit.normal.x,
                                       hit.normal.y, hit.normal.z})
                add(std::bit_cast<std::uint32_t>(number));
        }
    }
    asked_ += answers.answers.size();
    checksum_ = XXH3_64bits_withSeed(words_.data(), words_.size() * sizeof words_[0], checksum_);
}

std::uint64_t BenchQueries::digest(std::uint64_t world_root) const {
    return XXH3_64bits_withSeed(&world_root, sizeof world_root, checksum_);
}

}  // namespace orrery::server
