// The point of a simplex that is nearest to the origin.
#pragma once

#include <cstdint>

#include "sim/shapes/double3.h"

namespace orrery::sim::ref {

struct SimplexPoint {
    D3 v;
    double size2 = 1e300;        // of v
    std::uint32_t count = 0;     // of the corners that it lies between
    std::uint8_t index[3] = {};  // they ascend
    double weight[3] = {};
};

namespace simplex {

inline void corner(const D3* w, std::uint8_t i, SimplexPoint& best) {
    const double size2 = dot(w[i], w[i]);
    if (size2 < best.size2) best = {w[i], size2, 1, {i}, {1.0}};
}

inline void segment(const D3* w, std::uint8_t i, std::uint8_t j, SimplexPoint& best) {
    const D3 d = w[j] - w[i];
    const double along = -dot(w[i], d), size2 = dot(d, d);
    if (along <= 0.0 || size2 <= 0.0) return corner(w, i, best);
    if (along >= size2) return corner(w, j, best);
    const double t = along / size2;
    const D3 v = w[i] * (1.0 - t) + w[j] * t;
    const double v2 = dot(v, v);
    if (v2 < best.size2) best = {v, v2, 2, {i, j}, {1.0 - t, t}};
}

// Edges that were looked at: a second look at one finds nothing nearer.
class Edges {
  public:
    void nearest(const D3* w, std::uint8_t i, std::uint8_t j, SimplexPoint& best) {
        const std::uint32_t bit = 1u << (1u << i | 1u << j);
        if ((seen_ & bit) == 0) segment(w, i, j, best);
        seen_ |= bit;
    }

  private:
    std::uint32_t seen_ = 0;
};

inline void triangle(const D3* w, std::uint8_t i, std::uint8_t j, std::uint8_t k, Edges& edges, SimplexPoint& best) {
    const D3 ab = w[j] - w[i], ac = w[k] - w[i];
    const double d1 = -dot(ab, w[i]), d2 = -dot(ac, w[i]), d3 = -dot(ab, w[j]), d4 = -dot(ac, w[j]),
                 d5 = -dot(ab, w[k]), d6 = -dot(ac, w[k]);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (va > 0.0 && vb > 0.0 && vc > 0.0) {
        const double scale = 1.0 / ((va + vb) + vc), x = va * scale, y = vb * scale, z = vc * scale;
        const D3 v = (w[i] * x + w[j] * y) + w[k] * z;
        const double v2 = dot(v, v);
        if (v2 < best.size2) best = {v, v2, 3, {i, j, k}, {x, y, z}};
        return;
    }
    // On an edge: the nearest of the three is right, whatever region rounding would name.
    edges.nearest(w, i, j, best);
    edges.nearest(w, j, k, best);
    edges.nearest(w, i, k, best);
}

// False: the origin is inside.
inline bool tetrahedron(const D3* w, bool first_is_known, SimplexPoint& best) {
    const D3 to_1 = w[1] - w[0], to_2 = w[2] - w[0], to_3 = w[3] - w[0];
    Edges edges;
    // `n`: across the face, of which w[i] is a corner; `up`: from it to the fourth.
    const auto inside = [&](std::uint8_t i, D3 n, D3 up) {
        const double inner = dot(n, up), origin = -dot(n, w[i]);
        // A flat tetrahedron has no inside: all its faces are looked at.
        return origin * inner >= 0.0 && inner * inner > 1e-24 * dot(n, n) * dot(up, up);
    };
    bool outside = false;
    const auto look = [&](std::uint8_t i, std::uint8_t j, std::uint8_t k, D3 n, D3 up) {
        if (inside(i, n, up)) return;
        outside = true;
        triangle(w, i, j, k, edges, best);
    };
    if (!first_is_known)
        look(0, 1, 2, cross(to_1, to_2), to_3);
    else
        outside = !inside(0, cross(to_1, to_2), to_3);
    look(0, 1, 3, cross(to_1, to_3), to_2);
    look(0, 2, 3, cross(to_2, to_3), to_1);
    look(1, 2, 3, cross(w[2] - w[1], w[3] - w[1]), w[0] - w[1]);
    return outside;
}

}  // namespace simplex

// Of one to four points; false: the origin is inside, and there is no such point. Where, of four, `first_is_known`, the
// nearest point of the first three lies between them and is known: only what is nearer counts.
inline bool nearest_on_simplex(const D3* w, std::uint32_t count, bool first_is_known, SimplexPoint& out) {
    out.size2 = 1e300;
    if (count == 4) return simplex::tetrahedron(w, first_is_known, out);
    if (count == 3) {
        simplex::Edges edges;
        simplex::triangle(w, 0, 1, 2, edges, out);
    } else if (count == 2) {
        simplex::segment(w, 0, 1, out);
    } else {
        simplex::corner(w, 0, out);
    }
    return true;
}

}  // namespace orrery::sim::ref
