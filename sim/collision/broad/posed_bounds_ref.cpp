#include "sim/lanes/ref_pass.h"

#include "sim/collision/broad/bounds-inl.h"
#include "sim/collision/broad/posed_bounds.h"
#include "sim/collision/convex/convex.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/convex_support.h"
#include "sim/shapes/mesh.h"

namespace orrery::sim::ref {

namespace {

constexpr double kRounding = 1e-6;  // of coordinates: more than single precision takes from them

// Along the world's axes, from the body's position.
struct PosedExtents {
    D3 row[3];  // the world's axes in the body's coordinates
    double low[3], high[3];

    explicit PosedExtents(const DAxes& a) : row{{a.x.x, a.y.x, a.z.x}, {a.x.y, a.y.y, a.z.y}, {a.x.z, a.y.z, a.z.z}} {
        for (int k = 0; k < 3; ++k) low[k] = 1e300, high[k] = -1e300;
    }
    void add(int k, double from, double to) {
        low[k] = smaller(low[k], from);
        high[k] = larger(high[k], to);
    }
    void add(D3 point) {
        for (int k = 0; k < 3; ++k) {
            const double at = dot(row[k], point);
            add(k, at, at);
        }
    }
    void add_box(D3 centre, D3 half) {
        for (int k = 0; k < 3; ++k) {
            const D3 r = row[k];
            const double at = dot(r, centre);
            const double extent = (absolute(r.x) * half.x + absolute(r.y) * half.y) + absolute(r.z) * half.z;
            add(k, at - extent, at + extent);
        }
    }
    void add_convex(const Shape& shape, const DPose& pose) {
        const DAxes world{
            {row[0].x, row[1].x, row[2].x}, {row[0].y, row[1].y, row[2].y}, {row[0].z, row[1].z, row[2].z}};
        const ShapeBox box = box_of(shape, {outward(world, pose.position), outward(world, pose.axes)}, 0.0);
        const double from[3] = {box.low.x, box.low.y, box.low.z}, to[3] = {box.high.x, box.high.y, box.high.z};
        for (int k = 0; k < 3; ++k) add(k, from[k], to[k]);
    }
    // In single precision, and larger by what that may be wrong by.
    void add_hull(const BroadKernels& kernels, const Hull& hull, double bounding_radius) {
        float r[9], from[3], to[3];
        for (int k = 0; k < 3; ++k) {
            const Vec3 v = narrowed(row[k]);
            r[3 * k] = v.x, r[3 * k + 1] = v.y, r[3 * k + 2] = v.z;
        }
        kernels.extents({{hull.row[0].data(), hull.row[1].data(), hull.row[2].data()}, hull.topology.vertices}, r, from,
                        to);
        for (int k = 0; k < 3; ++k) add(k, from[k] - kRounding * bounding_radius, to[k] + kRounding * bounding_radius);
    }
    // By the boxes of the root's grandchildren, or its children where there are no more levels.
    void add_tree(const TreeView& tree) {
        const TreeNode& root = *tree.level[tree.levels - 1];
        if (tree.levels == 1) return add_node(root);
        for (std::uint32_t i = 0; i < 16; ++i) {
            if (root.min[0][i] <= root.max[0][i]) add_node(tree.level[tree.levels - 2][i]);
        }
    }
    void add_node(const TreeNode& node) {
        for (std::uint32_t i = 0; i < 16; ++i) {
            if (node.min[0][i] > node.max[0][i]) continue;
            const D3 from{node.min[0][i], node.min[1][i], node.min[2][i]},
                to{node.max[0][i], node.max[1][i], node.max[2][i]};
            add_box((from + to) * 0.5, (to - from) * 0.5);
        }
    }
};

void add_shape(const BroadKernels& kernels, const Shape& shape, PosedExtents& out) {
    if (shape.hull) {
        out.add_hull(kernels, *shape.hull, shape.bounding_radius);
    } else if (shape.mesh) {
        if (shape.mesh->vertex.size() > kMaxPosedVertices) return out.add_tree(shape.mesh->tree.view());
        for (const Vec3& v : shape.mesh->vertex) out.add(widened(v));
    } else {
        const Compound& compound = *shape.compound;
        if (compound.child.size() > kMaxPosedChildren) return out.add_tree(compound.tree.view());
        for (const Compound::Child& child : compound.child) out.add_convex(compound.shapes[child.shape], child.pose);
    }
}

}  // namespace

void expand_posed(const BroadKernels& kernels, const Shape& shape, const ExpandInput& in, std::uint32_t body,
                  std::uint8_t& escaped) {
    const float *pose = in.pose + body * kRecordFloats, *velocity = in.velocity + body * kRecordFloats;
    PosedExtents extents(axes_of({pose[3], pose[4], pose[5], pose[6]}));
    add_shape(kernels, shape, extents);
    Vec3T<float> low, high;
    float* const lows[3] = {&low.x, &low.y, &low.z};
    float* const highs[3] = {&high.x, &high.y, &high.z};
    for (int k = 0; k < 3; ++k) {
        const double rounding = kRounding * (absolute(extents.low[k]) + absolute(extents.high[k]));
        *lows[k] = static_cast<float>(extents.low[k] - rounding);
        *highs[k] = static_cast<float>(extents.high[k] + rounding);
    }
    const float most = in.passive_growth == nullptr ? in.margin_m : max(in.margin_m, in.passive_growth[body]);
    const float growth = turning_growth(Vec3T<float>{velocity[3], velocity[4], velocity[5]}, in.dt_s, in.margin_m, most,
                                        shape.bounding_radius, shape.inner_radius);
    const BoundsT<float> box =
        swept_bounds(Vec3T<float>{pose[0], pose[1], pose[2]}, low, high,
                     Vec3T<float>{velocity[0] * in.dt_s, velocity[1] * in.dt_s, velocity[2] * in.dt_s}, growth);
    float* tight = in.tight + body * kRecordFloats;
    tight[0] = box.min.x, tight[1] = box.min.y, tight[2] = box.min.z;
    tight[4] = box.max.x, tight[5] = box.max.y, tight[6] = box.max.z, tight[7] = box.growth;
    if (in.fat == nullptr) return;
    const float* fat = in.fat + body * kRecordFloats;
    bool inside = true;
    for (int k = 0; k < 3; ++k) inside = inside && fat[k] <= tight[k] && tight[k + 4] <= fat[k + 4];
    escaped = inside ? 0 : 1;
}

}  // namespace orrery::sim::ref
