// Joints and actuators. Where a joint is given in the scene's frame, its local anchors and axes follow from the poses
// that the bodies start with.
#include "protocol/scene/convert.h"

namespace orrery::protocol::scene {

namespace {

// A body's frame at the start; the world's for no body.
struct Frame {
    DVec position;
    DQuat orientation;

    DVec to_local(DVec point) const { return rotate(conjugate(orientation), point - position); }
    DVec axis_to_local(DVec axis) const { return rotate(conjugate(orientation), axis); }
    DVec to_scene(DVec point) const { return position + rotate(orientation, point); }
};

struct Ends {
    Frame a, b, c, d;
};

Frame frame_of(const Scope& scope, std::uint32_t body) {
    if (body == sim::kNone) return {};
    const sim::Pose& pose = (*scope.bodies)[body].pose;
    return {to_double(pose.position), to_double(pose.orientation)};
}

// The two anchors, from `at` or from the local ones. `fallback` (scene frame) is used if none is given; without
// it that is an error.
void convert_anchors(Reader& reader, const Vec3* at, const Vec3* anchor_a, const Vec3* anchor_b, const DVec* fallback,
                     const Ends& ends, const Path& where, sim::Vec3& to_a, sim::Vec3& to_b) {
    if (at && (anchor_a || anchor_b)) {
        reader.fail(where / "at", "stands beside anchor_a or anchor_b; give either `at` or both anchors");
    } else if (at || (!anchor_a && !anchor_b && fallback)) {
        const DVec point = at ? reader.vector(*at, where / "at", kMaxLength_m, "kMaxCoordinate_m") : *fallback;
        to_a = to_float(ends.a.to_local(point));
        to_b = to_float(ends.b.to_local(point));
    } else if (anchor_a && anchor_b) {
        to_a = to_float(reader.vector(*anchor_a, where / "anchor_a", kMaxLength_m, "kMaxCoordinate_m"));
        to_b = to_float(reader.vector(*anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
    } else {
        reader.fail(where,
                    "does not say where it is; give `at` (in the scene's frame) or both anchor_a and anchor_b (local)");
    }
}

sim::BallSocket convert(Reader& reader, const BallSocketT& from, const Ends& ends, const Path& where) {
    sim::BallSocket to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), nullptr, ends, where, to.anchor_a,
                    to.anchor_b);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

// An axis and a normal of each body, from `axis` or from the local ones.
template <class From, class To>
void convert_frames(Reader& reader, const From& from, const Ends& ends, const Path& where, To& to) {
    const bool local = from.axis_a || from.axis_b || from.normal_a || from.normal_b;
    if (from.axis && local) {
        reader.fail(where / "axis",
                    "stands beside axis_a, axis_b, normal_a or normal_b; give either `axis` or the local ones");
    } else if (from.axis) {
        const DVec axis = reader.direction(*from.axis, where / "axis"), normal = any_perpendicular(axis);
        to.axis_a = to_float(ends.a.axis_to_local(axis));
        to.axis_b = to_float(ends.b.axis_to_local(axis));
        to.normal_a = to_float(ends.a.axis_to_local(normal));
        to.normal_b = to_float(ends.b.axis_to_local(normal));
    } else if (from.axis_a && from.axis_b && from.normal_a && from.normal_b) {
        const auto pair = [&](const Vec3& axis, const Vec3& normal, const char* name, sim::Vec3& to_axis,
                              sim::Vec3& to_normal) {
            const DVec unit = reader.direction(axis, where / "axis_a"), given = reader.direction(normal, where / name);
            if (std::fabs(dot(unit, given)) > 1e-3)
                reader.fail(where / name, "is not perpendicular to the axis of its body");
            const DVec across = given - dot(unit, given) * unit;
            to_axis = to_float(unit);
            to_normal = to_float((1.0 / length(across)) * across);
        };
        pair(*from.axis_a, *from.normal_a, "normal_a", to.axis_a, to.normal_a);
        pair(*from.axis_b, *from.normal_b, "normal_b", to.axis_b, to.normal_b);
    } else {
        reader.fail(
            where,
            "has no axis; give `axis` (in the scene's frame) or all of axis_a, axis_b, normal_a, normal_b (local)");
    }
}

// A direction of each body, from `axis` or from the local ones.
template <class From, class To>
void convert_axes(Reader& reader, const From& from, const Ends& ends, const Path& where, To& to) {
    if (from.axis && !from.axis_a && !from.axis_b) {
        const DVec axis = reader.direction(*from.axis, where / "axis");
        to.axis_a = to_float(ends.a.axis_to_local(axis));
        to.axis_b = to_float(ends.b.axis_to_local(axis));
    } else if (!from.axis && from.axis_a && from.axis_b) {
        to.axis_a = to_float(reader.direction(*from.axis_a, where / "axis_a"));
        to.axis_b = to_float(reader.direction(*from.axis_b, where / "axis_b"));
    } else {
        reader.fail(where, "needs its axis once; give `axis` (in the scene's frame) or both axis_a and axis_b (local)");
    }
}

constexpr double kRadians = 3.14159265358979323846 / 180.0;

float convert_angle(Reader& reader, float degrees, const Path& where, double low_deg, double high_deg) {
    return static_cast<float>(reader.number(static_cast<double>(degrees), where, low_deg, high_deg) * kRadians);
}

sim::Servo convert_servo(Reader& reader, const ServoT* from, double fastest, const Path& where) {
    sim::Servo to;
    if (!from) return to;
    to.max_speed = limit_or_none(reader, from->max_speed, where / "max_speed");
    to.base_speed = reader.number(from->base_speed, where / "base_speed", 0.0f, fastest);
    to.max_force = limit_or_none(reader, from->max_force, where / "max_force");
    return to;
}

sim::Motor convert_motor_settings(Reader& reader, const MotorT* from, const Path& where) {
    sim::Motor to;
    if (!from) return to;
    to.max_force = limit_or_none(reader, from->max_force, where / "max_force");
    to.damping = reader.number(from->damping, where / "damping", 0.0f, static_cast<float>(kMaxForce), "kMaxForce");
    return to;
}

// ---- parts that several constraints have

// Both anchors, each absent: the centre.
template <class From, class To>
void convert_centres(Reader& reader, const From& from, const Path& where, To& to) {
    if (from.anchor_a) to.anchor_a = to_float(reader.vector(*from.anchor_a, where / "anchor_a", kMaxLength_m, "kMaxCoordinate_m"));
    if (from.anchor_b) to.anchor_b = to_float(reader.vector(*from.anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
}

// The axis of A, from `axis` or from axis_a.
template <class From>
sim::Vec3 convert_axis(Reader& reader, const From& from, const Ends& ends, const Path& where) {
    if ((from.axis != nullptr) == (from.axis_a != nullptr)) {
        reader.fail(where, "needs its axis once; give `axis` (in the scene's frame) or axis_a (in the frame of A)");
        return {0.0f, 1.0f, 0.0f};
    }
    return to_float(from.axis ? ends.a.axis_to_local(reader.direction(*from.axis, where / "axis"))
                              : reader.direction(*from.axis_a, where / "axis_a"));
}

// Two axes of different directions, from those of the scene or from the local ones.
template <class To>
void convert_two_axes(Reader& reader, const Vec3* of_a, const Vec3* of_b, const char* names, const Vec3* axis_a,
                      const Vec3* axis_b, const Ends& ends, const Path& where, To& to) {
    if (of_a && of_b && !axis_a && !axis_b) {
        to.axis_a = to_float(ends.a.axis_to_local(reader.direction(*of_a, where / "axis")));
        to.axis_b = to_float(ends.b.axis_to_local(reader.direction(*of_b, where / "axis")));
    } else if (!of_a && !of_b && axis_a && axis_b) {
        to.axis_a = to_float(reader.direction(*axis_a, where / "axis_a"));
        to.axis_b = to_float(reader.direction(*axis_b, where / "axis_b"));
    } else {
        reader.fail(where, std::string("needs both axes once; give ") + names + " (in the scene's frame) or axis_a and axis_b (local)");
    }
}

template <class From, class To>
void convert_line(Reader& reader, const From& from, const Ends& ends, const Path& where, To& to) {
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), nullptr, ends, where, to.anchor_a,
                    to.anchor_b);
    to.axis_a = convert_axis(reader, from, ends, where);
}

sim::Quat convert_relative(Reader& reader, const Quat* given, const Ends& ends, const Path& where) {
    return to_float(given ? reader.orientation(*given, where / "relative_orientation")
                          : normalized(conjugate(ends.a.orientation) * ends.b.orientation));
}

sim::Vec3 convert_velocity(Reader& reader, const Vec3* given, const Path& where, double limit) {
    return given ? to_float(reader.vector(*given, where, limit)) : sim::Vec3{};
}

constexpr double kFarthest_m = 4.0 * kMaxLength_m;

// A length that, left out, is as at the start.
float convert_length(Reader& reader, const flatbuffers::Optional<float>& given, double at_start, const Path& where) {
    return given ? reader.number(*given, where, 0.0f, kFarthest_m) : static_cast<float>(at_start);
}

double gap(const Ends& ends, sim::Vec3 anchor_a, sim::Vec3 anchor_b) {
    return length(ends.b.to_scene(to_double(anchor_b)) - ends.a.to_scene(to_double(anchor_a)));
}

template <class From, class To>
void convert_servo_of(Reader& reader, const From& from, double fastest, const Path& where, To& to) {
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    to.servo = convert_servo(reader, from.servo.get(), fastest, where / "servo");
}

// ---- one function a constraint

sim::Hinge convert(Reader& reader, const HingeT& from, const Ends& ends, const Path& where) {
    sim::Hinge to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), nullptr, ends, where, to.anchor_a,
                    to.anchor_b);
    convert_frames(reader, from, ends, where, to);
    if (from.min_angle_deg && from.max_angle_deg) {
        const double low =
            reader.number(static_cast<double>(*from.min_angle_deg), where / "min_angle_deg", -180.0, 180.0);
        const double high =
            reader.number(static_cast<double>(*from.max_angle_deg), where / "max_angle_deg", low, 180.0);
        to.limited = true;
        to.min_angle_rad = static_cast<float>(low * kRadians);
        to.max_angle_rad = static_cast<float>(high * kRadians);
    } else if (from.min_angle_deg || from.max_angle_deg) {
        reader.fail(where, "has one limit of the angle; give both min_angle_deg and max_angle_deg, or neither");
    }
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    to.limit_spring = convert_spring(reader, from.limit_spring.get(), to.limit_spring, where / "limit_spring");
    return to;
}

sim::Weld convert(Reader& reader, const WeldT& from, const Ends& ends, const Path& where) {
    sim::Weld to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), &ends.b.position, ends, where,
                    to.anchor_a, to.anchor_b);
    to.relative_orientation = to_float(
        from.relative_orientation ? reader.orientation(*from.relative_orientation, where / "relative_orientation")
                                  : normalized(conjugate(ends.a.orientation) * ends.b.orientation));
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::DistanceLimit convert(Reader& reader, const DistanceLimitT& from, const Ends& ends, const Path& where) {
    sim::DistanceLimit to;
    if (from.anchor_a) to.anchor_a = to_float(reader.vector(*from.anchor_a, where / "anchor_a", kMaxLength_m, "kMaxCoordinate_m"));
    if (from.anchor_b) to.anchor_b = to_float(reader.vector(*from.anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
    to.max_m = from.max_m ? reader.number(*from.max_m, where / "max_m", 0.0f, static_cast<float>(4.0 * kMaxLength_m))
                          : static_cast<float>(length(ends.b.to_scene(to_double(to.anchor_b)) -
                                                      ends.a.to_scene(to_double(to.anchor_a))));
    to.min_m = reader.number(from.min_m, where / "min_m", 0.0f, to.max_m);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::OneBodyLinearServo convert(Reader& reader, const OneBodyLinearServoT& from, const Ends& ends, const Path& where) {
    sim::OneBodyLinearServo to;
    if (from.anchor_b) to.anchor_b = to_float(reader.vector(*from.anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
    to.target = to_float(from.target ? reader.vector(*from.target, where / "target", kMaxLength_m, "kMaxCoordinate_m")
                                     : ends.b.to_scene(to_double(to.anchor_b)));
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    to.servo = convert_servo(reader, from.servo.get(), sim::kMaxLinearSpeed_mps, where / "servo");
    return to;
}

sim::AngularAxisMotor convert(Reader& reader, const AngularAxisMotorT& from, const Ends& ends, const Path& where) {
    sim::AngularAxisMotor to;
    to.axis_a = convert_axis(reader, from, ends, where);
    to.target_radps = reader.number(from.target_radps, where / "target_radps", -sim::kMaxAngularSpeed_radps,
                                    sim::kMaxAngularSpeed_radps, "kMaxAngularSpeed_radps");
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::SwingLimit convert(Reader& reader, const SwingLimitT& from, const Ends& ends, const Path& where) {
    sim::SwingLimit to;
    convert_axes(reader, from, ends, where, to);
    to.max_angle_rad = convert_angle(reader, from.max_angle_deg, where / "max_angle_deg", 0.0, 180.0);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::TwistLimit convert(Reader& reader, const TwistLimitT& from, const Ends& ends, const Path& where) {
    sim::TwistLimit to;
    convert_frames(reader, from, ends, where, to);
    to.min_angle_rad = convert_angle(reader, from.min_angle_deg, where / "min_angle_deg", -180.0, 180.0);
    to.max_angle_rad = convert_angle(reader, from.max_angle_deg, where / "max_angle_deg", from.min_angle_deg, 180.0);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::TwistServo convert(Reader& reader, const TwistServoT& from, const Ends& ends, const Path& where) {
    sim::TwistServo to;
    convert_frames(reader, from, ends, where, to);
    to.target_rad = convert_angle(reader, from.target_deg, where / "target_deg", -180.0, 180.0);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    to.servo = convert_servo(reader, from.servo.get(), sim::kMaxAngularSpeed_radps, where / "servo");
    return to;
}

sim::TwistMotor convert(Reader& reader, const TwistMotorT& from, const Ends& ends, const Path& where) {
    sim::TwistMotor to;
    convert_frames(reader, from, ends, where, to);
    to.target_radps = reader.number(from.target_radps, where / "target_radps", -sim::kMaxAngularSpeed_radps,
                                    sim::kMaxAngularSpeed_radps, "kMaxAngularSpeed_radps");
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::AngularSwivelHinge convert(Reader& reader, const AngularSwivelHingeT& from, const Ends& ends, const Path& where) {
    sim::AngularSwivelHinge to;
    convert_two_axes(reader, from.axis.get(), from.other_axis.get(), "axis and other_axis", from.axis_a.get(),
                     from.axis_b.get(), ends, where, to);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::AngularAxisGearMotor convert(Reader& reader, const AngularAxisGearMotorT& from, const Ends& ends, const Path& where) {
    sim::AngularAxisGearMotor to;
    to.axis_a = convert_axis(reader, from, ends, where);
    to.ratio = reader.number(from.ratio, where / "ratio", -sim::kMaxRatio, sim::kMaxRatio);
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::DistanceServo convert(Reader& reader, const DistanceServoT& from, const Ends& ends, const Path& where) {
    sim::DistanceServo to;
    convert_centres(reader, from, where, to);
    to.target_m = convert_length(reader, from.target_m, gap(ends, to.anchor_a, to.anchor_b), where / "target_m");
    convert_servo_of(reader, from, sim::kMaxLinearSpeed_mps, where, to);
    return to;
}

sim::CenterDistance convert(Reader& reader, const CenterDistanceT& from, const Ends& ends, const Path& where) {
    sim::CenterDistance to;
    to.target_m = convert_length(reader, from.target_m, gap(ends, {}, {}), where / "target_m");
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::CenterDistanceLimit convert(Reader& reader, const CenterDistanceLimitT& from, const Ends& ends, const Path& where) {
    sim::CenterDistanceLimit to;
    to.max_m = convert_length(reader, from.max_m, gap(ends, {}, {}), where / "max_m");
    to.min_m = reader.number(from.min_m, where / "min_m", 0.0f, to.max_m);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::LinearAxisServo convert(Reader& reader, const LinearAxisServoT& from, const Ends& ends, const Path& where) {
    sim::LinearAxisServo to;
    convert_line(reader, from, ends, where, to);
    to.target_m = reader.number(from.target_m, where / "target_m", -kFarthest_m, kFarthest_m);
    convert_servo_of(reader, from, sim::kMaxLinearSpeed_mps, where, to);
    return to;
}

sim::LinearAxisLimit convert(Reader& reader, const LinearAxisLimitT& from, const Ends& ends, const Path& where) {
    sim::LinearAxisLimit to;
    convert_line(reader, from, ends, where, to);
    to.min_m = reader.number(from.min_m, where / "min_m", -kFarthest_m, kFarthest_m);
    to.max_m = reader.number(from.max_m, where / "max_m", to.min_m, kFarthest_m);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::LinearAxisMotor convert(Reader& reader, const LinearAxisMotorT& from, const Ends& ends, const Path& where) {
    sim::LinearAxisMotor to;
    convert_line(reader, from, ends, where, to);
    to.target_mps = reader.number(from.target_mps, where / "target_mps", -sim::kMaxLinearSpeed_mps, sim::kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps");
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::Gear convert(Reader& reader, const GearT& from, const Ends& ends, const Path& where) {
    sim::Gear to;
    convert_axes(reader, from, ends, where, to);
    to.ratio = reader.number(from.ratio, where / "ratio", -sim::kMaxRatio, sim::kMaxRatio);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::RackAndPinion convert(Reader& reader, const RackAndPinionT& from, const Ends& ends, const Path& where) {
    sim::RackAndPinion to;
    convert_two_axes(reader, from.axis.get(), from.travel.get(), "axis and travel", from.axis_a.get(), from.axis_b.get(), ends,
                     where, to);
    to.radius_m = reader.number(from.radius_m, where / "radius_m", -sim::kMaxRatio, sim::kMaxRatio);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::Pulley convert(Reader& reader, const PulleyT& from, const Ends& ends, const Path& where) {
    sim::Pulley to;
    convert_centres(reader, from, where, to);
    if (!from.wheel_a || !from.wheel_b) {
        reader.fail(where, "needs wheel_a and wheel_b, the points (in the scene's frame) that its rope runs over");
        return to;
    }
    const DVec wheel_a = reader.vector(*from.wheel_a, where / "wheel_a", kMaxLength_m, "kMaxCoordinate_m");
    const DVec wheel_b = reader.vector(*from.wheel_b, where / "wheel_b", kMaxLength_m, "kMaxCoordinate_m");
    to.wheel_a = to_float(wheel_a);
    to.wheel_b = to_float(wheel_b);
    to.ratio = reader.number(from.ratio, where / "ratio", sim::kMinPulleyRatio, sim::kMaxRatio);
    const double at_start = length(ends.a.to_scene(to_double(to.anchor_a)) - wheel_a) +
                            static_cast<double>(to.ratio) * length(ends.b.to_scene(to_double(to.anchor_b)) - wheel_b);
    to.max_m = from.max_m ? reader.number(*from.max_m, where / "max_m", 0.0f, 1e9f) : static_cast<float>(at_start);
    to.min_m = reader.number(from.min_m, where / "min_m", 0.0f, to.max_m);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::BallSocketServo convert(Reader& reader, const BallSocketServoT& from, const Ends& ends, const Path& where) {
    sim::BallSocketServo to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), nullptr, ends, where, to.anchor_a,
                    to.anchor_b);
    convert_servo_of(reader, from, sim::kMaxLinearSpeed_mps, where, to);
    return to;
}

sim::BallSocketMotor convert(Reader& reader, const BallSocketMotorT& from, const Ends&, const Path& where) {
    sim::BallSocketMotor to;
    if (from.anchor_b) to.anchor_b = to_float(reader.vector(*from.anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
    to.target_mps = convert_velocity(reader, from.target_mps.get(), where / "target_mps", sim::kMaxLinearSpeed_mps);
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::AngularServo convert(Reader& reader, const AngularServoT& from, const Ends& ends, const Path& where) {
    sim::AngularServo to;
    to.relative_orientation = convert_relative(reader, from.relative_orientation.get(), ends, where);
    convert_servo_of(reader, from, sim::kMaxAngularSpeed_radps, where, to);
    return to;
}

sim::AngularMotor convert(Reader& reader, const AngularMotorT& from, const Ends&, const Path& where) {
    sim::AngularMotor to;
    to.target_radps = convert_velocity(reader, from.target_radps.get(), where / "target_radps", sim::kMaxAngularSpeed_radps);
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::OneBodyLinearMotor convert(Reader& reader, const OneBodyLinearMotorT& from, const Ends&, const Path& where) {
    sim::OneBodyLinearMotor to;
    if (from.anchor_b) to.anchor_b = to_float(reader.vector(*from.anchor_b, where / "anchor_b", kMaxLength_m, "kMaxCoordinate_m"));
    to.target_mps = convert_velocity(reader, from.target_mps.get(), where / "target_mps", sim::kMaxLinearSpeed_mps);
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::OneBodyAngularServo convert(Reader& reader, const OneBodyAngularServoT& from, const Ends& ends, const Path& where) {
    sim::OneBodyAngularServo to;
    to.target_orientation =
        to_float(from.target_orientation ? reader.orientation(*from.target_orientation, where / "target_orientation")
                                         : ends.b.orientation);
    convert_servo_of(reader, from, sim::kMaxAngularSpeed_radps, where, to);
    return to;
}

sim::OneBodyAngularMotor convert(Reader& reader, const OneBodyAngularMotorT& from, const Ends&, const Path& where) {
    sim::OneBodyAngularMotor to;
    to.target_radps = convert_velocity(reader, from.target_radps.get(), where / "target_radps", sim::kMaxAngularSpeed_radps);
    to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    return to;
}

sim::SwivelHinge convert(Reader& reader, const SwivelHingeT& from, const Ends& ends, const Path& where) {
    sim::SwivelHinge to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), nullptr, ends, where, to.anchor_a,
                    to.anchor_b);
    convert_two_axes(reader, from.axis.get(), from.other_axis.get(), "axis and other_axis", from.axis_a.get(),
                     from.axis_b.get(), ends, where, to);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::AngularHinge convert(Reader& reader, const AngularHingeT& from, const Ends& ends, const Path& where) {
    sim::AngularHinge to;
    convert_axes(reader, from, ends, where, to);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::PointOnLineServo convert(Reader& reader, const PointOnLineServoT& from, const Ends& ends, const Path& where) {
    sim::PointOnLineServo to;
    convert_line(reader, from, ends, where, to);
    convert_servo_of(reader, from, sim::kMaxLinearSpeed_mps, where, to);
    return to;
}

sim::Slider convert(Reader& reader, const SliderT& from, const Ends& ends, const Path& where) {
    sim::Slider to;
    convert_line(reader, from, ends, where, to);
    to.relative_orientation = convert_relative(reader, from.relative_orientation.get(), ends, where);
    if (from.min_m && from.max_m) {
        to.limited = true;
        to.min_m = reader.number(*from.min_m, where / "min_m", -kFarthest_m, kFarthest_m);
        to.max_m = reader.number(*from.max_m, where / "max_m", to.min_m, kFarthest_m);
    } else if (from.min_m || from.max_m) {
        reader.fail(where, "has one end of its limit; give both min_m and max_m, or neither");
    }
    to.limit_spring = convert_spring(reader, from.limit_spring.get(), to.limit_spring, where / "limit_spring");
    to.rest_m = reader.number(from.rest_m, where / "rest_m", -kFarthest_m, kFarthest_m);
    to.drive_spring = convert_spring(reader, from.drive_spring.get(), to.drive_spring, where / "drive_spring");
    if (from.drive) to.drive = convert_servo(reader, from.drive.get(), sim::kMaxLinearSpeed_mps, where / "drive");
    to.target_mps = reader.number(from.target_mps, where / "target_mps", -sim::kMaxLinearSpeed_mps, sim::kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps");
    if (from.motor) to.motor = convert_motor_settings(reader, from.motor.get(), where / "motor");
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::Wheel convert(Reader& reader, const WheelT& from, const Ends& ends, const Path& where) {
    sim::Wheel to;
    convert_anchors(reader, from.at.get(), from.anchor_a.get(), from.anchor_b.get(), &ends.b.position, ends, where, to.anchor_a,
                    to.anchor_b);
    const bool local = from.suspension_a || from.axle_a || from.axle_b;
    DVec up{0.0, 1.0, 0.0}, axle{0.0, 0.0, 1.0};
    if (from.up && from.axle && !local) {
        up = reader.direction(*from.up, where / "up");
        axle = reader.direction(*from.axle, where / "axle");
        to.axle_b = to_float(ends.b.axis_to_local(axle));
    } else if (!from.up && !from.axle && from.suspension_a && from.axle_a && from.axle_b) {
        up = reader.direction(*from.suspension_a, where / "suspension_a");
        axle = reader.direction(*from.axle_a, where / "axle_a");
        to.axle_b = to_float(reader.direction(*from.axle_b, where / "axle_b"));
    } else {
        reader.fail(where, "needs its axes once; give up and axle (in the scene's frame) or suspension_a, axle_a and axle_b (local)");
    }
    if (std::fabs(dot(up, axle)) > 1e-3) reader.fail(where / (local ? "axle_a" : "axle"), "is not perpendicular to the suspension axis");
    axle = axle - dot(up, axle) * up;
    axle = (1.0 / length(axle)) * axle;
    to.suspension_a = to_float(local ? up : ends.a.axis_to_local(up));
    to.axle_a = to_float(local ? axle : ends.a.axis_to_local(axle));
    to.rest_m = reader.number(from.rest_m, where / "rest_m", -kFarthest_m, kFarthest_m);
    to.suspension = convert_spring(reader, from.suspension.get(), to.suspension, where / "suspension");
    to.max_suspension_n = limit_or_none(reader, from.max_suspension_n, where / "max_suspension_n");
    to.min_m = reader.number(from.min_m, where / "min_m", -kFarthest_m, kFarthest_m);
    to.max_m = reader.number(from.max_m, where / "max_m", to.min_m, kFarthest_m);
    to.steer_rad = convert_angle(reader, from.steer_deg, where / "steer_deg", -180.0, 180.0);
    if (from.steering) to.steering = convert_servo(reader, from.steering.get(), sim::kMaxAngularSpeed_radps, where / "steering");
    to.target_radps = reader.number(from.target_radps, where / "target_radps", -sim::kMaxAngularSpeed_radps,
                                    sim::kMaxAngularSpeed_radps, "kMaxAngularSpeed_radps");
    if (from.drive) to.drive = convert_motor_settings(reader, from.drive.get(), where / "drive");
    to.brake_nm = reader.number(from.brake_nm, where / "brake_nm", 0.0f, static_cast<float>(kMaxForce), "kMaxForce");
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::Area convert(Reader& reader, const AreaT& from, const Ends& ends, const Path& where) {
    sim::Area to;
    const DVec p = ends.b.position - ends.a.position, q = ends.c.position - ends.a.position;
    to.target_m2 = from.target_m2 ? reader.number(*from.target_m2, where / "target_m2", 0.0f, 1e9f)
                                  : static_cast<float>(0.5 * length(cross(p, q)));
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

sim::Volume convert(Reader& reader, const VolumeT& from, const Ends& ends, const Path& where) {
    sim::Volume to;
    const DVec p = ends.b.position - ends.a.position, q = ends.c.position - ends.a.position, r = ends.d.position - ends.a.position;
    to.target_m3 = from.target_m3 ? reader.number(*from.target_m3, where / "target_m3", -1e12f, 1e12f)
                                  : static_cast<float>(dot(cross(p, q), r) / 6.0);
    to.spring = convert_spring(reader, from.spring.get(), to.spring, where / "spring");
    return to;
}

std::string constraint_list() {
    std::string text;
    for (const char* name : sim::kConstraintNames) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

#define ORRERY_CONSTRAINT(T, name) +(joint.name != nullptr)
int count_constraints(const JointT& joint) { return 0 ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT); }
#undef ORRERY_CONSTRAINT

#define ORRERY_CONSTRAINT(T, name) \
    if (joint.name) return sim::body_count<sim::T>();
int bodies_of(const JointT& joint) {
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
    return 2;
}
#undef ORRERY_CONSTRAINT

void check_ends(Reader& reader, const JointT& from, const Path& where, const Scope& scope) {
    if (from.b.empty()) {
        reader.fail(where / "b", "is missing; a joint needs a body `b` (leave out `a` for a joint to the world)");
    } else if (!from.a.empty() && from.a == from.b) {
        reader.fail(where / "b", "is the same body as `a`; a joint needs two different ones");
    } else if (bodies_of(from) == 1 && !from.a.empty()) {
        reader.fail(where / "a", "is not used by a one-body constraint, which holds `b` to the world; leave it out");
    } else if (scope.in_template && from.a.empty()) {
        reader.fail(where / "a", "is missing; inside a template a joint needs two bodies of the template");
    }
    const int bodies = bodies_of(from);
    if ((bodies >= 3) != !from.c.empty() || (bodies >= 4) != !from.d.empty() || (bodies >= 3 && from.a.empty()))
        reader.fail(where, "names other bodies than its constraint joins; give `a`, `b` and `c` for area, and `d` for volume, alone");
    for (const std::string* one : {&from.a, &from.b, &from.c}) {
        if (!one->empty() && ((one != &from.c && *one == from.c) || *one == from.d))
            reader.fail(where, "names a body twice; join different ones");
    }
}

#define ORRERY_CONSTRAINT(T, name) \
    if (from.name) to.constraint = convert(reader, *from.name, ends, where / #name);
void convert_constraint(Reader& reader, const JointT& from, const Ends& ends, const Path& where, sim::JointDef& to) {
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
}
#undef ORRERY_CONSTRAINT

std::uint32_t actuated_body(Reader& reader, const std::string& name, const Scope& scope, bool kinematic,
                            const Path& where) {
    const std::uint32_t body = scope.find_body(reader, name, where);
    if (!reader.ok()) return body;
    const bool is_kinematic = (*scope.bodies)[body].type == sim::BodyType::kinematic;
    if (kinematic && !is_kinematic)
        reader.fail(where, "\"" + name + "\" is not kinematic; make it so, or use force or motor");
    if (!kinematic && (*scope.bodies)[body].type != sim::BodyType::dynamic) {
        reader.fail(where, "\"" + name + "\" is not dynamic, so that forces do not move it");
    }
    return body;
}

void convert_motor(Reader& reader, const MotorActuatorT& from, const Path& where, const Scope& scope, sim::ActuatorKind kind,
                   sim::ActuatorDef& to) {
    to.kind = kind;
    to.joint = scope.joint_names.find(reader, from.joint, where / "joint");
    if (reader.ok() && !sim::has_target((*scope.joints)[to.joint].constraint, kind))
        reader.fail(where / "joint", "\"" + from.joint + "\" has no target for it; name " +
                                         (kind == sim::ActuatorKind::motor ? "a motor, a servo or a wheel" : "a wheel"));
}

void convert_effect(Reader& reader, const ActuatorT& from, const Path& where, const Scope& scope,
                    sim::ActuatorDef& to) {
    const auto direction = [&](const Vec3* given, bool in_world, const Path& here) {
        if (given) to.direction = to_float(reader.direction(*given, here / "direction"));
        to.direction_local = !in_world;
    };
    if (from.motor) {
        convert_motor(reader, *from.motor, where / "motor", scope, sim::ActuatorKind::motor, to);
    } else if (from.steer) {
        convert_motor(reader, *from.steer, where / "steer", scope, sim::ActuatorKind::steer, to);
    } else if (from.brake) {
        convert_motor(reader, *from.brake, where / "brake", scope, sim::ActuatorKind::brake, to);
    } else if (from.kinematic) {
        const Path here = where / "kinematic";
        to.kind = sim::ActuatorKind::kinematic;
        to.body = actuated_body(reader, from.kinematic->body, scope, true, here / "body");
        direction(from.kinematic->direction.get(), from.kinematic->direction_in_world, here);
        to.max_speed = limit_or_none(reader, from.kinematic->max_speed, here / "max_speed");
    } else if (from.walk) {
        const Path here = where / "walk";
        to.kind = sim::ActuatorKind::walk;
        to.body = actuated_body(reader, from.walk->body, scope, false, here / "body");
        direction(from.walk->direction.get(), from.walk->direction_in_world, here);
        to.max_speed = limit_or_none(reader, from.walk->max_speed, here / "max_speed");
        to.max_force = reader.number(from.walk->max_force, here / "max_force", 1e-3f, static_cast<float>(kMaxForce), "kMaxForce");
        to.step_height = reader.number(from.walk->step_height, here / "step_height", 0.0f, sim::kMaxStepHeight_m, "kMaxStepHeight_m");
        to.max_slope_rad = convert_angle(reader, from.walk->max_slope_deg, here / "max_slope_deg", 0.0, 80.0);
    } else if (from.jump) {
        to.kind = sim::ActuatorKind::jump;
        to.body = actuated_body(reader, from.jump->body, scope, false, where / "jump" / "body");
    } else {
        const PushActuatorT& push = from.force ? *from.force : *from.torque;
        const Path here = where / (from.force ? "force" : "torque");
        to.kind = from.force ? sim::ActuatorKind::force : sim::ActuatorKind::torque;
        to.body = actuated_body(reader, push.body, scope, false, here / "body");
        direction(push.direction.get(), push.direction_in_world, here);
    }
}

}  // namespace

void convert_joint(Reader& reader, const JointT& from, const Path& where, Scope& scope) {
    sim::JointDef to;
    to.name = from.name;
    const int kinds = count_constraints(from);
    if (kinds != 1) {
        reader.fail(where, std::string(kinds == 0 ? "has no constraint; give one of "
                                                  : "has more than one constraint; give exactly one of ") +
                               constraint_list());
        return;
    }
    check_ends(reader, from, where, scope);
    if (!reader.ok()) return;
    if (!from.a.empty()) to.body_a = scope.find_body(reader, from.a, where / "a");
    to.body_b = scope.find_body(reader, from.b, where / "b");
    if (!from.c.empty()) to.body_c = scope.find_body(reader, from.c, where / "c");
    if (!from.d.empty()) to.body_d = scope.find_body(reader, from.d, where / "d");
    if (!reader.ok()) return;
    const Ends ends{frame_of(scope, to.body_a), frame_of(scope, to.body_b), frame_of(scope, to.body_c), frame_of(scope, to.body_d)};
    convert_constraint(reader, from, ends, where, to);
    to.collide_connected = from.collide_connected;
    to.break_force_n = limit_or_none(reader, from.break_force_n, where / "break_force_n");
    to.break_torque_nm = limit_or_none(reader, from.break_torque_nm, where / "break_torque_nm");
    to.break_removes = from.break_removes;
    scope.joints->push_back(std::move(to));
}

void convert_actuator(Reader& reader, const ActuatorT& from, const Path& where, const Scope& scope,
                      const Library& library, std::vector<sim::ActuatorDef>& out) {
    const int kinds =
        (from.motor != nullptr) + (from.force != nullptr) + (from.torque != nullptr) + (from.kinematic != nullptr) +
        (from.steer != nullptr) + (from.brake != nullptr) + (from.walk != nullptr) + (from.jump != nullptr);
    if (kinds != 1) {
        reader.fail(where, "needs exactly one of motor, force, torque, kinematic, steer, brake, walk, jump");
        return;
    }
    sim::ActuatorDef to;
    to.name = from.name;
    if (scope.in_template && !from.slot.empty()) {
        reader.fail(where / "slot", "is set inside a template, where the slot that spawned it counts; leave it out");
    }
    if (!scope.in_template) to.slot = library.slots.find(reader, from.slot, where / "slot");
    if (from.weights.size() > sim::kControlChannels) {
        reader.fail(where / "weights",
                    "has more entries than the " + std::to_string(sim::kControlChannels) + " control channels (kControlChannels)");
        return;
    }
    for (std::size_t i = 0; i < from.weights.size(); ++i) {
        to.weights[i] = reader.number(from.weights[i], where.element("weights", i), -1e9f, 1e9f);
    }
    to.offset = reader.number(from.offset, where / "offset", -1e9f, 1e9f);
    if (from.min) to.min = reader.number(*from.min, where / "min", -sim::kNoLimit, sim::kNoLimit);
    if (from.max) to.max = reader.number(*from.max, where / "max", to.min, sim::kNoLimit);
    convert_effect(reader, from, where, scope, to);
    out.push_back(std::move(to));
}

}  // namespace orrery::protocol::scene
