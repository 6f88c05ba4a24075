// Guards: what polytopes ask of each other over the lanes is the truth, by brute force in double precision, for any
// number of vertices and faces, and the same bits on every target: vertices placed, the best face and its vertex, what
// lies below or inside, extents, and triangles that a shape may touch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "sim/collision/broad/broad_kernels.h"
#include "sim/collision/lanes/polytope_kernels.h"
#include "sim/collision/mesh/mesh_pairs.h"
#include "sim/shapes/mesh.h"
#include "tests/support/body_worlds.h"
#include "tests/support/seed.h"

namespace orrery::sim {
namespace {

constexpr double kRounding = 4e-6;  // of shapes of a metre, metres away

// A hull of so many points about a sphere, none of them inside; or flat, as a box or a triangle would be.
Shape rock(test::Random& random, int points, Vec3 size) {
    for (;;) {
        ShapeDef def;
        def.type = ShapeType::hull;
        for (int i = 0; i < points; ++i) {
            Vec3 v = random.vec(1.0f);
            const float far = std::max(std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z), 0.01f);
            def.points.push_back({v.x / far * size.x, v.y / far * size.y, v.z / far * size.z});
        }
        // Four points may be so flat that they are no hull.
        if (const Result<Shape> shape = make_shape(def, "rock")) return *shape;
    }
}

// Rows that end where they say that they do: what reads behind them is found by the address sanitizer.
struct Rows {
    std::vector<float> vertex[3], face[4];
    std::uint32_t vertices = 0, faces = 0;
    explicit Rows(const Hull& hull) : vertices(hull.topology.vertices), faces(hull.topology.faces) {
        for (int k = 0; k < 3; ++k) vertex[k].assign(hull.row[k].begin(), hull.row[k].end());
        for (int k = 0; k < 4; ++k) face[k].assign(hull.face_row[k].begin(), hull.face_row[k].end());
    }
    VertexRows vertex_rows() const { return {{vertex[0].data(), vertex[1].data(), vertex[2].data()}, vertices}; }
    FaceRows face_rows() const { return {{face[0].data(), face[1].data(), face[2].data(), face[3].data()}, faces}; }
    double height(std::uint32_t f, const float* const row[3], std::uint32_t v) const {
        return double(face[0][f]) * row[0][v] + double(face[1][f]) * row[1][v] + double(face[2][f]) * row[2][v] -
               double(face[3][f]);
    }
};

struct Placed {
    float row[3][kMaxHullVertices];
    VertexRows rows;
};

void matrix(const Quat& q, Vec3 at, float to[12]) {
    const float x = q.x, y = q.y, z = q.z, w = q.w;
    const float r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    const float t[3] = {at.x, at.y, at.z};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) to[4 * k + i] = r[3 * k + i];
        to[4 * k + 3] = t[k];
    }
}

}  // namespace

