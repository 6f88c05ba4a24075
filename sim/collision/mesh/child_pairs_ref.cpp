#include "sim/collision/mesh/child_pairs.h"

#include <algorithm>

namespace orrery::sim::ref {

namespace {

constexpr double kAlong = 1.0 - 1e-6;  // cosine: a normal along an axis of a box is that of a face

// Whether the normal turns with the part: stands across its face, or at least not on a ball.
bool owns(ShapeType type, const PoseRecord& pose, ShapeType other, Vec3 normal) {
    if (type == ShapeType::plane) return true;
    if (type != ShapeType::box) return other == ShapeType::sphere && type != ShapeType::sphere;
    const float* q = pose.orientation;
    const D3 n = inward(axes_of({q[0], q[1], q[2], q[3]}), widened(normal));
    return other == ShapeType::sphere || larger(absolute(n.x), larger(absolute(n.y), absolute(n.z))) > kAlong;
}

}  // namespace

void ChildPairs::clear() {
    for (std::vector<Row>& rows : rows_) rows.clear();
    poses_.clear();
    velocities_.clear();
    shapes_.clear();
    bounds_.clear();
}

void ChildPairs::add(const Part& a, const Part& b, const PairView& view, D3 moves, std::uint32_t contact) {
    const bool swapped = a.shape.type > b.shape.type;
    const Part& first = swapped ? b : a;
    const Part& second = swapped ? a : b;
    const PairType type =
        type_of_pair(static_cast<std::uint8_t>(first.shape.type), static_cast<std::uint8_t>(second.shape.type));
    rows_[type].push_back({contact, static_cast<std::uint32_t>(poses_.size()), first.shape.type, second.shape.type,
                           swapped, view.base_is_b});
    const Vec3 motion = narrowed(swapped ? -moves : moves);
    for (const Part* part : {&first, &second}) {
        const Vec3 p = narrowed(part->position);
        const Quat q = narrowed(part->turn);
        const Shape& s = part->shape;
        poses_.push_back({{p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}, 0.0f});
        shapes_.push_back(
            {s.radius, s.half_height, {s.half_extents.x, s.half_extents.y, s.half_extents.z}, 0.0f, 0.0f, 0.0f});
        velocities_.emplace_back();
        bounds_.emplace_back();
    }
    // In a tick of a second, with no margin but by how much bounds are grown.
    VelocityRecord& v = velocities_[velocities_.size() - 2];
    v.linear[0] = motion.x, v.linear[1] = motion.y, v.linear[2] = motion.z;
    bounds_[bounds_.size() - 2].growth = static_cast<float>(view.margin);
}

void ChildPairs::run(const NarrowKernels& kernels, PairContacts& contacts) {
    if (poses_.empty()) return;
    const NarrowInput input{poses_.data()->position, velocities_.data()->linear, &shapes_.data()->radius, 1.0f, 0.0f,
                            bounds_.data()->min};
    PairBatch in;
    ContactBatch out;
    for (std::uint32_t type = 0; type < kPairTypes; ++type) {
        const std::vector<Row>& rows = rows_[type];
        for (std::uint32_t at = 0; at < rows.size(); at += kPairLanes) {
            in.count = std::min(static_cast<std::uint32_t>(rows.size()) - at, kPairLanes);
            for (std::uint32_t k = 0; k < kPairLanes; ++k) {
                const Row& row = rows[at + (k < in.count ? k : 0)];
                in.first[k] = in.first_shape[k] = row.record;
                in.second[k] = in.second_shape[k] = row.record + 1;
                in.swapped[k] = row.swapped ? 1.0f : 0.0f;
            }
            kernels.collide[type](input, in, out);
            for (std::uint32_t k = 0; k < in.count; ++k) write(rows[at + k], out, k, contacts);
        }
    }
}

void ChildPairs::write(const Row& row, const ContactBatch& from, std::uint32_t lane, PairContacts& out) const {
    PairContact& to = out.contacts[row.contact];
    to.first = static_cast<std::uint32_t>(out.points.size());
    const float* const at_a = poses_[row.record + (row.swapped ? 1 : 0)].position;
    to.count = 0;
    for (int i = 0; i < kMaxManifoldPoints; ++i) {
        if (((from.exists[i] >> lane) & 1u) == 0) continue;
        const ContactBatch::Point& p = from.point[i];
        out.points.push_back({{at_a[0] + p.offset[0][lane], at_a[1] + p.offset[1][lane], at_a[2] + p.offset[2][lane]},
                              p.depth[lane],
                              static_cast<std::uint32_t>(p.feature[lane])});
        ++to.count;
    }
    if (to.count == 0) return;
    to.normal = {from.normal[0][lane], from.normal[1][lane], from.normal[2][lane]};
    // The rider's part is the second but where the base is B, and the other way round where they are swapped.
    const bool rider_is_second = row.base_is_b == row.swapped;
    const bool of_first = owns(row.first, poses_[row.record], row.second, to.normal),
               of_second = owns(row.second, poses_[row.record + 1], row.first, to.normal);
    to.of_rider = rider_is_second ? of_second && !of_first : of_first && !of_second;
}

}  // namespace orrery::sim::ref
