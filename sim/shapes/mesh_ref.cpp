#include "sim/shapes/mesh.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

namespace {

constexpr double kSliver = 1e-4;  // height over the longest edge: a triangle with less is a sliver
// Least height of a sliver over its largest coordinate; with less it is left out. Single precision rounds a coordinate
// by 2^-24 of it, which turns the normal of such a sliver by at most a sixteenth. The gap that is left is narrower than
// the smallest shape (twice kMinShapeSize_m) up to 500 m from the origin.
constexpr double kLeastHeight = 16.0 * 0x1p-23;
constexpr double kSliverCosine = 0.5;        // of a sliver's normal with that of a patch that its corners lie in
constexpr int kMostLeftOut = 64;             // triangles without an area in a row, between two neighbours
constexpr double kPatchCosine = 1.0 - 1e-6;  // normals of one patch, 0.08 degrees
constexpr double kPatchHeight_m = 5e-5;  // corners of one patch off its plane, and as much as single precision rounds

Error wrong(std::string_view place, const char* field, std::string message,
            ErrorCode code = ErrorCode::invalid_argument) {
    return {code, std::string(place) + "." + field, std::move(message)};
}

bool in_range(Vec3 p) {  // false for NaN
    return absolute(p.x) <= kMaxShapeSize_m && absolute(p.y) <= kMaxShapeSize_m && absolute(p.z) <= kMaxShapeSize_m;
}

enum class Area : std::uint8_t { none, sliver, whole };
Area area_of(const Mesh& mesh, std::uint32_t t) {
    const std::array c = mesh.triangle[t].corners();
    const D3 a = widened(mesh.vertex[c[0]]), b = widened(mesh.vertex[c[1]]), d = widened(mesh.vertex[c[2]]);
    const double longest = larger(length(b - a), larger(length(d - b), length(a - d)));
    const double twice = length(cross(b - a, d - a));  // the area
    if (twice > kSliver * longest * longest) return Area::whole;
    double coordinate = 0.0;
    for (const D3& p : {a, b, d})
        coordinate = larger(coordinate, larger(absolute(p.x), larger(absolute(p.y), absolute(p.z))));
    return twice > kLeastHeight * coordinate * longest ? Area::sliver : Area::none;
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

// Which edges (3 triangle + k) lie on each other.
struct Twins {
    std::vector<std::uint32_t> edge;    // the other's, or kNone
    std::vector<std::uint8_t> against;  // 1: they run in opposite directions, as those of neighbours do
};
bool has_places(const Mesh& mesh, std::uint32_t t) {
    const std::array c = mesh.triangle[t].corners();
    const std::uint32_t places[] = {mesh.place[c[0]], mesh.place[c[1]], mesh.place[c[2]]};
    return places[0] != places[1] && places[1] != places[2] && places[2] != places[0];
}

// Twins are two edges of triangles with an area, or an edge of such a triangle or of one that is left out with one that
// is left out. An edge that more of them share has no twin.
Twins find_twins(const Mesh& mesh, const std::vector<Area>& area) {
    struct Side {
        std::uint32_t low, high;
        bool left_out;
        std::uint32_t edge;
        bool forward;
    };
    std::vector<Side> sides;
    sides.reserve(mesh.triangle.size() * 3);
    for (std::uint32_t t = 0; t < mesh.triangle.size(); ++t) {
        const bool left_out = area[t] == Area::none;
        if (left_out && !has_places(mesh, t)) continue;
        for (std::uint32_t k = 0; k < 3; ++k) {
            const std::uint32_t a = mesh.place[mesh.triangle[t].corner(k)],
                                b = mesh.place[mesh.triangle[t].corner((k + 1) % 3)];
            sides.push_back({std::min(a, b), std::max(a, b), left_out, 3 * t + k, a < b});
        }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) {
        return std::tuple(x.low, x.high, x.left_out, x.edge) < std::tuple(y.low, y.high, y.left_out, y.edge);
    });
    Twins twins;
    twins.edge.assign(mesh.triangle.size() * 3, kNone);
    twins.against.assign(mesh.triangle.size() * 3, 0);
    for (std::size_t i = 0; i < sides.size();) {
        std::size_t end = i, kept = 0;
        while (end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high)
            kept += sides[end++].left_out ? 0 : 1;
        if (kept == 2 || (kept < 2 && end - i == 2)) {
            const Side &x = sides[i], &y = sides[i + 1];
            twins.edge[x.edge] = y.edge, twins.edge[y.edge] = x.edge;
            twins.against[x.edge] = twins.against[y.edge] = x.forward != y.forward ? 1 : 0;
        }
        i = end;
    }
    return twins;
}

// The way across a triangle without an area that comes in over `edge`: it goes out over the longest edge, or if it came
// in over that, over the longer of the two others.
std::uint32_t edge_beyond(const Mesh& mesh, std::uint32_t edge) {
    const std::uint32_t t = edge / 3;
    const std::array c = mesh.triangle[t].corners();
    double size[3];
    for (int k = 0; k < 3; ++k) size[k] = length(widened(mesh.vertex[c[(k + 1) % 3]]) - widened(mesh.vertex[c[k]]));
    std::uint32_t longest = 0;
    for (std::uint32_t k = 1; k < 3; ++k) longest = size[k] > size[longest] ? k : longest;
    if (edge % 3 != longest) return 3 * t + longest;
    const std::uint32_t next = (longest + 1) % 3, last = (longest + 2) % 3;
    return 3 * t + (size[next] >= size[last] ? next : last);
}

struct Across {
    std::uint32_t edge = kNone;  // of a neighbour; kNone: this one is a rim
    bool alike = true;           // both go round the same way
};
// What lies across an edge, and across what is left out between them.
Across find_across(const Mesh& mesh, const std::vector<Area>& area, const Twins& twins, std::uint32_t edge) {
    Across out;
    for (int step = 0; step <= kMostLeftOut; ++step) {
        const std::uint32_t other = twins.edge[edge];
        if (other == kNone) return {};
        out.alike = out.alike == (twins.against[edge] != 0);
        out.edge = other;
        if (area[other / 3] != Area::none) return out;
        edge = edge_beyond(mesh, other);
    }
    return {};
}

std::uint32_t third_corner(const Mesh& mesh, std::uint32_t edge) {
    return mesh.triangle[edge / 3].corner((edge % 3 + 2) % 3);
}

void find_neighbours(Mesh& mesh, const std::vector<Area>& area, const Twins& twins,
                     std::vector<std::uint32_t>& neighbour) {
    neighbour.assign(mesh.triangle.size() * 3, kNone);
    for (std::uint32_t e = 0; e < neighbour.size(); ++e) {
        if (area[e / 3] == Area::none) continue;
        const Across across = find_across(mesh, area, twins, e);
        if (across.edge == kNone || !across.alike || across.edge / 3 == e / 3) continue;
        neighbour[e] = across.edge / 3;
        mesh.triangle[e / 3].set_opposite(e % 3, third_corner(mesh, across.edge));
    }
}

void find_fans(Mesh& mesh, const std::vector<Area>& area, const Twins& twins) {
    using Spoke = std::array<std::uint32_t, 2>;  // place, other end
    std::vector<Spoke> spokes;
    spokes.reserve(mesh.triangle.size() * 6);
    for (std::uint32_t t = 0; t < mesh.triangle.size(); ++t) {
        const std::array c = mesh.triangle[t].corners();
        if (area[t] != Area::none) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                spokes.push_back({mesh.place[c[k]], c[(k + 1) % 3]});
                spokes.push_back({mesh.place[c[k]], c[(k + 2) % 3]});
            }
        } else if (has_places(mesh, t)) {  // its corners may lie on edges of the triangles around it
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t edge = find_across(mesh, area, twins, 3 * t + k).edge;
                if (edge == kNone) continue;
                for (const std::uint32_t corner : c) spokes.push_back({mesh.place[corner], third_corner(mesh, edge)});
            }
        }
    }
    mesh.fan_begin.assign(mesh.vertex.size() + 1, 0);
    for (const Spoke& s : spokes) ++mesh.fan_begin[s[0] + 1];
    for (std::size_t v = 0; v < mesh.vertex.size(); ++v) mesh.fan_begin[v + 1] += mesh.fan_begin[v];
    std::vector<std::uint32_t> ends(spokes.size()), next(mesh.fan_begin.begin(), mesh.fan_begin.end() - 1);
    for (const Spoke& s : spokes) ends[next[s[0]]++] = s[1];
    auto kept = ends.begin(), begin = ends.begin();
    for (std::size_t v = 0; v < mesh.vertex.size(); ++v) {
        const auto end = ends.begin() + mesh.fan_begin[v + 1];
        std::sort(begin, end);  // both triangles of an edge have told of it
        mesh.fan_begin[v] = static_cast<std::uint32_t>(kept - ends.begin());
        kept = std::copy(begin, std::unique(begin, end), kept);
        begin = end;
    }
    mesh.fan_begin.back() = static_cast<std::uint32_t>(kept - ends.begin());
    mesh.fan.assign(ends.begin(), kept);
}

