#include "client_sdk/src/shape_triangles.h"

#include <algorithm>

#include "client_sdk/src/hull_faces.h"
#include "orrery/math.hpp"

namespace orrery::client {

using namespace sim;

namespace {

constexpr std::uint32_t kSegments = 24;    // around
constexpr std::uint32_t kQuarterRows = 6;  // from a pole to the equator
constexpr float kPi = 3.14159265f;

void add_triangle(Triangles& out, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    out.indices.insert(out.indices.end(), {a, b, c});
}

// With vertices and a normal of its own.
void add_flat(Triangles& out, const Vec3& a, const Vec3& b, const Vec3& c) {
    const auto first = static_cast<std::uint32_t>(out.positions.size());
    const Vec3 n = normalised(cross(b - a, c - a));
    out.positions.insert(out.positions.end(), {a, b, c});
    out.normals.insert(out.normals.end(), {n, n, n});
    add_triangle(out, first, first + 1, first + 2);
}

void add_box(Triangles& out, const Vec3& half) {
    const Vec3 axis[3] = {{half.x, 0.0f, 0.0f}, {0.0f, half.y, 0.0f}, {0.0f, 0.0f, half.z}};
    for (int k = 0; k < 3; ++k) {
        for (const float sign : {1.0f, -1.0f}) {
            const Vec3 n = sign * axis[k], u = axis[(k + 1) % 3], v = sign * axis[(k + 2) % 3];
            const auto first = static_cast<std::uint32_t>(out.positions.size());
            out.positions.insert(out.positions.end(), {n - u - v, n + u - v, n + u + v, n - u + v});
            out.normals.insert(out.normals.end(), 4, normalised(n));
            add_triangle(out, first, first + 1, first + 2);
            add_triangle(out, first, first + 2, first + 3);
        }
    }
}

// A point of an outline, which turns about y; x is the distance from the axis.
struct OutlinePoint {
    Vec3 position, normal;
};

void add_turned(Triangles& out, std::span<const OutlinePoint> outline) {
    const auto first = static_cast<std::uint32_t>(out.positions.size());
    for (const OutlinePoint& point : outline) {
        for (std::uint32_t i = 0; i <= kSegments; ++i) {
            const Quat turn =
                turn_about({0.0f, 1.0f, 0.0f}, 2.0f * kPi * static_cast<float>(i % kSegments) / kSegments);
            out.positions.push_back(rotate(turn, point.position));
            out.normals.push_back(rotate(turn, point.normal));
        }
    }
    constexpr std::uint32_t kRow = kSegments + 1;
    for (std::uint32_t row = 0; row + 1 < outline.size(); ++row) {
        const bool below = outline[row].position.x > 0.0f, above = outline[row + 1].position.x > 0.0f;
        for (std::uint32_t i = 0; i < kSegments; ++i) {
            const std::uint32_t low = first + row * kRow + i, high = low + kRow;
            if (below) add_triangle(out, low, low + 1, high);
            if (above) add_triangle(out, low + 1, high + 1, high);
        }
    }
}

// A sphere is a capsule without a cylinder.
void add_capsule(Triangles& out, float radius, float half_height) {
    std::vector<OutlinePoint> outline;
    for (const float side : {-1.0f, 1.0f}) {
        for (std::uint32_t i = 0; i <= kQuarterRows; ++i) {
            const float share = static_cast<float>(i) / kQuarterRows, up = side < 0.0f ? share - 1.0f : share;
            Vec3 n = rotate(turn_about({0.0f, 0.0f, 1.0f}, 0.5f * kPi * up), {1.0f, 0.0f, 0.0f});
            if (up == -1.0f || up == 1.0f) n = {0.0f, up, 0.0f};
            if (side < 0.0f || i > 0 || half_height > 0.0f)
                outline.push_back({radius * n + Vec3{0.0f, side * half_height, 0.0f}, n});
        }
    }
    add_turned(out, outline);
}

void add_cylinder(Triangles& out, float radius, float half_height) {
    const Vec3 down{0.0f, -1.0f, 0.0f}, up{0.0f, 1.0f, 0.0f}, aside{1.0f, 0.0f, 0.0f};
    const Vec3 foot = half_height * down, head = half_height * up, rim = radius * aside;
    add_turned(
        out,
        std::vector<OutlinePoint>{
            {foot, down}, {foot + rim, down}, {foot + rim, aside}, {head + rim, aside}, {head + rim, up}, {head, up}});
}

void add_hull(Triangles& out, const ShapeDef& def) {
    const Vec3 centre = shape_centre(def).value();
    for (const HullFace& face : hull_faces(def.points))
        add_flat(out, def.points[face[0]] - centre, def.points[face[1]] - centre, def.points[face[2]] - centre);
}

// The normal of a vertex is the mean of its triangles', by their areas.
void add_mesh(Triangles& out, std::span<const Vec3> points, std::span<const std::uint32_t> indices) {
    const auto first = static_cast<std::uint32_t>(out.positions.size());
    out.positions.insert(out.positions.end(), points.begin(), points.end());
    out.normals.resize(out.positions.size());
    for (std::size_t i = 0; i + 2 < indices.size(); i += 3) {
        const std::uint32_t a = indices[i], b = indices[i + 1], c = indices[i + 2];
        const Vec3 n = cross(points[b] - points[a], points[c] - points[a]);
        for (const std::uint32_t corner : {a, b, c}) out.normals[first + corner] += n;
        add_triangle(out, first + a, first + b, first + c);
    }
    for (std::size_t i = first; i < out.normals.size(); ++i) out.normals[i] = normalised(out.normals[i]);
}

void add_height_field(Triangles& out, const ShapeDef& def) {
    const auto columns = def.columns, rows = static_cast<std::uint32_t>(def.heights.size()) / columns;
    std::vector<Vec3> points;
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
        const float x = static_cast<float>(i % columns) - 0.5f * static_cast<float>(columns - 1);
        const float z = static_cast<float>(i / columns) - 0.5f * static_cast<float>(rows - 1);
        points.push_back({x * def.spacing.x, def.heights[i] * def.spacing.y, z * def.spacing.z});
        if (i % columns + 1 == columns || i / columns + 1 == rows) continue;
        indices.insert(indices.end(), {i, i + columns, i + 1, i + 1, i + columns, i + columns + 1});
    }
    add_mesh(out, points, indices);
}

void add_shape(Triangles& out, std::span<const ShapeDef> shapes, std::uint32_t shape) {
    const ShapeDef& def = shapes[shape];
    switch (def.type) {
        case ShapeType::sphere:
            return add_capsule(out, def.radius, 0.0f);
        case ShapeType::capsule:
            return add_capsule(out, def.radius, def.half_height);
        case ShapeType::cylinder:
            return add_cylinder(out, def.radius, def.half_height);
        case ShapeType::box:
            return add_box(out, def.half_extents);
        case ShapeType::hull:
            return add_hull(out, def);
        case ShapeType::mesh:
            return add_mesh(out, def.points, def.indices);
        case ShapeType::height_field:
            return add_height_field(out, def);
        case ShapeType::plane:
        case ShapeType::compound:
            return;
    }
}

}  // namespace

