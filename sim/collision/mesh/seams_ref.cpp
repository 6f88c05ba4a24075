#include "sim/collision/convex/convex.h"
#include "sim/collision/mesh/seams.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {
namespace {

constexpr double kLooksUp = 0.5;  // cosine: a face that leans less is none of a part's sides
constexpr double kSpareOfSlider =
    0.015;  // the same: by so much points may lie beyond the faces that hold them (kRectangleSlack, kSlack)
constexpr double kSpareAhead = 0.25;  // of the distance to what is ahead

D3 out_of_part(const Manifold& m, std::uint32_t slider) {
    return m.a == slider ? -widened(m.normal) : widened(m.normal);
}

// Whether a point lies in the part, or no farther off than `across` where that is against `way`, `beside` elsewhere.
bool holds(const Placed& is, D3 point, D3 way, double across, double beside) {
    if (is.shape->type == ShapeType::plane) return dot(is.pose.axes.y, point - is.pose.position) <= across;
    const D3 off = point - is.pose.position;
    const double reach = is.shape->bounding_radius + (across + beside);
    if (dot(off, off) > reach * reach) return false;
    Convex convex;
    place_convex(*is.shape, is.pose, convex);
    if (convex.kind == ConvexKind::cylinder) {
        const double along = dot(convex.pose.axes.y, off), rim = convex.rim + across;
        const D3 out = off - convex.pose.axes.y * along;
        return absolute(along) <= convex.half_height + across && dot(out, out) <= rim * rim;
    }
    if (convex.kind != ConvexKind::polytope) return false;
    for (std::uint32_t f = 0; f < convex.topology->faces; ++f) {
        const D3 normal = convex.normal(f);
        if (dot(normal, point) - convex.offset(f) > (absolute(dot(normal, way)) > 0.5 ? across : beside)) return false;
    }
    return true;
}

class GhostFinder {
  public:
    GhostFinder(const SeamInput& input, Manifolds manifolds, std::uint32_t slider, std::span<const std::uint32_t> which,
                std::uint8_t* ghost)
        : input_(input),
          bodies_(input.bodies),
          shapes_(input.shapes),
          manifolds_(manifolds),
          slider_(slider),
          which_(which),
          ghost_(ghost) {}

    bool run(SeamScratch& scratch) {
        scratch.planes.clear();
        scratch.parts.clear();
        scratch.sliders.clear();
        const Placed self = placed(bodies_, shapes_, slider_, slider_);
        std::uint32_t body = kNone;
        Placed other;
        for (std::size_t i = 0; i < which_.size(); ++i) {
            const Manifold& m = manifold(i);
            const bool first = m.a == slider_;
            const std::uint32_t of = first ? m.b : m.a;
            if (of != body) other = placed(bodies_, shapes_, of, slider_);
            body = of;
            scratch.sliders.push_back(child_of(self, first ? m.child_a : m.child_b));
            scratch.parts.push_back(child_of(other, first ? m.child_b : m.child_a));
        }
        parts_ = scratch.parts;
        sliders_ = scratch.sliders;
        for (std::size_t i = 0; i < which_.size(); ++i) {
            if (ghost_[which_[i]] != 0) continue;
            const D3 normal = normal_of(i);
            Face face;
            if (!face_along(part(i), normal, face) || dot(face.normal, normal) <= kAlike || known(scratch, face))
                continue;
            scratch.planes.push_back(face);
            hide_behind(face, bears(i), scratch);
        }
        return any_;
    }