// Rounding may have turned the normal of a sliver, so that its corners decide.
bool in_plane(const Mesh& mesh, std::uint32_t t, Area area, D3 point, D3 normal, double tolerance) {
    if (dot(triangle_normal(mesh, t), normal) < (area == Area::sliver ? kSliverCosine : kPatchCosine)) return false;
    for (const std::uint32_t c : mesh.triangle[t].corners()) {
        if (absolute(dot(widened(mesh.vertex[c]) - point, normal)) > tolerance) return false;
    }
    return true;
}

void find_patches(Mesh& mesh, const std::vector<Area>& area, const std::vector<std::uint32_t>& neighbour,
                  double extent) {
    const double tolerance = kPatchHeight_m + 2e-7 * extent;
    // Pairs of a triangle and one that has it as a neighbour, but is not its neighbour: two may lie along one edge of a
    // third.
    std::vector<std::array<std::uint32_t, 2>> beside;
    for (std::uint32_t e = 0; e < neighbour.size(); ++e) {
        const std::uint32_t n = neighbour[e], t = e / 3;
        if (n != kNone && neighbour[3 * n] != t && neighbour[3 * n + 1] != t && neighbour[3 * n + 2] != t)
            beside.push_back({n, t});
    }
    std::sort(beside.begin(), beside.end());
    std::vector<std::uint32_t> waiting;
    const auto grow = [&](std::uint32_t seed) {
        const D3 normal = triangle_normal(mesh, seed), point = widened(mesh.vertex[mesh.triangle[seed].corner(0)]);
        mesh.triangle[seed].set_patch(seed);
        waiting.assign(1, seed);
        while (!waiting.empty()) {
            const std::uint32_t t = waiting.back();
            waiting.pop_back();
            const auto reach = [&](std::uint32_t n) {
                if (n == kNone || mesh.triangle[n].patch() != kNone) return;
                if (!in_plane(mesh, n, area[n], point, normal, tolerance)) return;
                mesh.triangle[n].set_patch(seed);
                waiting.push_back(n);
            };
            for (std::uint32_t k = 0; k < 3; ++k) reach(neighbour[3 * t + k]);
            auto it = std::lower_bound(beside.begin(), beside.end(), std::array{t, 0u});
            for (; it != beside.end() && (*it)[0] == t; ++it) reach((*it)[1]);
        }
    };
    for (const Area of : {Area::whole, Area::sliver}) {
        for (std::uint32_t seed = 0; seed < mesh.triangle.size(); ++seed) {
            if (area[seed] == of && mesh.triangle[seed].patch() == kNone) grow(seed);
        }
    }
    for (std::uint32_t t = 0; t < mesh.triangle.size(); ++t) {
        for (std::uint32_t k = 0; k < 3; ++k) {
            const std::uint32_t n = neighbour[3 * t + k];
            if (n != kNone && mesh.triangle[n].patch() == mesh.triangle[t].patch()) mesh.triangle[t].set_inner(k);
        }
    }
}

