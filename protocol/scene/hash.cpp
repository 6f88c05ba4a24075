#include "protocol/scene/hash.h"

#include <xxhash.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/constraints/list.h"

namespace orrery::protocol::scene {

constexpr std::uint16_t kEnd = 0xffff;
constexpr std::size_t kFlushBytes = 1u << 16;

// Collects canonical bytes and feeds them to the hash a block at a time.
class HashSink {
  public:
    HashSink() : state_(XXH3_createState()) {
        XXH3_64bits_reset(state_);
        buffer_.reserve(kFlushBytes + 256);
    }
    ~HashSink() { XXH3_freeState(state_); }
    HashSink(const HashSink&) = delete;
    HashSink& operator=(const HashSink&) = delete;

    std::uint64_t digest() {
        flush();
        return XXH3_64bits_digest(state_);
    }

    // A field whose number differs from its default.
    template <class T>
    void scalar(std::uint16_t field, T value, T absent) {
        if (bits(value) == bits(absent)) return;
        put(field);
        put(bits(value));
    }
    void optional(std::uint16_t field, const flatbuffers::Optional<float>& value) {
        if (!value) return;
        put(field);
        put(bits(*value));
    }
    void text(std::uint16_t field, const std::string& value) {
        if (value.empty()) return;
        put(field);
        put(value);
    }
    template <class T>
    void part(std::uint16_t field, const std::unique_ptr<T>& value) {
        if (!value) return;
        put(field);
        put(*value);
    }
    template <class T>
    void list(std::uint16_t field, const std::vector<std::unique_ptr<T>>& values) {
        if (values.empty()) return;
        put(field);
        put(static_cast<std::uint32_t>(values.size()));
        for (const auto& value : values) put(*value);
    }
    template <class T>
    void values(std::uint16_t field, const std::vector<T>& values) {
        if (values.empty()) return;
        put(field);
        put(static_cast<std::uint32_t>(values.size()));
        for (const T& value : values) put(value);
    }
    void end() {
        put(kEnd);
        if (buffer_.size() >= kFlushBytes) flush();
    }

  private:
    static std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
    static std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
    static std::uint8_t bits(bool value) { return value ? 1 : 0; }
    template <class T>
    static T bits(T value) requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return value;
    }

