// Contract: every constraint of the list is read from a scene by its fields, without code of its own: in the frames of
// the bodies as it is written, in the frame of the scene by the poses at the start; and its table in scene.fbs has
// those fields and no others.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/scene/geometry.h"
#include "protocol/scene/scene.h"
#include "protocol/scene/schema.h"
#include "tests/support/random_constraint.h"

using namespace orrery;
using namespace orrery::protocol;
using scene::D3;
using scene::SchemaField;
using scene::SchemaTable;

namespace {

const SchemaTable& table_of(const char* constraint) {
    const SchemaField* field = scene::scene_schema().find("joints")->table->find(constraint);
    REQUIRE_MESSAGE(field != nullptr, "table Joint in scene.fbs has no " << constraint);
    return *field->table;
}

std::string in_scene_unit(std::string_view name) {
    std::string own(name);
    if (own.ends_with("_rad")) own.replace(own.size() - 3, 3, "deg");
    return own;
}

// The field that gives a direction in the frame of the scene; null: none.
const SchemaField* in_scene(const SchemaTable& table, std::string_view direction) {
    const SchemaField* local = table.find(direction);
    if (local && !local->in_scene.empty()) return table.find(local->in_scene);
    return table.find(direction.substr(0, direction.size() - 2));
}

template <class T>
std::string json(T v) {
    std::ostringstream text;
    text.precision(17);
    if constexpr (std::is_same_v<T, sim::Quat>)
        text << "[" << v.x << ", " << v.y << ", " << v.z << ", " << v.w << "]";
    else if constexpr (std::is_arithmetic_v<T>)
        text << v;
    else
        text << "[" << v.x << ", " << v.y << ", " << v.z << "]";
    return text.str();
}

// ---- the four bodies, turned and apart

const char* const kBodies = R"("shapes": [{"name": "ball", "sphere": {}}], "bodies": [
    {"name": "a", "shape": "ball", "position": [1, 2, 3], "rotation_deg": [10, 20, 30]},
    {"name": "b", "shape": "ball", "position": [2.5, 2, 3.5], "rotation_deg": [-40, 0, 15]},
    {"name": "c", "shape": "ball", "position": [1, 3.5, 2]}, {"name": "d", "shape": "ball", "position": [0, 2, 5.5]}])";

