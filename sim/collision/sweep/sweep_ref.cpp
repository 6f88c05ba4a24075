// Conservative advancement: along the normal of the distance to a fixed shape the gap shrinks no faster than by the
// linear speed of approach and the fastest turn times the body's bounding radius. Time runs from 0 to 1. Of what turns
// that bound is far too strict where it is near: a rod whose end slides along a wall would come no further at all. So a
// step is never shorter than one in which no part of the body moves by more than half of both skins, which pass
// nothing.
#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/collision/sweep/sweep.h"

#include <vector>

#include "sim/collision/queries/convex.h"
#include "sim/collision/queries/parts.h"
#include "sim/collision/queries/search-inl.h"
#include "sim/collision/queries/tree_walk.h"

namespace orrery::sim::ref {

namespace {

// The walk ends where of the sum of both skins so much is left between the shapes, which have lost theirs.
constexpr double kGapPart = 0.1;
constexpr double kNearPart = 0.25;  // of that: nearer it is not left
constexpr double kStepPart = 0.5;   // of the sum of both skins

Point position_of(const PoseRecord& p) { return {p.position[0], p.position[1], p.position[2]}; }
QuatT<double> orientation_of(const PoseRecord& p) {
    const float* q = p.orientation;
    return normalize(QuatT<double>{q[0], q[1], q[2], q[3]});
}

struct Way {
    Point from, translation;
    QuatT<double> first, last;  // on the same side, so that between them lies the shorter turn
    double fastest_turn;        // rad in all, were it all turned as fast as the fastest part

    Way(const PoseRecord& start, const PoseRecord& end)
        : from(position_of(start)),
          translation(position_of(end) - position_of(start)),
          first(orientation_of(start)),
          last(orientation_of(end)) {
        double cosine = ((first.x * last.x + first.y * last.y) + first.z * last.z) + first.w * last.w;
        if (cosine < 0.0) last = {-last.x, -last.y, -last.z, -last.w}, cosine = -cosine;
        // The normalised chord between quaternions an angle h apart turns fastest in its middle: 2 tan(h / 2) for h,
        // twice of it in space.
        const double sine = sqrt(max(1.0 - cosine * cosine, 0.0));
        fastest_turn = 4.0 * sine / (1.0 + cosine);
    }
    Frame at(double t) const {
        const double s = 1.0 - t;
        const QuatT<double> q{first.x * s + last.x * t, first.y * s + last.y * t, first.z * s + last.z * t,
                              first.w * s + last.w * t};
        return {to_matrix(normalize(q)), from + translation * t};
    }
};

// A convex shape, smaller by its skin, where its body's frame has it.
struct Skinned {
    Shape shape;
    const ShapeQueries& queries;
    Frame frame;
    double skin = 0.0;

    Skinned(const Shape& whole, const ShapeQueries& of, const Frame& in_body)
        : shape(whole), queries(of), frame(in_body) {
        if (!queries.shrink) return;
        skin = kSkinPart * double(whole.inner_radius);
        queries.shrink(shape, static_cast<float>(skin));
    }
};

const Frame kUpright{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {0.0, 0.0, 0.0}};
Frame placed(const Frame& outer, const Frame& inner) {
    return {outer.rotation * inner.rotation, to_outer(outer, inner.position)};
}

struct Walk {
    const BodyInfo& info;
    std::span<const Shape> shapes;
    Way way;
    std::vector<Skinned> parts;
    double radius;
    Box3 box{};  // holds the whole way
    BoxOverlap overlap;
    double free = 1.0;
    bool pressed = false;  // it began nearer to what ended it than it would be left at first

    Walk(const Shape& shape, const BodyInfo& of, const PoseRecord& start, const PoseRecord& end,
         std::span<const Shape> all)
        : info(of), shapes(all), way(start, end), radius(shape.bounding_radius) {
        if (shape.compound) {
            for (std::uint32_t i = 0; i < shape.compound->child.size(); ++i) {
                const Part part = part_of(*shape.compound, i);
                parts.emplace_back(part.shape, part.queries, part.frame);
            }
        } else {
            parts.emplace_back(shape, shape_queries(shape.type), kUpright);
        }
        const Point reach{radius, radius, radius}, to = way.from + way.translation;
        box = {min(way.from, to) - reach, max(way.from, to) + reach};
        overlap = BoxOverlap(box);
    }
    std::uint32_t boxes(const TreeKernels& kernels, const TreeNode& node, float*) const {
        return overlap.bits(kernels, node);
    }
    static constexpr bool is_exact() { return true; }
    double nearest(const TreeNode& node, std::uint32_t lane) const {
        return overlap.meets(node, lane) ? 0.0 : kNowhere;
    }
    bool wants(double) const { return free > 0.0; }
    void test(const QueryBody& other) {
        if ((other.types & kQuerySensors) != 0 || (info.category & other.mask) == 0 ||
            (info.mask & other.category) == 0)
            return;
        const Shape& obstacle = shapes[other.shape];
        const Frame frame = frame_of(other.pose);
        if (is_convex(obstacle.type)) return pass(Skinned(obstacle, shape_queries(obstacle.type), frame));
        if (!obstacle.compound && !obstacle.mesh) return;
        const Box3 near = box_in(frame);
        const InBox wanted(near, kTreeKernels);
        if (obstacle.compound) {
            walk(obstacle.compound->tree, wanted, [&](std::uint32_t i) {
                const Part part = part_of(*obstacle.compound, i);
                pass(Skinned(part.shape, part.queries, placed(frame, part.frame)));
            });
            return;
        }
        // From the front alone, as contacts are.
        const Point start = to_local(frame, way.from);
        TriangleShape triangle;
        const ShapeQueries triangle_queries{nullptr, nullptr, kHullQueries.support};  // and no skin
        walk(obstacle.mesh->tree, wanted, [&](std::uint32_t t) {
            const Mesh& mesh = *obstacle.mesh;
            const D3 n = triangle_normal(mesh, t), p = widened(mesh.vertex[mesh.triangle[t].corner(0)]);
            if (dot(n, D3{start.x, start.y, start.z} - p) <= 0.0) return;
            pass(Skinned(triangle.of(mesh, t), triangle_queries, frame));
        });
    }

