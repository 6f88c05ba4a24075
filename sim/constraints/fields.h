// What a constraint's description says about each of its fields, so that checking, saving, hashing, placing and reading from a scene are
// written once for all. A description has
//
//   template <class Self, class Visitor> static void fields(Self& s, Visitor& v);
//
// which calls, in the one canonical order of the fields, these of a visitor:
//
//   point(side, name, Vec3)       m, in the frame of that body (the world's where the body is the world)
//   world_point(name, Vec3)       m, in the world's frame
//   direction(side, name, Vec3)   unit, in that frame
//   velocity(side, name, Vec3, limit)  a vector in that frame, each component within the limit
//   turn(name, Quat)              B in the frame of A
//   number(name, float, low, high)
//   speed(name, float, limit)     that a motor is to give, within the limit
//   amount(name, float)           of at least 0
//   flag(bool)                    whether the range that follows, the two of the next ordered(), holds
//   spring, servo, motor          (name, settings)
//
// and then the relations between them:
//
//   ordered(name, low, name, high)    low <= high
//   perpendicular(name, Vec3, name, Vec3)
//
// Beside it a description may have, as static constexpr:
//
//   int kBodies         1 where A must be the world, 3 or 4 where C and D belong to it; without it 2
//   auto kTarget        a pointer to the field that a motor command or actuator sets
//   auto kSteer, kBrake the same of a steering angle and a brake
//   int kFirstState     the first of Joint::impulse that is no impulse but remembered
//
// and, where a scene may leave out a number that is then as at the start:
//
//   template <class Start> static double at_start(const T& s, const Start& start);
//
// s: the fields before it. start: a(local), b(local), a(), b(), c(), d() are points and centres of the bodies, point(world) one of the world,
// as vectors of doubles (m), which have -, length, dot and cross.
#pragma once

#include <cstdint>

#include "sim/constraints/settings.h"
#include "orrery/types.hpp"

namespace orrery::sim {

enum class Side : std::uint8_t { a, b };

// Visits fields as bare values: a Derived overrides what it treats in a way of its own.
template <class Derived>
class FieldVisitor {
  public:
    template <class V>
    void point(Side, const char*, V& v) { self().value(v); }
    template <class V>
    void world_point(const char*, V& v) { self().value(v); }
    template <class V>
    void direction(Side, const char*, V& v) { self().value(v); }
    template <class V>
    void velocity(Side, const char*, V& v, float) { self().value(v); }
    template <class Q>
    void turn(const char*, Q& q) { self().value(q); }
    template <class X>
    void number(const char*, X& x, float, float) { self().value(x); }
    template <class X>
    void speed(const char* name, X& x, float limit) { self().number(name, x, -limit, limit); }
    template <class X>
    void amount(const char*, X& x) { self().value(x); }
    template <class B>
    void flag(B& b) { self().value(b); }
    template <class S>
    void spring(const char*, S& s) { self().value(s.frequency_hz), self().value(s.damping_ratio), self().value(s.max_recovery_speed); }
    template <class S>
    void servo(const char*, S& s) { self().value(s.max_speed), self().value(s.base_speed), self().value(s.max_force); }
    template <class M>
    void motor(const char*, M& m) { self().value(m.max_force), self().value(m.damping); }
    void ordered(const char*, float, const char*, float) {}
    void perpendicular(const char*, const Vec3&, const char*, const Vec3&) {}
    template <class T>
    void value(T&) {}

  private:
    Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace orrery::sim
