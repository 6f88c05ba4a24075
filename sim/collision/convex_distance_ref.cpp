// Distance of two convex cores: GJK (Gilbert, Johnson, Keerthi 1988) on their Minkowski difference while they are apart, the
// expanding polytope (van den Bergen 2001) where they overlap. Fixed bounds on iterations: where a curved surface has not
// converged by then, the answer is good to the tolerance below all the same, for each iteration bounds the error from both
// sides.
#include "sim/collision/convex.h"

namespace orrery::sim::ref {

namespace {

constexpr int kMaxGjkSteps = 64;
constexpr double kGjkTolerance = 1e-10;  // relative, of the squared distance's bound
constexpr std::uint32_t kMaxExpansions = 96;
constexpr std::uint32_t kMaxEpaPoints = kMaxExpansions + 4, kMaxEpaFaces = 4 * kMaxExpansions + 16,
                        kMaxHorizon = 3 * kMaxExpansions + 16;
constexpr double kEpaTolerance = 1e-7;  // relative to the size of the difference

struct DiffPoint {
    D3 w, a, b;  // w = a - b
};

DiffPoint support_of(const Convex& a, const Convex& b, D3 direction) {
    const D3 p = support(a, direction), q = support(b, -direction);
    return {p - q, p, q};
}

struct Simplex {
    int count = 0;
    DiffPoint p[4];
    double weight[4] = {};
};

void keep(Simplex& s, const DiffPoint& p, double w) {
    s.p[s.count] = p;
    s.weight[s.count++] = w;
}

D3 point_of(const Simplex& s) {
    D3 v;
    for (int i = 0; i < s.count; ++i) v = v + s.p[i].w * s.weight[i];
    return v;
}

Simplex nearest_on_segment(const DiffPoint& p, const DiffPoint& q) {
    Simplex s;
    const D3 d = q.w - p.w;
    const double along = -dot(p.w, d), size2 = dot(d, d);
    if (along <= 0.0 || size2 <= 0.0) {
        keep(s, p, 1.0);
    } else if (along >= size2) {
        keep(s, q, 1.0);
    } else {
        keep(s, p, 1.0 - along / size2);
        keep(s, q, along / size2);
    }
    return s;
}

// By the regions of the triangle (Ericson, Real-Time Collision Detection, 5.1.5).
Simplex nearest_on_triangle(const DiffPoint& a, const DiffPoint& b, const DiffPoint& c) {
    const D3 ab = b.w - a.w, ac = c.w - a.w;
    const double d1 = -dot(ab, a.w), d2 = -dot(ac, a.w), d3 = -dot(ab, b.w), d4 = -dot(ac, b.w), d5 = -dot(ab, c.w),
                 d6 = -dot(ac, c.w);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (va > 0.0 && vb > 0.0 && vc > 0.0) {
        Simplex s;
        const double scale = 1.0 / ((va + vb) + vc);
        keep(s, a, va * scale);
        keep(s, b, vb * scale);
        keep(s, c, vc * scale);
        return s;
    }
    // On an edge: the nearest of the three is right, whatever region rounding would name.
    Simplex best = nearest_on_segment(a, b);
    double best2 = dot(point_of(best), point_of(best));
    for (const Simplex& s : {nearest_on_segment(b, c), nearest_on_segment(a, c)}) {
        const double size2 = dot(point_of(s), point_of(s));
        if (size2 < best2) best = s, best2 = size2;
    }
    return best;
}

// False: the origin is inside.
bool nearest_on_tetrahedron(const Simplex& from, Simplex& out) {
    static constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    double best2 = 1e300;
    bool outside = false;
    for (const auto& f : kFaces) {
        const DiffPoint &a = from.p[f[0]], &b = from.p[f[1]], &c = from.p[f[2]], &d = from.p[f[3]];
        const D3 n = cross(b.w - a.w, c.w - a.w);
        const double inner = dot(n, d.w - a.w), origin = -dot(n, a.w);
        // A flat tetrahedron has no inside: all its faces are looked at.
        const bool flat = inner * inner <= 1e-24 * dot(n, n) * dot(d.w - a.w, d.w - a.w);
        if (!flat && origin * inner >= 0.0) continue;
        outside = true;
        const Simplex s = nearest_on_triangle(a, b, c);
        const double size2 = dot(point_of(s), point_of(s));
        if (size2 < best2) out = s, best2 = size2;
    }
    return outside;
}

// ---- the expanding polytope

struct EpaFace {
    std::uint16_t i, j, k;
    bool alive;
    D3 n;      // unit, outward
    double d;  // of the plane along n
};

class Epa {
  public:
    Epa(const Convex& a, const Convex& b) : a_(a), b_(b) {}