  private:
    Box3 box_in(const Frame& frame) const {
        const Point centre = to_local(frame, (box.min + box.max) * 0.5), half = (box.max - box.min) * 0.5;
        const Mat3T<double>& r = frame.rotation;
        const Point reach{(abs(r.x.x) * half.x + abs(r.y.x) * half.y) + abs(r.z.x) * half.z,
                          (abs(r.x.y) * half.x + abs(r.y.y) * half.y) + abs(r.z.y) * half.z,
                          (abs(r.x.z) * half.x + abs(r.y.z) * half.y) + abs(r.z.z) * half.z};
        return {centre - reach, centre + reach};
    }
    void pass(const Skinned& obstacle) {
        for (const Skinned& part : parts) pass(part, obstacle);
    }
    void pass(const Skinned& part, const Skinned& obstacle) {
        const double radii = double(obstacle.shape.radius) + double(part.shape.radius);
        const double turning = way.fastest_turn * radius, skins = obstacle.skin + part.skin,
                     least = kStepPart * skins / (turning + length(way.translation));
        double stop = kGapPart * skins, t = 0.0, clear = 0.0;
        bool begins_near = false, ends = false;
        for (int n = 0; n < kMaxSweepIterations; ++n) {
            const Probe probe{part.shape, part.queries, relative_frame(obstacle.frame, placed(way.at(t), part.frame))};
            const CoreDistance near = core_distance(obstacle.shape, obstacle.queries, probe);
            const double gap = near.distance - radii;
            if (n == 0) {
                if (gap <= 0.0) return;
                begins_near = gap < kNearPart * stop;
                stop = min(stop, 0.5 * gap);
            }
            if (gap > kNearPart * stop) {
                if (ends) return;
                clear = t;
            }
            if (gap <= stop) break;
            const Point normal = obstacle.frame.rotation * ((near.on_probe - near.on_shape) * (1.0 / near.distance));
            const double approach = turning - dot(normal, way.translation);
            if (approach <= 0.0) return;
            const double step = (gap - 0.5 * stop) / approach;
            if (t + step >= free) return;
            t = t + max(step, least);
            if (t >= free)
                t = free, ends = true;  // where it would be left: nothing says yet that it is not in what it meets
        }
        free = clear;
        pressed = begins_near;
    }
};

}  // namespace

FreeWay free_way(const Shape& shape, const BodyInfo& info, const PoseRecord& start, const PoseRecord& end,
                 const BodyTree& fixed, std::span<const Shape> shapes) {
    if (has_no_mass(shape.type)) return {};
    Walk walk(shape, info, start, end, shapes);
    search(fixed, walk);
    return {walk.free, walk.pressed && walk.free < kStuckPart};
}

PoseRecord pose_between(const PoseRecord& start, const PoseRecord& end, double part) {
    const Way way(start, end);
    const double s = 1.0 - part;
    const QuatT<double>&a = way.first, &b = way.last;
    const QuatT<double> q = normalize(
        QuatT<double>{a.x * s + b.x * part, a.y * s + b.y * part, a.z * s + b.z * part, a.w * s + b.w * part});
    const Point p = way.from + way.translation * part;
    return {{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)},
            {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z), static_cast<float>(q.w)},
            0.0f};
}

void turn_along(VelocityRecord& velocity, const PoseRecord& from, const PoseRecord& to, const float (&lock)[3]) {
    float* const w = velocity.angular;
    const Point turned =
        to_matrix(orientation_of(to)) * transpose_times(to_matrix(orientation_of(from)), Point{w[0], w[1], w[2]});
    w[0] = static_cast<float>(turned.x) * lock[0];
    w[1] = static_cast<float>(turned.y) * lock[1];
    w[2] = static_cast<float>(turned.z) * lock[2];
}

void halve(VelocityRecord& velocity) {
    for (float& v : velocity.linear) v = v * 0.5f;
    for (float& w : velocity.angular) w = w * 0.5f;
}

}  // namespace orrery::sim::ref