  private:
    const Manifold& manifold(std::size_t i) const { return manifolds_[which_[i]]; }
    D3 normal_of(std::size_t i) const { return out_of_part(manifold(i), slider_); }
    const Placed& slider(std::size_t i) const { return sliders_[i]; }
    D3 position_of(std::uint32_t body) const {
        const float *p = bodies_.pose[body].position, *o = bodies_.pose[slider_].position;
        return {double(p[0]) - o[0], double(p[1]) - o[1], double(p[2]) - o[2]};
    }
    const Placed& part(std::size_t i) const { return parts_[i]; }
    double slider_radius(std::size_t i) const { return slider(i).shape->bounding_radius; }
    bool bears(std::size_t i) const {
        const Manifold& m = manifold(i);
        const double flush = for_slider(i, kFlush_m);
        bool touches = false;
        for (std::uint32_t k = 0; k < m.count; ++k) touches = touches || m.points[k].depth >= -flush;
        return touches;
    }
    double for_slider(std::size_t i, double most) const { return smaller(most, kFlushOfBody * slider_radius(i)); }
    static bool known(const SeamScratch& scratch, const Face& face) {
        for (const Face& p : scratch.planes) {
            if (dot(p.normal, face.normal) > 1.0 - 1e-9 && absolute(p.at - face.at) < 1e-6) return true;
        }
        return false;
    }

