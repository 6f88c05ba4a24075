// Distances between the library's shapes in double precision, by another way than the library's: every shape is a core
// (point, segment or box, as its corners, edges and faces) with a radius around it. Apart, two cores are nearest at a
// corner and a core or at two edges; overlapping, the least penetration is along a face normal or a product of edges.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sim/shapes/shape.h"
#include "tests/support/double_math.h"

namespace orrery::test {

using sim::ref::cross, sim::ref::dot, sim::ref::length;
inline V vec(sim::Vec3 v) { return {v.x, v.y, v.z}; }
inline V rotate(sim::Quat q, V v) { return turned(sim::ref::widened(q), v); }

struct Core {
    V centre;
    std::array<V, 3> axis{};  // the box's, unit
    std::array<double, 3> half{};
    double radius = 0;
    std::vector<V> corners;
    std::vector<std::pair<V, V>> edges;
    std::vector<V> normals, directions;  // faces; edges
};

inline Core make_core(const sim::Shape& shape, const sim::Pose& pose) {
    Core c;
    c.centre = vec(pose.position);
    c.radius = shape.radius;
    c.half = {shape.half_extents.x, shape.half_extents.y, shape.half_extents.z};
    const V units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; ++i) c.axis[i] = rotate(pose.orientation, units[i]);
    if (shape.type == sim::ShapeType::capsule) c.half[1] = shape.half_height;
    const bool box = shape.type == sim::ShapeType::box, capsule = shape.type == sim::ShapeType::capsule;
    for (int k = 0; k < 8; ++k) {
        V p = c.centre;
        for (int i = 0; i < 3; ++i) p = p + ((k >> i & 1) ? c.half[i] : -c.half[i]) * c.axis[i];
        c.corners.push_back(p);
    }
    if (capsule) c.corners = {c.corners[0], c.corners[2]};
    if (!box && !capsule) c.corners = {c.centre};
    if (capsule) c.edges = {{c.corners[0], c.corners[1]}}, c.directions = {c.axis[1]};
    if (box) {
        for (int k = 0; k < 8; ++k) {
            for (int i = 0; i < 3; ++i) {
                if ((k >> i & 1) == 0) c.edges.push_back({c.corners[k], c.corners[k | 1 << i]});
            }
        }
        c.normals = {c.axis[0], c.axis[1], c.axis[2]};
        c.directions = c.normals;
    }
    return c;
}

inline double point_to_core(V p, const Core& c) {
    V rest = p - c.centre, inside;
    for (int i = 0; i < 3; ++i) inside = inside + std::clamp(dot(rest, c.axis[i]), -c.half[i], c.half[i]) * c.axis[i];
    return length(rest - inside);
}

inline double edge_to_edge(const std::pair<V, V>& e, const std::pair<V, V>& f) {
    const V d = e.second - e.first, g = f.second - f.first, r = e.first - f.first;
    const double a = dot(d, d), b = dot(d, g), c = dot(g, g), det = a * c - b * b;
    const auto at = [&](double s) {
        s = std::clamp(s, 0.0, 1.0);
        const V p = r + s * d;
        const double t = std::clamp(dot(p, g) / c, 0.0, 1.0);
        return length(p - t * g);
    };
    double best = std::min(at(0), at(1));
    if (det > 1e-14 * a * c) best = std::min(best, at((b * dot(r, g) - c * dot(r, d)) / det));
    best = std::min(best, at(-dot(r, d) / a));
    best = std::min(best, at(dot(f.second - e.first, d) / a));
    return best;
}

// How far the two cores are apart along unit n, which points from a to b; negative: their overlap along n.
inline double separation_along(const Core& a, const Core& b, V n) {
    double high = -1e300, low = 1e300;
    for (const V p : a.corners) high = std::max(high, dot(p, n));
    for (const V p : b.corners) low = std::min(low, dot(p, n));
    return low - high;
}

struct Separation {
    double distance = 0;  // of the surfaces; negative: the least translation that parts them
    bool cores_apart = false;
    double along_axis = 0;  // of two boxes: the most along a face's normal or a product of edges. Corner to corner less
                            // than the distance
};

inline Separation separation(const Core& a, const Core& b) {
    std::vector<V> axes = a.normals;
    axes.insert(axes.end(), b.normals.begin(), b.normals.end());
    for (const V d : a.directions) {
        for (const V e : b.directions) {
            const V n = cross(d, e);
            if (length(n) > 1e-6) axes.push_back((1.0 / length(n)) * n);
        }
    }
    double best = -1e300;
    for (const V n : axes) best = std::max({best, separation_along(a, b, n), separation_along(a, b, -1.0 * n)});
    if (!axes.empty() && best < 0 && (!a.normals.empty() || !b.normals.empty()))
        return {best - a.radius - b.radius, false, best};
    double distance = 1e300;
    for (const V p : a.corners) distance = std::min(distance, point_to_core(p, b));
    for (const V p : b.corners) distance = std::min(distance, point_to_core(p, a));
    for (const auto& e : a.edges) {
        for (const auto& f : b.edges) distance = std::min(distance, edge_to_edge(e, f));
    }
    return {distance - a.radius - b.radius, distance > 1e-3, best};
}

}  // namespace orrery::test
