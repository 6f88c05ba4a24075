// What a query asks of the boxes of a tree's node: of all sixteen over the lanes, rounded outward, and of one exactly.
// For the reference pass.
#pragma once

#include "sim/collision/queries/shape_queries.h"
#include "sim/trees/node_tests-inl.h"

namespace orrery::sim::ref {

inline constexpr double kNowhere = 1e300;

// A number that is at least so much more, or less, as a float.
inline float rounded_up(double x) { return static_cast<float>(x + (1e-6 + abs(x) * 0x1p-22)); }
inline float rounded_down(double x) { return static_cast<float>(x - (1e-6 + abs(x) * 0x1p-22)); }

inline Point low_of(const TreeNode& node, std::uint32_t k) { return {node.min[0][k], node.min[1][k], node.min[2][k]}; }
inline Point high_of(const TreeNode& node, std::uint32_t k) { return {node.max[0][k], node.max[1][k], node.max[2][k]}; }

// Which boxes overlap a box.
class BoxOverlap {
  public:
    BoxOverlap() = default;
    explicit BoxOverlap(const Box3& box)
        : box_(box),
          low_{rounded_down(box.min.x), rounded_down(box.min.y), rounded_down(box.min.z)},
          high_{rounded_up(box.max.x), rounded_up(box.max.y), rounded_up(box.max.z)} {}

    std::uint32_t bits(const TreeKernels& kernels, const TreeNode& node) const {
        return kernels.box_bits(node, low_, high_);
    }
    bool meets(const TreeNode& node, std::uint32_t k) const {
        const Point low = low_of(node, k), high = high_of(node, k);
        return low.x <= box_.max.x && box_.min.x <= high.x && low.y <= box_.max.y && box_.min.y <= high.y &&
               low.z <= box_.max.z && box_.min.z <= high.z;
    }

  private:
    Box3 box_{};
    float low_[3] = {}, high_[3] = {};
};

// A way in single precision through boxes that grow by [low, high] about its origin.
inline BoxWay wide_way(const double (&origin)[3], const double (&inverse)[3], const double (&low)[3],
                       const double (&high)[3]) {
    // Of a steeper way, the micrometre of rounded_up() still takes longer than any way is.
    constexpr double kSteepest = 1e30;
    BoxWay way;
    for (std::uint32_t k = 0; k < 3; ++k) {
        if (inverse[k] > 0.0) {
            way.enter[k] = {k, rounded_up(origin[k] + high[k])};
            way.leave[k] = {k + 3, rounded_down(origin[k] + low[k])};
        } else {
            way.enter[k] = {k + 3, rounded_down(origin[k] + low[k])};
            way.leave[k] = {k, rounded_up(origin[k] + high[k])};
        }
        way.inverse[k] = static_cast<float>(clamp(inverse[k], -kSteepest, kSteepest));
    }
    return way;
}

// Directions below become none.
inline constexpr double kNoDirection = 1e-290;
inline double inverse_of(double d) { return abs(d) < kNoDirection ? 1.0 / kNoDirection : 1.0 / d; }

// Where a way enters boxes that grow by [below, above], the box of what moves, about its origin. An axis along which it
// does not move has the slopes of a very long way.
class Slabs {
  public:
    Slabs(Point origin, Point below, Point above, Point direction, double length)
        : origin_{origin.x, origin.y, origin.z},
          inverse_{inverse_of(direction.x), inverse_of(direction.y), inverse_of(direction.z)},
          low_{below.x, below.y, below.z},
          high_{above.x, above.y, above.z},
          length_(length),
          wide_(wide_way(origin_, inverse_, low_, high_)) {}

    std::uint32_t bits(const TreeKernels& kernels, const TreeNode& node, float length, float enter[16]) const {
        return kernels.way_bits(node, wide_, length, enter);
    }
    // How far the way goes to box k of the node, or kNowhere.
    double enter(const TreeNode& node, std::uint32_t k) const {
        double near = 0.0, far = length_;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double a = ((node.min[axis][k] - high_[axis]) - origin_[axis]) * inverse_[axis],
                         b = ((node.max[axis][k] - low_[axis]) - origin_[axis]) * inverse_[axis];
            near = max(min(a, b), near);
            far = min(max(a, b), far);
        }
        return near <= far ? near : kNowhere;
    }

  private:
    double origin_[3], inverse_[3], low_[3], high_[3], length_;
    BoxWay wide_;
};

// Which boxes a ray meets; a hair's breadth more than the box counts as it.
class RayBoxes {
  public:
    explicit RayBoxes(const Ray& r)
        : origin_{r.origin.x, r.origin.y, r.origin.z}, direction_{r.direction.x, r.direction.y, r.direction.z} {
        double inverse[3], low[3];
        for (std::size_t k = 0; k < 3; ++k) {
            inverse[k] = inverse_of(direction_[k]);
            slack_[k] = 1e-6 * (1.0 + abs(origin_[k]));
            low[k] = -slack_[k];
        }
        wide_ = wide_way(origin_, inverse, low, slack_);
    }

    std::uint32_t bits(const TreeKernels& kernels, const TreeNode& node, double length) const {
        float enter[16];
        return kernels.way_bits(node, wide_, static_cast<float>(length), enter);
    }
    // Whether it meets box k of the node before `length`.
    bool meets(const TreeNode& node, std::uint32_t k, double length) const {
        double enter = 0.0, leave = length;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double low = node.min[axis][k] - slack_[axis], high = node.max[axis][k] + slack_[axis];
            if (direction_[axis] == 0.0) {
                if (origin_[axis] < low || origin_[axis] > high) return false;
                continue;
            }
            const double a = (low - origin_[axis]) / direction_[axis], b = (high - origin_[axis]) / direction_[axis];
            enter = max(min(a, b), enter);
            leave = min(max(a, b), leave);
        }
        return enter <= leave;
    }

  private:
    double origin_[3], direction_[3], slack_[3];
    BoxWay wide_;
};

}  // namespace orrery::sim::ref