Result<LoadedScene> loaded(const char* constraint, const std::string& fields, int bodies) {
    std::string text = "{\"scene_version\": 1, ";
    text += kBodies;
    text += ", \"joints\": [{";
    if (bodies > 1) text += R"("a": "a", )";
    if (bodies > 2) text += R"("c": "c", )";
    if (bodies > 3) text += R"("d": "d", )";
    text += std::string(R"("b": "b", ")") + constraint + "\": {" + fields + "}}]}";
    return load_scene({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "test.json");
}

template <class T>
T constraint_in(const char* constraint, const std::string& fields) {
    const Result<LoadedScene> scene = loaded(constraint, fields, sim::body_count<T>());
    REQUIRE_MESSAGE(scene.ok(), (fields + ": " + (scene.ok() ? "" : scene.error().to_string())));
    return std::get<T>(scene->world.joints[0].constraint);
}

template <class T>
std::string error_in(const char* constraint, const std::string& fields) {
    const Result<LoadedScene> scene = loaded(constraint, fields, sim::body_count<T>());
    return scene.ok() ? "no error" : scene.error().to_string();
}

// ---- visitors

// Writes a description as a scene has it, in the frames of the bodies.
class Written : public sim::FieldVisitor<Written> {
  public:
    explicit Written(const SchemaTable& table) : table_(table) {}
    std::string text;

    void point(sim::Side, const char* name, const sim::Vec3& v) { add(name, json(v)); }
    void world_point(const char* name, const sim::Vec3& v) { add(name, json(v)); }
    void direction(sim::Side, const char* name, const sim::Vec3& v) { add(name, json(v)); }
    void velocity(sim::Side, const char* name, const sim::Vec3& v, float) { add(name, json(v)); }
    void turn(const char* name, const sim::Quat& q) { add(name, json(q)); }
    void number(const char* name, const float& x, float, float) {
        const std::string own = in_scene_unit(name);
        const SchemaField* field = table_.find(own);
        if (limited_ == 0 && field && field->optional) return;
        add(own, json(own == name ? static_cast<double>(x) : static_cast<double>(x) / scene::kRadiansADegree));
    }
    void amount(const char* name, const float& x) { add(name, json(x)); }
    void flag(const bool& b) { limited_ = b ? 1 : 0; }
    void spring(const char* name, const sim::Spring& s) {
        add(name, "{\"frequency_hz\": " + json(s.frequency_hz) + ", \"damping_ratio\": " + json(s.damping_ratio) +
                      ", \"max_recovery_speed\": " + json(s.max_recovery_speed) + "}");
    }
    void servo(const char* name, const sim::Servo& s) {
        add(name, "{\"max_speed\": " + json(s.max_speed) + ", \"base_speed\": " + json(s.base_speed) +
                      ", \"max_force\": " + json(s.max_force) + "}");
    }
    void motor(const char* name, const sim::Motor& m) {
        add(name, "{\"max_force\": " + json(m.max_force) + ", \"damping\": " + json(m.damping) + "}");
    }

  private:
    void add(std::string_view name, const std::string& value) {
        text += (text.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    }
    const SchemaTable& table_;
    int limited_ = -1;  // no flag so far
};

// The numbers of a description, but for a range that does not hold.
class Numbers : public sim::FieldVisitor<Numbers> {
  public:
    std::vector<float> all;
    void number(const char*, const float& x, float, float) {
        if (!skip_) value(x);
    }
    void flag(const bool& b) { skip_ = !b, all.push_back(b ? 1.0f : 0.0f); }
    void spring(const char* name, const sim::Spring& s) { skip_ = false, FieldVisitor::spring(name, s); }
    void value(const float& x) { all.push_back(x); }
    void value(const sim::Vec3& v) { all.insert(all.end(), {v.x, v.y, v.z}); }
    void value(const sim::Quat& q) { all.insert(all.end(), {q.x, q.y, q.z, q.w}); }

  private:
    bool skip_ = false;
};

// The names of all that a description visits, as a scene has them, and of what says the same in the frame of the scene.
class Names : public sim::FieldVisitor<Names> {
  public:
    explicit Names(const SchemaTable& table) : table_(table) {}
    std::set<std::string> all, in_scene_frame;

    void point(sim::Side, const char* name, sim::Vec3&) {
        add(name, "Vec3");
        if (table_.find("at")) in_scene_frame.insert("at");
    }
    void world_point(const char* name, sim::Vec3&) { add(name, "Vec3"); }
    void direction(sim::Side, const char* name, sim::Vec3&) {
        add(name, "Vec3");
        if (const SchemaField* field = in_scene(table_, name)) in_scene_frame.insert(std::string(field->name));
    }
    void velocity(sim::Side, const char* name, sim::Vec3&, float) { add(name, "Vec3"); }
    void turn(const char* name, sim::Quat&) { add(name, "Quat"); }
    void number(const char* name, float&, float, float) { add(in_scene_unit(name), ""); }
    void amount(const char* name, float&) { add(name, ""); }
    void spring(const char* name, sim::Spring&) { add(name, "Spring"); }
    void servo(const char* name, sim::Servo&) { add(name, "Servo"); }
    void motor(const char* name, sim::Motor&) { add(name, "Motor"); }

  private:
    void add(const std::string& name, std::string_view type) {
        CAPTURE(name);
        const SchemaField* field = table_.find(name);
        REQUIRE(field != nullptr);
        if (type.empty())
            CHECK(field->type == reflection::Float);
        else
            CHECK((field->table && field->table->name == type));
        all.insert(name);
    }
    const SchemaTable& table_;
};

// Points and directions against what the scene's frame was told.
class InScene : public sim::FieldVisitor<InScene> {
  public:
    InScene(const SchemaTable& table, const sim::WorldDef& world, D3 at) : table_(table), world_(world), at_(at) {}

    void point(sim::Side side, const char* name, sim::Vec3& v) {
        CAPTURE(name);
        const sim::Pose pose = pose_of(side);
        if (table_.find("at"))
            same(scene::widened(pose.position) + scene::rotate(scene::widened(pose.orientation), scene::widened(v)),
                 at_);
    }
    void direction(sim::Side side, const char* name, sim::Vec3& v) {
        CAPTURE(name);
        const D3 is = scene::rotate(scene::widened(pose_of(side).orientation), scene::widened(v));
        const SchemaField* field = in_scene(table_, name);
        if (field) {
            same(is, given(field->name));
            first_ = given(field->name);
            return;
        }
        CHECK(std::fabs(dot(is, first_)) < 1e-6);
        CHECK(length(is) == doctest::Approx(1.0));
        if (side == sim::Side::a)
            across_ = is;
        else
            same(is, across_);
    }

    // Of the scene's directions each has an axis of its own, so that any two are perpendicular.
    static std::vector<std::string_view> names(const SchemaTable& table) {
        std::vector<std::string_view> all;
        for (const SchemaField& field : table.fields) {
            const bool local = field.table && field.table->name == "Vec3" &&
                               (field.name.ends_with("_a") || field.name.ends_with("_b"));
            const SchemaField* scene = local ? in_scene(table, field.name) : nullptr;
            if (scene && std::find(all.begin(), all.end(), scene->name) == all.end()) all.push_back(scene->name);
        }
        return all;
    }
    static D3 axis(std::size_t k) {
        return scene::rotate(scene::from_rotation_deg({15, 25, 35}), k == 0   ? D3{1, 0, 0}
                                                                     : k == 1 ? D3{0, 1, 0}
                                                                              : D3{0, 0, 1});
    }

  private:
    D3 given(std::string_view name) const {
        const auto all = names(table_);
        return axis(static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin()));
    }
    sim::Pose pose_of(sim::Side side) const { return world_.bodies[side == sim::Side::a ? 0 : 1].pose; }
    static void same(D3 is, D3 wanted) { CHECK(length(is - wanted) < 1e-6); }

    const SchemaTable& table_;
    const sim::WorldDef& world_;
    D3 at_, first_, across_;
};

template <class T>
void check_names(const char* name) {
    CAPTURE(name);
    const SchemaTable& table = table_of(name);
    Names names(table);
    T constraint;
    T::fields(constraint, names);
    for (const SchemaField& field : table.fields) {
        CAPTURE(std::string(field.name));
        CHECK(names.all.count(std::string(field.name)) + names.in_scene_frame.count(std::string(field.name)) == 1);
    }
}

template <class T>
void check_local(const char* name, test::Lcg& random) {
    CAPTURE(name);
    for (int trial = 0; trial < 8; ++trial) {
        CAPTURE(trial);
        T wanted;
        test::RandomFields drawn(random);
        T::fields(wanted, drawn);
        Written written(table_of(name));
        T::fields(wanted, written);
        T is = constraint_in<T>(name, written.text);
        CAPTURE(written.text);
        Numbers read, drawn_numbers;
        T::fields(is, read), T::fields(wanted, drawn_numbers);
        REQUIRE(read.all.size() == drawn_numbers.all.size());
        for (std::size_t i = 0; i < read.all.size(); ++i) {
            CAPTURE(i);
            CHECK(std::fabs(read.all[i] - drawn_numbers.all[i]) <= 1e-6f * (1.0f + std::fabs(drawn_numbers.all[i])));
        }
    }
}

template <class T>
void check_scene_frame(const char* name) {
    CAPTURE(name);
    const SchemaTable& table = table_of(name);
    const D3 at{1.5, 2.25, 3.0};
    std::string fields;
    const auto add = [&](std::string_view field, D3 v) {
        fields += (fields.empty() ? "\"" : ", \"") + std::string(field) + "\": " + json(v);
    };
    if (table.find("at")) add("at", at);
    const std::vector<std::string_view> names = InScene::names(table);
    REQUIRE(names.size() <= 3);
    for (std::size_t k = 0; k < names.size(); ++k) add(names[k], 2.0 * InScene::axis(k));
    for (const char* wheel : {"wheel_a", "wheel_b"}) {
        if (table.find(wheel)) add(wheel, {0, 9, 0});
    }
    const Result<LoadedScene> scene = loaded(name, fields, sim::body_count<T>());
    REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
    T is = std::get<T>(scene->world.joints[0].constraint);
    InScene visitor(table, scene->world, at);
    T::fields(is, visitor);
}

}  // namespace

