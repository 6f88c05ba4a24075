// Guards: mass properties and radii are the analytic ones, and a bad size is an error that names its field and the
// mend.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sim/shapes/shape.h"
#include "tests/support/about.h"

namespace orrery::sim {
namespace {

constexpr double kPi = 3.14159265358979323846;

Shape make(ShapeType type, float radius, float half_height, Vec3 half) {
    return *make_shape({{}, type, radius, half_height, half}, "shapes[0]");
}

void check_mass(const Shape& s, double mass, double xx, double yy, double zz) {
    CHECK(s.unit_mass.mass == test::about(mass, 1e-6));
    CHECK(s.unit_mass.inertia[0] == test::about(xx, 1e-6));
    CHECK(s.unit_mass.inertia[3] == test::about(yy, 1e-6));
    CHECK(s.unit_mass.inertia[5] == test::about(zz, 1e-6));
    for (const int off_diagonal : {1, 2, 4}) CHECK(s.unit_mass.inertia[off_diagonal] == 0.0f);
}

std::string error_of(ShapeDef def) {
    const Result<Shape> made = make_shape(def, "shapes[3]");
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == ErrorCode::invalid_argument);
    return made.error().to_string();
}

bool names(const std::string& error, const std::string& place, const std::string& mend) {
    INFO(error);
    return error.rfind("shapes[3]." + place + ": ", 0) == 0 && error.find(mend) != std::string::npos;
}

}  // namespace

TEST_CASE("a sphere's mass, inertia and radii are analytic") {
    const double r = 0.7;
    const Shape s = make(ShapeType::sphere, 0.7f, 0.0f, {});
    const double m = 4.0 / 3.0 * kPi * r * r * r, i = 0.4 * m * r * r;
    check_mass(s, m, i, i, i);
    CHECK(s.bounding_radius == 0.7f);
    CHECK(s.inner_radius == 0.7f);
}

TEST_CASE("a box's mass, inertia and radii are analytic") {
    const double x = 0.5, y = 0.25, z = 2;
    const Shape s = make(ShapeType::box, 0.0f, 0.0f, {0.5f, 0.25f, 2.0f});
    const double m = 8 * x * y * z;
    check_mass(s, m, m / 3 * (y * y + z * z), m / 3 * (x * x + z * z), m / 3 * (x * x + y * y));
    CHECK(s.bounding_radius == test::about(std::sqrt(x * x + y * y + z * z), 1e-6));
    CHECK(s.inner_radius == 0.25f);
}

// By slices: a disc of radius q and height dy has mass pi q^2 dy, and inertia m q^2 / 2 along, m (q^2 / 4 + y^2)
// across.
TEST_CASE("a capsule's mass and inertia are those of its slices") {
    const double r = 0.4, h = 0.5;
    const Shape s = make(ShapeType::capsule, 0.4f, 0.5f, {});
    double m = 0, along = 0, across = 0;
    const int slices = 200'000;
    const double dy = 2 * (r + h) / slices;
    for (int k = 0; k < slices; ++k) {
        const double y = -(r + h) + (k + 0.5) * dy, cap = std::max(std::abs(y) - h, 0.0), q2 = r * r - cap * cap,
                     dm = kPi * q2 * dy;
        m += dm, along += dm * q2 / 2, across += dm * (q2 / 4 + y * y);
    }
    check_mass(s, m, across, along, across);
    CHECK(s.bounding_radius == doctest::Approx(0.9));
    CHECK(s.inner_radius == 0.4f);
}

TEST_CASE("a plane has no size and no mass") {
    const Shape s = make(ShapeType::plane, -1.0f, -1.0f, {-1, -1, -1});
    CHECK(s.unit_mass.mass == 0.0f);
    CHECK(s.radius == 0.0f);
}

TEST_CASE("bad sizes are errors that name the field and the mend") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    CHECK(names(error_of({{}, ShapeType::sphere, -1.0f, 0.5f, {}}), "radius", "negative"));
    CHECK(names(error_of({{}, ShapeType::sphere, nan, 0.5f, {}}), "radius", "not a number"));
    CHECK(names(error_of({{}, ShapeType::sphere, inf, 0.5f, {}}), "radius", "too large"));
    CHECK(names(error_of({{}, ShapeType::sphere, 0.0f, 0.5f, {}}), "radius", "too small"));
    CHECK(names(error_of({{}, ShapeType::box, 0.5f, 0.5f, {1.0f, 0.0f, 1.0f}}), "half_extents.y", "too small"));
    CHECK(names(error_of({{}, ShapeType::box, 0.5f, 0.5f, {1.0f, 1.0f, 5000.0f}}), "half_extents.z", "use a plane"));
    CHECK(names(error_of({{}, ShapeType::capsule, 0.5f, 0.0f, {}}), "half_height", "is a sphere"));
    CHECK(names(error_of({{}, ShapeType::capsule, -0.5f, 1.0f, {}}), "radius", "negative"));
    CHECK(names(error_of({{}, static_cast<ShapeType>(9), 0.5f, 0.5f, {}}), "type",
                "use sphere, box, capsule, plane, cylinder, hull, mesh, height_field or compound"));
}

}  // namespace orrery::sim
