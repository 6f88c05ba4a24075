#include "protocol/scene/shape_triangles.h"

#include <algorithm>
#include <map>

#include "orrery/math.hpp"
#include "protocol/scene/hull_faces.h"

namespace orrery::protocol {

using namespace sim;

namespace {

constexpr std::uint32_t kSegments = 24;    // around
constexpr std::uint32_t kQuarterRows = 6;  // from a pole to the equator
constexpr float kPi = 3.14159265f;

std::uint32_t add_vertex(Triangles& out, const Vec3& position, const Vec3& normal) {
    out.positions.push_back(position);
    out.normals.push_back(normal);
    return static_cast<std::uint32_t>(out.positions.size() - 1);
}

void add_triangle(Triangles& out, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (const std::uint32_t corner : {a, b, c}) out.indices.push_back(corner);
}

void add_box(Triangles& out, const Vec3& half) {
    const Vec3 axis[3] = {{half.x, 0.0f, 0.0f}, {0.0f, half.y, 0.0f}, {0.0f, 0.0f, half.z}};
    for (int face = 0; face < 6; ++face) {
        const float sign = face < 3 ? 1.0f : -1.0f;
        const Vec3 n = sign * axis[face % 3], u = axis[(face + 1) % 3], v = sign * axis[(face + 2) % 3];
        const Vec3 normal = normalised(n);
        const std::uint32_t first = add_vertex(out, n - u - v, normal);
        add_vertex(out, n + u - v, normal);
        add_vertex(out, n + u + v, normal);
        add_vertex(out, n - u + v, normal);
        add_triangle(out, first, first + 1, first + 2);
        add_triangle(out, first, first + 2, first + 3);
    }
}

// A row of what turns about y: a point and a normal, whose x point away from the axis. Unless it begins a surface, it
// is joined to the row before, which is lower or, of an upper lid, farther out.
void add_row(Triangles& out, const Vec3& position, const Vec3& normal, bool begins) {
    constexpr std::uint32_t kRow = kSegments + 1;
    for (std::uint32_t i = 0; i < kRow; ++i) {
        const Quat turn = turn_about({0.0f, 1.0f, 0.0f}, 2.0f * kPi * static_cast<float>(i % kSegments) / kSegments);
        const std::uint32_t high = add_vertex(out, rotate(turn, position), rotate(turn, normal)), low = high - kRow;
        if (begins || i == 0) continue;
        if (out.positions[low - i].x > 0.0f) add_triangle(out, low - 1, low, high - 1);
        if (position.x > 0.0f) add_triangle(out, low, high, high - 1);
    }
}

// A sphere is a capsule without a cylinder.
void add_capsule(Triangles& out, float radius, float half_height) {
    for (std::uint32_t row = 0; row < 2 * (kQuarterRows + 1); ++row) {
        const bool upper = row > kQuarterRows;
        const std::uint32_t up = upper ? row - kQuarterRows - 1 : kQuarterRows - row;  // rows from the equator
        Vec3 n = rotate(turn_about({0.0f, 0.0f, 1.0f}, 0.5f * kPi * static_cast<float>(up) / kQuarterRows),
                        {1.0f, 0.0f, 0.0f});
        if (up == kQuarterRows) n = {0.0f, 1.0f, 0.0f};
        if (!upper) n.y = -n.y;
        if (half_height == 0.0f && upper && up == 0) continue;
        add_row(out, radius * n + Vec3{0.0f, upper ? half_height : -half_height, 0.0f}, n, row == 0);
    }
}

void add_cylinder(Triangles& out, float radius, float half_height) {
    const Vec3 down{0.0f, -1.0f, 0.0f}, up{0.0f, 1.0f, 0.0f}, aside{1.0f, 0.0f, 0.0f};
    const Vec3 foot = half_height * down, head = half_height * up, rim = radius * aside;
    add_row(out, foot, down, true);
    add_row(out, foot + rim, down, false);
    add_row(out, foot + rim, aside, true);
    add_row(out, head + rim, aside, false);
    add_row(out, head + rim, up, true);
    add_row(out, head, up, false);
}

// Each face has vertices and a normal of its own.
void add_hull(Triangles& out, const ShapeDef& def) {
    const Vec3 centre = shape_centre(def).value();
    for (const HullFace& face : hull_faces(def.points)) {
        const Vec3 a = def.points[face[0]] - centre, b = def.points[face[1]] - centre, c = def.points[face[2]] - centre;
        const Vec3 n = normalised(cross(b - a, c - a));
        const std::uint32_t first = add_vertex(out, a, n);
        add_vertex(out, b, n);
        add_vertex(out, c, n);
        add_triangle(out, first, first + 1, first + 2);
    }
}

void add_mesh(Triangles& out, const ShapeDef& def) {
    const auto first = static_cast<std::uint32_t>(out.positions.size());
    for (const Vec3& point : def.points) add_vertex(out, point, {});
    for (std::size_t i = 0; i + 2 < def.indices.size(); i += 3)
        add_triangle(out, first + def.indices[i], first + def.indices[i + 1], first + def.indices[i + 2]);
}

void add_height_field(Triangles& out, const ShapeDef& def) {
    const auto columns = def.columns, rows = static_cast<std::uint32_t>(def.heights.size()) / columns;
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
        const float x = static_cast<float>(i % columns) - 0.5f * static_cast<float>(columns - 1);
        const float z = static_cast<float>(i / columns) - 0.5f * static_cast<float>(rows - 1);
        const std::uint32_t at =
            add_vertex(out, {x * def.spacing.x, def.heights[i] * def.spacing.y, z * def.spacing.z}, {});
        if (i % columns + 1 == columns || i / columns + 1 == rows) continue;
        add_triangle(out, at, at + columns, at + 1);
        add_triangle(out, at + 1, at + columns, at + columns + 1);
    }
}

// Of each vertex the mean of its triangles' normals, by their areas.
void set_smooth_normals(Triangles& out) {
    for (std::size_t i = 0; i + 2 < out.indices.size(); i += 3) {
        const std::uint32_t* corner = &out.indices[i];
        const Vec3 a = out.positions[corner[0]];
        const Vec3 n = cross(out.positions[corner[1]] - a, out.positions[corner[2]] - a);
        for (int k = 0; k < 3; ++k) out.normals[corner[k]] += n;
    }
    for (Vec3& normal : out.normals) normal = normalised(normal);
}

void add_child(Triangles& out, const Triangles& child, const Pose& pose) {
    const auto first = static_cast<std::uint32_t>(out.positions.size());
    for (std::size_t i = 0; i < child.positions.size(); ++i)
        add_vertex(out, to_world(pose, child.positions[i]), rotate(pose.orientation, child.normals[i]));
    for (const std::uint32_t corner : child.indices) out.indices.push_back(first + corner);
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
            add_mesh(out, def);
            return set_smooth_normals(out);
        case ShapeType::height_field:
            add_height_field(out, def);
            return set_smooth_normals(out);
        case ShapeType::plane:
        case ShapeType::compound:
            return;
    }
}

}  // namespace

std::vector<CompoundChild> children_of(std::span<const ShapeDef> shapes, std::uint32_t shape) {
    const ShapeDef& def = shapes[shape];
    if (def.type != ShapeType::compound) return {};
    const Vec3 centre = shape_centre(def, shapes.first(shape)).value();
    std::vector<CompoundChild> children = def.children;
    for (CompoundChild& child : children) child.pose.position = child.pose.position - centre;
    return children;
}

std::optional<Triangles> triangles_of(std::span<const ShapeDef> shapes, std::uint32_t shape) {
    const ShapeDef& def = shapes[shape];
    if (std::max(def.points.size(), def.heights.size()) > kMostVertices) return std::nullopt;
    Triangles out;
    if (def.type != ShapeType::compound) add_shape(out, shapes, shape);
    std::map<std::uint32_t, Triangles> of_shape;  // many children may have one
    for (const CompoundChild& child : children_of(shapes, shape)) {
        const auto [made, is_new] = of_shape.try_emplace(child.shape);
        if (is_new) add_shape(made->second, shapes, child.shape);
        if (out.positions.size() + made->second.positions.size() > kMostVertices) return std::nullopt;
        add_child(out, made->second, child.pose);
    }
    return out;
}

}  // namespace orrery::protocol