TEST_CASE(
    "the table of every constraint in scene.fbs has what its description visits, and what says the same in the scene's "
    "frame, alone") {
#define ORRERY_CONSTRAINT(T, name) check_names<sim::T>(#name);
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
}

TEST_CASE("every constraint is read from a scene as it is written in the frames of its bodies") {
    test::Lcg random(2026);
#define ORRERY_CONSTRAINT(T, name) check_local<sim::T>(#name, random);
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
}

TEST_CASE(
    "points and directions of every constraint in the frame of the scene come to be where the bodies are at the "
    "start") {
#define ORRERY_CONSTRAINT(T, name) check_scene_frame<sim::T>(#name);
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
}

TEST_CASE("what a constraint leaves out is as at the start") {
    const double apart = std::sqrt(1.5 * 1.5 + 0.5 * 0.5);
    CHECK(constraint_in<sim::CenterDistance>("center_distance", "").target_m == doctest::Approx(apart));
    CHECK(constraint_in<sim::CenterDistanceLimit>("center_distance_limit", "").max_m == doctest::Approx(apart));
    CHECK(constraint_in<sim::DistanceServo>("distance_servo", "").target_m == doctest::Approx(apart));
    CHECK(constraint_in<sim::DistanceLimit>("distance_limit", "\"min_m\": 0.5").max_m == doctest::Approx(apart));
    CHECK(constraint_in<sim::Pulley>("pulley", R"("wheel_a": [1, 9, 3], "wheel_b": [2.5, 6, 3.5], "ratio": 2)").max_m ==
          doctest::Approx(7 + 2 * 4));
    // The triangle of (1, 2, 3), (2.5, 2, 3.5) and (1, 3.5, 2), and the tetrahedron with (0, 2, 5.5).
    CHECK(constraint_in<sim::Area>("area", "").target_m2 ==
          doctest::Approx(0.5 * std::sqrt(0.75 * 0.75 + 1.5 * 1.5 + 2.25 * 2.25)));
    CHECK(constraint_in<sim::Volume>("volume", "").target_m3 == doctest::Approx((0.75 + 2.25 * 2.5) / 6.0));
    const auto grab = constraint_in<sim::OneBodyLinearServo>("one_body_linear_servo", "");
    CHECK(grab.target == sim::Vec3{2.5f, 2.0f, 3.5f});
    CHECK(grab.spring.frequency_hz == 5.0f);
    const auto weld = constraint_in<sim::Weld>("weld", "");
    CHECK(weld.anchor_b == sim::Vec3{});
    CHECK(constraint_in<sim::Wheel>("wheel", R"("up": [0, 1, 0], "axle": [0, 0, 1])").anchor_b == sim::Vec3{});
    CHECK(constraint_in<sim::Wheel>("wheel", R"("up": [0, 1, 0], "axle": [0, 0, 1])").max_suspension_n ==
          sim::kNoLimit);
    CHECK_FALSE(constraint_in<sim::Hinge>("hinge", R"("at": [0, 0, 0], "axis": [0, 1, 0])").limited);
    CHECK(constraint_in<sim::Hinge>("hinge",
                                    R"("at": [0, 0, 0], "axis": [0, 1, 0], "min_angle_deg": 0, "max_angle_deg": 0)")
              .limited);
}