std::vector<CompoundChild> children_of(std::span<const ShapeDef> shapes, std::uint32_t shape) {
    const ShapeDef& def = shapes[shape];
    if (def.type != ShapeType::compound) return {};
    // Only the shapes that it is made of are looked at for its centre.
    std::vector<std::uint32_t> used;
    for (const CompoundChild& child : def.children) used.push_back(child.shape);
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    std::vector<ShapeDef> parts;
    for (const std::uint32_t part : used) parts.push_back(shapes[part]);
    ShapeDef whole = ShapeDef::compound(def.children);
    for (CompoundChild& child : whole.children)
        child.shape = static_cast<std::uint32_t>(std::ranges::lower_bound(used, child.shape) - used.begin());
    const Vec3 centre = shape_centre(whole, parts).value();
    std::vector<CompoundChild> children = def.children;
    for (CompoundChild& child : children) child.pose.position = child.pose.position - centre;
    return children;
}

Triangles triangles_of(std::span<const ShapeDef> shapes, std::uint32_t shape) {
    Triangles out;
    if (shapes[shape].type != ShapeType::compound) add_shape(out, shapes, shape);
    for (const CompoundChild& child : children_of(shapes, shape)) {
        const std::size_t first = out.positions.size();
        add_shape(out, shapes, child.shape);
        for (std::size_t i = first; i < out.positions.size(); ++i) {
            out.positions[i] = to_world(child.pose, out.positions[i]);
            out.normals[i] = rotate(child.pose.orientation, out.normals[i]);
        }
    }
    return out;
}

}  // namespace orrery::client
