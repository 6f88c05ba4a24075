#include "sim/shapes/mesh.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

namespace {

constexpr double kThinnest = 1e-4;           // height of a triangle over its longest edge
constexpr double kPatchCosine = 1.0 - 1e-6;  // normals of one patch, 0.08 degrees
constexpr double kPatchHeight_m = 5e-5;      // corners of one patch off its plane, and as much as single precision rounds

Error wrong(std::string_view place, const char* field, std::string message, ErrorCode code = ErrorCode::invalid_argument) {
    return {code, std::string(place) + "." + field, std::move(message)};
}

bool in_range(Vec3 p) {  // false for NaN
    return absolute(p.x) <= kMaxShapeSize_m && absolute(p.y) <= kMaxShapeSize_m && absolute(p.z) <= kMaxShapeSize_m;
}

Result<Ok> check_triangle(const Mesh& mesh, std::uint32_t t, std::string_view place, const char* field) {
    const std::uint32_t* c = mesh.triangle[t].corner;
    const D3 a = widened(mesh.vertex[c[0]]), b = widened(mesh.vertex[c[1]]), d = widened(mesh.vertex[c[2]]);
    const double longest = larger(length(b - a), larger(length(d - b), length(a - d)));
    if (length(cross(b - a, d - a)) > kThinnest * longest * longest) return Ok{};
    return wrong(place, field, "has triangle " + std::to_string(t) + " without an area; leave it out");
}

// Vertices at the same place count as one.
std::vector<std::uint32_t> welded(const std::vector<Vec3>& vertex) {
    const auto bits = [&](std::uint32_t i) {
        std::array<std::uint32_t, 3> key;
        const float p[3] = {vertex[i].x == 0.0f ? 0.0f : vertex[i].x, vertex[i].y == 0.0f ? 0.0f : vertex[i].y,
                            vertex[i].z == 0.0f ? 0.0f : vertex[i].z};
        std::memcpy(key.data(), p, sizeof p);
        return key;
    };
    std::vector<std::uint32_t> order(vertex.size()), same(vertex.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t x, std::uint32_t y) { return std::tuple(bits(x), x) < std::tuple(bits(y), y); });
    for (std::size_t i = 0; i < order.size(); ++i)
        same[order[i]] = i > 0 && bits(order[i]) == bits(order[i - 1]) ? same[order[i - 1]] : order[i];
    return same;
}

// Neighbours across edges that exactly two triangles share, running it in opposite directions.
void find_neighbours(Mesh& mesh, std::vector<std::uint32_t>& neighbour) {
    const std::vector<std::uint32_t>& same = mesh.place;
    struct Side {
        std::uint32_t low, high, edge;  // edge: 3 triangle + k
        bool forward;
    };
    std::vector<Side> sides;
    sides.reserve(mesh.triangle.size() * 3);
    for (std::uint32_t t = 0; t < mesh.triangle.size(); ++t) {
        for (std::uint32_t k = 0; k < 3; ++k) {
            const std::uint32_t a = same[mesh.triangle[t].corner[k]], b = same[mesh.triangle[t].corner[(k + 1) % 3]];
            sides.push_back({std::min(a, b), std::max(a, b), 3 * t + k, a < b});
        }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) {
        return std::tuple(x.low, x.high, x.edge) < std::tuple(y.low, y.high, y.edge);
    });
    neighbour.assign(sides.size(), kNone);
    for (std::size_t i = 0; i < sides.size();) {
        std::size_t end = i + 1;
        while (end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high) ++end;
        if (end - i == 2 && sides[i].forward != sides[i + 1].forward) {
            const std::uint32_t e = sides[i].edge, f = sides[i + 1].edge;
            neighbour[e] = f / 3;
            neighbour[f] = e / 3;
            mesh.triangle[e / 3].opposite[e % 3] = mesh.triangle[f / 3].corner[(f % 3 + 2) % 3];
            mesh.triangle[f / 3].opposite[f % 3] = mesh.triangle[e / 3].corner[(e % 3 + 2) % 3];
        }
        i = end;
    }
}

void find_fans(Mesh& mesh) {
    mesh.fan_begin.assign(mesh.vertex.size() + 1, 0);
    for (const MeshTriangle& t : mesh.triangle) {
        for (const std::uint32_t c : t.corner) mesh.fan_begin[mesh.place[c] + 1] += 2;
    }
    for (std::size_t v = 0; v < mesh.vertex.size(); ++v) mesh.fan_begin[v + 1] += mesh.fan_begin[v];
    mesh.fan.resize(mesh.fan_begin.back());
    std::vector<std::uint32_t> next(mesh.fan_begin.begin(), mesh.fan_begin.end() - 1);
    for (const MeshTriangle& t : mesh.triangle) {
        for (int k = 0; k < 3; ++k) {
            std::uint32_t& at = next[mesh.place[t.corner[k]]];
            mesh.fan[at++] = t.corner[(k + 1) % 3];
            mesh.fan[at++] = t.corner[(k + 2) % 3];
        }
    }
}

