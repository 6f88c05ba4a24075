// Pairs of children of compounds (or of a child and another body) that have functions over the lanes: listed while
// pairs are looked at, then run 16 of a type at a time, as those of bodies are.
#pragma once

#include <vector>

#include "sim/bodies/bodies.h"
#include "sim/collision/broad/broad_kernels.h"
#include "sim/collision/lanes/narrow_kernels.h"
#include "sim/collision/pair_view.h"

namespace orrery::sim::ref {

class ChildPairs {
  public:
    // On larger children single precision would be seen.
    static constexpr float kLargestOverLanes_m = 50.0f;
    // In the rider's frame: the base's axes, the rider's centre.
    struct Part {
        const Shape& shape;
        D3 position;
        DQuat turn;
    };

    static bool over_lanes(const Shape& a, const Shape& b) {
        return static_cast<std::uint8_t>(a.type) < kLaneShapes && static_cast<std::uint8_t>(b.type) < kLaneShapes &&
               a.bounding_radius <= kLargestOverLanes_m && b.bounding_radius <= kLargestOverLanes_m;
    }

    void clear();
    // `contact`: the row among contacts to write what is found into. `motion`: of the first against the second, within
    // what is left of the tick.
    void add(const Part& a, const Part& b, const PairView& view, D3 motion, std::uint32_t contact);
    // Those that touch nowhere are left without points.
    void run(const NarrowKernels& kernels, PairContacts& out);

  private:
    struct Row {
        std::uint32_t contact, record;  // of `poses_`: the first shape's, before the second's
        ShapeType first, second;
        bool swapped, base_is_b;
    };
    void write(const Row& row, const ContactBatch& from, std::uint32_t lane, PairContacts& out) const;

    std::vector<Row> rows_[kPairTypes];
    // By record.
    std::vector<PoseRecord> poses_;
    std::vector<VelocityRecord> velocities_;
    std::vector<ShapeRecord> shapes_;
    std::vector<BoundsRecord> bounds_;
};

}  // namespace orrery::sim::ref
