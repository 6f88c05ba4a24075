// How deep two convex cores overlap: the expanding polytope (van den Bergen 2001) grows inside their Minkowski
// difference until the side of it that is nearest to the origin lies on the surface. That side never is farther away
// than the surface: so the search ends, too, where the least translation is known to be long enough.
#include "sim/collision/convex/convex.h"
#include "sim/collision/convex/simplex.h"
#include "sim/shapes/convex_support.h"

namespace orrery::sim::ref {

namespace {

constexpr std::uint32_t kMaxExpansions = 96;
constexpr std::uint32_t kMaxPoints = kMaxExpansions + 4, kMaxFaces = 4 * kMaxExpansions + 16,
                        kMaxHorizon = 3 * kMaxExpansions + 16;
constexpr double kTolerance = 1e-6;  // relative to the size of the difference

struct Point {
    D3 w, a, b;  // w = a - b
};

struct Face {
    std::uint16_t i, j, k;
    bool alive;
    D3 n;      // unit, outward
    double d;  // of the plane along n
};

class Expansion {
  public:
    Expansion(const Convex& a, const Convex& b) : a_(a), b_(b) {}

    ConvexDepth::State run(const ConvexGap& start, double enough, ConvexDepth& out) {
        if (!begin(start)) return ConvexDepth::State::flat;
        double least = 1e300;
        for (std::uint32_t step = 0; step < kMaxExpansions; ++step) {
            const Face face = faces_[nearest()];
            if (face.d >= enough) return ConvexDepth::State::deeper;
            const Point p = support_along(face.n);
            const double depth = dot(p.w, face.n);
            // The least translation found is the answer, even where the surface did not come out whole.
            if (depth < least) {
                least = depth;
                out.normal = face.n;
                out.depth = depth;
            }
            if (depth - face.d <= kTolerance * size_ || points_ == kMaxPoints || !expand(p)) break;
        }
        finish(out);
        return ConvexDepth::State::found;
    }

  private:
    Point support_along(D3 direction) const {
        const D3 p = support(a_, direction), q = support(b_, -direction);
        return {p - q, p, q};
    }
    // Grows the simplex to a tetrahedron around the origin: whatever it lacks is looked for in fixed directions.
    bool begin(const ConvexGap& start) {
        points_ = 0;
        for (std::uint32_t i = 0; i < start.count; ++i)
            point_[points_++] = {start.a[i] - start.b[i], start.a[i], start.b[i]};
        size_ = 0.0;
        for (const D3 axis : {D3{1, 0, 0}, D3{0, 1, 0}, D3{0, 0, 1}})
            size_ = larger(size_, dot(support_along(axis).w, axis) - dot(support_along(-axis).w, axis));
        const double tiny = 1e-9 * size_;
        while (points_ < 4) {
            bool grown = false;
            for (const D3 axis : {D3{1, 0, 0}, D3{0, 1, 0}, D3{0, 0, 1}}) {
                for (const double sign : {1.0, -1.0}) {
                    if (grown) break;
                    const D3 direction = growth(axis) * sign;
                    if (length(direction) < 0.5) continue;
                    const Point p = support_along(direction);
                    if (absolute(dot(p.w - point_[0].w, direction)) <= tiny) continue;
                    point_[points_++] = p;
                    grown = true;
                }
            }
            if (!grown) return false;
        }
        const D3 n = cross(point_[1].w - point_[0].w, point_[2].w - point_[0].w);
        if (dot(n, point_[3].w - point_[0].w) > 0.0) {
            const Point swapped = point_[1];
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
        Face& f = faces_[face_count_++];
        f.i = static_cast<std::uint16_t>(i);
        f.j = static_cast<std::uint16_t>(j);
        f.k = static_cast<std::uint16_t>(k);
        f.alive = true;
        const D3 n = cross(point_[j].w - point_[i].w, point_[k].w - point_[i].w);
        const double size = length(n);
        // A sliver has no direction of its own: it stays for the sake of its neighbours and is never the nearest.
        const bool sliver = size <= 1e-20 * size_ * size_;
        f.n = sliver ? D3{} : n * (1.0 / size);
        f.d = sliver ? 1e300 : dot(f.n, point_[i].w);
    }
    std::uint32_t nearest() const {
        std::uint32_t best = 0;
        double least = 1e301;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            if (faces_[i].d < least) best = i, least = faces_[i].d;
        }
        return best;
    }
    bool expand(const Point& p) {
        edges_ = 0;
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            Face& f = faces_[i];
            if (f.d > 1e299 || dot(f.n, p.w) - f.d <= 1e-12 * size_) continue;
            f.alive = false;
            ++seen;
            cut(f.i, f.j);
            cut(f.j, f.k);
            cut(f.k, f.i);
        }
        if (seen == 0 || edges_ < 3 || face_count_ + edges_ > kMaxFaces) return revive();
        compact();
        const std::uint32_t tip = points_;
        point_[points_++] = p;
        for (std::uint32_t e = 0; e < edges_; ++e) add(edge_[e][0], edge_[e][1], tip);
        return true;
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
    void compact() {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            if (!faces_[i].alive) continue;
            if (kept != i) faces_[kept] = faces_[i];
            ++kept;
        }
        face_count_ = kept;
    }
    // Of the faces that are nearest but for the tolerance (a flat side is many triangles), the one that holds the
    // origin's foot.
    void finish(ConvexDepth& out) const {
        const double nearest_d = faces_[nearest()].d;
        double least = 1e300;
        for (std::uint32_t i = 0; i < face_count_; ++i) {
            const Face& f = faces_[i];
            if (f.d > nearest_d + 10.0 * kTolerance * size_) continue;
            const D3 foot = f.n * f.d;
            const Point* p[3] = {&point_[f.i], &point_[f.j], &point_[f.k]};
            const D3 w[3] = {p[0]->w - foot, p[1]->w - foot, p[2]->w - foot};
            SimplexPoint near;
            nearest_on_simplex(w, 3, false, near);
            if (near.size2 >= least) continue;
            least = near.size2;
            out.on_a = out.on_b = {};
            for (std::uint32_t k = 0; k < near.count; ++k) {
                out.on_a = out.on_a + p[near.index[k]]->a * near.weight[k];
                out.on_b = out.on_b + p[near.index[k]]->b * near.weight[k];
            }
        }
    }

    const Convex &a_, &b_;
    double size_ = 0.0;
    std::uint32_t points_ = 0, face_count_ = 0, edges_ = 0;
    union {  // written before they are read
        Point point_[kMaxPoints];
    };
    union {
        Face faces_[kMaxFaces];
    };
    std::uint16_t edge_[kMaxHorizon][2];
};

}  // namespace

void convex_depth(const Convex& a, const Convex& b, const ConvexGap& gap, double enough, ConvexDepth& out) {
    out.state = Expansion(a, b).run(gap, enough, out);
}

}  // namespace orrery::sim::ref
