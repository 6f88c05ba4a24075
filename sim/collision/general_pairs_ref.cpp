// One pair of any shapes: the frame in which it is looked at, the children that meet, and what their contacts are in the world.
#include "sim/collision/convex.h"
#include "sim/collision/general_phase.h"

namespace orrery::sim::ref {

namespace {

// World axes, relative to A's centre of mass: precision does not depend on where in the world a pair is.
struct PairFrame {
    DPose a, b;
    D3 motion;       // how far A moves this tick relative to B, by linear velocity
    double margin;
};

PairFrame frame_of(const GeneralInput& in, Pair pair) {
    const PoseRecord &pa = in.bodies.pose[pair.a], &pb = in.bodies.pose[pair.b];
    const VelocityRecord &va = in.bodies.velocity[pair.a], &vb = in.bodies.velocity[pair.b];
    const D3 at_a{pa.position[0], pa.position[1], pa.position[2]}, at_b{pb.position[0], pb.position[1], pb.position[2]};
    const D3 moves_a{va.linear[0], va.linear[1], va.linear[2]}, moves_b{vb.linear[0], vb.linear[1], vb.linear[2]};
    const float *qa = pa.orientation, *qb = pb.orientation;
    return {{{}, axes_of({qa[0], qa[1], qa[2], qa[3]})},
            {at_b - at_a, axes_of({qb[0], qb[1], qb[2], qb[3]})},
            (moves_a - moves_b) * static_cast<double>(in.dt_s),
            in.margin_m};
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

// Contacts in the pair's frame; `turned`: they are those of B and A.
void append(Pair pair, std::uint32_t child_a, std::uint32_t child_b, const ConvexContacts& contacts, bool turned, std::vector<Manifold>& out) {
    Manifold m;
    m.a = pair.a;
    m.b = pair.b;
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
    out.push_back(m);
}

}  // namespace

void collide_general(const GeneralInput& input, Pair pair, std::vector<Manifold>& out) {
    const Shape &a = input.shapes[input.bodies.info[pair.a].shape], &b = input.shapes[input.bodies.info[pair.b].shape];
    const PairFrame frame = frame_of(input, pair);
    ConvexContacts contacts;
    if (b.type == ShapeType::plane || a.type == ShapeType::plane) {
        const bool turned = a.type == ShapeType::plane;
        Convex convex;
        place_convex(turned ? b : a, turned ? frame.b : frame.a, convex);
        const DPose& plane = turned ? frame.a : frame.b;
        if (collide_half_space(convex, plane.position, plane.axes.y, turned ? -frame.motion : frame.motion, frame.margin, contacts))
            append(pair, 0, 0, contacts, turned, out);
        return;
    }
    Convex ca, cb;
    place_convex(a, frame.a, ca);
    place_convex(b, frame.b, cb);
    if (collide_convex(ca, cb, frame.motion, frame.margin, contacts)) append(pair, 0, 0, contacts, false, out);
}

}  // namespace orrery::sim::ref
