#include "sim/collision/mesh/patches.h"

#include <vector>

#include "sim/collision/mesh/mesh_pairs.h"
#include "sim/collision/mesh/parts.h"
#include "sim/shapes/mesh.h"

namespace orrery::sim::ref {
namespace {

// Of the patch's extent, squared: points nearer to each other are one, triangles flatter have no area.
constexpr double kTinyLength2 = 1e-6, kTinyArea = 1e-3;
constexpr double kDeepestTie = 1e-3;  // of its extent: by so much another point may lie deeper than those kept

struct Place {
    double x = 0.0, y = 0.0;  // in the plane
    ManifoldPoint point;
};

double turn(const Place& a, const Place& b, const Place& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
double length2(const Place& a, const Place& b) { return (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y); }

// The best of what has been offered; of equal ones the first.
class Best {
  public:
    Best(const Place* first, double least) : place_(first), value_(least) {}
    void offer(double value, const Place& place) {
        if (value > value_) value_ = value, place_ = &place;
    }
    const Place* place() const { return place_; }

  private:
    const Place* place_;
    double value_;
};

class Patch {
  public:
    explicit Patch(const Manifold& first)
        : child_a_(first.child_a), child_b_(first.child_b), deepest_{0.0, 0.0, first.points[0]} {
        const D3 normal = widened(first.normal);
        x_ = unit_or_across(cross(absolute(normal.x) < 0.6 ? D3{1.0, 0.0, 0.0} : D3{0.0, 1.0, 0.0}, normal), normal);
        y_ = cross(normal, x_);
    }
    void add(const Manifold& m) {
        // Features are unique in a contact; those of other parts are made so.
        const std::uint32_t parts = (m.child_a - child_a_) * 0x9e37'79b1u ^ (m.child_b - child_b_) * 0x85eb'ca6bu;
        for (std::uint32_t k = 0; k < m.count; ++k) {
            Place place{0.0, 0.0, m.points[k]};
            const D3 at = widened(place.point.offset_a);
            place.x = dot(x_, at), place.y = dot(y_, at);
            place.point.feature ^= parts;
            if (count_ == kMostAtOnce) keep_outermost();
            if (!any_ || place.point.depth > deepest_.point.depth) deepest_ = place;
            any_ = true;
            place_[count_++] = place;
        }
    }
    void put(Manifold& into) {
        keep_outermost();
        keep_deepest();
        for (std::uint32_t k = 0; k < count_; ++k) {
            while (taken(k)) ++place_[k].point.feature;
            into.points[k] = place_[k].point;
        }
        into.count = count_;
    }

  private:
    static constexpr std::uint32_t kMostAtOnce = 32;

    bool taken(std::uint32_t k) const {
        bool found = false;
        for (std::uint32_t j = 0; j < k; ++j) found = found || place_[j].point.feature == place_[k].point.feature;
        return found;
    }
    // At most four, that span as much as they can.
    void keep_outermost() {
        if (count_ <= kMaxManifoldPoints) return;
        const std::span<const Place> all(place_, count_);
        Best one(&all[0], -1e300);
        for (const Place& c : all) one.offer(c.x * 0.8 + c.y * 0.6, c);
        const Place& a = *one.place();
        double extent2 = 0.0;
        for (const Place& c : all) extent2 = larger(extent2, length2(a, c));
        Best two(nullptr, extent2 * kTinyLength2), three(nullptr, extent2 * kTinyArea),
            four(nullptr, extent2 * kTinyArea);
        for (const Place& c : all) two.offer(length2(a, c), c);
        if (two.place() != nullptr) {
            for (const Place& c : all) three.offer(absolute(turn(a, *two.place(), c)), c);
        }
        if (three.place() != nullptr) {
            const Place &b = *two.place(), &d = *three.place();
            const double round = turn(a, b, d) < 0.0 ? -1.0 : 1.0;
            for (const Place& c : all)
                four.offer(-smaller(turn(a, b, c) * round, smaller(turn(b, d, c) * round, turn(d, a, c) * round)), c);
        }
        Place kept[kMaxManifoldPoints];
        std::uint32_t count = 0;
        for (const Best* best : {&one, &two, &three, &four}) {
            if (best->place() != nullptr) kept[count++] = *best->place();
        }
        for (std::uint32_t k = 0; k < count; ++k) place_[k] = kept[k];
        count_ = count;
    }
    // In place of the nearest one, where it lies deeper than all that are kept.
    void keep_deepest() {
        double depth = -1e300, extent2 = 0.0;
        std::uint32_t nearest = 0;
        for (std::uint32_t k = 0; k < count_; ++k) {
            depth = larger(depth, double(place_[k].point.depth));
            extent2 = larger(extent2, length2(place_[0], place_[k]));
            if (length2(place_[k], deepest_) < length2(place_[nearest], deepest_)) nearest = k;
        }
        const double deeper = double(deepest_.point.depth) - depth;
        if (deeper > 0.0 && deeper * deeper > kDeepestTie * kDeepestTie * extent2) place_[nearest] = deepest_;
    }

    std::uint32_t child_a_, child_b_;
    D3 x_, y_;
    Place deepest_;  // of all that came
    bool any_ = false;
    Place place_[kMostAtOnce];
    std::uint32_t count_ = 0;
};

bool has_flat_faces(const Placed& is) { return is.shape->type == ShapeType::box || is.shape->type == ShapeType::hull; }

// Of two children of a body, or twice the same; the way out of the body.
bool one_face(const SeamInput& input, std::uint32_t body, std::uint32_t child, std::uint32_t other, D3 out) {
    const Placed whole = placed(input.bodies, input.shapes, body, body);
    if (const Mesh* const mesh = whole.shape->mesh.get())
        return ((child | other) & kMeshEdge) == 0 && mesh->triangle[child].patch() == mesh->triangle[other].patch();
    if (!whole.shape->compound) return has_flat_faces(whole) || whole.shape->type == ShapeType::plane;
    const Placed first = child_of(whole, child);
    if (child == other || !has_flat_faces(first)) return has_flat_faces(first);
    const Placed second = child_of(whole, other);
    Face f, g;
    if (!has_flat_faces(second) || !face_along(first, out, f) || !face_along(second, out, g)) return false;
    const double flush = smaller(kFlush_m, kFlushOfBody * double(whole.shape->bounding_radius));
    return dot(f.normal, g.normal) > kAlike && absolute(f.at - g.at) <= flush;
}

// Whether both are between faces that are one plane on either body.
bool in_one_plane(const SeamInput& input, const Manifold& m, const Manifold& other) {
    const D3 normal = widened(m.normal);
    // Points of two moments have arms of their own.
    if (m.moved != other.moved) return false;
    return dot(normal, widened(other.normal)) > kAlike && one_face(input, m.a, m.child_a, other.child_a, normal) &&
           one_face(input, m.b, m.child_b, other.child_b, -normal);
}

}  // namespace

void join_contacts(Manifolds contacts) {
    Patch patch(contacts[0]);
    for (const Manifold& m : contacts) patch.add(m);
    patch.put(contacts[0]);
}

bool merge_patches(const SeamInput& input, Manifolds manifolds, std::span<const std::uint32_t> which,
                   std::uint8_t* ghost) {
    bool any = false;
    std::vector<Manifold*> patch;
    for (std::size_t i = 0; i < which.size(); ++i) {
        const Manifold& m = manifolds[which[i]];
        if (ghost[which[i]] != 0) continue;
        patch.assign(1, &manifolds[which[i]]);
        for (std::size_t k = i + 1; k < which.size(); ++k) {
            if (ghost[which[k]] != 0 || !in_one_plane(input, m, manifolds[which[k]])) continue;
            patch.push_back(&manifolds[which[k]]);
            ghost[which[k]] = 1;
        }
        if (patch.size() < 2) continue;
        join_contacts(patch);
        any = true;
    }
    return any;
}

}  // namespace orrery::sim::ref