    bool run(const Simplex& start, ConvexGap& out) {
        if (!begin(start)) return false;
        double least = 1e300;
        for (std::uint32_t step = 0; step < kMaxExpansions; ++step) {
            const EpaFace face = faces_[nearest()];
            const DiffPoint p = support_of(a_, b_, face.n);
            const double depth = dot(p.w, face.n);
            // The least translation found is the answer, even where the surface did not come out whole.
            if (depth < least) {
                least = depth;
                out.normal = face.n;
                out.distance = -depth;
            }
            if (depth - face.d <= kEpaTolerance * size_ || points_ == kMaxEpaPoints || !expand(p)) break;
        }
        finish(out);
        return true;
    }

  private:
    // Grows the simplex to a tetrahedron around the origin: whatever it lacks is looked for in fixed directions.
    bool begin(const Simplex& start) {
        points_ = 0;
        for (int i = 0; i < start.count; ++i) point_[points_++] = start.p[i];
        size_ = 0.0;
        for (const D3 axis : {D3{1, 0, 0}, D3{0, 1, 0}, D3{0, 0, 1}})
            size_ = larger(size_, dot(support_of(a_, b_, axis).w, axis) - dot(support_of(a_, b_, -axis).w, axis));
        const double tiny = 1e-9 * size_;
        while (points_ < 4) {
            bool grown = false;
            for (const D3 axis : {D3{1, 0, 0}, D3{0, 1, 0}, D3{0, 0, 1}}) {
                for (const double sign : {1.0, -1.0}) {
                    if (grown) break;
                    const D3 direction = growth(axis) * sign;
                    if (length(direction) < 0.5) continue;
                    const DiffPoint p = support_of(a_, b_, direction);
                    if (absolute(dot(p.w - point_[0].w, direction)) <= tiny) continue;
                    point_[points_++] = p;
                    grown = true;
                }
            }
            if (!grown) return false;
        }
        const D3 n = cross(point_[1].w - point_[0].w, point_[2].w - point_[0].w);
        if (dot(n, point_[3].w - point_[0].w) > 0.0) {
            const DiffPoint swapped = point_[1];
            point_[1] = point_[2];
            point_[2] = swapped;
        }
        face_count_ = 0;
        add(0, 1, 2);
        add(0, 3, 1);
        add(0, 2, 3);
        add(1, 3, 2);
        return true;
    }
    // A direction in which the points that there are do not extend.
    D3 growth(D3 axis) const {
        if (points_ < 2) return axis;
        const D3 u = unit_or(point_[1].w - point_[0].w, axis);
        if (points_ == 2) return unit_or(axis - u * dot(axis, u), {});
        return unit_or(cross(u, point_[2].w - point_[0].w), {});
    }
    void add(std::uint32_t i, std::uint32_t j, std::uint32_t k) {
        EpaFace f{static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j), static_cast<std::uint16_t>(k), true, {}, 0.0};
        const D3 n = cross(point_[j].w - point_[i].w, point_[k].w - point_[i].w);
        const double size = length(n);
        // A sliver has no direction of its own: it stays for the sake of its neighbours and is never the nearest.
        f.n = size > 1e-20 * size_ * size_ ? n * (1.0 / size) : D3{};
        f.d = size > 1e-20 * size_ * size_ ? dot(f.n, point_[i].w) : 1e300;
        faces_[face_count_++] = f;
    }
    std::uint32_t nearest() const {
        std::uint32_t best = 0;
        double least = 1e301;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            if (faces_[i].alive && faces_[i].d < least) best = i, least = faces_[i].d;
        }
        return best;
    }
    bool expand(const DiffPoint& p) {
        edges_ = 0;
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            EpaFace& f = faces_[i];
            if (!f.alive || f.d > 1e299 || dot(f.n, p.w) - f.d <= 1e-12 * size_) continue;
            f.alive = false;
            ++seen;
            cut(f.i, f.j);
            cut(f.j, f.k);
            cut(f.k, f.i);
        }
        if (seen == 0 || edges_ < 3 || face_count_ + edges_ > kMaxEpaFaces) return revive();
        const std::uint32_t tip = points_;
        point_[points_++] = p;
        for (std::uint32_t e = 0; e < edges_; ++e) add(edge_[e][0], edge_[e][1], tip);
        return compact();
    }
    // An edge that two removed faces share is no edge of the hole.
    void cut(std::uint16_t from, std::uint16_t to) {
        for (std::uint32_t e = 0; e < edges_; ++e) {
            if (edge_[e][0] != to || edge_[e][1] != from) continue;
            edge_[e][0] = edge_[edges_ - 1][0];
            edge_[e][1] = edge_[edges_ - 1][1];
            --edges_;
            return;
        }
        if (edges_ < kMaxHorizon) edge_[edges_][0] = from, edge_[edges_][1] = to, ++edges_;
    }
    bool revive() {
        for (std::uint32_t i = 0; i < face_count_; ++i) faces_[i].alive = true;
        return false;
    }
    bool compact() {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            if (faces_[i].alive) faces_[kept++] = faces_[i];
        }
        face_count_ = kept;
        return kept > 0;
    }
    // Of the faces that are nearest but for the tolerance (a flat side is many triangles), the one that holds the origin's
    // foot.
    void finish(ConvexGap& out) const {
        const EpaFace& face = faces_[nearest()];
        double least = 1e300;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            const EpaFace& f = faces_[i];
            if (f.d > face.d + 10.0 * kEpaTolerance * size_) continue;
            const D3 foot = f.n * f.d;
            DiffPoint p[3] = {point_[f.i], point_[f.j], point_[f.k]};
            for (DiffPoint& q : p) q.w = q.w - foot;
            const Simplex s = nearest_on_triangle(p[0], p[1], p[2]);
            const D3 off = point_of(s);
            if (dot(off, off) >= least) continue;
            least = dot(off, off);
            out.on_a = out.on_b = {};
            for (int k = 0; k < s.count; ++k) {
                out.on_a = out.on_a + s.p[k].a * s.weight[k];
                out.on_b = out.on_b + s.p[k].b * s.weight[k];
            }
        }
        out.sound = true;
    }

    const Convex &a_, &b_;
    double size_ = 0.0;
    std::uint32_t points_ = 0, face_count_ = 0, edges_ = 0;
    DiffPoint point_[kMaxEpaPoints];
    EpaFace faces_[kMaxEpaFaces];
    std::uint16_t edge_[kMaxHorizon][2];
};

}  // namespace