TEST_CASE("an error of a constraint names its field and the ways to give it") {
    const auto says = [](const std::string& error, const std::string& part) {
        CHECK_MESSAGE(error.find(part) != std::string::npos, error);
    };
    const std::string at = R"("at": [0, 0, 0], )";
    says(error_in<sim::Hinge>("hinge", at + R"("anchor_a": [0, 0, 0], "axis": [0, 1, 0])"),
         "joints[0].hinge: has two places; give the place once: either `at` (in the scene's frame), or "
         "`anchor_a` and `anchor_b` (local)");
    says(error_in<sim::Weld>("weld", R"("anchor_a": [0, 0, 0])"),
         "joints[0].weld: has no place; give the place once: either `at`");
    says(error_in<sim::Hinge>("hinge", at + R"("axis": [0, 1, 0], "axis_a": [0, 1, 0])"),
         "joints[0].hinge: has its axes twice; give the axes once: either `axis` (in the scene's frame), or `axis_a`, "
         "`axis_b`, "
         "`normal_a` and `normal_b` (local)");
    says(error_in<sim::Hinge>("hinge", at + R"("axis_a": [0, 1, 0])"),
         "joints[0].hinge: does not have all axes; give the axes once: either `axis`");
    says(error_in<sim::Wheel>("wheel", R"("up": [0, 1, 0])"),
         "joints[0].wheel: does not have all axes; give the axes once: either `up` and `axle` (in the scene's frame), "
         "or `suspension_a`, "
         "`axle_a` and `axle_b` (local)");
    says(error_in<sim::Wheel>("wheel", R"("up": [0, 1, 0], "axle": [0, 1, 1])"),
         "joints[0].wheel.axle: is not perpendicular to `up`");
    says(
        error_in<sim::TwistLimit>(
            "twist_limit", R"("axis_a": [0, 1, 0], "axis_b": [0, 1, 0], "normal_a": [1, 0, 0], "normal_b": [1, 1, 0])"),
        "joints[0].twist_limit.normal_b: is not perpendicular to `axis_b`");
    says(error_in<sim::Pulley>("pulley", R"("wheel_a": [0, 9, 0])"),
         "joints[0].pulley.wheel_b: is missing; give the point");
    says(error_in<sim::Hinge>("hinge", at + R"("axis": [0, 1, 0], "min_angle_deg": 0)"),
         "joints[0].hinge: has only one end of its limit; give both `min_angle_deg` and `max_angle_deg`, or neither");
    says(error_in<sim::TwistLimit>("twist_limit", R"("axis": [0, 1, 0], "min_angle_deg": 20, "max_angle_deg": 10)"),
         "joints[0].twist_limit.min_angle_deg: is 20, above `max_angle_deg`, which is 10");
    says(error_in<sim::DistanceLimit>("distance_limit", R"("min_m": 5)"),
         "joints[0].distance_limit.min_m: is 5, above `max_m`, which is 1.58");
    says(error_in<sim::SwingLimit>("swing_limit", R"("axis": [0, 1, 0], "max_angle_deg": 181)"),
         "joints[0].swing_limit.max_angle_deg: is 181; give a number from 0 to 180");
    says(error_in<sim::DistanceLimit>("distance_limit", R"("max_m": -1)"),
         "joints[0].distance_limit.max_m: is -1; give a number from 0 to");
    says(error_in<sim::AngularAxisMotor>("angular_axis_motor", R"("axis": [0, 1, 0], "target_radps": 501)"),
         "joints[0].angular_axis_motor.target_radps: is 501; give a number from -500 to 500 (kMaxAngularSpeed_radps)");
    says(error_in<sim::BallSocket>("ball_socket", at + R"("spring": {"frequency_hz": -1})"),
         "joints[0].ball_socket.spring.frequency_hz: is -1");
}