bool in_plane(const Mesh& mesh, std::uint32_t t, D3 point, D3 normal, double tolerance) {
    if (dot(triangle_normal(mesh, t), normal) < kPatchCosine) return false;
    for (const std::uint32_t c : mesh.triangle[t].corner) {
        if (absolute(dot(widened(mesh.vertex[c]) - point, normal)) > tolerance) return false;
    }
    return true;
}

void find_patches(Mesh& mesh, const std::vector<std::uint32_t>& neighbour, double extent) {
    const double tolerance = kPatchHeight_m + 2e-7 * extent;
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t seed = 0; seed < mesh.triangle.size(); ++seed) {
        if (mesh.triangle[seed].patch != kNone) continue;
        const D3 normal = triangle_normal(mesh, seed), point = widened(mesh.vertex[mesh.triangle[seed].corner[0]]);
        mesh.triangle[seed].patch = seed;
        waiting.assign(1, seed);
        while (!waiting.empty()) {
            const std::uint32_t t = waiting.back();
            waiting.pop_back();
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t n = neighbour[3 * t + k];
                if (n == kNone || mesh.triangle[n].patch != kNone || !in_plane(mesh, n, point, normal, tolerance)) continue;
                mesh.triangle[n].patch = seed;
                waiting.push_back(n);
            }
        }
    }
    for (std::uint32_t t = 0; t < mesh.triangle.size(); ++t) {
        for (std::uint32_t k = 0; k < 3; ++k) {
            const std::uint32_t n = neighbour[3 * t + k];
            if (n != kNone && mesh.triangle[n].patch == mesh.triangle[t].patch) mesh.triangle[t].inner |= 1u << k;
        }
    }
}

void build_tree(Mesh& mesh) {
    std::vector<BoundsRecord> boxes(mesh.triangle.size());
    std::vector<std::uint32_t> rows(mesh.triangle.size());
    std::iota(rows.begin(), rows.end(), 0u);
    for (std::size_t t = 0; t < boxes.size(); ++t) {
        for (int axis = 0; axis < 3; ++axis) {
            float low = 0.0f, high = 0.0f;
            for (int k = 0; k < 3; ++k) {
                const Vec3& v = mesh.vertex[mesh.triangle[t].corner[k]];
                const float x = axis == 0 ? v.x : axis == 1 ? v.y : v.z;
                if (k == 0 || x < low) low = x;
                if (k == 0 || x > high) high = x;
            }
            boxes[t].min[axis] = low;
            boxes[t].max[axis] = high;
        }
    }
    TickArena arena;
    mesh.tree.rebuild(boxes.data(), rows, *tree_kernels_for(Target::scalar), arena);
}

Result<Shape> finish(std::shared_ptr<Mesh> mesh, ShapeType type, std::string_view place, const char* field) {
    for (std::uint32_t t = 0; t < mesh->triangle.size(); ++t) {
        if (auto checked = check_triangle(*mesh, t, place, field); !checked) return checked.error();
    }
    double bounding2 = 0.0;
    D3 half;
    for (const Vec3& p : mesh->vertex) {
        const D3 v = widened(p);
        bounding2 = larger(bounding2, dot(v, v));
        half = {larger(half.x, absolute(v.x)), larger(half.y, absolute(v.y)), larger(half.z, absolute(v.z))};
    }
    mesh->place = welded(mesh->vertex);
    find_fans(*mesh);
    std::vector<std::uint32_t> neighbour;
    find_neighbours(*mesh, neighbour);
    find_patches(*mesh, neighbour, larger(half.x, larger(half.y, half.z)));
    build_tree(*mesh);
    Shape shape;
    shape.type = type;
    shape.half_extents = narrowed(half);
    shape.bounding_radius = static_cast<float>(__builtin_sqrt(bounding2) * (1.0 + 1e-6));
    shape.mesh = std::move(mesh);
    return shape;
}

}  // namespace

D3 triangle_normal(const Mesh& mesh, std::uint32_t triangle) {
    const std::uint32_t* c = mesh.triangle[triangle].corner;
    const D3 a = widened(mesh.vertex[c[0]]);
    return unit_or(cross(widened(mesh.vertex[c[1]]) - a, widened(mesh.vertex[c[2]]) - a), {0.0, 1.0, 0.0});
}

