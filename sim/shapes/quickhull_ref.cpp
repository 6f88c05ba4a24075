#include "sim/shapes/quickhull.h"

#include "sim/shapes/double3.h"
#include "sim/shapes/hull.h"

namespace orrery::sim::ref {

namespace {

__extension__ typedef __int128 Wide128;

constexpr double kGrid = 33554432.0;        // 2^25
constexpr double kOutside = 1e-6 * kGrid;   // a point no farther outside than this part of the extent adds nothing
constexpr double kCoplanar = 1e-5 * kGrid;  // faces with all corners this near to one plane are one face

struct GridPoint {
    std::int64_t x, y, z;
};
GridPoint operator-(GridPoint a, GridPoint b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
GridPoint cross(GridPoint a, GridPoint b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}  // below 2^52
D3 real(GridPoint p) { return {static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)}; }

struct Triangle {
    std::uint32_t v[3];
    GridPoint normal;
    double length;
    std::uint32_t id;
};

class Quickhull {
  public:
    explicit Quickhull(std::span<const Vec3> points) {
        D3 low = widened(points[0]), high = low;
        for (const Vec3& p : points) {
            low = {smaller(low.x, p.x), smaller(low.y, p.y), smaller(low.z, p.z)};
            high = {larger(high.x, p.x), larger(high.y, p.y), larger(high.z, p.z)};
        }
        const D3 size = high - low;
        const double extent = larger(size.x, larger(size.y, size.z)), scale = extent > 0.0 ? kGrid / extent : 0.0;
        point_.reserve(points.size());
        for (const Vec3& p : points) {
            const D3 d = (widened(p) - low) * scale;
            point_.push_back({static_cast<std::int64_t>(d.x + 0.5), static_cast<std::int64_t>(d.y + 0.5),
                              static_cast<std::int64_t>(d.z + 0.5)});
        }
    }

    HullFault run() {
        if (const HullFault fault = begin(); fault != HullFault::none) return fault;
        for (vertices_ = 4; vertices_ < kMaxHullVertices; ++vertices_) {
            std::uint32_t farthest = kNone;
            double most = kOutside;
            for (const std::uint32_t p : outside_) {
                if (height_[p] > most) farthest = p, most = height_[p];
            }
            if (farthest == kNone) break;
            add_vertex(farthest);
        }
        return HullFault::none;
    }

    const std::vector<Triangle>& triangles() const { return faces_; }
    D3 at(std::uint32_t point) const { return real(point_[point]); }

  private:
    double above(const Triangle& t, std::uint32_t p) const {
        const GridPoint d = point_[p] - point_[t.v[0]];
        const Wide128 exact = Wide128(t.normal.x) * d.x + Wide128(t.normal.y) * d.y + Wide128(t.normal.z) * d.z;
        if (exact <= 0) return 0.0;
        return static_cast<double>(exact) / t.length;
    }
    Triangle make(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const GridPoint n = cross(point_[b] - point_[a], point_[c] - point_[a]);
        removed_.push_back(false);
        return {{a, b, c}, n, larger(ref::length(real(n)), 1.0), static_cast<std::uint32_t>(removed_.size() - 1)};
    }

    HullFault begin() {
        const auto count = static_cast<std::uint32_t>(point_.size());
        std::uint32_t end[6] = {};
        for (std::uint32_t i = 1; i < count; ++i) {
            const GridPoint p = point_[i];
            if (p.x < point_[end[0]].x) end[0] = i;
            if (p.x > point_[end[1]].x) end[1] = i;
            if (p.y < point_[end[2]].y) end[2] = i;
            if (p.y > point_[end[3]].y) end[3] = i;
            if (p.z < point_[end[4]].z) end[4] = i;
            if (p.z > point_[end[5]].z) end[5] = i;
        }
        std::uint32_t a = 0, b = 0, c = 0, d = 0;
        double most = 0.0;
        for (int i = 0; i < 6; ++i) {
            for (int k = i + 1; k < 6; ++k) {
                const double far = ref::length(real(point_[end[k]] - point_[end[i]]));
                if (far > most) a = end[i], b = end[k], most = far;
            }
        }
        if (most <= kOutside) return HullFault::one_point;
        const D3 along = real(point_[b] - point_[a]);
        most = kOutside * ref::length(along);
        for (std::uint32_t i = 0; i < count; ++i) {
            const double area = ref::length(real(cross(point_[b] - point_[a], point_[i] - point_[a])));
            if (area > most) c = i, most = area;
        }
        if (most <= kOutside * ref::length(along)) return HullFault::one_line;
        const Triangle base = make(a, b, c), back = make(a, c, b);
        most = kOutside;
        bool in_front = false;
        for (std::uint32_t i = 0; i < count; ++i) {
            const double front = above(base, i), behind = above(back, i), far = larger(front, behind);
            if (far > most) d = i, most = far, in_front = front > behind;
        }
        if (most <= kOutside) return HullFault::one_plane;
        if (in_front) {
            const std::uint32_t swapped = b;
            b = c;
            c = swapped;
        }
        faces_ = {make(a, b, c), make(a, d, b), make(b, d, c), make(c, d, a)};
        height_.assign(count, 0.0);
        face_.assign(count, kNone);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i != a && i != b && i != c && i != d) place(i, 0);
        }
        return HullFault::none;
    }

