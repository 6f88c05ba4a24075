// Queries that a benchmark scene asks after every step, in one batch and in the time of the tick.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

struct QueryLoad {
    std::uint32_t rays = 0, casts = 0;            // a tick
    sim::Vec3 lowest, highest;                    // m; the box in which they begin
    float longest_ray_m = 0, longest_cast_m = 0;  // along each axis
    bool any() const { return rays + casts > 0; }
};

// Begins and ways are random, of the benchmarks' generator: a function of the load and of the count of ticks alone.
class BenchQueries {
  public:
    explicit BenchQueries(const QueryLoad& load);

    void prepare();                                              // those of a tick
    void ask(const sim::World& world, sim::Executor* executor);  // what is timed
    void note();                                                 // the answers to what was asked

    std::uint64_t asked() const { return asked_; }
    std::uint64_t found() const { return found_; }         // that hit something
    std::uint64_t digest(std::uint64_t world_root) const;  // of a world's hash and every answer noted

  private:
    float number();  // in [0, 1)
    sim::Vec3 place();
    sim::Vec3 way(float longest_m);
    void note(const sim::QueryAnswers& answers);

    QueryLoad load_;
    std::uint32_t random_ = 24680;
    std::vector<sim::RayCast> rays_;
    std::vector<sim::ShapeCast> casts_;
    sim::QueryAnswers ray_answers_, cast_answers_;
    std::vector<std::uint32_t> words_;  // of the answers of a tick, for the checksum
    std::uint64_t checksum_ = 0, asked_ = 0, found_ = 0;
};

}  // namespace orrery::server
