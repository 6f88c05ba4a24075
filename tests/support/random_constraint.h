// A random constraint of any type of the list that a definition may hold: each field drawn by the role that its
// description gives it.
#pragma once

#include <cmath>
#include <cstring>
#include <string_view>

#include "sim/constraints/fields.h"
#include "tests/support/worlds.h"

namespace orrery::test {

class RandomFields : public sim::FieldVisitor<RandomFields> {
  public:
    explicit RandomFields(Lcg& random) : random_(random) {}

    void point(sim::Side, const char*, sim::Vec3& v) { v = vector(0.7f); }
    void world_point(const char*, sim::Vec3& v) { v = vector(0.7f), v.y += 4.0f; }
    void velocity(sim::Side, const char*, sim::Vec3& v, float) { v = vector(2.0f); }
    // The first direction of a body is its axis; normals, and a wheel's straight axle, are drawn across it.
    void direction(sim::Side side, const char* name, sim::Vec3& v) {
        sim::Vec3& axis = axis_[side == sim::Side::a ? 0 : 1];
        bool& known = known_[side == sim::Side::a ? 0 : 1];
        v = unit(vector(1.0f));
        const bool across =
            known && (std::string_view(name).starts_with("normal") || std::string_view(name) == "axle_a");
        if (across) v = unit({v.y * axis.z - v.z * axis.y, v.z * axis.x - v.x * axis.z, v.x * axis.y - v.y * axis.x});
        if (!known) axis = v, known = true;
    }
    void turn(const char*, sim::Quat& q) {
        const sim::Vec3 v = vector(0.8f);
        const float n = 1.0f / std::sqrt(((v.x * v.x + v.y * v.y) + v.z * v.z) + 1.0f);
        q = {v.x * n, v.y * n, v.z * n, n};
    }
    void number(const char* name, float& x, float low, float high) {
        x = random_.between(std::fmax(low, -2.0f), std::fmin(high, 2.0f));
        part_of_a_range(name, x);
    }
    void amount(const char* name, float& x) {
        x = random_.between(0.2f, 3.0f);
        if (std::string_view(name).starts_with("max")) x += 3.0f;
    }
    void flag(bool& b) { b = random_.unit() < 0.5f; }
    void spring(const char*, sim::Spring& s) {
        s.frequency_hz = random_.unit() < 0.4f ? 0.0f : random_.between(0.5f, 12.0f);
        s.damping_ratio = random_.between(0.2f, 2.0f);
    }
    void servo(const char*, sim::Servo& s) {
        s.max_speed = random_.between(0.5f, 5.0f);
        s.base_speed = random_.between(0.0f, 0.4f);
        s.max_force = random_.between(50.0f, 4000.0f);
    }
    void motor(const char*, sim::Motor& m) {
        m.max_force = random_.between(50.0f, 4000.0f);
        m.damping = random_.unit() < 0.5f ? 0.0f : random_.between(1.0f, 500.0f);
    }

  private:
    static void part_of_a_range(const char* name, float& x) {
        if (std::string_view(name).starts_with("min")) x = -std::fabs(x);
        if (std::string_view(name).starts_with("max")) x = std::fabs(x);
    }
    sim::Vec3 vector(float size) {
        const float x = random_.between(-size, size), y = random_.between(-size, size);
        return {x, y, random_.between(-size, size)};
    }
    static sim::Vec3 unit(sim::Vec3 v) {
        const float n = std::sqrt((v.x * v.x + v.y * v.y) + v.z * v.z);
        if (!(n > 1e-3f)) return {0.0f, 1.0f, 0.0f};
        return {v.x / n, v.y / n, v.z / n};
    }

    Lcg& random_;
    sim::Vec3 axis_[2];
    bool known_[2] = {false, false};
};

template <std::size_t I = 0>
sim::Constraint random_constraint(std::size_t type, Lcg& random) {
    if constexpr (I + 1 < sim::kConstraintTypes) {
        if (type != I) return random_constraint<I + 1>(type, random);
    }
    std::variant_alternative_t<I, sim::Constraint> made;
    RandomFields fields(random);
    std::variant_alternative_t<I, sim::Constraint>::fields(made, fields);
    return made;
}

// Bodies A to D of a joint of this type out of four bodies: none where it takes none.
inline std::array<bool, 4> bodies_taken(const sim::Constraint& constraint) {
    const int count = sim::body_count(constraint);
    return {count >= 2, true, count >= 3, count >= 4};
}

}  // namespace orrery::test
