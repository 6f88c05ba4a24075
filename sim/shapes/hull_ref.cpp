#include "sim/shapes/hull.h"

#include "sim/shapes/checks.h"
#include "sim/shapes/quickhull.h"

namespace orrery::sim::ref {

namespace {

constexpr double kMinThickness_m = 2.0 * kMinShapeSize_m;
constexpr double kMinThicknessRelative = 1e-4;  // of the hull's size: thinner ones turn about by rounding

Error wrong_points(std::string_view place, std::string message) {
    return {ErrorCode::invalid_argument, std::string(place) + ".points", std::move(message)};
}

Result<Ok> check_points(const ShapeDef& def, std::string_view place) {
    if (def.points.size() < 4)
        return wrong_points(
            place, "has " + std::to_string(def.points.size()) + " entries; give at least 4 points that span a volume");
    if (def.points.size() > kMaxHullPoints) {
        return Error{ErrorCode::limit_reached, std::string(place) + ".points",
                     "has " + std::to_string(def.points.size()) + " entries; at most " +
                         std::to_string(kMaxHullPoints) + " (kMaxHullPoints) are accepted: leave out inner points"};
    }
    for (std::size_t i = 0; i < def.points.size(); ++i) {
        const Vec3 p = def.points[i];
        const bool inside = absolute(p.x) <= kMaxShapeSize_m && absolute(p.y) <= kMaxShapeSize_m &&
                            absolute(p.z) <= kMaxShapeSize_m;  // false for NaN
        if (!inside)
            return wrong_points(place, "has a point at index " + std::to_string(i) +
                                           " that is not finite or is farther from the origin than " +
                                           std::to_string(static_cast<int>(kMaxShapeSize_m)) +
                                           " m; move it nearer to the origin");
    }
    return Ok{};
}

std::string_view fault_text(HullFault fault) {
    switch (fault) {
        case HullFault::one_point:
            return "are all at one place; give at least 4 points that span a volume, or use a sphere";
        case HullFault::one_line:
            return "are all on one line; give points that span a volume, or use a capsule";
        default:
            return "are all in one plane; give points on both sides of it that span a volume, or use a thin box";
    }
}

Moments moments_of(const std::vector<D3>& vertex, const HullFaces& faces) {
    Moments m;
    for (std::size_t f = 0; f + 1 < faces.face_start.size(); ++f) {
        const std::uint8_t* loop = faces.loop.data() + faces.face_start[f];
        const int size = faces.face_start[f + 1] - faces.face_start[f];
        for (int i = 1; i + 1 < size; ++i) {
            const D3 p = vertex[loop[0]], q = vertex[loop[i]], r = vertex[loop[i + 1]], s = (p + q) + r;
            const double d = dot(p, cross(q, r));
            m.volume += d / 6.0;
            m.first = m.first + s * (d / 24.0);
            const double k = d / 120.0;
            m.second[0] += k * (((s.x * s.x + p.x * p.x) + q.x * q.x) + r.x * r.x);
            m.second[1] += k * (((s.x * s.y + p.x * p.y) + q.x * q.y) + r.x * r.y);
            m.second[2] += k * (((s.x * s.z + p.x * p.z) + q.x * q.z) + r.x * r.z);
            m.second[3] += k * (((s.y * s.y + p.y * p.y) + q.y * q.y) + r.y * r.y);
            m.second[4] += k * (((s.y * s.z + p.y * p.z) + q.y * q.z) + r.y * r.z);
            m.second[5] += k * (((s.z * s.z + p.z * p.z) + q.z * q.z) + r.z * r.z);
        }
    }
    return m;
}

void set_rows(Hull& hull) {
    for (const Vec3& v : hull.vertex) {
        hull.row[0].push_back(v.x);
        hull.row[1].push_back(v.y);
        hull.row[2].push_back(v.z);
    }
    for (std::vector<float>& row : hull.row) {
        while (row.size() % kSupportLanes != 0) row.push_back(row.front());
    }
}

void set_planes(Hull& hull) {
    for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
        const std::uint8_t* loop = hull.topology.face_loop(f);
        const D3 first = widened(hull.vertex[loop[0]]);
        D3 n;
        for (std::uint32_t i = 1; i + 1 < hull.topology.loop_size(f); ++i)
            n = n + cross(widened(hull.vertex[loop[i]]) - first, widened(hull.vertex[loop[i + 1]]) - first);
        n = unit_or(n, unit_or(first, {0.0, 1.0, 0.0}));
        double offset = dot(n, first);
        for (const Vec3& v : hull.vertex) offset = larger(offset, dot(n, widened(v)));
        hull.normal.push_back(n);
        hull.offset.push_back(offset);
        const Vec3 m = narrowed(n);
        const float row[4] = {m.x, m.y, m.z, static_cast<float>(offset)};
        for (int k = 0; k < 4; ++k) hull.face_row[k].push_back(row[k]);
    }
    while (hull.face_row[0].size() % kSupportLanes != 0) {
        for (int k = 0; k < 4; ++k) hull.face_row[k].push_back(k < 3 ? 0.0f : kFarOff_m);
    }
}

// n . m = -1 for the normals n of a vertex's faces, in the sense of least squares: three faces are met, more nearly so.
// What would send a vertex between two almost opposite faces far off is held back by the weight of its way.
void set_inward(Hull& hull) {
    constexpr double kWayWeight = 1e-3;
    for (std::uint32_t v = 0; v < hull.topology.vertices; ++v) {
        double xx = kWayWeight, yy = kWayWeight, zz = kWayWeight, xy = 0.0, xz = 0.0, yz = 0.0;
        D3 sum;
        for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
            const std::uint8_t* loop = hull.topology.face_loop(f);
            bool of_face = false;
            for (std::uint32_t i = 0; i < hull.topology.loop_size(f); ++i) of_face = of_face || loop[i] == v;
            if (!of_face) continue;
            const D3 n = hull.normal[f];
            xx += n.x * n.x, yy += n.y * n.y, zz += n.z * n.z;
            xy += n.x * n.y, xz += n.x * n.z, yz += n.y * n.z;
            sum = sum - n;
        }
        const D3 a{xx, xy, xz}, b{xy, yy, yz}, c{xz, yz, zz}, bc = cross(b, c);
        const double scale = 1.0 / dot(a, bc);
        hull.inward.push_back(
            narrowed(D3{dot(sum, bc) * scale, dot(sum, cross(c, a)) * scale, dot(sum, cross(a, b)) * scale}));
    }
}