void build_tree(Mesh& mesh) {
    std::vector<BoundsRecord> boxes(mesh.triangle.size());
    std::vector<std::uint32_t> rows;
    rows.reserve(mesh.triangle.size());
    for (std::uint32_t t = 0; t < boxes.size(); ++t) {
        if (mesh.triangle[t].patch() == kNone) continue;
        rows.push_back(t);
        for (int axis = 0; axis < 3; ++axis) {
            float low = 0.0f, high = 0.0f;
            for (std::uint32_t k = 0; k < 3; ++k) {
                const Vec3& v = mesh.vertex[mesh.triangle[t].corner(k)];
                const float x = axis == 0 ? v.x : axis == 1 ? v.y : v.z;
                if (k == 0 || x < low) low = x;
                if (k == 0 || x > high) high = x;
            }
            boxes[t].min[axis] = low;
            boxes[t].max[axis] = high;
        }
    }
    TickArena arena;
    mesh.tree.rebuild(boxes.data(), rows, kTreeKernels, arena);
    mesh.tree.keep_as_it_is();
}

Result<Shape> finish(std::shared_ptr<Mesh> mesh, ShapeType type, std::string_view place, const char* field) {
    std::vector<Area> area(mesh->triangle.size());
    for (std::uint32_t t = 0; t < area.size(); ++t) {
        area[t] = area_of(*mesh, t);
        if (area[t] == Area::none && mesh->left_out++ == 0) mesh->first_left_out = t;
    }
    if (mesh->left_out == area.size()) return wrong(place, field, "make no triangle with an area; give at least one");
    double bounding2 = 0.0;
    D3 half;
    for (const Vec3& p : mesh->vertex) {
        const D3 v = widened(p);
        bounding2 = larger(bounding2, dot(v, v));
        half = {larger(half.x, absolute(v.x)), larger(half.y, absolute(v.y)), larger(half.z, absolute(v.z))};
    }
    mesh->place = welded(mesh->vertex);
    const Twins twins = find_twins(*mesh, area);
    find_fans(*mesh, area, twins);
    std::vector<std::uint32_t> neighbour;
    find_neighbours(*mesh, area, twins, neighbour);
    find_patches(*mesh, area, neighbour, larger(half.x, larger(half.y, half.z)));
    build_tree(*mesh);
    std::vector<std::uint32_t>& first = mesh->place;  // rises throughout only if each vertex is its own
    if (std::adjacent_find(first.begin(), first.end(), std::greater_equal<>()) == first.end())
        std::vector<std::uint32_t>().swap(first);
    Shape shape;
    shape.type = type;
    shape.half_extents = narrowed(half);
    shape.bounding_radius = static_cast<float>(__builtin_sqrt(bounding2) * (1.0 + 1e-6));
    shape.mesh = std::move(mesh);
    return shape;
}

}  // namespace