TEST_CASE("polytopes over the lanes: brute force agrees, every target gives the same bits") {
    test::Random random(test::seeded(4100));
    const int rounds = test::sampled(2000);
    const std::span<const Target> targets = available_targets();
    int wrong_face = 0, wrong_vertex = 0, wrong_below = 0, wrong_inside = 0, wrong_extent = 0, apart = 0, many = 0;
    for (int i = 0; i < rounds; ++i) {
        CAPTURE(i);
        const Shape a = rock(random, 4 + int(random.below(i % 8 == 0 ? 125 : 30)), {0.5f, 0.4f, 0.6f}),
                    b = rock(random, 4 + int(random.below(i % 8 == 1 ? 125 : 30)),
                             {0.4f, 0.02f + random.in(0.0f, 0.5f), 0.5f});
        const Rows ra(*a.hull), rb(*b.hull);
        many += ra.faces * rb.vertices > 192;
        float to[12];
        matrix(random.rotation(), random.vec(0.7f), to);

        Placed first;
        MetVertices met_first;
        PartingFace face_first;
        std::int32_t below_first[kFaceRoom] = {};
        float outside_first = 0.0f, low_first[3], high_first[3];
        for (const Target target : targets) {
            CAPTURE(target_name(target));
            const PolytopeKernels& kernels = *polytope_kernels_for(target);
            Placed placed;
            float* const out[3] = {placed.row[0], placed.row[1], placed.row[2]};
            kernels.place(rb.vertex_rows(), to, out);
            PolytopeSide side;
            side.faces = ra.face_rows();
            side.other = {{placed.row[0], placed.row[1], placed.row[2]}, rb.vertices};
            for (int k = 0; k < 3; ++k) side.way[k] = to[4 * k + 3];
            MetVertices met;
            PartingFace face;
            kernels.part(side, met, face);
            std::int32_t below[kFaceRoom] = {};
            kernels.below(side, met, -0.01f, below);
            const float outside = kernels.outside(side, face.vertex);
            float low[3], high[3], r[9];
            for (int k = 0; k < 9; ++k) r[k] = to[4 * (k / 3) + k % 3];
            broad_kernels_for(target)->extents(rb.vertex_rows(), r, low, high);
            const std::uint32_t end = (rb.vertices + kRowRoom - 1) / kRowRoom * kRowRoom;
            if (target == targets.front()) {
                for (int k = 0; k < 3; ++k) std::copy_n(placed.row[k], end, first.row[k]);
                met_first = met, face_first = face, outside_first = outside;
                std::copy_n(below, ra.faces, below_first);
                for (int k = 0; k < 3; ++k) low_first[k] = low[k], high_first[k] = high[k];
                continue;
            }
            for (int k = 0; k < 3; ++k) REQUIRE(std::memcmp(first.row[k], placed.row[k], end * sizeof(float)) == 0);
            REQUIRE(met.count == met_first.count);
            REQUIRE(std::equal(met.vertex, met.vertex + met.count, met_first.vertex));
            REQUIRE(face.face == face_first.face);
            REQUIRE(face.vertex == face_first.vertex);
            REQUIRE(outside == outside_first);
            REQUIRE(std::equal(below, below + ra.faces, below_first));
            for (int k = 0; k < 3; ++k) REQUIRE((low[k] == low_first[k] && high[k] == high_first[k]));
        }

        const float* const row[3] = {first.row[0], first.row[1], first.row[2]};
        double best = -1e300, here = 1e300, highest = -1e300;
        for (std::uint32_t f = 0; f < ra.faces; ++f) {
            double least = 1e300;
            for (std::uint32_t v = 0; v < rb.vertices; ++v) {
                const double h = ra.height(f, row, v);
                least = std::min(least, h);
                if (f == face_first.face) here = std::min(here, h);
            }
            best = std::max(best, least);
            highest = std::max(highest, ra.height(f, row, face_first.vertex));
            for (std::uint32_t k = 0; k < met_first.count; ++k) {
                const double h = ra.height(f, row, met_first.vertex[k]);
                const bool said = (below_first[f] >> k & 1) != 0;
                wrong_below += (said && h > -0.01 + kRounding) || (!said && h < -0.01 - kRounding);
            }
            wrong_below += (below_first[f] >> met_first.count) != 0;
        }
        apart += best > 0.0;
        wrong_face += here < best - kRounding;
        wrong_vertex += ra.height(face_first.face, row, face_first.vertex) > here + kRounding;
        wrong_inside += std::abs(outside_first - highest) > kRounding;
        for (int k = 0; k < 3; ++k) {
            double low = 1e300, high = -1e300;
            for (std::uint32_t v = 0; v < rb.vertices; ++v)
                low = std::min<double>(low, row[k][v]), high = std::max<double>(high, row[k][v]);
            wrong_extent += std::abs(low - to[4 * k + 3] - low_first[k]) > kRounding ||
                            std::abs(high - to[4 * k + 3] - high_first[k]) > kRounding;
        }
    }
    CHECK((apart > 20 || rounds < 2000));
    CHECK((many > 200 || rounds < 2000));
    CHECK(wrong_face == 0);
    CHECK(wrong_vertex == 0);
    CHECK(wrong_below == 0);
    CHECK(wrong_inside == 0);
    CHECK(wrong_extent == 0);
}