// The least distance of two parallel planes that hold the hull between them, of which one is a face's.
double thickness(const Hull& hull) {
    double least = 1e300;
    for (std::uint32_t f = 0; f < hull.topology.faces; ++f) {
        double low = hull.offset[f];
        for (const Vec3& v : hull.vertex) low = smaller(low, dot(hull.normal[f], widened(v)));
        least = smaller(least, hull.offset[f] - low);
    }
    return least;
}

}  // namespace

MassProperties mass_about(const Moments& moments, D3 c) {
    const double m = moments.volume;
    const double* s = moments.second;
    const D3 f = moments.first;
    // Second moments about c: S - f c^T - c f^T + m c c^T; the inertia is their trace less them.
    const double xx = (s[0] - 2.0 * (f.x * c.x)) + m * (c.x * c.x), yy = (s[3] - 2.0 * (f.y * c.y)) + m * (c.y * c.y);
    const double zz = (s[5] - 2.0 * (f.z * c.z)) + m * (c.z * c.z);
    const double xy = ((s[1] - f.x * c.y) - f.y * c.x) + m * (c.x * c.y),
                 xz = ((s[2] - f.x * c.z) - f.z * c.x) + m * (c.x * c.z);
    const double yz = ((s[4] - f.y * c.z) - f.z * c.y) + m * (c.y * c.z);
    const double inertia[6] = {yy + zz, -xy, -xz, xx + zz, -yz, xx + yy};
    MassProperties out;
    out.mass = static_cast<float>(m);
    for (int i = 0; i < 6; ++i) out.inertia[i] = static_cast<float>(inertia[i]);
    return out;
}

Result<Shape> make_hull(const ShapeDef& def, std::string_view place) {
    if (auto checked = check_points(def, place); !checked) return checked.error();
    HullFaces faces;
    if (const HullFault fault = quickhull(def.points, faces); fault != HullFault::none)
        return wrong_points(place, std::string(fault_text(fault)));

    auto hull = std::make_shared<Hull>();
    // Moments about the first vertex, near to the hull: those about the origin would cancel where it stands far off.
    const D3 origin = widened(def.points[faces.points[0]]);
    std::vector<D3> corner;
    for (const std::uint32_t p : faces.points) corner.push_back(widened(def.points[p]) - origin);
    const Moments moments = moments_of(corner, faces);
    const D3 centre = moments.first * (1.0 / moments.volume);
    hull->centre = origin + centre;
    Shape shape;
    shape.type = ShapeType::hull;
    shape.unit_mass = mass_about(moments, centre);
    double bounding2 = 0.0;
    D3 half;
    for (const D3 c : corner) {
        hull->vertex.push_back(narrowed(c - centre));
        const D3 v = widened(hull->vertex.back());
        bounding2 = larger(bounding2, dot(v, v));
        half = {larger(half.x, absolute(v.x)), larger(half.y, absolute(v.y)), larger(half.z, absolute(v.z))};
    }
    hull->face_start = std::move(faces.face_start);
    hull->loop = std::move(faces.loop);
    hull->edge.resize(hull->loop.size() / 2);
    const auto face_count = static_cast<std::uint32_t>(hull->face_start.size() - 1);
    hull->topology = {static_cast<std::uint32_t>(hull->vertex.size()),
                      face_count,
                      find_edges(face_count, hull->face_start.data(), hull->loop.data(), hull->edge.data()),
                      hull->face_start.data(),
                      hull->loop.data(),
                      hull->edge.data()};
    set_rows(*hull);
    set_planes(*hull);
    set_inward(*hull);
    const double bounding = __builtin_sqrt(bounding2), thick = thickness(*hull),
                 wanted = larger(kMinThickness_m, kMinThicknessRelative * bounding);
    if (!(thick >= wanted)) {
        return wrong_points(place, "span a hull of only " + std::to_string(thick * 1000.0) +
                                       " mm in one direction; make it at least " + std::to_string(wanted * 1000.0) +
                                       " mm thick, or use a thin box");
    }
    double inner = bounding;
    for (const double offset : hull->offset) inner = smaller(inner, offset);
    shape.half_extents = narrowed(half);
    // Rounded outward, as bounds want it.
    shape.bounding_radius = static_cast<float>(bounding * (1.0 + 1e-6));
    shape.inner_radius = static_cast<float>(larger(inner, 0.0) * (1.0 - 1e-6));
    shape.hull = std::move(hull);
    return shape;
}

}  // namespace orrery::sim::ref
