#include "sim/shapes/compound.h"

#include <numeric>

#include "sim/shapes/checks.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr double kUnitTolerance2 = 2e-3;  // of a squared quaternion length

Error wrong_child(std::string_view place, std::size_t child, const char* field, std::string message) {
    return {ErrorCode::invalid_argument, std::string(place) + ".children[" + std::to_string(child) + "]" + field,
            std::move(message)};
}

Result<Ok> check_child(const CompoundChild& child, std::size_t i, std::string_view place,
                       std::span<const Shape> earlier) {
    if (child.shape >= earlier.size())
        return wrong_child(place, i, ".shape",
                           "names no earlier shape; list the shapes of children before their compound");
    if (!is_convex(earlier[child.shape].type))
        return wrong_child(place, i, ".shape", "is not a convex shape; use a sphere, box, capsule, cylinder or hull");
    const Vec3 p = child.pose.position;
    const Quat q = child.pose.orientation;
    const bool near =
        absolute(p.x) <= kMaxShapeSize_m && absolute(p.y) <= kMaxShapeSize_m && absolute(p.z) <= kMaxShapeSize_m;
    if (!near)
        return wrong_child(place, i, ".pose",
                           "is not finite or is too far from the origin; move the child nearer to the origin");
    const double size2 = ((double(q.x) * q.x + double(q.y) * q.y) + double(q.z) * q.z) + double(q.w) * q.w;
    if (!(absolute(size2 - 1.0) <= kUnitTolerance2))
        return wrong_child(place, i, ".pose", "has an orientation that is not a unit quaternion; normalise x, y, z, w");
    return Ok{};
}

// Adds a child's inertia about `centre`, turned into the body's axes.
void add_inertia(const MassProperties& m, const DPose& pose, D3 centre, double sum[6]) {
    const D3 d = pose.position - centre;
    const D3 x{m.inertia[0], m.inertia[1], m.inertia[2]}, y{m.inertia[1], m.inertia[3], m.inertia[4]},
        z{m.inertia[2], m.inertia[4], m.inertia[5]};
    // R I R^T: rows of R are the body's axes as the child sees them.
    const DAxes& a = pose.axes;
    const D3 row[3] = {{a.x.x, a.y.x, a.z.x}, {a.x.y, a.y.y, a.z.y}, {a.x.z, a.y.z, a.z.z}};
    const auto turned = [&](int i, int k) { return dot(row[i], {dot(x, row[k]), dot(y, row[k]), dot(z, row[k])}); };
    const double mass = m.mass, dd = dot(d, d);
    sum[0] += turned(0, 0) + mass * (dd - d.x * d.x);
    sum[1] += turned(0, 1) - mass * (d.x * d.y);
    sum[2] += turned(0, 2) - mass * (d.x * d.z);
    sum[3] += turned(1, 1) + mass * (dd - d.y * d.y);
    sum[4] += turned(1, 2) - mass * (d.y * d.z);
    sum[5] += turned(2, 2) + mass * (dd - d.z * d.z);
}

// The box of a child, rounded outward.
BoundsRecord rounded_box(const Shape& shape, const DPose& pose) {
    const ShapeBox box = box_of(shape, pose, 0.0);
    const double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
    BoundsRecord record;
    for (int k = 0; k < 3; ++k) {
        const double slack = 1e-6 * (absolute(high[k]) + absolute(low[k]));
        record.min[k] = static_cast<float>(low[k] - slack);
        record.max[k] = static_cast<float>(high[k] + slack);
    }
    return record;
}

}  // namespace

Result<Shape> make_compound(const ShapeDef& def, std::string_view place, std::span<const Shape> earlier) {
    if (def.children.empty())
        return Error{ErrorCode::invalid_argument, std::string(place) + ".children",
                     "is empty; give at least one child"};
    if (def.children.size() > kMaxCompoundChildren)
        return Error{ErrorCode::limit_reached, std::string(place) + ".children",
                     "has more than " + std::to_string(kMaxCompoundChildren) +
                         " entries (kMaxCompoundChildren); split the compound"};
    auto compound = std::make_shared<Compound>();
    std::vector<std::uint32_t> copy_of(earlier.size(), kNone);
    double mass = 0.0;
    D3 first;
    for (std::size_t i = 0; i < def.children.size(); ++i) {
        const CompoundChild& from = def.children[i];
        if (auto checked = check_child(from, i, place, earlier); !checked) return checked.error();
        if (copy_of[from.shape] == kNone) {
            copy_of[from.shape] = static_cast<std::uint32_t>(compound->shapes.size());
            compound->shapes.push_back(earlier[from.shape]);
        }
        compound->child.push_back({copy_of[from.shape],
                                   {widened(from.pose.position), axes_of(from.pose.orientation)},
                                   normalized(from.pose.orientation)});
        mass += earlier[from.shape].unit_mass.mass;
        first = first + widened(from.pose.position) * static_cast<double>(earlier[from.shape].unit_mass.mass);
    }
    compound->centre = first * (1.0 / mass);

    Shape shape;
    shape.type = ShapeType::compound;
    double inertia[6] = {}, bounding = 0.0;
    D3 half;
    std::vector<BoundsRecord> boxes;
    for (Compound::Child& child : compound->child) {
        const Shape& s = compound->shapes[child.shape];
        add_inertia(s.unit_mass, child.pose, compound->centre, inertia);
        child.pose.position = child.pose.position - compound->centre;
        bounding = larger(bounding, length(child.pose.position) + s.bounding_radius);
        if (s.round_radius > shape.round_radius) shape.round_radius = s.round_radius;
        boxes.push_back(rounded_box(s, child.pose));
        const BoundsRecord& b = boxes.back();
        half = {larger(half.x, larger(-b.min[0], b.max[0])), larger(half.y, larger(-b.min[1], b.max[1])),
                larger(half.z, larger(-b.min[2], b.max[2]))};
    }
    if (!(bounding <= kMaxShapeSize_m))
        return Error{ErrorCode::invalid_argument, std::string(place) + ".children",
                     "extend too far for single precision; move them nearer to each other"};
    std::vector<std::uint32_t> rows(boxes.size());
    std::iota(rows.begin(), rows.end(), 0u);
    TickArena arena;
    compound->tree.rebuild(boxes.data(), rows, kTreeKernels, arena);
    shape.unit_mass.mass = static_cast<float>(mass);
    for (int i = 0; i < 6; ++i) shape.unit_mass.inertia[i] = static_cast<float>(inertia[i]);
    shape.half_extents = narrowed(half);
    shape.bounding_radius = static_cast<float>(bounding * (1.0 + 1e-6));
    shape.compound = std::move(compound);
    return shape;
}

}  // namespace orrery::sim::ref