TEST_CASE(
    "triangles near a shape over the lanes: none is lost, far ones are left out, every target gives the same bits") {
    test::Random random(test::seeded(4200));
    const int rounds = test::sampled(2000);
    const std::span<const Target> targets = available_targets();
    const float margin = 0.02f;
    int lost = 0, needless = 0, near_ones = 0, far_ones = 0, thin_ones = 0, wrong_thin = 0;
    for (int i = 0; i < rounds; ++i) {
        CAPTURE(i);
        const Shape shape = rock(random, 4 + int(random.below(40)), {0.5f, 0.4f, 0.3f});
        const Rows rows(*shape.hull);
        const int kind = int(random.below(3));  // a hull, a capsule, a ball
        SolidRows solid;
        float ball[3][kRowRoom] = {{0.1f, -0.1f}, {0.2f, -0.2f}, {0.3f, -0.3f}};
        if (kind == 0) {
            solid.faces = rows.face_rows();
        } else {
            for (int k = 0; k < 3; ++k) solid.vertices.row[k] = ball[k];
            solid.vertices.count = kind == 1 ? 2 : 1;
            solid.radius = 0.3f;
        }
        float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        Placed placed;
        float* const out[3] = {placed.row[0], placed.row[1], placed.row[2]};
        if (kind == 0) {
            polytope_kernels_for(Target::scalar)->place(rows.vertex_rows(), identity, out);
            solid.vertices = {{placed.row[0], placed.row[1], placed.row[2]}, rows.vertices};
        }
        solid.extent = 0.6f;
        solid.by_edges = random.below(2) == 0;
        const Vec3 motion = random.vec(0.2f);
        solid.motion[0] = motion.x, solid.motion[1] = motion.y, solid.motion[2] = motion.z;
        solid.margin = margin;
        solid.limit = margin + std::sqrt(motion.x * motion.x + motion.y * motion.y + motion.z * motion.z);
        TriangleRows triangles;
        triangles.count = 1 + random.below(TriangleRows::kMost);
        for (std::uint32_t t = 0; t < triangles.count; ++t) {
            const Vec3 at = random.vec(1.2f);
            const bool thin = random.below(10) == 0;
            const float size = random.below(8) == 0 ? 20.0f : 0.7f;
            Vec3 corner[3] = {};
            for (Vec3& c : corner) {
                const Vec3 d = random.vec(size);
                c = {at.x + d.x, at.y + d.y, at.z + d.z};
            }
            const float rest = random.below(2) == 0 ? 1e-7f : 0.0f;
            if (thin)
                corner[2] = {corner[0].x * 0.4f + corner[1].x * 0.6f + rest, corner[0].y * 0.4f + corner[1].y * 0.6f,
                             corner[0].z * 0.4f + corner[1].z * 0.6f};
            for (int k = 0; k < 3; ++k)
                triangles.corner[k][0][t] = corner[k].x, triangles.corner[k][1][t] = corner[k].y,
                triangles.corner[k][2][t] = corner[k].z;
        }
        TriangleFinds first;
        for (const Target target : targets) {
            CAPTURE(target_name(target));
            TriangleFinds finds;
            polytope_kernels_for(target)->near(triangles, solid, finds);
            if (target == targets.front()) first = finds;
            REQUIRE(finds.near == first.near);
            REQUIRE(finds.thin == first.thin);
            for (std::uint32_t t = 0; t < triangles.count; ++t) {
                if ((finds.near >> t & 1u) == 0) continue;
                REQUIRE(finds.vertex[t] == first.vertex[t]);
                REQUIRE((kind != 0 || finds.face[t] == first.face[t]));
            }
        }
        REQUIRE((first.near & first.thin) == 0);
        if (triangles.count < 64) REQUIRE(((first.near | first.thin) >> triangles.count) == 0);
        for (std::uint32_t t = 0; t < triangles.count; ++t) {
            double c[3][3];
            for (int k = 0; k < 3; ++k) {
                for (int j = 0; j < 3; ++j) c[k][j] = triangles.corner[k][j][t];
            }
            const auto minus = [](const double* x, const double* y, double* d) {
                for (int j = 0; j < 3; ++j) d[j] = x[j] - y[j];
            };
            const auto times = [](const double* x, const double* y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; };
            const auto across = [](const double* x, const double* y, double* d) {
                d[0] = x[1] * y[2] - x[2] * y[1], d[1] = x[2] * y[0] - x[0] * y[2], d[2] = x[0] * y[1] - x[1] * y[0];
            };
            double e[3], f[3], n[3];
            minus(c[1], c[0], e), minus(c[2], c[0], f), across(e, f, n);
            const double area = std::sqrt(times(n, n)), sine = area / std::sqrt(times(e, e) * times(f, f));
            if ((first.thin >> t & 1u) != 0) {
                ++thin_ones;
                wrong_thin += sine > 0.051;
                continue;
            }
            wrong_thin += sine < 0.049;
            for (double& x : n) x /= area;
            const double plane = times(n, c[0]);
            const double size = 1.0 + std::abs(c[0][0]) + std::abs(c[0][1]) + std::abs(c[0][2]) +
                                std::sqrt(3.0 * times(e, e)) + std::sqrt(3.0 * times(f, f)),
                         slack = 2e-5 * size;
            const auto lowest = [&](const double* way) {
                double low = 1e300;
                for (std::uint32_t v = 0; v < solid.vertices.count; ++v) {
                    const double at[3] = {solid.vertices.row[0][v], solid.vertices.row[1][v], solid.vertices.row[2][v]};
                    low = std::min(low, times(way, at));
                }
                return low - double(solid.radius);
            };
            const double m[3] = {motion.x, motion.y, motion.z};
            double beyond = std::max(
                plane, lowest(n) - plane - (margin + std::max(times(m, n), 0.0)));  // by which the worst test fails
            for (int k = 0; k < 3; ++k) {
                double edge[3], way[3];
                minus(c[(k + 1) % 3], c[k], edge), across(edge, n, way);
                const double size_of = std::sqrt(times(way, way));
                for (double& x : way) x /= size_of;
                beyond = std::max(beyond, lowest(way) - times(way, c[k]) - double(solid.limit));
                const double off = lowest(way) + double(solid.radius) - times(way, c[k]),
                             above = lowest(n) + double(solid.radius) - plane;
                if (solid.by_edges && off > 0.0)
                    beyond = std::max(
                        beyond, std::hypot(off, std::max(above, 0.0)) - double(solid.radius) - double(solid.limit));
            }
            for (std::uint32_t g = 0; g < solid.faces.count; ++g) {
                double low = 1e300;
                for (int k = 0; k < 3; ++k) {
                    const double way[3] = {rows.face[0][g], rows.face[1][g], rows.face[2][g]};
                    low = std::min(low, times(way, c[k]) - double(rows.face[3][g]));
                }
                beyond = std::max(beyond, low - double(solid.limit));
            }
            const bool said = (first.near >> t & 1u) != 0;
            lost += !said && beyond < -1e-9;
            needless += said && beyond > slack;
            near_ones += said;
            far_ones += !said;
        }
    }
    CHECK((near_ones > 1000 || rounds < 2000));
    CHECK((far_ones > 1000 || rounds < 2000));
    CHECK((thin_ones > 1000 || rounds < 2000));
    CHECK(lost == 0);
    CHECK(needless == 0);
    CHECK(wrong_thin == 0);
}