Result<Shape> make_mesh(const ShapeDef& def, std::string_view place) {
    if (def.points.size() < 3 || def.indices.size() < 3)
        return wrong(place, "points", "or `indices` has fewer than 3 entries; give at least 3 of each");
    if (def.points.size() > kMaxMeshVertices)
        return wrong(place, "points",
                     "has more than " + std::to_string(kMaxMeshVertices) + " entries (kMaxMeshVertices); split the mesh",
                     ErrorCode::limit_reached);
    if (def.indices.size() > std::size_t(kMaxMeshTriangles) * 3)
        return wrong(place, "indices",
                     "make more than " + std::to_string(kMaxMeshTriangles) + " triangles (kMaxMeshTriangles); split the mesh",
                     ErrorCode::limit_reached);
    if (def.indices.size() % 3 != 0)
        return wrong(place, "indices",
                     "has " + std::to_string(def.indices.size()) + " entries, which is not a multiple of 3; give three for each triangle");
    for (std::size_t i = 0; i < def.points.size(); ++i) {
        if (!in_range(def.points[i]))
            return wrong(place, "points",
                         "has a point at index " + std::to_string(i) + " that is not finite or is farther from the origin than " +
                             std::to_string(static_cast<int>(kMaxShapeSize_m)) + " m; move it nearer to the origin");
    }
    auto mesh = std::make_shared<Mesh>();
    mesh->vertex = def.points;
    mesh->triangle.resize(def.indices.size() / 3);
    for (std::size_t i = 0; i < def.indices.size(); ++i) {
        if (def.indices[i] >= def.points.size())
            return wrong(place, "indices",
                         "has at index " + std::to_string(i) + " the number " + std::to_string(def.indices[i]) + ", but there are " +
                             std::to_string(def.points.size()) + " points; use a smaller number");
        mesh->triangle[i / 3].corner[i % 3] = def.indices[i];
    }
    return finish(std::move(mesh), ShapeType::mesh, place, "indices");
}

Result<Shape> make_height_field(const ShapeDef& def, std::string_view place) {
    const std::size_t columns = def.columns, rows = columns == 0 ? 0 : def.heights.size() / columns;
    if (columns < 2 || rows < 2 || rows * columns != def.heights.size())
        return wrong(place, "heights",
                     "has " + std::to_string(def.heights.size()) + " entries in rows of " + std::to_string(columns) +
                         "; give at least 2 whole rows of at least 2 columns");
    if ((columns - 1) * (rows - 1) * 2 > kMaxMeshTriangles)
        return wrong(place, "heights",
                     "make more than " + std::to_string(kMaxMeshTriangles) + " triangles (kMaxMeshTriangles); split the field",
                     ErrorCode::limit_reached);
    if (auto checked = check_size(def.spacing.x, kMinShapeSize_m, kMaxShapeSize_m, place, "spacing.x"); !checked)
        return checked.error();
    if (auto checked = check_size(def.spacing.y, 0.0f, kMaxShapeSize_m, place, "spacing.y"); !checked) return checked.error();
    if (auto checked = check_size(def.spacing.z, kMinShapeSize_m, kMaxShapeSize_m, place, "spacing.z"); !checked)
        return checked.error();
    auto mesh = std::make_shared<Mesh>();
    mesh->vertex.reserve(def.heights.size());
    for (std::size_t k = 0; k < rows; ++k) {
        for (std::size_t i = 0; i < columns; ++i) {
            const double x = (static_cast<double>(i) - 0.5 * static_cast<double>(columns - 1)) * def.spacing.x;
            const double z = (static_cast<double>(k) - 0.5 * static_cast<double>(rows - 1)) * def.spacing.z;
            mesh->vertex.push_back(narrowed({x, static_cast<double>(def.heights[k * columns + i]) * def.spacing.y, z}));
            if (!in_range(mesh->vertex.back()))
                return wrong(place, "heights",
                             "has a sample at index " + std::to_string(k * columns + i) +
                                 " that is not finite or is farther from the origin than " +
                                 std::to_string(static_cast<int>(kMaxShapeSize_m)) + " m; make the field smaller");
        }
    }
    mesh->triangle.reserve((columns - 1) * (rows - 1) * 2);
    for (std::size_t k = 0; k + 1 < rows; ++k) {
        for (std::size_t i = 0; i + 1 < columns; ++i) {
            const auto at = static_cast<std::uint32_t>(k * columns + i), below = static_cast<std::uint32_t>(at + columns);
            MeshTriangle one, two;
            one.corner[0] = at, one.corner[1] = below, one.corner[2] = at + 1;
            two.corner[0] = at + 1, two.corner[1] = below, two.corner[2] = below + 1;
            mesh->triangle.push_back(one);
            mesh->triangle.push_back(two);
        }
    }
    return finish(std::move(mesh), ShapeType::height_field, place, "heights");
}

}  // namespace orrery::sim::ref