D3 triangle_normal(const Mesh& mesh, std::uint32_t triangle) {
    const std::array c = mesh.triangle[triangle].corners();
    const D3 a = widened(mesh.vertex[c[0]]);
    return unit_or(cross(widened(mesh.vertex[c[1]]) - a, widened(mesh.vertex[c[2]]) - a), {0.0, 1.0, 0.0});
}

Result<Shape> make_mesh(const ShapeDef& def, std::string_view place) {
    if (def.points.size() < 3 || def.indices.size() < 3)
        return wrong(place, "points", "or `indices` has fewer than 3 entries; give at least 3 of each");
    if (def.points.size() > kMaxMeshVertices)
        return wrong(
            place, "points",
            "has more than " + std::to_string(kMaxMeshVertices) + " entries (kMaxMeshVertices); split the mesh",
            ErrorCode::limit_reached);
    if (def.indices.size() > std::size_t(kMaxMeshTriangles) * 3)
        return wrong(
            place, "indices",
            "make more than " + std::to_string(kMaxMeshTriangles) + " triangles (kMaxMeshTriangles); split the mesh",
            ErrorCode::limit_reached);
    if (def.indices.size() % 3 != 0)
        return wrong(place, "indices",
                     "has " + std::to_string(def.indices.size()) +
                         " entries, which is not a multiple of 3; give three for each triangle");
    for (std::size_t i = 0; i < def.points.size(); ++i) {
        if (!in_range(def.points[i]))
            return wrong(place, "points",
                         "has a point at index " + std::to_string(i) +
                             " that is not finite or is farther from the origin than " +
                             std::to_string(static_cast<int>(kMaxShapeSize_m)) + " m; move it nearer to the origin");
    }
    auto mesh = std::make_shared<Mesh>();
    mesh->vertex = def.points;
    for (std::size_t i = 0; i < def.indices.size(); ++i) {
        if (def.indices[i] >= def.points.size())
            return wrong(place, "indices",
                         "has at index " + std::to_string(i) + " the number " + std::to_string(def.indices[i]) +
                             ", but there are " + std::to_string(def.points.size()) + " points; use a smaller number");
    }
    mesh->triangle.reserve(def.indices.size() / 3);
    for (std::size_t i = 0; i < def.indices.size(); i += 3)
        mesh->triangle.push_back({def.indices[i], def.indices[i + 1], def.indices[i + 2]});
    return finish(std::move(mesh), ShapeType::mesh, place, "indices");
}

