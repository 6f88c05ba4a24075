#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/bodies/numbers.h"
#include "sim/lanes/quat-inl.h"
#include "sim/lanes/trig-inl.h"

namespace orrery::sim::ref {

namespace {

using D3 = Vec3T<double>;
using DQuat = QuatT<double>;

D3 wide(Vec3 v) { return {v.x, v.y, v.z}; }
DQuat wide(Quat q) { return {q.x, q.y, q.z, q.w}; }
Vec3 plain(const D3& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }
Quat plain(const DQuat& q) {
    return {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z), static_cast<float>(q.w)};
}
DQuat turn_between(const Pose& from, const Pose& to) {
    return normalize(wide(to.orientation) * conjugate(wide(from.orientation)));
}

// Of half an angle, below which a turn is rounding.
constexpr float kNoTurn = 1.0e-6f;

}  // namespace

Pose carried(const Pose& from, const Pose& to, const Pose& pose) {
    const DQuat turn = turn_between(from, to);
    return {plain(wide(to.position) + rotate(turn, wide(pose.position) - wide(from.position))),
            plain(normalize(turn * wide(pose.orientation)))};
}

Pose frame_between(const Pose& from, const Pose& to) {
    const DQuat turn = turn_between(from, to);
    return {plain(wide(to.position) - rotate(turn, wide(from.position))), plain(turn)};
}

Vec3 velocity_at(Vec3 linear, Vec3 angular, Vec3 lever) {
    return plain(wide(linear) + cross(wide(angular), wide(lever)));
}

Vec3 torque_about(Vec3 lever, Vec3 force, Vec3 torque) { return plain(wide(torque) + cross(wide(lever), wide(force))); }

void velocities_between(const Pose& from, Pose& to, float dt_s, Vec3& linear, Vec3& angular) {
    const float rate = 1.0f / dt_s;
    const Vec3T<float> way{to.position.x - from.position.x, to.position.y - from.position.y,
                           to.position.z - from.position.z};
    linear = {way.x * rate, way.y * rate, way.z * rate};
    DQuat turn = turn_between(from, to);
    if (turn.w < 0.0) turn = {-turn.x, -turn.y, -turn.z, -turn.w};
    const Vec3T<float> half{static_cast<float>(turn.x), static_cast<float>(turn.y), static_cast<float>(turn.z)};
    const float sine = length(half);
    angular = {};
    if (!(sine > kNoTurn)) {
        to.orientation = from.orientation;
        return;
    }
    const float angle = atan2(sine, static_cast<float>(turn.w));
    const float scale = (angle + angle) * rate / sine;
    angular = {half.x * scale, half.y * scale, half.z * scale};
}

}  // namespace orrery::sim::ref