    // Gives a point to the face from `first` on that it is highest above.
    void place(std::uint32_t p, std::size_t first) {
        height_[p] = 0.0;
        for (std::size_t f = first; f < faces_.size(); ++f) {
            const double height = above(faces_[f], p);
            if (height > height_[p]) height_[p] = height, face_[p] = faces_[f].id;
        }
        if (height_[p] > 0.0) outside_.push_back(p);
    }

    void add_vertex(std::uint32_t p) {
        edges_.clear();
        std::size_t kept = 0;
        for (const Triangle& t : faces_) {
            if (above(t, p) <= 0.0) {
                faces_[kept++] = t;
                continue;
            }
            removed_[t.id] = true;
            for (int i = 0; i < 3; ++i) cut(t.v[i], t.v[(i + 1) % 3]);
        }
        faces_.erase(faces_.begin() + static_cast<std::ptrdiff_t>(kept), faces_.end());
        for (const auto& [from, to] : edges_) faces_.push_back(make(from, to, p));
        // A point that a removed face saw and that is still outside is seen by a new one: the normal of a new face lies
        // between those of the two that met at its edge, and if the point is seen by any face that stays, then by two
        // that met at some such edge.
        std::vector<std::uint32_t> before;
        before.swap(outside_);
        for (const std::uint32_t q : before) {
            if (q == p) continue;
            if (removed_[face_[q]])
                place(q, kept);
            else
                outside_.push_back(q);
        }
    }
    // An edge that two removed faces share is no edge of the hole.
    void cut(std::uint32_t from, std::uint32_t to) {
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            if (edges_[e].first != to || edges_[e].second != from) continue;
            edges_.erase(edges_.begin() + static_cast<std::ptrdiff_t>(e));
            return;
        }
        edges_.emplace_back(from, to);
    }

    std::vector<GridPoint> point_;
    std::vector<double> height_;          // by point: above its face, grid units
    std::vector<std::uint32_t> face_;     // by point outside: the id of a face that sees it
    std::vector<bool> removed_;           // by id of a face
    std::vector<std::uint32_t> outside_;  // points that some face sees
    std::vector<Triangle> faces_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
    std::uint32_t vertices_ = 0;
};

using Loop = std::vector<std::uint32_t>;

struct Plane {
    D3 normal;  // its length is twice the area
    D3 point;
};

Plane plane_of(const Loop& loop, const Quickhull& hull) {
    Plane out;
    out.point = hull.at(loop[0]);
    for (std::size_t i = 1; i + 1 < loop.size(); ++i)
        out.normal = out.normal + cross(hull.at(loop[i]) - out.point, hull.at(loop[i + 1]) - out.point);
    return out;
}

// The loop around both, or an empty one where they do not share exactly one run of edges.
Loop joined(const Loop& f, const Loop& g) {
    const std::size_t m = f.size(), n = g.size();
    const auto shared = [&](std::size_t i) {
        for (std::size_t k = 0; k < n; ++k) {
            if (g[k] == f[(i + 1) % m] && g[(k + 1) % n] == f[i]) return true;
        }
        return false;
    };
    std::size_t first = m, count = 0, runs = 0;
    for (std::size_t i = 0; i < m; ++i) {
        if (!shared(i)) continue;
        ++count;
        if (shared((i + m - 1) % m)) continue;
        first = i;
        ++runs;
    }
    if (runs != 1 || count >= m || count >= n) return {};
    Loop out;
    for (std::size_t i = count; i <= m; ++i) out.push_back(f[(first + i) % m]);
    std::size_t at = 0;
    while (g[at] != f[first]) ++at;
    for (std::size_t k = 1; k < n - count; ++k) out.push_back(g[(at + k) % n]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (out[i] == out[k]) return {};
        }
    }
    return out;
}