    void hide_behind(const Face& face, bool borne, SeamScratch& scratch) {
        scratch.level.clear();
        bool listed = false;
        for (std::size_t i = 0; i < which_.size(); ++i) {
            const D3 normal = normal_of(i);
            const double up = dot(normal, face.normal);
            if (ghost_[which_[i]] != 0 || up > kAlike) continue;
            const Placed& is = part(i);
            if (!is_convex(is.shape->type)) continue;
            const double radius = slider_radius(i), joint = for_slider(i, kJoint_m);
            if (reach_of(*is.shape, is.pose, face.normal) - face.at > for_slider(i, kFlush_m)) continue;
            if (reach_of(*slider(i).shape, slider(i).pose, -face.normal) + face.at > for_slider(i, kSunk_m)) continue;
            Face stands;
            if (up >= kLooksUp && face_along(is, normal, stands) && dot(stands.normal, normal) > kAlike) continue;
            if (!borne || !stays_above(face, i)) {
                if (!listed) list_level(face, scratch);
                listed = true;
                const D3 way = unit_or(normal - face.normal * up, across(face.normal));
                if (!held_by_others(i, face, way, joint, kSpareOfSlider * radius, scratch)) continue;
                if (!borne && turn_to(face, i, joint, kSpareOfSlider * radius, scratch)) continue;
            }
            ghost_[which_[i]] = 1;
            any_ = true;
        }
    }
    // Whether what lies ahead lies so far ahead that a body which the face bears comes there in this tick at most, and
    // above it.
    bool stays_above(const Face& face, std::size_t i) const {
        const Manifold& m = manifold(i);
        const D3 normal = normal_of(i);
        for (std::uint32_t k = 0; k < m.count; ++k) {
            const double ahead = -double(m.points[k].depth);
            if (ahead <= input_.margin_m) return false;
            const D3 middle = position_of(m.a) + widened(m.points[k].offset_a);
            const D3 point = !has_moved(m)    ? middle + normal * (0.5 * ahead)
                             : m.b == slider_ ? middle - widened(m.moved)
                                              : middle;  // the slider's
            const D3 motion = velocity_of(slider_, point) - velocity_of(m.a == slider_ ? m.b : m.a, point);
            if (dot(motion, face.normal) * double(input_.dt_s) < -for_slider(i, kSunk_m)) return false;
        }
        return true;
    }
    D3 velocity_of(std::uint32_t body, D3 point) const {
        const float *v = bodies_.velocity[body].linear, *w = bodies_.velocity[body].angular;
        const D3 linear{double(v[0]), double(v[1]), double(v[2])};
        if (shapes_[bodies_.info(body).shape].type == ShapeType::sphere)
            return linear;  // turning moves no part of it down
        return linear + cross(D3{double(w[0]), double(w[1]), double(w[2])}, point - position_of(body));
    }
    // A body that the face does not bear yet may turn about where it touches first, and come down here within the tick:
    // of what is no contact with the part's side becomes one with its level parts. False: there is none.
    bool turn_to(const Face& face, std::size_t i, double joint, double spare, const SeamScratch& scratch) {
        Manifold& m = manifolds_[which_[i]];
        const bool first = m.a == slider_;
        const float *v = bodies_.velocity[slider_].linear, *u = bodies_.velocity[first ? m.b : m.a].linear;
        const D3 motion = D3{double(v[0]) - u[0], double(v[1]) - u[1], double(v[2]) - u[2]} * double(input_.dt_s);
        const Placed& is = slider(i);
        Convex convex;
        place_convex(*is.shape, is.pose, convex);
        ConvexContacts contacts;
        if (!collide_half_space(convex, face.normal * face.at, face.normal, motion, input_.margin_m, contacts))
            return false;
        std::uint32_t count = 0;
        for (std::uint32_t k = 0; k < contacts.count; ++k) {
            const ConvexPoint& p = contacts.point[k];
            const D3 below = p.point - face.normal * (dot(face.normal, p.point) - face.at);
            const double beside = joint + spare + kSpareAhead * larger(-p.depth, 0.0);
            bool held = false;
            for (const std::uint32_t other : scratch.level)
                held = held || holds(part(other), below, face.normal, joint, beside);
            if (!held) continue;
            m.points[count++] = {narrowed(p.point - position_of(m.a)), static_cast<float>(p.depth), p.feature,
                                 0.0f};  // nobody wrote it before
        }
        if (count == 0) return false;
        m.count = count;
        m.moved = {};
        m.normal = narrowed(first ? contacts.normal : -contacts.normal);
        return true;
    }
    // Which parts lie level with the face.
    void list_level(const Face& face, SeamScratch& scratch) const {
        for (std::size_t i = 0; i < which_.size(); ++i) {
            const Placed& is = part(i);
            Face top;
            if (!face_along(is, face.normal, top)) continue;
            if (dot(top.normal, face.normal) > kAlike && absolute(top.at - face.at) <= kFlush_m)
                scratch.level.push_back(static_cast<std::uint32_t>(i));
        }
    }
    // Not all parts that lie between here and what is far ahead are listed: the farther ahead, the farther they may lie
    // from it.
    bool held_by_others(std::size_t i, const Face& face, D3 way, double joint, double spare,
                        const SeamScratch& scratch) const {
        const Manifold& m = manifold(i);
        const D3 normal = normal_of(i);
        const D3 from = position_of(m.a);
        for (std::uint32_t k = 0; k < m.count; ++k) {
            const D3 middle = from + widened(m.points[k].offset_a);
            D3 point = !has_moved(m)    ? middle + normal * (double(m.points[k].depth) * 0.5)  // on the part's surface,
                       : m.a == slider_ ? middle - widened(m.moved)
                                        : middle;
            point = point - face.normal * larger(dot(face.normal, point) - face.at, 0.0);  // which ends there
            const double ahead = kSpareAhead * larger(-double(m.points[k].depth), 0.0), across = joint + ahead;
            bool held = false;
            for (const std::uint32_t other : scratch.level) {
                held = held ||
                       (other != i && !same_part(other, i) && holds(part(other), point, way, across, across + spare));
            }
            if (!held) return false;
        }
        return true;
    }
    bool same_part(std::size_t i, std::size_t k) const {
        const Manifold &x = manifold(i), &y = manifold(k);
        const bool xa = x.a == slider_, ya = y.a == slider_;
        return (xa ? x.b : x.a) == (ya ? y.b : y.a) && (xa ? x.child_b : x.child_a) == (ya ? y.child_b : y.child_a);
    }

    const SeamInput& input_;
    const Bodies& bodies_;
    std::span<const Shape> shapes_;
    Manifolds manifolds_;
    std::uint32_t slider_;
    std::span<const std::uint32_t> which_;
    std::uint8_t* ghost_;
    std::span<const Placed> parts_, sliders_;  // by contact
    bool any_ = false;
};

}  // namespace

bool find_ghosts(const SeamInput& input, Manifolds manifolds, std::uint32_t slider,
                 std::span<const std::uint32_t> which, SeamScratch& scratch, std::uint8_t* ghost) {
    const D3 first = out_of_part(manifolds[which[0]], slider);
    bool differ = false;
    for (const std::uint32_t i : which) differ = differ || dot(first, out_of_part(manifolds[i], slider)) <= kAlike;
    return differ && GhostFinder(input, manifolds, slider, which, ghost).run(scratch);
}

}  // namespace orrery::sim::ref
