// Guards: the convex hull of any points is a closed convex polyhedron that holds them, with its exact mass; and what is
// no volume is refused by an error that says how to mend it.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/shapes/hull.h"
#include "tests/support/about.h"
#include "tests/support/seed.h"
#include "tests/support/solids.h"

namespace orrery::sim {
namespace {

ShapeDef hull_of(std::vector<Vec3> points) {
    ShapeDef def;
    def.type = ShapeType::hull;
    def.points = std::move(points);
    return def;
}

std::string fault_of(std::vector<Vec3> points) {
    const Result<Shape> shape = make_shape(hull_of(std::move(points)), "shapes[4]");
    return shape ? std::string() : shape.error().to_string();
}

// Corners of a box, each turned and moved.
std::vector<Vec3> box_points(Vec3 half, Quat q, Vec3 at) {
    std::vector<Vec3> points;
    for (int k = 0; k < 8; ++k) {
        const test::V p = test::vec(at) + test::rotate(q, {(k & 1) ? half.x : -half.x, (k & 2) ? half.y : -half.y,
                                                           (k & 4) ? half.z : -half.z});
        points.push_back({float(p.x), float(p.y), float(p.z)});
    }
    return points;
}

struct Faults {
    int euler = 0, loops = 0, outside = 0, concave = 0, centre = 0;
};

// Counts what is wrong with a hull of these points; `left_out`: how far outside a point may lie, as a part of the
// extent.
Faults inspect(const Shape& shape, const std::vector<Vec3>& points, double left_out) {
    Faults faults;
    const Hull& h = *shape.hull;
    const Topology& t = h.topology;
    double extent = 0;
    for (const Vec3& p : points)
        extent = std::max({extent, double(std::abs(p.x - points[0].x)), double(std::abs(p.y - points[0].y)),
                           double(std::abs(p.z - points[0].z))});
    faults.euler += t.vertices + t.faces != t.edges + 2 || t.vertices > kMaxHullVertices || t.faces > kMaxHullFaces;
    std::vector<int> uses(t.vertices, 0);
    for (std::uint32_t f = 0; f < t.faces; ++f) {
        faults.loops += t.loop_size(f) < 3;
        double above = 0;
        for (std::uint32_t v = 0; v < t.vertices; ++v)
            faults.concave += ref::dot(h.normal[f], ref::widened(h.vertex[v])) > h.offset[f] + 1e-12 * extent;
        for (std::uint32_t i = 0; i < t.loop_size(f); ++i) {
            ++uses[t.face_loop(f)[i]];
            above = std::max(above, h.offset[f] - ref::dot(h.normal[f], ref::widened(h.vertex[t.face_loop(f)[i]])));
        }
        faults.concave += above > 3e-5 * extent;  // a face is flat
        for (const Vec3& p : points)
            faults.outside += ref::dot(h.normal[f], ref::widened(p) - h.centre) > h.offset[f] + left_out * extent;
    }
    for (const int n : uses) faults.loops += n < 2;
    // Mass and centre against a sum over tetrahedra from the body's centre.
    double volume = 0;
    ref::D3 first;
    for (std::uint32_t f = 0; f < t.faces; ++f) {
        for (std::uint32_t i = 1; i + 1 < t.loop_size(f); ++i) {
            const std::uint8_t* loop = t.face_loop(f);
            const ref::D3 a = ref::widened(h.vertex[loop[0]]), b = ref::widened(h.vertex[loop[i]]),
                          c = ref::widened(h.vertex[loop[i + 1]]);
            const double six = ref::dot(a, ref::cross(b, c));
            volume += six / 6;
            first = first + ((a + b) + c) * (six / 24);
        }
    }
    faults.centre +=
        ref::length(first) > 1e-5 * extent * volume || std::abs(volume - shape.unit_mass.mass) > 1e-5 * volume;
    return faults;
}

void check_sound(const std::vector<Vec3>& points, double left_out) {
    const Result<Shape> shape = make_shape(hull_of(points), "shape");
    REQUIRE_MESSAGE(shape.ok(), (shape.ok() ? std::string() : shape.error().to_string()));
    const Faults f = inspect(*shape, points, left_out);
    CHECK(f.euler == 0);
    CHECK(f.loops == 0);
    CHECK(f.outside == 0);
    CHECK(f.concave == 0);
    CHECK(f.centre == 0);
}

}  // namespace

TEST_CASE("hulls of random points of any size and place hold them all") {
    test::Random random(test::seeded(21));
    for (int i = 0; i < 300; ++i) {
        CAPTURE(i);
        const float sizes[] = {0.01f, 0.3f, 1.0f, 40.0f, 2000.0f};
        const float size = sizes[random.below(5)];
        const Vec3 at = random.vec(random.below(3) == 0 ? 1.0f * size : 0.0f);
        const std::uint32_t count = 4 + random.below(60);
        std::vector<Vec3> points;
        for (std::uint32_t k = 0; k < count + 4; ++k) {
            const Vec3 v = random.vec(size);
            points.push_back({at.x + v.x, at.y + v.y, at.z + v.z});
            if (random.below(4) == 0) points.push_back(points[random.below(static_cast<std::uint32_t>(points.size()))]);
        }
        check_sound(points, 3e-6);
    }
}

TEST_CASE("boxes turned at random, their faces full of points, come out as boxes") {
    test::Random random(test::seeded(22));
    for (int i = 0; i < 200; ++i) {
        CAPTURE(i);
        const Vec3 half{random.in(0.1f, 2.0f), random.in(0.1f, 2.0f), random.in(0.1f, 2.0f)};
        const Quat q = random.rotation();
        const Vec3 at = random.vec(i % 2 == 0 ? 0.0f : 20.0f);
        std::vector<Vec3> points = box_points(half, q, at);
        for (int k = 0; k < 40; ++k) {  // on faces and edges
            Vec3 v{random.in(-half.x, half.x), random.in(-half.y, half.y), random.in(-half.z, half.z)};
            const std::uint32_t axis = random.below(3);
            (axis == 0 ? v.x : axis == 1 ? v.y : v.z) = axis == 0 ? half.x : axis == 1 ? half.y : -half.z;
            if (k % 4 == 0) v.x = -half.x;
            const test::V p = test::vec(at) + test::rotate(q, test::vec(v));
            points.push_back({float(p.x), float(p.y), float(p.z)});
        }
        const Result<Shape> shape = make_shape(hull_of(points), "shape");
        REQUIRE(shape.ok());
        const Faults f = inspect(*shape, points, 1.2e-5);
        CHECK(f.euler + f.loops + f.outside + f.centre == 0);
        CHECK(shape->hull->topology.faces == 6);
        CHECK(shape->hull->topology.vertices == 8);
        CHECK(shape->unit_mass.mass == test::about(8.0 * half.x * half.y * half.z, 1e-4));
        const double trace =
            double(shape->unit_mass.inertia[0]) + shape->unit_mass.inertia[3] + shape->unit_mass.inertia[5];
        const double expected = shape->unit_mass.mass * 2.0 / 3.0 *
                                (double(half.x) * half.x + double(half.y) * half.y + double(half.z) * half.z);
        CHECK(trace == test::about(expected, 1e-4));
    }
}

TEST_CASE("thousands of points on a ball are cut to the vertices that matter most") {
    test::Random random(test::seeded(23));
    std::vector<Vec3> points;
    for (int i = 0; i < 5000; ++i) {
        const Quat q = random.rotation();
        const test::V p = test::rotate(q, {0, 1, 0});
        points.push_back({float(p.x), float(p.y), float(p.z)});
    }
    const Result<Shape> shape = make_shape(hull_of(points), "shape");
    REQUIRE(shape.ok());
    CHECK(shape->hull->topology.vertices == kMaxHullVertices);
    const Faults f = inspect(*shape, points, 0.03);
    CHECK(f.euler + f.loops + f.outside + f.concave + f.centre == 0);
    CHECK(shape->unit_mass.mass > 0.9 * 4.18879);
}

TEST_CASE("a hull's body stands at its centre of mass, wherever its points are") {
    const std::vector<Vec3> points{{10, 0, 0}, {12, 0, 0}, {10, 2, 0}, {10, 0, 2}};
    const Result<Vec3> centre = shape_centre(hull_of(points));
    REQUIRE(centre.ok());
    CHECK(centre->x == doctest::Approx(10.5));
    CHECK(centre->y == doctest::Approx(0.5));
    CHECK(centre->z == doctest::Approx(0.5));
    const Shape shape = *make_shape(hull_of(points), "shape");
    CHECK(shape.unit_mass.mass == doctest::Approx(8.0 / 6.0));
    // Of a corner tetrahedron with legs a about its centre of mass: Ixx = 3/40 m a^2, Ixy = m a^2 / 80.
    CHECK(shape.unit_mass.inertia[0] == doctest::Approx(3.0 / 40.0 * 8.0 / 6.0 * 4.0));
    CHECK(shape.unit_mass.inertia[1] == doctest::Approx(1.0 / 80.0 * 8.0 / 6.0 * 4.0));
}

TEST_CASE("points that span no volume are refused, and the error names the mend") {
    const auto says = [](const std::string& text, const char* what) {
        return text.find("shapes[4].points") == 0 && text.find(what) != std::string::npos;
    };
    CHECK(says(fault_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), "at least 4"));
    CHECK(says(fault_of({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}), "use a sphere"));
    CHECK(says(fault_of({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {5, 5, 5}, {3, 3, 3}}), "use a capsule"));
    CHECK(says(fault_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3f, 0.6f, 0}}), "in one plane"));
    CHECK(says(fault_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3f, 0.3f, 0.0002f}}), "mm thick"));
    CHECK(says(fault_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}}), "index 3"));
    CHECK(says(fault_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1e9f}}), "farther from the origin"));
    CHECK(says(fault_of(std::vector<Vec3>(kMaxHullPoints + 1)), "kMaxHullPoints"));
    test::Random random(test::seeded(24));
    for (int i = 0; i < 100; ++i) {  // planes and lines at any angle
        const Quat q = random.rotation();
        std::vector<Vec3> flat, line;
        for (int k = 0; k < 20; ++k) {
            const test::V p = test::rotate(q, {random.in(-3, 3), 0, random.in(-3, 3)}),
                          l = test::rotate(q, {random.in(-3, 3), 0, 0});
            flat.push_back({float(p.x), float(p.y), float(p.z)});
            line.push_back({float(l.x), float(l.y), float(l.z)});
        }
        CHECK(!fault_of(flat).empty());
        CHECK(!fault_of(line).empty());
    }
}

}  // namespace orrery::sim