// How far the smaller of two faces strays from the plane of the larger.
double stray(const Loop& f, const Loop& g, const Quickhull& hull) {
    const Plane p = plane_of(f, hull), q = plane_of(g, hull);
    const bool f_larger = dot(p.normal, p.normal) >= dot(q.normal, q.normal);
    const Plane& plane = f_larger ? p : q;
    const double size = length(plane.normal);
    if (size <= 0.0) return 0.0;
    double most = 0.0;
    for (const std::uint32_t v : f_larger ? g : f)
        most = larger(most, absolute(dot(hull.at(v) - plane.point, plane.normal)) / size);
    return most;
}

bool share_edge(const Loop& f, const Loop& g) {
    int common = 0;
    for (const std::uint32_t v : f) {
        for (const std::uint32_t w : g) common += v == w ? 1 : 0;
    }
    return common >= 2;
}

void merge_faces(std::vector<Loop>& loops, const Quickhull& hull) {
    for (;;) {
        std::size_t best_f = 0, best_g = 0;
        double least = kCoplanar;
        Loop best;
        for (std::size_t f = 0; f < loops.size(); ++f) {
            for (std::size_t g = f + 1; g < loops.size(); ++g) {
                if (!share_edge(loops[f], loops[g])) continue;
                const double d = stray(loops[f], loops[g], hull);
                if (d >= least) continue;
                Loop both = joined(loops[f], loops[g]);
                if (both.size() < 3) continue;
                best_f = f, best_g = g, least = d;
                best = std::move(both);
            }
        }
        if (best.empty()) break;
        loops[best_f] = std::move(best);
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(best_g));
    }
}

// Corners where no more than two faces meet lie on the edge between them.
void drop_straight_corners(std::vector<Loop>& loops, std::size_t points) {
    std::vector<std::uint8_t> uses(points, 0);
    for (const Loop& loop : loops) {
        for (const std::uint32_t v : loop) ++uses[v];
    }
    for (std::uint32_t v = 0; v < points; ++v) {
        if (uses[v] != 2) continue;
        bool spare = true;
        for (const Loop& loop : loops) {
            for (const std::uint32_t w : loop) spare = spare && (w != v || loop.size() > 3);
        }
        if (!spare) continue;
        for (Loop& loop : loops) std::erase(loop, v);
    }
}

void number_vertices(const std::vector<Loop>& loops, std::size_t points, HullFaces& out) {
    out = {};
    std::vector<std::uint32_t> number(points, kNone);
    for (const Loop& loop : loops) {
        for (const std::uint32_t v : loop) number[v] = 0;
    }
    for (std::uint32_t v = 0; v < points; ++v) {
        if (number[v] == kNone) continue;
        number[v] = static_cast<std::uint32_t>(out.points.size());
        out.points.push_back(v);
    }
    for (const Loop& loop : loops) {
        out.face_start.push_back(static_cast<std::uint16_t>(out.loop.size()));
        for (const std::uint32_t v : loop) out.loop.push_back(static_cast<std::uint8_t>(number[v]));
    }
    out.face_start.push_back(static_cast<std::uint16_t>(out.loop.size()));
}

bool closed(const HullFaces& hull) {
    std::vector<PolytopeEdge> edges(hull.loop.size());
    const auto faces = static_cast<std::uint32_t>(hull.face_start.size() - 1);
    const std::uint32_t count = find_edges(faces, hull.face_start.data(), hull.loop.data(), edges.data());
    return count != 0 && hull.points.size() + faces == count + 2;
}

}  // namespace

HullFault quickhull(std::span<const Vec3> points, HullFaces& out) {
    if (points.empty()) return HullFault::one_point;
    Quickhull hull(points);
    if (const HullFault fault = hull.run(); fault != HullFault::none) return fault;
    std::vector<Loop> loops;
    for (const Triangle& t : hull.triangles()) loops.push_back({t.v[0], t.v[1], t.v[2]});
    const std::vector<Loop> triangles = loops;
    merge_faces(loops, hull);
    drop_straight_corners(loops, points.size());
    number_vertices(loops, points.size(), out);
    if (!closed(out)) number_vertices(triangles, points.size(), out);
    return HullFault::none;
}

}  // namespace orrery::sim::ref
