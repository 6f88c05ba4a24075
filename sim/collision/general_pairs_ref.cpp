// What touches of a pair of any shapes: the children that meet, and their contacts.
#include <algorithm>

#include "sim/collision/convex/convex.h"
#include "sim/shapes/convex_support.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/general_scratch.h"
#include "sim/collision/pair_view.h"
#include "sim/shapes/compound.h"

namespace orrery::sim::ref {

namespace {

// Features are unique inside a contact: of two alike the later is renamed.
void make_unique(std::span<PairPoint> points) {
    for (std::uint32_t i = 1; i < points.size(); ++i) {
        for (std::uint32_t k = 0; k < i; ++k) {
            if (points[i].feature != points[k].feature) continue;
            points[i].feature ^= 0x2000'0000u + i;
            k = 0;
        }
    }
}

struct Side {
    const Shape& shape;
    DPose pose;
    DQuat turn;
    std::uint32_t child = 0;
};

// The radius of the side that a shape shows along a normal, where it is round.
float rolls(const Side& side, D3 normal) {
    const bool on_its_side = side.shape.type == ShapeType::cylinder && absolute(dot(side.pose.axes.y, normal)) < kCapSeen;
    return on_its_side ? side.shape.disc_radius : side.shape.radius;
}

class PairWork {
  public:
    PairWork(const GeneralInput& input, const PairView& view, GeneralScratch& scratch, PairContacts& out)
        : kernels_(input.kernels),
          polytopes_(input.polytopes),
          view_(view),
          around_(view.margin + length(view.motion)),
          scratch_(scratch),
          out_(out) {}

    void run(const Side& a, const Side& b, int depth) {
        if (a.shape.compound || b.shape.compound) return run_children(a, b, depth);
        if (depth > 0 && ChildPairs::over_lanes(a.shape, b.shape)) return list(a, b);
        const bool turned = has_no_mass(a.shape.type);
        const Side &surface = turned ? a : b, &solid = turned ? b : a;
        const D3 motion = turned ? -view_.motion : view_.motion;  // of the solid
        ConvexContacts contacts;
        if (surface.shape.type == ShapeType::plane) {
            Convex convex;
            place_convex(solid.shape, solid.pose, convex);
            if (collide_half_space(convex, surface.pose.position, surface.pose.axes.y, motion, view_.margin, contacts))
                append(a, b, contacts, turned);
        } else if (surface.shape.mesh) {
            run_mesh(surface, solid, -motion, !turned, depth);
        } else {
            Convex ca, cb;
            place_convex(a.shape, a.pose, ca);
            place_convex(b.shape, b.pose, cb);
            if (collide_convex(polytopes_, ca, cb, view_.motion, view_.margin, contacts)) append(a, b, contacts, false);
        }
    }

  private:
    // Children of A before those of B: manifolds come sorted by both.
    void run_children(const Side& a, const Side& b, int depth) {
        const bool first = a.shape.compound != nullptr;
        const Side &whole = first ? a : b, &other = first ? b : a;
        const Compound& compound = *whole.shape.compound;
        std::vector<std::uint32_t>& rows = scratch_.rows[depth];
        if (other.shape.type == ShapeType::plane) {
            rows.resize(compound.child.size());
            for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
        } else {
            find(compound.tree, box_of(other.shape, relative(whole.pose, other.pose), around_), rows);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Compound::Child& child = compound.child[rows[i]];
            const Shape& shape = compound.shapes[child.shape];
            const Side part{shape, outward(whole.pose, child.pose), whole.turn * child.turn, rows[i]};
            if (other.shape.type == ShapeType::plane &&
                dot(part.pose.position - other.pose.position, other.pose.axes.y) - shape.bounding_radius > around_)
                continue;
            if (first)
                run(part, other, depth + 1);
            else
                run(other, part, depth + 1);
        }
    }

    // `mesh_second`: the mesh is B. `motion` is the mesh's.
    void run_mesh(const Side& surface, const Side& solid, D3 motion, bool mesh_second, int depth) {
        const Mesh& mesh = *surface.shape.mesh;
        const DPose in_mesh = relative(surface.pose, solid.pose);
        std::vector<std::uint32_t>& rows = scratch_.rows[depth];
        find(mesh.tree, box_of(solid.shape, in_mesh, around_), rows);
        if (rows.empty()) return;
        Convex convex;
        place_convex(solid.shape, in_mesh, convex);
        collide_mesh(polytopes_, mesh, rows, convex, inward(surface.pose.axes, motion), view_.margin, scratch_.mesh);
        for (MeshContact& contact : scratch_.mesh.contacts) {
            contact.contacts.normal = outward(surface.pose.axes, contact.contacts.normal);
            for (ConvexPoint& p : contact.contacts.point) p.point = outward(surface.pose, p.point);
            const Side triangle{surface.shape, surface.pose, surface.turn, contact.child};
            append(mesh_second ? solid : triangle, mesh_second ? triangle : solid, contact.contacts, mesh_second);
        }
    }