TEST_CASE("long slender triangles hold what lies on them, however they are turned") {
    struct Strip {
        double length, width, depth, margin;
        ShapeDef on;
    };
    const auto ball = [](float radius) { return ShapeDef{{}, ShapeType::sphere, radius, 0.5f, {}}; };
    const ShapeDef crate{{}, ShapeType::box, 0.5f, 0.5f, {0.25f, 0.25f, 0.25f}};
    for (const Strip& strip : {Strip{4000, 4.5, 0.02, 0.02, ball(0.5f)}, Strip{4000, 4.5, 0.0, 0.02, crate},
                               Strip{400, 0.45, 0.001, 0.0, ball(0.5f)}, Strip{200, 0.22, 0.0, 0.001, ball(0.1f)},
                               Strip{1000, 1.2, 0.0, 0.005, ball(0.02f)}, Strip{100, 8.0, 0.0, 0.002, crate}}) {
        CAPTURE(strip.length);
        CAPTURE(strip.width);
        test::Random random(test::seeded(4300));
        int lost = 0;
        for (int i = 0; i < test::sampled(400); ++i) {
            const ref::DAxes axes = ref::axes_of(random.rotation());
            const ref::D3 off = ref::widened(random.vec(10.0f));
            ShapeDef def;
            def.type = ShapeType::mesh;
            for (const double z : {-0.5, 0.5}) {
                for (const double x : {-0.5, 0.5})
                    def.points.push_back(
                        ref::narrowed(ref::outward(axes, ref::D3{x * strip.width, 0.0, z * strip.length}) + off));
            }
            const std::uint32_t first = random.below(3), corner[2][3] = {{0, 2, 1}, {1, 2, 3}};
            for (const auto& t : corner) {
                for (std::uint32_t k = 0; k < 3; ++k) def.indices.push_back(t[(k + first) % 3]);
            }
            const Shape mesh = *make_shape(def, "strip"), on = *make_shape(strip.on, "on");
            const double size = strip.on.type == ShapeType::sphere ? double(strip.on.radius) : 0.25,
                         end = (random.below(2) == 0 ? 0.475 : -0.475) * strip.length;
            const ref::D3 normal = ref::triangle_normal(*mesh.mesh, 0),
                          place = ref::outward(axes, ref::D3{0.0, 0.0, end}) + off;
            const double above =
                ref::dot(normal, place - ref::widened(mesh.mesh->vertex[mesh.mesh->triangle[0].corner(0)]));
            ref::Convex convex;
            ref::place_convex(on, {place + normal * (size - strip.depth - above), axes}, convex);
            ref::MeshScratch scratch;
            const std::uint32_t triangles[] = {0, 1};
            ref::collide_mesh(*polytope_kernels_for(available_targets().back()), *mesh.mesh, triangles, convex, {},
                              strip.margin, scratch);
            lost += scratch.contacts.empty();
        }
        CHECK(lost == 0);
    }
}

}  // namespace orrery::sim