Result<Shape> make_height_field(const ShapeDef& def, std::string_view place) {
    const std::size_t columns = def.columns, rows = columns == 0 ? 0 : def.heights.size() / columns;
    if (columns < 2 || rows < 2 || rows * columns != def.heights.size())
        return wrong(place, "heights",
                     "has " + std::to_string(def.heights.size()) + " entries in rows of " + std::to_string(columns) +
                         "; give at least 2 whole rows of at least 2 columns");
    if ((columns - 1) * (rows - 1) * 2 > kMaxMeshTriangles)
        return wrong(
            place, "heights",
            "make more than " + std::to_string(kMaxMeshTriangles) + " triangles (kMaxMeshTriangles); split the field",
            ErrorCode::limit_reached);
    if (auto checked = check_size(def.spacing.x, kMinShapeSize_m, kMaxShapeSize_m, place, "spacing.x"); !checked)
        return checked.error();
    if (auto checked = check_size(def.spacing.y, 0.0f, kMaxShapeSize_m, place, "spacing.y"); !checked)
        return checked.error();
    if (auto checked = check_size(def.spacing.z, kMinShapeSize_m, kMaxShapeSize_m, place, "spacing.z"); !checked)
        return checked.error();
    auto mesh = std::make_shared<Mesh>();
    mesh->vertex.reserve(def.heights.size());
    for (std::size_t k = 0; k < rows; ++k) {
        for (std::size_t i = 0; i < columns; ++i) {
            const double x = (static_cast<double>(i) - 0.5 * static_cast<double>(columns - 1)) * def.spacing.x;
            const double z = (static_cast<double>(k) - 0.5 * static_cast<double>(rows - 1)) * def.spacing.z;
            mesh->vertex.push_back(
                narrowed(D3{x, static_cast<double>(def.heights[k * columns + i]) * def.spacing.y, z}));
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
            const auto at = static_cast<std::uint32_t>(k * columns + i),
                       below = static_cast<std::uint32_t>(at + columns);
            mesh->triangle.push_back({at, below, at + 1});
            mesh->triangle.push_back({at + 1, below, below + 1});
        }
    }
    return finish(std::move(mesh), ShapeType::height_field, place, "heights");
}

}  // namespace orrery::sim::ref