    // What the lanes find of it comes later.
    void list(const Side& a, const Side& b) {
        PairContact& c = out_.contacts.emplace_back();
        c.child_a = a.child;
        c.child_b = b.child;
        c.base_rolls = (view_.base_is_b ? b : a).shape.radius;
        c.rider_rolls = (view_.base_is_b ? a : b).shape.radius;
        scratch_.children.add(part_of(a), part_of(b), view_, static_cast<std::uint32_t>(out_.contacts.size() - 1));
    }
    // A plane by its point nearest to the rider: what lies far off would be rounded.
    ChildPairs::Part part_of(const Side& side) const {
        const D3 at = side.pose.position - view_.rider.position, n = side.pose.axes.y;
        return {side.shape, side.shape.type == ShapeType::plane ? n * dot(n, at) : at, side.turn};
    }

    // Rows of the boxes that overlap, ascending.
    void find(const BoxTree& tree, const ShapeBox& box, std::vector<std::uint32_t>& rows) const {
        BoundsRecord record;
        const double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
        for (int k = 0; k < 3; ++k) {
            const double slack = 1e-6 * (absolute(low[k]) + absolute(high[k]));  // more than rounding to single precision takes
            record.min[k] = static_cast<float>(low[k] - slack);
            record.max[k] = static_cast<float>(high[k] + slack);
        }
        std::vector<std::uint32_t>& found = scratch_.slots;
        if (found.empty()) found.resize(64);
        std::uint32_t count = kernels_.query(tree.view(), record, 0, found.data(), static_cast<std::uint32_t>(found.size()));
        if (count > found.size()) {
            found.resize(count);
            count = kernels_.query(tree.view(), record, 0, found.data(), count);
        }
        rows.clear();
        for (std::uint32_t i = 0; i < count; ++i) rows.push_back(tree.row(found[i]));
        std::sort(rows.begin(), rows.end());
    }

    // `turned`: they are those of B and A.
    void append(const Side& a, const Side& b, const ConvexContacts& contacts, bool turned) {
        PairContact c;
        c.child_a = a.child;
        c.child_b = b.child;
        c.base_rolls = rolls(view_.base_is_b ? b : a, contacts.normal);
        c.rider_rolls = rolls(view_.base_is_b ? a : b, contacts.normal);
        c.normal = narrowed(turned ? -contacts.normal : contacts.normal);
        // `turned`: the owner that is called B is the pair's A.
        const bool owned_by_b = (contacts.owner == ConvexContacts::Owner::b) != turned;
        c.of_rider = contacts.owner != ConvexContacts::Owner::neither && owned_by_b != view_.base_is_b;
        c.first = static_cast<std::uint32_t>(out_.points.size());
        c.count = contacts.count;
        for (std::uint32_t i = 0; i < c.count; ++i) {
            const ConvexPoint& p = contacts.point[i];
            out_.points.push_back({narrowed(p.point - view_.rider.position), static_cast<float>(p.depth), p.feature});
        }
        make_unique(std::span(out_.points).subspan(c.first));
        out_.contacts.push_back(c);
    }

    const BroadKernels& kernels_;
    const PolytopeKernels& polytopes_;
    const PairView& view_;
    double around_;
    GeneralScratch& scratch_;
    PairContacts& out_;
};

}  // namespace

void touch_pair(const GeneralInput& input, Pair pair, const PairView& view, GeneralScratch& scratch, PairContacts& out) {
    const Shape &a = input.shapes[input.bodies.info(pair.a).shape], &b = input.shapes[input.bodies.info(pair.b).shape];
    const auto before = static_cast<std::ptrdiff_t>(out.contacts.size());
    const Side of_base{view.base_is_b ? b : a, {}, {}, 0}, of_rider{view.base_is_b ? a : b, view.rider, view.turn, 0};
    PairWork(input, view, scratch, out).run(view.base_is_b ? of_rider : of_base, view.base_is_b ? of_base : of_rider, 0);
    // Children of B are looked at before triangles of A.
    if (a.mesh && b.compound) {
        std::sort(out.contacts.begin() + before, out.contacts.end(), [](const PairContact& x, const PairContact& y) {
            return x.child_a != y.child_a ? x.child_a < y.child_a : x.child_b < y.child_b;
        });
    }
}

}  // namespace orrery::sim::ref
