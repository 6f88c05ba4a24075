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

// Where a way enters boxes that grow by [below, above], the box of what moves, about its origin. An axis along which it
// does not move has the slopes of a very long way.
class Slabs {
  public:
    Slabs(Point origin, Point below, Point above, Point direction, double length) : length_(length) {
        const double o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
        const double low[3] = {below.x, below.y, below.z}, high[3] = {above.x, above.y, above.z};
        for (std::uint32_t k = 0; k < 3; ++k) {
            Axis& a = axis_[k];
            a.origin = o[k];
            a.inverse = abs(d[k]) < kNoDirection ? 1.0 / kNoDirection : 1.0 / d[k];
            const bool up = a.inverse > 0.0;
            a.enter_row = up ? k : k + 3, a.leave_row = up ? k + 3 : k;
            a.enter_growth = up ? high[k] : low[k], a.leave_growth = up ? low[k] : high[k];
            const double enter = o[k] + a.enter_growth, leave = o[k] + a.leave_growth;
            wide_.enter[k] = {a.enter_row, up ? rounded_up(enter) : rounded_down(enter)};
            wide_.leave[k] = {a.leave_row, up ? rounded_down(leave) : rounded_up(leave)};
            wide_.inverse[k] = static_cast<float>(clamp(a.inverse, -kSteepest, kSteepest));
        }
    }

    std::uint32_t bits(const TreeKernels& kernels, const TreeNode& node, float length, float enter[16]) const {
        return kernels.way_bits(node, wide_, length, enter);
    }
    // How far the way goes to box k of the node, or kNowhere.
    double enter(const TreeNode& node, std::uint32_t k) const {
        double near = 0.0, far = length_;
        for (const Axis& a : axis_) {
            near = max(a.to(row_of(node, a.enter_row)[k], a.enter_growth), near);
            far = min(a.to(row_of(node, a.leave_row)[k], a.leave_growth), far);
        }
        return near <= far ? near : kNowhere;
    }

  private:
    // Directions below become none. Of a steeper way than kSteepest, the micrometre of rounded_up() still takes longer
    // than any way is.
    static constexpr double kNoDirection = 1e-290, kSteepest = 1e30;

    struct Axis {
        double origin, inverse, enter_growth, leave_growth;
        std::uint32_t enter_row, leave_row;

        double to(double plane, double growth) const { return ((plane - growth) - origin) * inverse; }
    };
    Axis axis_[3];
    double length_;
    BoxWay wide_;
};

}  // namespace orrery::sim::ref
