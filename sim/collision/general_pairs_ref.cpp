// One pair of any shapes: the frame in which it is looked at, the children that meet, and what their contacts are in the world.
#include <algorithm>

#include "sim/collision/convex_support.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/general_scratch.h"
#include "sim/shapes/compound.h"

namespace orrery::sim::ref {

namespace {

// World axes, relative to A's centre of mass: precision does not depend on where in the world a pair is.
struct PairFrame {
    DPose a, b;
    D3 motion;  // how far A moves this tick relative to B, by linear velocity
    double margin;
};

double margin_of(const GeneralInput& in, Pair pair) {
    const double margin = in.margin_m;
    if (in.grown.empty()) return margin;
    return margin + (larger(in.grown[pair.a].growth - margin, 0.0) + larger(in.grown[pair.b].growth - margin, 0.0));
}

// By the spheres around them, which spares most pairs of bodies whose boxes overlap at a corner.
bool out_of_reach(const GeneralInput& in, Pair pair, const Shape& a, const Shape& b) {
    if (has_no_mass(a.type) || has_no_mass(b.type)) return false;
    const PoseRecord &pa = in.bodies.pose[pair.a], &pb = in.bodies.pose[pair.b];
    const VelocityRecord &va = in.bodies.velocity[pair.a], &vb = in.bodies.velocity[pair.b];
    const D3 way{double(pb.position[0]) - pa.position[0], double(pb.position[1]) - pa.position[1],
                 double(pb.position[2]) - pa.position[2]};
    const D3 motion{double(va.linear[0]) - vb.linear[0], double(va.linear[1]) - vb.linear[1],
                    double(va.linear[2]) - vb.linear[2]};
    const double reach = (double(a.bounding_radius) + b.bounding_radius) + (margin_of(in, pair) + length(motion) * in.dt_s);
    return dot(way, way) > reach * reach;
}

PairFrame frame_of(const GeneralInput& in, Pair pair) {
    const PoseRecord &pa = in.bodies.pose[pair.a], &pb = in.bodies.pose[pair.b];
    const VelocityRecord &va = in.bodies.velocity[pair.a], &vb = in.bodies.velocity[pair.b];
    const D3 at_a{pa.position[0], pa.position[1], pa.position[2]}, at_b{pb.position[0], pb.position[1], pb.position[2]};
    const D3 moves_a{va.linear[0], va.linear[1], va.linear[2]}, moves_b{vb.linear[0], vb.linear[1], vb.linear[2]};
    const float *qa = pa.orientation, *qb = pb.orientation;
    return {{{}, axes_of({qa[0], qa[1], qa[2], qa[3]})},
            {at_b - at_a, axes_of({qb[0], qb[1], qb[2], qb[3]})},
            (moves_a - moves_b) * static_cast<double>(in.dt_s),
            margin_of(in, pair)};
}

// Features are unique inside a manifold: of two alike the later is renamed.
void make_unique(Manifold& m) {
    for (std::uint32_t i = 1; i < m.count; ++i) {
        for (std::uint32_t k = 0; k < i; ++k) {
            if (m.points[i].feature != m.points[k].feature) continue;
            m.points[i].feature ^= 0x2000'0000u + i;
            k = 0;
        }
    }
}

struct Side {
    const Shape& shape;
    DPose pose;
    std::uint32_t child = 0;
};

struct Boxed {
    D3 low, high;
};

// A box of the shape in its frame's coordinates, `around` larger.
Boxed box_of(const Shape& shape, const DPose& pose, double around) {
    const D3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const bool slender = shape.type == ShapeType::sphere || shape.type == ShapeType::capsule,  // a ball along a part of its y
        by_reach = !slender && shape.type != ShapeType::box && is_convex(shape.type);
    const D3 half = slender ? D3{0.0, shape.type == ShapeType::capsule ? double(shape.half_height) : 0.0, 0.0} : widened(shape.half_extents);
    const double more = around + (slender ? double(shape.radius) : 0.0);
    double low[3], high[3];
    Convex convex;
    if (by_reach) place_convex(shape, pose, convex);
    for (int k = 0; k < 3; ++k) {
        if (by_reach) {
            high[k] = reach_along(convex, axis[k]) + around;
            low[k] = -reach_along(convex, -axis[k]) - around;
            continue;
        }
        const D3 row = inward(pose.axes, axis[k]);
        const double extent = ((absolute(row.x) * half.x + absolute(row.y) * half.y) + absolute(row.z) * half.z) + more,
                     at = dot(pose.position, axis[k]);
        low[k] = at - extent;
        high[k] = at + extent;
    }
    return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

class PairWork {
  public:
    PairWork(const GeneralInput& input, Pair pair, const PairFrame& frame, GeneralScratch& scratch, std::vector<Manifold>& out)
        : kernels_(input.kernels),
          polytopes_(input.polytopes),
          pair_(pair),
          frame_(frame),
          around_(frame.margin + length(frame.motion)),
          scratch_(scratch),
          out_(out) {}

    void run(const Side& a, const Side& b, int depth) {
        if (a.shape.compound || b.shape.compound) return run_children(a, b, depth);
        const bool turned = has_no_mass(a.shape.type);
        const Side &surface = turned ? a : b, &solid = turned ? b : a;
        const D3 motion = turned ? -frame_.motion : frame_.motion;  // of the solid
        ConvexContacts contacts;
        if (surface.shape.type == ShapeType::plane) {
            Convex convex;
            place_convex(solid.shape, solid.pose, convex);
            if (collide_half_space(convex, surface.pose.position, surface.pose.axes.y, motion, frame_.margin, contacts))
                append(a.child, b.child, contacts, turned);
        } else if (surface.shape.mesh) {
            run_mesh(surface, solid, -motion, !turned, depth);
        } else {
            Convex ca, cb;
            place_convex(a.shape, a.pose, ca);
            place_convex(b.shape, b.pose, cb);
            if (collide_convex(polytopes_, ca, cb, frame_.motion, frame_.margin, contacts)) append(a.child, b.child, contacts, false);
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
            const Side part{shape, outward(whole.pose, child.pose), rows[i]};
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
        collide_mesh(polytopes_, mesh, rows, convex, inward(surface.pose.axes, motion), frame_.margin, scratch_.mesh);
        for (MeshContact& contact : scratch_.mesh.contacts) {
            contact.contacts.normal = outward(surface.pose.axes, contact.contacts.normal);
            for (ConvexPoint& p : contact.contacts.point) p.point = outward(surface.pose, p.point);
            append(mesh_second ? solid.child : contact.child, mesh_second ? contact.child : solid.child, contact.contacts,
                   mesh_second);
        }
    }

    // Rows of the boxes that overlap, ascending.
    void find(const BoxTree& tree, const Boxed& box, std::vector<std::uint32_t>& rows) const {
        BoundsRecord record;
        const double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
        for (int k = 0; k < 3; ++k) {
            const double slack = 1e-6 * (absolute(low[k]) + absolute(high[k]));  // more than rounding to single precision takes
            record.min[k] = static_cast<float>(low[k] - slack);
            record.max[k] = static_cast<float>(high[k] + slack);
        }
        std::vector<std::uint32_t>& found = scratch_.found;
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

    // Contacts in the pair's frame; `turned`: they are those of B and A.
    void append(std::uint32_t child_a, std::uint32_t child_b, const ConvexContacts& contacts, bool turned) {
        Manifold m;
        m.a = pair_.a;
        m.b = pair_.b;
        m.child_a = child_a;
        m.child_b = child_b;
        m.normal = narrowed(turned ? -contacts.normal : contacts.normal);
        m.count = contacts.count;
        for (std::uint32_t i = 0; i < m.count; ++i) {
            m.points[i].offset_a = narrowed(contacts.point[i].point);
            m.points[i].depth = static_cast<float>(contacts.point[i].depth);
            m.points[i].feature = contacts.point[i].feature;
        }
        make_unique(m);
        out_.push_back(m);
    }

    const BroadKernels& kernels_;
    const PolytopeKernels& polytopes_;
    Pair pair_;
    const PairFrame& frame_;
    double around_;
    GeneralScratch& scratch_;
    std::vector<Manifold>& out_;
};

}  // namespace

void collide_general(const GeneralInput& input, Pair pair, GeneralScratch& scratch, std::vector<Manifold>& out) {
    const Shape &a = input.shapes[input.bodies.info[pair.a].shape], &b = input.shapes[input.bodies.info[pair.b].shape];
    if (out_of_reach(input, pair, a, b)) return;
    const PairFrame frame = frame_of(input, pair);
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    PairWork(input, pair, frame, scratch, out).run({a, frame.a, 0}, {b, frame.b, 0}, 0);
    // Children of B are looked at before triangles of A.
    if (a.mesh && b.compound) {
        std::sort(out.begin() + before, out.end(), [](const Manifold& x, const Manifold& y) {
            return x.child_a != y.child_a ? x.child_a < y.child_a : x.child_b < y.child_b;
        });
    }
}

}  // namespace orrery::sim::ref