    template <class T>
    void put(T value) requires std::is_unsigned_v<T> {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            buffer_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
    void put(float value) { put(bits(value)); }
    void put(double value) { put(bits(value)); }
    void put(const std::string& value) {
        put(static_cast<std::uint32_t>(value.size()));
        buffer_.insert(buffer_.end(), value.begin(), value.end());
    }
    void put(const Vec3& v) { put(v.x()), put(v.y()), put(v.z()); }
    void put(const Vec3d& v) { put(v.x()), put(v.y()), put(v.z()); }
    void put(const Quat& q) { put(q.x()), put(q.y()), put(q.z()), put(q.w()); }
    template <class Table>
    void put(const Table& table) requires std::is_base_of_v<flatbuffers::NativeTable, Table> {
        walk(*this, table);
    }

    void flush() {
        XXH3_64bits_update(state_, buffer_.data(), buffer_.size());
        buffer_.clear();
    }

    XXH3_state_t* state_;
    std::vector<std::uint8_t> buffer_;
};

// One function a table, its fields numbered in schema order.
static void walk(HashSink& sink, const SpringT& t) {
    static const SpringT base;
    sink.scalar(0, t.frequency_hz, base.frequency_hz);
    sink.scalar(1, t.damping_ratio, base.damping_ratio);
    sink.scalar(2, t.max_recovery_speed, base.max_recovery_speed);
    sink.end();
}

static void walk(HashSink& sink, const ServoT& t) {
    static const ServoT base;
    sink.optional(0, t.max_speed);
    sink.scalar(1, t.base_speed, base.base_speed);
    sink.optional(2, t.max_force);
    sink.end();
}

static void walk(HashSink& sink, const MotorT& t) {
    static const MotorT base;
    sink.optional(0, t.max_force);
    sink.scalar(1, t.damping, base.damping);
    sink.end();
}

static void walk(HashSink& sink, const SolverSettingsT& t) {
    static const SolverSettingsT base;
    sink.scalar(0, t.joint_frequency_hz, base.joint_frequency_hz);
    sink.scalar(1, t.joint_damping_ratio, base.joint_damping_ratio);
    sink.scalar(2, t.contact_frequency_hz, base.contact_frequency_hz);
    sink.scalar(3, t.contact_damping_ratio, base.contact_damping_ratio);
    sink.scalar(4, t.slop_m, base.slop_m);
    sink.scalar(5, t.speculative_margin_m, base.speculative_margin_m);
    sink.scalar(6, t.max_recovery_speed_mps, base.max_recovery_speed_mps);
    sink.scalar(7, t.restitution_threshold_mps, base.restitution_threshold_mps);
    sink.scalar(8, t.sleep, base.sleep);
    sink.scalar(9, t.sleep_speed_mps, base.sleep_speed_mps);
    sink.scalar(10, t.sleep_time_s, base.sleep_time_s);
    sink.scalar(11, t.rig_joints, base.rig_joints);
    sink.scalar(12, static_cast<std::uint8_t>(t.rig_solver), static_cast<std::uint8_t>(base.rig_solver));
    sink.scalar(13, t.rig_compliance, base.rig_compliance);
    sink.scalar(14, t.coupling_iterations, base.coupling_iterations);
    sink.scalar(15, t.joint_recovery_speed, base.joint_recovery_speed);
    sink.scalar(16, t.rig_iterations, base.rig_iterations);
    sink.end();
}

static void walk(HashSink& sink, const MaterialT& t) {
    static const MaterialT base;
    sink.text(0, t.name);
    sink.scalar(1, t.friction, base.friction);
    sink.scalar(2, t.restitution, base.restitution);
    sink.scalar(3, t.density_kgpm3, base.density_kgpm3);
    sink.scalar(4, t.rolling_resistance, base.rolling_resistance);
    sink.part(5, t.surface_velocity);
    sink.scalar(6, t.contact_frequency_hz, base.contact_frequency_hz);
    sink.scalar(7, t.contact_damping_ratio, base.contact_damping_ratio);
    sink.scalar(8, t.max_recovery_speed_mps, base.max_recovery_speed_mps);
    sink.end();
}

static void walk(HashSink& sink, const SphereShapeT& t) {
    static const SphereShapeT base;
    sink.scalar(0, t.radius, base.radius);
    sink.end();
}

static void walk(HashSink& sink, const BoxShapeT& t) {
    sink.part(0, t.half_extents);
    sink.end();
}

static void walk(HashSink& sink, const CapsuleShapeT& t) {
    static const CapsuleShapeT base;
    sink.scalar(0, t.radius, base.radius);
    sink.scalar(1, t.half_height, base.half_height);
    sink.end();
}

static void walk(HashSink& sink, const PlaneShapeT&) { sink.end(); }

static void walk(HashSink& sink, const CylinderShapeT& t) {
    static const CylinderShapeT base;
    sink.scalar(0, t.radius, base.radius);
    sink.scalar(1, t.half_height, base.half_height);
    sink.end();
}

static void walk(HashSink& sink, const HullShapeT& t) {
    sink.values(0, t.points);
    sink.end();
}

static void walk(HashSink& sink, const MeshShapeT& t) {
    sink.values(0, t.vertices);
    sink.values(1, t.indices);
    sink.end();
}

static void walk(HashSink& sink, const HeightFieldShapeT& t) {
    static const HeightFieldShapeT base;
    sink.scalar(0, t.columns, base.columns);
    sink.values(1, t.heights);
    sink.part(2, t.spacing);
    sink.end();
}

static void walk(HashSink& sink, const CompoundChildT& t) {
    sink.text(0, t.shape);
    sink.part(1, t.position);
    sink.part(2, t.orientation);
    sink.part(3, t.rotation_deg);
    sink.end();
}

static void walk(HashSink& sink, const CompoundShapeT& t) {
    sink.list(0, t.children);
    sink.end();
}

static void walk(HashSink& sink, const ShapeT& t) {
    sink.text(0, t.name);
    sink.part(1, t.sphere);
    sink.part(2, t.box);
    sink.part(3, t.capsule);
    sink.part(4, t.plane);
    sink.part(5, t.cylinder);
    sink.part(6, t.hull);
    sink.part(7, t.mesh);
    sink.part(8, t.height_field);
    sink.part(9, t.compound);
    sink.end();
}

static void walk(HashSink& sink, const BodyT& t) {
    static const BodyT base;
    sink.text(0, t.name);
    sink.scalar(1, static_cast<std::uint8_t>(t.type), static_cast<std::uint8_t>(base.type));
    sink.text(2, t.shape);
    sink.text(3, t.material);
    sink.part(4, t.position);
    sink.part(5, t.orientation);
    sink.part(6, t.rotation_deg);
    sink.part(7, t.linear_velocity);
    sink.part(8, t.angular_velocity);
    sink.scalar(9, t.mass_kg, base.mass_kg);
    sink.scalar(10, t.linear_damping, base.linear_damping);
    sink.scalar(11, t.angular_damping, base.angular_damping);
    sink.scalar(12, t.gravity_scale, base.gravity_scale);
    sink.scalar(13, static_cast<std::uint8_t>(t.locks), static_cast<std::uint8_t>(base.locks));
    sink.scalar(14, t.category, base.category);
    sink.scalar(15, t.mask, base.mask);
    sink.scalar(16, t.user_data, base.user_data);
    sink.scalar(17, t.sensor, base.sensor);
    sink.scalar(18, t.can_sleep, base.can_sleep);
    sink.scalar(19, t.continuous, base.continuous);
    sink.scalar(20, static_cast<std::uint8_t>(t.collision_mode), static_cast<std::uint8_t>(base.collision_mode));
    sink.end();
}

static void walk(HashSink& sink, const BallSocketT& t) {
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const HingeT& t) {
    sink.part(0, t.at);
    sink.part(1, t.axis);
    sink.part(2, t.anchor_a);
    sink.part(3, t.anchor_b);
    sink.part(4, t.axis_a);
    sink.part(5, t.axis_b);
    sink.part(6, t.normal_a);
    sink.part(7, t.normal_b);
    sink.optional(8, t.min_angle_deg);
    sink.optional(9, t.max_angle_deg);
    sink.part(10, t.spring);
    sink.part(11, t.limit_spring);
    sink.end();
}

static void walk(HashSink& sink, const WeldT& t) {
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.relative_orientation);
    sink.part(4, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const DistanceLimitT& t) {
    static const DistanceLimitT base;
    sink.part(0, t.anchor_a);
    sink.part(1, t.anchor_b);
    sink.scalar(2, t.min_m, base.min_m);
    sink.optional(3, t.max_m);
    sink.part(4, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const OneBodyLinearServoT& t) {
    sink.part(0, t.anchor_b);
    sink.part(1, t.target);
    sink.part(2, t.spring);
    sink.part(3, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const AngularAxisMotorT& t) {
    static const AngularAxisMotorT base;
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.scalar(2, t.target_radps, base.target_radps);
    sink.part(3, t.motor);
    sink.end();
}

template <class Frames>
static void walk_frames(HashSink& sink, const Frames& t) {
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.part(2, t.axis_b);
    sink.part(3, t.normal_a);
    sink.part(4, t.normal_b);
}

static void walk(HashSink& sink, const SwingLimitT& t) {
    static const SwingLimitT base;
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.part(2, t.axis_b);
    sink.scalar(3, t.max_angle_deg, base.max_angle_deg);
    sink.part(4, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const TwistLimitT& t) {
    static const TwistLimitT base;
    walk_frames(sink, t);
    sink.scalar(5, t.min_angle_deg, base.min_angle_deg);
    sink.scalar(6, t.max_angle_deg, base.max_angle_deg);
    sink.part(7, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const TwistServoT& t) {
    static const TwistServoT base;
    walk_frames(sink, t);
    sink.scalar(5, t.target_deg, base.target_deg);
    sink.part(6, t.spring);
    sink.part(7, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const TwistMotorT& t) {
    static const TwistMotorT base;
    walk_frames(sink, t);
    sink.scalar(5, t.target_radps, base.target_radps);
    sink.part(6, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const AngularSwivelHingeT& t) {
    sink.part(0, t.axis);
    sink.part(1, t.other_axis);
    sink.part(2, t.axis_a);
    sink.part(3, t.axis_b);
    sink.part(4, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const AngularAxisGearMotorT& t) {
    static const AngularAxisGearMotorT base;
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.scalar(2, t.ratio, base.ratio);
    sink.part(3, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const DistanceServoT& t) {
    sink.part(0, t.anchor_a);
    sink.part(1, t.anchor_b);
    sink.optional(2, t.target_m);
    sink.part(3, t.spring);
    sink.part(4, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const CenterDistanceT& t) {
    sink.optional(0, t.target_m);
    sink.part(1, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const CenterDistanceLimitT& t) {
    static const CenterDistanceLimitT base;
    sink.scalar(0, t.min_m, base.min_m);
    sink.optional(1, t.max_m);
    sink.part(2, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const LinearAxisServoT& t) {
    static const LinearAxisServoT base;
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.axis_a);
    sink.scalar(5, t.target_m, base.target_m);
    sink.part(6, t.spring);
    sink.part(7, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const LinearAxisLimitT& t) {
    static const LinearAxisLimitT base;
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.axis_a);
    sink.scalar(5, t.min_m, base.min_m);
    sink.scalar(6, t.max_m, base.max_m);
    sink.part(7, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const LinearAxisMotorT& t) {
    static const LinearAxisMotorT base;
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.axis_a);
    sink.scalar(5, t.target_mps, base.target_mps);
    sink.part(6, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const GearT& t) {
    static const GearT base;
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.part(2, t.axis_b);
    sink.scalar(3, t.ratio, base.ratio);
    sink.part(4, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const RackAndPinionT& t) {
    static const RackAndPinionT base;
    sink.part(0, t.axis);
    sink.part(1, t.travel);
    sink.part(2, t.axis_a);
    sink.part(3, t.axis_b);
    sink.scalar(4, t.radius_m, base.radius_m);
    sink.part(5, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const PulleyT& t) {
    static const PulleyT base;
    sink.part(0, t.anchor_a);
    sink.part(1, t.anchor_b);
    sink.part(2, t.wheel_a);
    sink.part(3, t.wheel_b);
    sink.scalar(4, t.ratio, base.ratio);
    sink.scalar(5, t.min_m, base.min_m);
    sink.optional(6, t.max_m);
    sink.part(7, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const BallSocketServoT& t) {
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.spring);
    sink.part(4, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const BallSocketMotorT& t) {
    sink.part(0, t.anchor_b);
    sink.part(1, t.target_mps);
    sink.part(2, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const AngularServoT& t) {
    sink.part(0, t.relative_orientation);
    sink.part(1, t.spring);
    sink.part(2, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const AngularMotorT& t) {
    sink.part(0, t.target_radps);
    sink.part(1, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const OneBodyLinearMotorT& t) {
    sink.part(0, t.anchor_b);
    sink.part(1, t.target_mps);
    sink.part(2, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const OneBodyAngularServoT& t) {
    sink.part(0, t.target_orientation);
    sink.part(1, t.spring);
    sink.part(2, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const OneBodyAngularMotorT& t) {
    sink.part(0, t.target_radps);
    sink.part(1, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const SwivelHingeT& t) {
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.other_axis);
    sink.part(5, t.axis_a);
    sink.part(6, t.axis_b);
    sink.part(7, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const AngularHingeT& t) {
    sink.part(0, t.axis);
    sink.part(1, t.axis_a);
    sink.part(2, t.axis_b);
    sink.part(3, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const PointOnLineServoT& t) {
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.axis_a);
    sink.part(5, t.spring);
    sink.part(6, t.servo);
    sink.end();
}

static void walk(HashSink& sink, const SliderT& t) {
    static const SliderT base;
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.axis);
    sink.part(4, t.axis_a);
    sink.part(5, t.relative_orientation);
    sink.part(6, t.spring);
    sink.optional(7, t.min_m);
    sink.optional(8, t.max_m);
    sink.part(9, t.limit_spring);
    sink.scalar(10, t.rest_m, base.rest_m);
    sink.part(11, t.drive_spring);
    sink.part(12, t.drive);
    sink.scalar(13, t.target_mps, base.target_mps);
    sink.part(14, t.motor);
    sink.end();
}

static void walk(HashSink& sink, const WheelT& t) {
    static const WheelT base;
    sink.part(0, t.at);
    sink.part(1, t.anchor_a);
    sink.part(2, t.anchor_b);
    sink.part(3, t.up);
    sink.part(4, t.axle);
    sink.part(5, t.suspension_a);
    sink.part(6, t.axle_a);
    sink.part(7, t.axle_b);
    sink.part(8, t.spring);
    sink.scalar(9, t.rest_m, base.rest_m);
    sink.part(10, t.suspension);
    sink.optional(11, t.max_suspension_n);
    sink.scalar(12, t.min_m, base.min_m);
    sink.scalar(13, t.max_m, base.max_m);
    sink.scalar(14, t.steer_deg, base.steer_deg);
    sink.part(15, t.steering);
    sink.scalar(16, t.target_radps, base.target_radps);
    sink.part(17, t.drive);
    sink.scalar(18, t.brake_nm, base.brake_nm);
    sink.end();
}

static void walk(HashSink& sink, const AreaT& t) {
    sink.optional(0, t.target_m2);
    sink.part(1, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const VolumeT& t) {
    sink.optional(0, t.target_m3);
    sink.part(1, t.spring);
    sink.end();
}

static void walk(HashSink& sink, const JointT& t) {
    static const JointT base;
    sink.text(0, t.name);
    sink.text(1, t.a);
    sink.text(2, t.b);
    // Constraints in the order of the list; the settings that all joints have stand between its first part and the rest.
    std::uint16_t field = 3;
#define ORRERY_CONSTRAINT(T, name) sink.part(field++, t.name);
    ORRERY_CONSTRAINTS_1(ORRERY_CONSTRAINT)
    sink.scalar(field++, t.collide_connected, base.collide_connected);
    sink.optional(field++, t.break_force_n);
    sink.optional(field++, t.break_torque_nm);
    ORRERY_CONSTRAINTS_2(ORRERY_CONSTRAINT)
    ORRERY_CONSTRAINTS_3(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
    sink.text(field++, t.c);
    sink.text(field++, t.d);
    sink.scalar(field++, t.break_removes, base.break_removes);
    sink.end();
}

static void walk(HashSink& sink, const MotorActuatorT& t) {
    sink.text(0, t.joint);
    sink.end();
}

static void walk(HashSink& sink, const PushActuatorT& t) {
    static const PushActuatorT base;
    sink.text(0, t.body);
    sink.part(1, t.direction);
    sink.scalar(2, t.direction_in_world, base.direction_in_world);
    sink.end();
}

static void walk(HashSink& sink, const KinematicActuatorT& t) {
    static const KinematicActuatorT base;
    sink.text(0, t.body);
    sink.part(1, t.direction);
    sink.scalar(2, t.direction_in_world, base.direction_in_world);
    sink.optional(3, t.max_speed);
    sink.end();
}

static void walk(HashSink& sink, const WalkActuatorT& t) {
    static const WalkActuatorT base;
    sink.text(0, t.body);
    sink.part(1, t.direction);
    sink.scalar(2, t.direction_in_world, base.direction_in_world);
    sink.optional(3, t.max_speed);
    sink.scalar(4, t.max_force, base.max_force);
    sink.scalar(5, t.step_height, base.step_height);
    sink.scalar(6, t.max_slope_deg, base.max_slope_deg);
    sink.end();
}

static void walk(HashSink& sink, const JumpActuatorT& t) {
    sink.text(0, t.body);
    sink.end();
}

static void walk(HashSink& sink, const ActuatorT& t) {
    static const ActuatorT base;
    sink.text(0, t.name);
    sink.text(1, t.slot);
    sink.values(2, t.weights);
    sink.scalar(3, t.offset, base.offset);
    sink.optional(4, t.min);
    sink.optional(5, t.max);
    sink.part(6, t.motor);
    sink.part(7, t.force);
    sink.part(8, t.torque);
    sink.part(9, t.kinematic);
    sink.part(10, t.steer);
    sink.part(11, t.brake);
    sink.part(12, t.walk);
    sink.part(13, t.jump);
    sink.end();
}

static void walk(HashSink& sink, const SlotT& t) {
    sink.text(0, t.name);
    sink.text(1, t.template_);
    sink.part(2, t.position);
    sink.part(3, t.orientation);
    sink.part(4, t.rotation_deg);
    sink.end();
}

static void walk(HashSink& sink, const TemplateT& t) {
    sink.text(0, t.name);
    sink.list(1, t.bodies);
    sink.list(2, t.joints);
    sink.list(3, t.actuators);
    sink.end();
}

static void walk(HashSink& sink, const GridGeneratorT& t) {
    static const GridGeneratorT base;
    sink.scalar(0, t.count_x, base.count_x);
    sink.scalar(1, t.count_y, base.count_y);
    sink.scalar(2, t.count_z, base.count_z);
    sink.scalar(3, t.pitch_x, base.pitch_x);
    sink.scalar(4, t.pitch_y, base.pitch_y);
    sink.scalar(5, t.pitch_z, base.pitch_z);
    sink.part(6, t.origin);
    sink.text(7, t.shape);
    sink.text(8, t.material);
    sink.scalar(9, static_cast<std::uint8_t>(t.type), static_cast<std::uint8_t>(base.type));
    sink.end();
}

static void walk(HashSink& sink, const StackGeneratorT& t) {
    static const StackGeneratorT base;
    sink.scalar(0, t.count, base.count);
    sink.scalar(1, t.pitch, base.pitch);
    sink.part(2, t.origin);
    sink.text(3, t.shape);
    sink.text(4, t.material);
    sink.end();
}

static void walk(HashSink& sink, const PyramidGeneratorT& t) {
    static const PyramidGeneratorT base;
    sink.scalar(0, t.base, base.base);
    sink.scalar(1, t.pitch, base.pitch);
    sink.scalar(2, t.row_pitch, base.row_pitch);
    sink.part(3, t.origin);
    sink.text(4, t.shape);
    sink.text(5, t.material);
    sink.end();
}

// What the generators of rigs have in common, their last fields, from number `field` on.
template <class Rig>
static void walk_rig_fields(HashSink& sink, const Rig& t, const Rig& base, std::uint16_t field) {
    sink.scalar(field++, t.collide, base.collide);
    sink.scalar(field++, t.category, base.category);
    sink.scalar(field++, t.mask, base.mask);
    sink.scalar(field++, t.mass_kg, base.mass_kg);
    sink.scalar(field++, t.linear_damping, base.linear_damping);
    sink.scalar(field++, t.angular_damping, base.angular_damping);
    sink.optional(field++, t.break_force_n);
    sink.part(field++, t.spring);
}

static void walk(HashSink& sink, const ChainGeneratorT& t) {
    static const ChainGeneratorT base;
    sink.scalar(0, t.chains, base.chains);
    sink.scalar(1, t.links, base.links);
    sink.scalar(2, t.spacing, base.spacing);
    sink.scalar(3, t.chain_pitch, base.chain_pitch);
    sink.scalar(4, t.chains_per_layer, base.chains_per_layer);
    sink.scalar(5, t.layer_pitch, base.layer_pitch);
    sink.part(6, t.origin);
    sink.text(7, t.shape);
    sink.text(8, t.material);
    sink.scalar(9, t.attached, base.attached);
    walk_rig_fields(sink, t, base, 10);
    sink.end();
}

static void walk(HashSink& sink, const NetGeneratorT& t) {
    static const NetGeneratorT base;
    sink.scalar(0, t.columns, base.columns);
    sink.scalar(1, t.rows, base.rows);
    sink.part(2, t.column_step);
    sink.part(3, t.row_step);
    sink.part(4, t.origin);
    sink.scalar(5, t.centred, base.centred);
    sink.scalar(6, static_cast<std::uint8_t>(t.joint), static_cast<std::uint8_t>(base.joint));
    sink.scalar(7, static_cast<std::uint8_t>(t.pin), static_cast<std::uint8_t>(base.pin));
    sink.text(8, t.shape);
    sink.text(9, t.material);
    walk_rig_fields(sink, t, base, 10);
    sink.end();
}

static void walk(HashSink& sink, const RainGeneratorT& t) {
    static const RainGeneratorT base;
    sink.scalar(0, t.count, base.count);
    sink.scalar(1, t.side, base.side);
    sink.scalar(2, t.pitch, base.pitch);
    sink.part(3, t.origin);
    sink.scalar(4, t.random_seed, base.random_seed);
    sink.values(5, t.shapes);
    sink.text(6, t.material);
    sink.end();
}

static void walk(HashSink& sink, const ArenaGeneratorT& t) {
    static const ArenaGeneratorT base;
    sink.scalar(0, t.half_x, base.half_x);
    sink.scalar(1, t.half_z, base.half_z);
    sink.scalar(2, t.height, base.height);
    sink.scalar(3, t.half_thickness, base.half_thickness);
    sink.scalar(4, t.margin, base.margin);
    sink.part(5, t.origin);
    sink.text(6, t.material);
    sink.end();
}

static void walk(HashSink& sink, const CrowdGeneratorT& t) {
    static const CrowdGeneratorT base;
    sink.text(0, t.template_);
    sink.scalar(1, t.count, base.count);
    sink.scalar(2, t.side_x, base.side_x);
    sink.scalar(3, t.side_z, base.side_z);
    sink.scalar(4, t.pitch_x, base.pitch_x);
    sink.scalar(5, t.pitch_y, base.pitch_y);
    sink.scalar(6, t.pitch_z, base.pitch_z);
    sink.part(7, t.origin);
    sink.scalar(8, t.max_tilt_deg, base.max_tilt_deg);
    sink.part(9, t.tilt_pivot);
    sink.scalar(10, t.random_seed, base.random_seed);
    sink.end();
}

static void walk(HashSink& sink, const TreeGeneratorT& t) {
    static const TreeGeneratorT base;
    sink.scalar(0, t.branches, base.branches);
    sink.scalar(1, t.levels, base.levels);
    sink.scalar(2, t.spacing, base.spacing);
    sink.part(3, t.origin);
    sink.text(4, t.shape);
    sink.text(5, t.material);
    sink.scalar(6, t.attached, base.attached);
    walk_rig_fields(sink, t, base, 7);
    sink.end();
}

static void walk(HashSink& sink, const RingGeneratorT& t) {
    static const RingGeneratorT base;
    sink.scalar(0, t.count, base.count);
    sink.scalar(1, t.spacing, base.spacing);
    sink.part(2, t.origin);
    sink.text(3, t.shape);
    sink.text(4, t.material);
    sink.scalar(5, t.attached, base.attached);
    walk_rig_fields(sink, t, base, 6);
    sink.end();
}

static void walk(HashSink& sink, const BridgeGeneratorT& t) {
    static const BridgeGeneratorT base;
    sink.scalar(0, t.count, base.count);
    sink.part(1, t.step);
    sink.part(2, t.across);
    sink.scalar(3, static_cast<std::uint8_t>(t.ends), static_cast<std::uint8_t>(base.ends));
    sink.part(4, t.origin);
    sink.text(5, t.shape);
    sink.text(6, t.material);
    walk_rig_fields(sink, t, base, 7);
    sink.end();
}

static void walk(HashSink& sink, const RopeLadderGeneratorT& t) {
    static const RopeLadderGeneratorT base;
    sink.scalar(0, t.rungs, base.rungs);
    sink.scalar(1, t.links, base.links);
    sink.part(2, t.step);
    sink.part(3, t.across);
    sink.part(4, t.origin);
    sink.text(5, t.rung_shape);
    sink.text(6, t.link_shape);
    sink.text(7, t.material);
    sink.scalar(8, t.attached, base.attached);
    walk_rig_fields(sink, t, base, 9);
    sink.end();
}

static void walk(HashSink& sink, const GeneratorT& t) {
    sink.text(0, t.name);
    sink.part(1, t.grid);
    sink.part(2, t.stack);
    sink.part(3, t.pyramid);
    sink.part(4, t.chain);
    sink.part(5, t.net);
    sink.part(6, t.rain);
    sink.part(7, t.arena);
    sink.part(8, t.crowd);
    sink.part(9, t.tree);
    sink.part(10, t.ring);
    sink.part(11, t.bridge);
    sink.part(12, t.rope_ladder);
    sink.end();
}

static void walk(HashSink& sink, const RigT& t) {
    static const RigT base;
    sink.text(0, t.name);
    sink.values(1, t.bodies);
    sink.scalar(2, static_cast<std::uint8_t>(t.solver), static_cast<std::uint8_t>(base.solver));
    sink.scalar(3, t.compliance, base.compliance);
    sink.scalar(4, t.iterations, base.iterations);
    sink.end();
}

static void walk(HashSink& sink, const SceneT& t) {
    static const SceneT base;
    sink.scalar(0, t.scene_version, base.scene_version);
    sink.text(1, t.name);
    sink.scalar(2, t.tick_rate_hz, base.tick_rate_hz);
    sink.scalar(3, t.substeps, base.substeps);
    sink.part(4, t.gravity);
    sink.scalar(5, t.seed, base.seed);
    sink.part(6, t.solver);
    sink.list(7, t.materials);
    sink.list(8, t.shapes);
    sink.list(9, t.bodies);
    sink.list(10, t.joints);
    sink.list(11, t.actuators);
    sink.list(12, t.slots);
    sink.list(13, t.templates);
    sink.list(14, t.generators);
    sink.list(15, t.rigs);
    sink.end();  // bounds change nothing
}

std::uint64_t hash_scene(const SceneT& scene) {
    HashSink sink;
    walk(sink, scene);
    return sink.digest();
}

}  // namespace orrery::protocol::scene
