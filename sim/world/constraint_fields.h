// The fields of every constraint in their one canonical order: what is hashed, saved and restored of a joint.
#pragma once

#include <type_traits>

#include "orrery/sim.hpp"

namespace orrery::sim {

template <class C, class T>
concept ConstOrNot = std::is_same_v<std::remove_const_t<C>, T>;

template <ConstOrNot<Spring> C, class V>
void each_field(C& c, V& v) { v(c.frequency_hz); v(c.damping_ratio); }
template <ConstOrNot<Servo> C, class V>
void each_field(C& c, V& v) { v(c.max_speed); v(c.base_speed); v(c.max_force); }
template <ConstOrNot<Motor> C, class V>
void each_field(C& c, V& v) { v(c.max_force); v(c.damping); }

template <ConstOrNot<BallSocket> C, class V>
void each_field(C& c, V& v) { v(c.anchor_a); v(c.anchor_b); each_field(c.spring, v); }
template <ConstOrNot<Hinge> C, class V>
void each_field(C& c, V& v) {
    v(c.anchor_a); v(c.anchor_b); v(c.axis_a); v(c.axis_b); v(c.normal_a); v(c.normal_b);
    v(c.limited); v(c.min_angle_rad); v(c.max_angle_rad);
    each_field(c.spring, v);
    each_field(c.limit_spring, v);
}
template <ConstOrNot<Weld> C, class V>
void each_field(C& c, V& v) { v(c.anchor_a); v(c.anchor_b); v(c.relative_orientation); each_field(c.spring, v); }
template <ConstOrNot<DistanceLimit> C, class V>
void each_field(C& c, V& v) { v(c.anchor_a); v(c.anchor_b); v(c.min_m); v(c.max_m); each_field(c.spring, v); }
template <ConstOrNot<OneBodyLinearServo> C, class V>
void each_field(C& c, V& v) { v(c.anchor_b); v(c.target); each_field(c.spring, v); each_field(c.servo, v); }
template <ConstOrNot<AngularAxisMotor> C, class V>
void each_field(C& c, V& v) { v(c.axis_a); v(c.target_radps); each_field(c.motor, v); }

template <class Writer>
void put_constraint(Writer& out, const Constraint& constraint) {
    out.put(static_cast<std::uint8_t>(constraint.index()));
    std::visit([&](const auto& c) { auto put = [&](const auto& field) { out.put(field); }; each_field(c, put); }, constraint);
}

// False for an unknown type; whether the values make sense is check_constraint's to say.
template <class Reader, std::size_t I = 0>
bool get_constraint(Reader& in, std::size_t type, Constraint& constraint) {
    if constexpr (I == std::variant_size_v<Constraint>) {
        return false;
    } else {
        if (type != I) return get_constraint<Reader, I + 1>(in, type, constraint);
        auto& c = constraint.emplace<I>();
        auto get = [&](auto& field) { in.get(field); };
        each_field(c, get);
        return in.ok();
    }
}

}  // namespace orrery::sim
