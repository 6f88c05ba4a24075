// How a constraint's description lists its fields. Checks, saving, hashing, placement and reading from a scene are
// written once, over this list. A description has
//
//   template <class Self, class Visitor> static void fields(Self& s, Visitor& v);
//
// which calls these functions of a visitor, in the one canonical order of the fields:
//
//   point(side, name, Vec3)       m, in the frame of that body (the world's if the body is the world)
//   world_point(name, Vec3)       m, in the world's frame
//   direction(side, name, Vec3)   of unit length, in that frame
//   velocity(side, name, Vec3, limit)  a vector in that frame, each component within the limit
//   turn(name, Quat)              B in the frame of A
//   number(name, float, low, high)
//   speed(name, float, limit)     target of a motor, within the limit
//   amount(name, float)           at least 0
//   flag(bool)                    true: the limit is on whose two ends follow (the pair of the next ordered())
//   spring, servo, motor          (name, settings)
//
// and then the relations between the fields:
//
//   ordered(name, low, name, high)    low <= high
//   perpendicular(name, Vec3, name, Vec3)
//
// A description may also have, as static constexpr:
//
//   int kBodies         1 if A must be the world; 3 or 4 for constraints with bodies C and D; 2 if absent
//   auto kTarget        a pointer to the field that a motor command or actuator sets
//   auto kSteer, kBrake the same for a steering angle and a brake
//   int kFirstState     the first index of Joint::impulse that has a remembered state and not an impulse
//
// and, if a scene may leave out a number, so that the number comes from the poses at the start:
//
//   template <class Start> static double at_start(const T& s, const Start& start);
//
// `s` has the fields before it. start.a(local), start.b(local), start.a(), b(), c() and d() are points and centres of
// the bodies, start.point(world) is a point of the world. All are vectors of doubles (m), with operator-, length, dot
// and cross.
#pragma once

#include <cstdint>

#include "orrery/types.hpp"
#include "sim/constraints/settings.h"

namespace orrery::sim {

enum class Side : std::uint8_t { a, b };

// Visits fields as bare values. A Derived class overrides the functions of the fields that it treats in its own way.
template <class Derived>
class FieldVisitor {
  public:
    template <class V>
    void point(Side, const char*, V& v) {
        self().value(v);
    }
    template <class V>
    void world_point(const char*, V& v) {
        self().value(v);
    }
    template <class V>
    void direction(Side, const char*, V& v) {
        self().value(v);
    }
    template <class V>
    void velocity(Side, const char*, V& v, float) {
        self().value(v);
    }
    template <class Q>
    void turn(const char*, Q& q) {
        self().value(q);
    }
    template <class X>
    void number(const char*, X& x, float, float) {
        self().value(x);
    }
    template <class X>
    void speed(const char* name, X& x, float limit) {
        self().number(name, x, -limit, limit);
    }
    template <class X>
    void amount(const char*, X& x) {
        self().value(x);
    }
    template <class B>
    void flag(B& b) {
        self().value(b);
    }
    template <class S>
    void spring(const char*, S& s) {
        self().value(s.frequency_hz), self().value(s.damping_ratio), self().value(s.max_recovery_speed);
    }
    template <class S>
    void servo(const char*, S& s) {
        self().value(s.max_speed), self().value(s.base_speed), self().value(s.max_force);
    }
    template <class M>
    void motor(const char*, M& m) {
        self().value(m.max_force), self().value(m.damping);
    }
    void ordered(const char*, float, const char*, float) {}
    void perpendicular(const char*, const Vec3&, const char*, const Vec3&) {}
    template <class T>
    void value(T&) {}

  private:
    Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace orrery::sim