ConvexGap convex_gap(const Convex& a, const Convex& b, bool overlap_enough) {
    Simplex simplex;
    const D3 start = a.pose.position - b.pose.position;
    keep(simplex, support_of(a, b, -start), 1.0);
    D3 v = simplex.p[0].w;
    bool inside = false;
    double largest2 = dot(v, v);
    for (int step = 0; step < kMaxGjkSteps; ++step) {
        const double distance2 = dot(v, v);
        if (distance2 <= 1e-22 * largest2 || distance2 <= 1e-24) {
            inside = true;
            break;
        }
        const DiffPoint p = support_of(a, b, -v);
        largest2 = larger(largest2, dot(p.w, p.w));
        if (distance2 - dot(v, p.w) <= kGjkTolerance * distance2) break;
        bool known = false;
        for (int i = 0; i < simplex.count; ++i) {
            const D3 d = p.w - simplex.p[i].w;
            known = known || dot(d, d) <= 0.0;
        }
        if (known) break;
        simplex.p[simplex.count++] = p;
        Simplex next;
        if (simplex.count == 4) {
            if (!nearest_on_tetrahedron(simplex, next)) {
                inside = true;
                break;
            }
        } else {
            next = simplex.count == 2 ? nearest_on_segment(simplex.p[0], simplex.p[1])
                                      : nearest_on_triangle(simplex.p[0], simplex.p[1], simplex.p[2]);
        }
        const D3 closer = point_of(next);
        if (dot(closer, closer) >= distance2) break;  // as near as rounding lets it come
        simplex = next;
        v = closer;
    }
    ConvexGap out;
    if (inside) {
        if (overlap_enough) return out;
        Epa epa(a, b);
        if (!epa.run(simplex, out)) out.sound = false;
        return out;
    }
    out.distance = length(v);
    out.normal = v * (-1.0 / out.distance);
    for (int i = 0; i < simplex.count; ++i) {
        out.on_a = out.on_a + simplex.p[i].a * simplex.weight[i];
        out.on_b = out.on_b + simplex.p[i].b * simplex.weight[i];
    }
    out.sound = true;
    return out;
}

}  // namespace orrery::sim::ref
