// What touches of a pair of any shapes: the children that meet, and their contacts.
#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/collision/convex/convex.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/general_scratch.h"
#include "sim/collision/pair_view.h"
#include "sim/collision/sweep/fast_pairs.h"
#include "sim/shapes/compound.h"
#include "sim/shapes/convex_support.h"

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
    const bool on_its_side =
        side.shape.type == ShapeType::cylinder && absolute(dot(side.pose.axes.y, normal)) < kCapSeen;
    return on_its_side ? side.shape.disc_radius : side.shape.radius;
}

bool is_for_lanes(const Shape& a, const Shape& b) {
    return static_cast<std::uint8_t>(a.type) < kLaneShapes && static_cast<std::uint8_t>(b.type) < kLaneShapes;
}

constexpr double kSameNormal = 0.9999;  // cosine, 0.8 degrees

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
        const bool over_lanes =
            is_for_lanes(a.shape, b.shape) && (depth == 0 || ChildPairs::over_lanes(a.shape, b.shape));
        if (view_.fast && !has_no_inside(a.shape.type) && !has_no_inside(b.shape.type))
            return run_fast(a, b, over_lanes);
        if (over_lanes) return list(a, b, view_.motion, kNone);
        const bool turned = has_no_mass(a.shape.type);
        const Side &surface = turned ? a : b, &solid = turned ? b : a;
        const D3 motion = turned ? -view_.motion : view_.motion;  // of the solid
        ConvexContacts contacts;
        if (surface.shape.type == ShapeType::plane) {
            Convex convex;
            place_convex(solid.shape, solid.pose, convex);
            if (collide_half_space(convex, surface.pose.position, surface.pose.axes.y, motion, view_.margin, contacts))
                append(a, b, contacts, turned, kNone);
        } else if (surface.shape.mesh) {
            run_mesh(surface, solid, -motion, !turned, depth);
        } else {
            Convex ca, cb;
            place_convex(a.shape, a.pose, ca);
            place_convex(b.shape, b.pose, cb);
            if (collide_convex(polytopes_, ca, cb, view_.motion, view_.margin, contacts))
                append(a, b, contacts, false, kNone);
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
        if (view_.fast) return run_fast_mesh(surface, solid, motion, mesh_second, rows, convex);
        for (const MeshContact& contact : scratch_.mesh.contacts)
            append_mesh(surface, solid, surface.pose, contact, mesh_second, kNone);
    }

    // ---- fast pairs (fast_pairs.h)

    void run_fast(const Side& a, const Side& b, bool over_lanes) {
        const bool turned = a.shape.type == ShapeType::plane, flat = turned || b.shape.type == ShapeType::plane;
        const Side &surface = turned ? a : b, &solid = turned ? b : a;
        const double touching = touching_gap(a.shape.inner_radius, b.shape.inner_radius);
        Convex ca, cb;
        Touch touch;
        Meets meets;
        ConvexContacts contacts;
        contacts.count = 0;
        if (flat) {
            place_convex(solid.shape, solid.pose, ca);
            const Course &of_solid = turned ? view_.course_b : view_.course_a,
                         &of_plane = turned ? view_.course_a : view_.course_b;
            meets = meet_half_space(ca, of_solid, surface.pose.position, surface.pose.axes.y, of_plane, touching,
                                    view_.beside, touch);
            if (turned) turn(touch);
        } else {
            place_convex(a.shape, a.pose, ca);
            place_convex(b.shape, b.pose, cb);
            // Most that touch when the tick begins are known by that.
            const bool found = collide_convex(polytopes_, ca, cb, view_.motion, view_.margin, contacts);
            if (!over_lanes && found && deepest_of(contacts) >= -touching) return append(a, b, contacts, false, kNone);
            meets = meet(ca, view_.course_a, cb, view_.course_b, touching, view_.beside, touch);
        }
        if (meets == Meets::never) return;
        // What meets along the normal that it has now has all its points now.
        if (meets == Meets::later && flat && over_lanes) return list(a, b, view_.motion, kNone);
        if (meets == Meets::later && contacts.count != 0 && dot(contacts.normal, touch.normal) > kSameNormal)
            return append(a, b, contacts, false, kNone);
        const bool later = meets != Meets::at_start, known = !flat && touch.passes && touch.part == 0.0;
        std::uint32_t row = kNone;
        if (later) {
            touch.lone = meets == Meets::later;
            row = note(touch);
        }
        const Side at_a = later ? moved(a, touch.a) : a, at_b = later ? moved(b, touch.b) : b;
        const D3 motion = view_.motion * (later ? 1.0 - touch.part : 1.0);
        if (over_lanes) return list(at_a, at_b, motion, row);
        if (!known) contacts.count = 0;
        if (flat) {
            const Side& plane = turned ? at_a : at_b;
            collide_half_space(ca, plane.pose.position, plane.pose.axes.y, turned ? -motion : motion, view_.margin,
                               contacts);
        } else if (!known) {  // else they are where they were when the tick began
            collide_convex(polytopes_, ca, cb, motion, view_.margin, contacts);
        }
        if (contacts.count != 0 || touch.lone) append(at_a, at_b, contacts, flat && turned, row);
    }
    // What the solid touches when the tick begins stays; of other patches those that it meets, each as it is then.
    // `motion` is the mesh's.
    void run_fast_mesh(const Side& surface, const Side& solid, D3 motion, bool mesh_second,
                       std::span<const std::uint32_t> rows, Convex& convex) {
        const Mesh& mesh = *surface.shape.mesh;
        const double touching = touching_gap(surface.shape.inner_radius, solid.shape.inner_radius);
        std::vector<MeshContact>& kept = scratch_.mesh_kept;
        kept.clear();
        std::vector<MeshContact>& near = scratch_.mesh_near;
        near.clear();
        std::vector<MeshContact>& start = scratch_.mesh_start;
        start.assign(scratch_.mesh.contacts.begin(), scratch_.mesh.contacts.end());
        for (const MeshContact& contact : scratch_.mesh.contacts) {
            const double gap = -deepest_of(contact.contacts);
            if (gap <= touching) {
                kept.push_back(contact);
                append_mesh(surface, solid, surface.pose, contact, mesh_second, kNone);
            } else if (gap <= view_.beside) {
                near.push_back(contact);
            }
        }
        const Course &of_mesh = mesh_second ? view_.course_b : view_.course_a,
                     &of_solid = mesh_second ? view_.course_a : view_.course_b;
        std::vector<TriangleTouch>& touches = scratch_.touches;
        std::vector<std::uint32_t>& triangles = scratch_.triangles;
        triangles.clear();
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(triangles), [&](std::uint32_t t) {
            return !known(kept, mesh.triangle[t].patch()) && !known(kept, kMeshEdge | t);
        });
        meet_triangles(polytopes_, mesh, triangles, in_frame(of_mesh, surface.pose), convex,
                       in_frame(of_solid, surface.pose), touching, touches);
        std::stable_sort(touches.begin(), touches.end(),
                         [](const TriangleTouch& x, const TriangleTouch& y) { return x.patch < y.patch; });
        for (std::size_t first = 0, last = 0; first < touches.size(); first = last) {
            double part = touches[first].touch.part;
            for (last = first; last < touches.size() && touches[last].patch == touches[first].patch; ++last)
                part = smaller(part, touches[last].touch.part);
            triangles.clear();
            std::copy_if(rows.begin(), rows.end(), std::back_inserter(triangles),
                         [&](std::uint32_t t) { return mesh.triangle[t].patch() == touches[first].patch; });
            Touch touch;
            touch.part = part;
            touch.a = progress(view_.course_a, part);
            touch.b = progress(view_.course_b, part);
            const Progress &mesh_then = mesh_second ? touch.b : touch.a, &solid_then = mesh_second ? touch.a : touch.b;
            const DPose pose = mesh_then.of(surface.pose);
            Convex then;
            place_convex(solid.shape, relative(pose, solid_then.of(solid.pose)), then);
            collide_mesh(polytopes_, mesh, triangles, then, inward(pose.axes, motion * (1.0 - part)), view_.margin,
                         scratch_.mesh);
            // A preferred front may leave more between them than there is: then the nearest contact counts.
            double gap = 1e300;
            for (const MeshContact& contact : scratch_.mesh.contacts) gap = smaller(gap, -deepest_of(contact.contacts));
            if (gap > view_.margin) continue;
            std::uint32_t row = kNone;
            for (const MeshContact& contact : scratch_.mesh.contacts) {
                if (-deepest_of(contact.contacts) > larger(gap, kMeets_m) || known(kept, contact.child) ||
                    told_already(kept, contact.contacts))
                    continue;
                kept.push_back(contact);
                const auto same = std::find_if(start.begin(), start.end(), [&](const MeshContact& c) {
                    return c.child == contact.child && dot(c.contacts.normal, contact.contacts.normal) > kSameNormal;
                });
                if (same != start.end()) {
                    append_mesh(surface, solid, surface.pose, *same, mesh_second, kNone);
                    continue;
                }
                if (row == kNone) row = note(touch);
                append_mesh(surface, solid, pose, contact, mesh_second, row);
            }
        }
        std::uint32_t row = kNone;
        for (const MeshContact& contact : near) {
            if (known(kept, contact.child) || told_already(kept, contact.contacts)) continue;
            if (row == kNone) {
                Touch now;
                now.passes = true;
                now.a = progress(view_.course_a, 0.0);
                now.b = progress(view_.course_b, 0.0);
                row = note(now);
            }
            append_mesh(surface, solid, surface.pose, contact, mesh_second, row);
        }
    }
    static double deepest_of(const ConvexContacts& contacts) {
        double deepest = -1e300;
        for (std::uint32_t k = 0; k < contacts.count; ++k) deepest = larger(deepest, contacts.point[k].depth);
        return deepest;
    }
    static bool known(const std::vector<MeshContact>& contacts, std::uint32_t child) {
        return std::any_of(contacts.begin(), contacts.end(), [&](const MeshContact& c) { return c.child == child; });
    }
    static Course in_frame(const Course& c, const DPose& frame) {
        return {inward(frame, c.from), inward(frame.axes, c.shift), inward(frame.axes, c.fall),
                inward(frame.axes, c.turn)};
    }
    static void turn(Touch& touch) {
        std::swap(touch.a, touch.b);
        touch.normal = -touch.normal;
    }
    static Side moved(const Side& side, const Progress& by) {
        const DPose pose = by.of(side.pose);
        return {side.shape, pose, by.by * side.turn, side.child};
    }
    std::uint32_t note(const Touch& touch) {
        out_.touches.push_back(touch);
        return static_cast<std::uint32_t>(out_.touches.size() - 1);
    }
    // From the rider's centre, or, of what meets later, so that A's centre is where it is then.
    D3 origin_of(std::uint32_t touch) const {
        return touch == kNone ? view_.rider.position : view_.rider.position + out_.touches[touch].a.shift;
    }

    // `pose`: of the mesh, in whose frame the contact is.
    void append_mesh(const Side& surface, const Side& solid, const DPose& pose, MeshContact contact, bool mesh_second,
                     std::uint32_t touch) {
        contact.contacts.normal = outward(pose.axes, contact.contacts.normal);
        for (ConvexPoint& p : contact.contacts.point) p.point = outward(pose, p.point);
        const Side triangle{surface.shape, pose, surface.turn, contact.child};
        append(mesh_second ? solid : triangle, mesh_second ? triangle : solid, contact.contacts, mesh_second, touch);
    }

    // What the lanes find of it comes later.
    void list(const Side& a, const Side& b, D3 motion, std::uint32_t touch) {
        PairContact& c = out_.contacts.emplace_back();
        c.child_a = a.child;
        c.child_b = b.child;
        c.base_rolls = (view_.base_is_b ? b : a).shape.radius;
        c.rider_rolls = (view_.base_is_b ? a : b).shape.radius;
        c.touch = touch;
        const D3 origin = origin_of(touch);
        scratch_.children.add(part_of(a, origin), part_of(b, origin), view_, motion,
                              static_cast<std::uint32_t>(out_.contacts.size() - 1));
    }
    // A plane by its point nearest to the rider: what lies far off would be rounded.
    static ChildPairs::Part part_of(const Side& side, D3 origin) {
        const D3 at = side.pose.position - origin, n = side.pose.axes.y;
        return {side.shape, side.shape.type == ShapeType::plane ? n * dot(n, at) : at, side.turn};
    }

    // Rows of the boxes that overlap, ascending.
    void find(const BoxTree& tree, const ShapeBox& box, std::vector<std::uint32_t>& rows) const {
        BoundsRecord record;
        const double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
        for (int k = 0; k < 3; ++k) {
            const double slack =
                1e-6 * (absolute(low[k]) + absolute(high[k]));  // more than rounding to single precision takes
            record.min[k] = static_cast<float>(low[k] - slack);
            record.max[k] = static_cast<float>(high[k] + slack);
        }
        std::vector<std::uint32_t>& found = scratch_.slots;
        if (found.empty()) found.resize(64);
        std::uint32_t count =
            kernels_.query(tree.view(), record, 0, found.data(), static_cast<std::uint32_t>(found.size()));
        if (count > found.size()) {
            found.resize(count);
            count = kernels_.query(tree.view(), record, 0, found.data(), count);
        }
        rows.clear();
        for (std::uint32_t i = 0; i < count; ++i) rows.push_back(tree.row(found[i]));
        std::sort(rows.begin(), rows.end());
    }

    // `turned`: they are those of B and A.
    void append(const Side& a, const Side& b, const ConvexContacts& contacts, bool turned, std::uint32_t touch) {
        PairContact c;
        c.touch = touch;
        const D3 origin = origin_of(touch);
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
            out_.points.push_back({narrowed(p.point - origin), static_cast<float>(p.depth), p.feature});
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

void touch_pair(const GeneralInput& input, Pair pair, const PairView& view, GeneralScratch& scratch,
                PairContacts& out) {
    const Shape &a = input.shapes[input.bodies.info(pair.a).shape], &b = input.shapes[input.bodies.info(pair.b).shape];
    const auto before = static_cast<std::ptrdiff_t>(out.contacts.size());
    const Side of_base{view.base_is_b ? b : a, {}, {}, 0}, of_rider{view.base_is_b ? a : b, view.rider, view.turn, 0};
    PairWork(input, view, scratch, out)
        .run(view.base_is_b ? of_rider : of_base, view.base_is_b ? of_base : of_rider, 0);
    // Children of B are looked at before triangles of A, and what a fast pair touches before what it meets.
    if ((a.mesh && b.compound) || (view.fast && (a.mesh || b.mesh))) {
        std::sort(out.contacts.begin() + before, out.contacts.end(), [](const PairContact& x, const PairContact& y) {
            return x.child_a != y.child_a ? x.child_a < y.child_a : x.child_b < y.child_b;
        });
    }
}

}  // namespace orrery::sim::ref
