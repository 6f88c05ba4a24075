// Guards: nothing that commands can order brings a world down. Small worlds of every shape and joint, shapes of any
// size and quality that a definition may hold among them, are driven by random orders, sound and unsound: whatever they
// do, each body stays finite and within the world or is quarantined, every tick's hash is the same on every target and
// thread count, a save restored elsewhere on the way goes on with the same bits, and so does a world that goes back to
// a checkpoint and takes the same orders again, whatever it did in between. Queries of every kind, of the present and
// of ticks before, change nothing, and have the same answers everywhere.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "server/room/thread_pool.h"
#include "tests/support/random_constraint.h"
#include "tests/support/seed.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr int kTicksPerWorld = 200;
constexpr std::size_t kManyBodies = 12;  // above it one goes where one would come
constexpr std::uint32_t kMostHistory = 8;
// A plain run has a slice; each seed of deploy/test --long five times as much, so that ten seeds are a million ticks.
int ticks_wanted() { return test_seed() == 1 ? sampled(20'000) : 100'000; }

class Chance {
  public:
    // Mixed first: states that lie one step apart would give neighbouring seeds the same numbers, one place on.
    explicit Chance(std::uint64_t seed)
        : state_(mixed(seed + 0x9e37'79b9'7f4a'7c15u)), lcg_(static_cast<std::uint32_t>(next())) {}
    std::uint64_t next() { return mixed(state_ += 0x9e37'79b9'7f4a'7c15u); }
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
        z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(next() % n); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    float between(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }
    // A size of any order of magnitude, by multiplication alone: libm's last bit differs from machine to machine.
    float magnitude(int low, int high) {
        float x = between(1.0f, 10.0f);
        for (int e = low + static_cast<int>(below(static_cast<std::size_t>(high - low))); e != 0; e += e < 0 ? 1 : -1)
            x *= e < 0 ? 0.1f : 10.0f;
        return x;
    }
    Vec3 vector(float size) {
        const float x = between(-size, size), y = between(-size, size);
        return {x, y, between(-size, size)};
    }
    Quat turn() {
        for (;;) {
            const float x = between(-1, 1), y = between(-1, 1), z = between(-1, 1), w = between(-1, 1);
            const float n = ((x * x + y * y) + z * z) + w * w;
            if (n < 0.01f || n > 1.0f) continue;
            const float s = 1.0f / std::sqrt(n);
            return {x * s, y * s, z * s, w * s};
        }
    }
    // Where trouble comes from.
    float odd_number() {
        constexpr float kOdd[] = {0.0f,
                                  -0.0f,
                                  1e-45f,
                                  -1e-38f,
                                  1e-20f,
                                  1e20f,
                                  -1e38f,
                                  kNoLimit,
                                  4095.9f,
                                  -4097.0f,
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()};
        return kOdd[below(std::size(kOdd))];
    }
    void spoil(Vec3& v) { (one_in(3) ? v.x : one_in(2) ? v.y : v.z) = odd_number(); }
    Lcg& lcg() { return lcg_; }

  private:
    std::uint64_t state_;
    Lcg lcg_;
};

// Fields at the ends of what is accepted, and now and then beyond.
class WildFields : public FieldVisitor<WildFields> {
  public:
    explicit WildFields(Chance& chance) : chance_(chance) {}
    void point(Side, const char*, Vec3& v) {
        if (chance_.one_in(2)) v = chance_.vector(chance_.magnitude(-6, 4));
    }
    void world_point(const char*, Vec3& v) {
        if (chance_.one_in(2)) v = chance_.vector(chance_.magnitude(-6, 4));
    }
    void velocity(Side, const char*, Vec3& v, float limit) {
        if (chance_.one_in(2)) v = chance_.vector(limit);
    }
    void number(const char*, float& x, float low, float high) {
        if (chance_.one_in(2)) x = chance_.one_in(2) ? low : chance_.one_in(2) ? high : chance_.odd_number();
    }
    void amount(const char*, float& x) {
        if (chance_.one_in(2)) x = chance_.one_in(4) ? chance_.odd_number() : chance_.magnitude(-8, 8);
    }
    void spring(const char*, Spring& s) {
        if (chance_.one_in(2)) s.frequency_hz = chance_.one_in(4) ? 100'000.0f : chance_.magnitude(-6, 4);
        if (chance_.one_in(2)) s.damping_ratio = chance_.one_in(4) ? 0.0f : chance_.magnitude(-6, 3);
        if (chance_.one_in(3)) s.max_recovery_speed = chance_.one_in(4) ? kNoLimit : chance_.magnitude(-8, 8);
    }
    void servo(const char*, Servo& s) {
        if (chance_.one_in(2)) s = {};
        if (chance_.one_in(3)) s.max_speed = chance_.magnitude(-6, 10);
        if (chance_.one_in(3)) s.base_speed = chance_.magnitude(-6, 10);
        if (chance_.one_in(3)) s.max_force = chance_.one_in(4) ? 0.0f : chance_.magnitude(-6, 20);
    }
    void motor(const char*, Motor& m) {
        if (chance_.one_in(2)) m = {};
        if (chance_.one_in(3)) m.max_force = chance_.one_in(4) ? 0.0f : chance_.magnitude(-6, 20);
        if (chance_.one_in(3)) m.damping = chance_.magnitude(-10, 12);
    }

  private:
    Chance& chance_;
};

Constraint any_constraint(Chance& chance) {
    Constraint constraint = random_constraint(chance.below(kConstraintTypes), chance.lcg());
    if (chance.one_in(4)) {
        WildFields wild(chance);
        std::visit([&]<class T>(T& c) { T::fields(c, wild); }, constraint);
    }
    return constraint;
}

// ---- worlds

std::vector<ShapeDef> some_shapes(Chance& chance) {
    std::vector<ShapeDef> shapes;
    const auto add = [&](ShapeType type) -> ShapeDef& {
        shapes.emplace_back();
        shapes.back().type = type;
        return shapes.back();
    };
    const auto size = [&] { return chance.one_in(4) ? chance.magnitude(-3, 2) : chance.between(0.1f, 0.8f); };
    add(ShapeType::plane);
    add(ShapeType::sphere).radius = size();
    Vec3& half = add(ShapeType::box).half_extents;
    half.x = size(), half.y = size(), half.z = size();
    ShapeDef& capsule = add(ShapeType::capsule);
    capsule.radius = size(), capsule.half_height = size();
    ShapeDef& cylinder = add(ShapeType::cylinder);
    cylinder.radius = size(), cylinder.half_height = size();
    ShapeDef& hull = add(ShapeType::hull);
    const float flat = chance.one_in(3) ? 0.01f : 1.0f, wide = size();
    for (std::uint32_t k = 4 + chance.below(20); k > 0; --k) {
        Vec3 p = chance.vector(wide);
        p.y *= flat;
        hull.points.push_back(p);
    }
    hull.points.insert(hull.points.end(),
                       {{wide, 0.0f, 0.0f}, {-wide, 0.0f, 0.0f}, {0.0f, wide * flat, 0.0f}, {0.0f, 0.0f, wide}});
    ShapeDef& field = add(ShapeType::height_field);
    field.columns = 4 + chance.below(5);
    for (std::uint32_t k = field.columns * (3 + chance.below(4)); k > 0; --k)
        field.heights.push_back(chance.between(0.0f, 0.6f));
    field.spacing = {chance.between(0.5f, 3.0f), 1.0f, chance.between(0.5f, 3.0f)};
    ShapeDef& mesh = add(ShapeType::mesh);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k)
            mesh.points.push_back(
                {4.0f * static_cast<float>(i - 1), chance.between(-0.5f, 0.5f), 4.0f * static_cast<float>(k - 1)});
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
        for (std::uint32_t k = 0; k < 2; ++k) {
            const std::uint32_t a = 3 * i + k, b = a + 1, c = a + 3, d = a + 4;
            mesh.indices.insert(mesh.indices.end(), {a, b, c, b, d, c});
        }
    }
    const Vec3 brick = shapes[2].half_extents;
    const bool laid = chance.one_in(2);  // of bricks side by side, whose faces are one plane
    ShapeDef& compound = add(ShapeType::compound);
    for (std::uint32_t k = 2 + chance.below(4); k > 0; --k) {
        const Vec3 at = chance.vector(0.6f);
        if (laid)
            compound.children.push_back({2, {{2.0f * brick.x * static_cast<float>(k), 0.0f, at.z}, {}}});
        else
            compound.children.push_back({1 + chance.below(5), {at, chance.turn()}});
    }
    return shapes;
}

// Of any kind, size and quality; whether the definition's check takes it, it has to be asked.
ShapeDef wild_shape(Chance& chance, std::size_t earlier) {
    ShapeDef def;
    def.type = static_cast<ShapeType>(chance.below(9));
    constexpr float kLeast = 0.0005f, kMost = 4096.0f;
    const auto size = [&] {
        if (chance.one_in(8)) return chance.one_in(2) ? kLeast : kMost;
        return chance.one_in(4) ? chance.magnitude(-4, 4) : chance.between(0.02f, 1.0f);
    };
    def.radius = size(), def.half_height = size();
    def.half_extents.x = size(), def.half_extents.y = size(), def.half_extents.z = size();
    const float wide = size();
    switch (def.type) {
        case ShapeType::hull: {
            for (std::uint32_t k = 3 + chance.below(chance.one_in(20) ? 300 : 30); k > 0; --k)
                def.points.push_back(chance.vector(wide));
            const std::uint32_t kind =
                chance.below(4);  // round, flat, nearly flat, or on a lattice: many in one plane, and the same again
            const float flat = kind == 1 ? 0.0f : kind == 2 ? chance.magnitude(-8, 0) : 1.0f;
            for (Vec3& p : def.points) {
                p.y *= flat;
                if (kind == 3)
                    p = {std::rint(p.x / wide * 2.0f) * wide, std::rint(p.y / wide * 2.0f) * wide,
                         std::rint(p.z / wide) * wide};
            }
            for (std::uint32_t k = chance.below(6); k > 0; --k) {
                Vec3 p = def.points[chance.below(def.points.size())];
                if (chance.one_in(2)) p.x *= 1.0f + 1e-6f, p.z += 1e-7f;
                def.points.push_back(p);
            }
            if (chance.one_in(4)) {
                for (Vec3& p : def.points) p.x += 100.0f * wide;
            }
            break;
        }
        case ShapeType::mesh: {
            const std::uint32_t count = 3 + chance.below(10);
            for (std::uint32_t k = 0; k < count; ++k) def.points.push_back(chance.vector(wide));
            for (std::uint32_t k = 1 + chance.below(14); k > 0; --k) {
                const std::uint32_t a = chance.below(count), b = (a + 1 + chance.below(count - 1)) % count,
                                    c = chance.below(count);
                if ((c == a || c == b) && !chance.one_in(50)) continue;
                def.indices.insert(def.indices.end(), {a, b, c});
                if (chance.one_in(8)) def.indices.insert(def.indices.end(), {a, c, b});  // its back
            }
            break;
        }
        case ShapeType::height_field:
            def.columns = 2 + chance.below(6);
            for (std::uint32_t k = def.columns * (2 + chance.below(4)); k > 0; --k)
                def.heights.push_back(chance.one_in(10) ? 100.0f : chance.between(-1.0f, 1.0f));
            def.spacing.x = size(), def.spacing.y = size(), def.spacing.z = size();
            break;
        case ShapeType::compound: {
            const bool laid = chance.one_in(2);  // one way round, and several of a shape in one plane
            const std::uint32_t one = chance.below(earlier);
            for (std::uint32_t k = 1 + chance.below(6); k > 0; --k) {
                Vec3 at = chance.vector(wide);
                if (laid) at.y = 0.0f;
                const std::uint32_t shape = laid && chance.one_in(2) ? one : chance.below(earlier);
                def.children.push_back({shape, {at, laid ? Quat{} : chance.turn()}});
            }
            break;
        }
        default:
            break;
    }
    return def;
}
std::uint32_t add_wild_shapes(Chance& chance, std::vector<ShapeDef>& shapes) {
    std::uint32_t refused = 0;
    for (std::uint32_t k = chance.below(7); k > 0; --k) {
        const ShapeDef def = wild_shape(chance, shapes.size());
        if (shape_centre(def, shapes).ok())
            shapes.push_back(def);
        else
            ++refused;
    }
    return refused;
}

BodyDef some_body(Chance& chance, float spread) {
    BodyDef body;
    body.type = chance.one_in(8) ? BodyType::kinematic : BodyType::dynamic;
    constexpr std::uint32_t kSolid[] = {1, 2, 3, 4, 5, 8};
    body.shape = chance.one_in(8) ? kNone : kSolid[chance.below(std::size(kSolid))];
    if (body.shape == kNone || chance.one_in(4)) body.mass_kg = chance.magnitude(-5, 11);
    body.pose.position = chance.vector(spread);
    body.pose.position.y += spread;
    if (!chance.one_in(3)) body.pose.orientation = chance.turn();
    if (chance.one_in(2)) {
        const float fast = chance.one_in(5) ? 400.0f : 3.0f;
        body.linear_velocity = chance.vector(fast), body.angular_velocity = chance.vector(fast);
    }
    if (chance.one_in(6)) body.locks = static_cast<std::uint8_t>(chance.below(64));
    if (chance.one_in(6)) body.linear_damping = chance.magnitude(-3, 4), body.angular_damping = chance.magnitude(-3, 4);
    if (chance.one_in(6)) body.gravity_scale = chance.between(-3.0f, 3.0f);
    if (chance.one_in(10)) body.can_sleep = false;
    if (chance.one_in(10)) body.sensor = body.shape != kNone;
    const std::uint32_t mode = chance.below(6);
    body.collision_mode = mode == 0   ? CollisionMode::continuous
                          : mode <= 2 ? CollisionMode::passive
                                      : CollisionMode::discrete;
    if (chance.one_in(10)) body.mask = 0;
    return body;
}

// Of one of the wild shapes, as light and as heavy as is allowed; false where it would be refused.
bool wild_body(Chance& chance, const WorldDef& def, std::uint32_t first_wild, float spread, BodyDef& body) {
    if (first_wild == def.shapes.size()) return false;
    body = some_body(chance, spread);
    body.shape = first_wild + chance.below(def.shapes.size() - first_wild);
    body.sensor = chance.one_in(10);
    const ShapeType shape = def.shapes[body.shape].type;
    const bool hollow = shape == ShapeType::plane || shape == ShapeType::mesh || shape == ShapeType::height_field;
    body.type = hollow && !chance.one_in(20) ? static_cast<BodyType>(chance.below(2))
                : chance.one_in(4)           ? static_cast<BodyType>(chance.below(3))
                                             : BodyType::dynamic;
    if (chance.one_in(2))
        body.mass_kg = chance.one_in(4) ? (chance.one_in(2) ? 1e-6f : 1e12f) : chance.magnitude(-6, 7);
    WorldDef alone;
    alone.shapes = def.shapes, alone.materials = def.materials;
    alone.bodies = {body};
    return World::create(alone).ok();
}

// Different bodies, as many as the constraint takes; false where there are too few.
template <class T>
bool some_bodies(Chance& chance, const Constraint& constraint, const std::vector<T>& from, T (&out)[4],
                 bool (&taken)[4]) {
    const auto all = bodies_taken(constraint);
    if (from.size() < 4) return false;
    for (std::size_t k = 0; k < 4; ++k) {
        taken[k] = all[k] && !(k == 0 && body_count(constraint) == 2 && chance.one_in(4));
        if (!taken[k]) continue;
        for (bool fresh = false; !fresh;) {
            out[k] = from[chance.below(from.size())];
            fresh = true;
            for (std::size_t other = 0; other < k; ++other) fresh = fresh && !(taken[other] && out[other] == out[k]);
        }
    }
    return true;
}

void add_some_joints(Chance& chance, std::size_t count, const std::vector<BodyDef>& bodies,
                     std::vector<JointDef>& joints) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < bodies.size(); ++i) all.push_back(i);
    for (; count > 0; --count) {
        JointDef joint;
        joint.constraint = random_constraint(chance.below(kConstraintTypes), chance.lcg());
        std::uint32_t ids[4];
        bool taken[4];
        if (!some_bodies(chance, joint.constraint, all, ids, taken)) return;
        joint.body_a = taken[0] ? ids[0] : kNone, joint.body_b = ids[1];
        joint.body_c = taken[2] ? ids[2] : kNone, joint.body_d = taken[3] ? ids[3] : kNone;
        if (chance.one_in(6)) joint.break_force_n = chance.magnitude(-3, 7);
        if (chance.one_in(6)) joint.break_torque_nm = chance.magnitude(-3, 7);
        if (chance.one_in(4)) joint.collide_connected = true;
        joints.push_back(joint);
    }
}

void add_some_actuators(Chance& chance, const std::vector<BodyDef>& bodies, const std::vector<JointDef>& joints,
                        std::vector<ActuatorDef>& actuators) {
    for (int n = 0; n < 4; ++n) {
        ActuatorDef actuator;
        actuator.kind = static_cast<ActuatorKind>(chance.below(6));
        actuator.slot = chance.below(2);
        actuator.body = chance.below(bodies.size());
        actuator.joint = joints.empty() ? kNone : chance.below(joints.size());
        for (float& weight : actuator.weights) weight = chance.between(-1.0f, 1.0f) * chance.magnitude(-2, 5);
        actuator.direction = {0.0f, 1.0f, 0.0f};
        if (actuator.kind == ActuatorKind::kinematic) actuator.max_speed = chance.magnitude(-2, 4);
        const BodyType moved = actuator.kind == ActuatorKind::kinematic ? BodyType::kinematic : BodyType::dynamic;
        if (acts_on_joint(actuator.kind)
                ? actuator.joint != kNone && has_target(joints[actuator.joint].constraint, actuator.kind)
                : bodies[actuator.body].type == moved)
            actuators.push_back(actuator);
    }
}

// A capsule of any mass that walks as hard as it is told, and jumps.
void add_some_character(Chance& chance, WorldDef& def) {
    BodyDef body = some_body(chance, 3.0f);
    body.type = BodyType::dynamic;
    body.shape = static_cast<std::uint32_t>(def.shapes.size());
    body.sensor = false;
    body.locks = static_cast<std::uint8_t>(body.locks | kLockAngularX | kLockAngularY | kLockAngularZ);
    def.shapes.push_back({"", ShapeType::capsule, 0.3f, 0.4f, {}});
    for (std::size_t k = 0; k < 3; ++k) {
        ActuatorDef actuator;
        actuator.kind = k < 2 ? ActuatorKind::walk : ActuatorKind::jump;
        actuator.slot = chance.below(2);
        actuator.body = static_cast<std::uint32_t>(def.bodies.size());
        actuator.direction = k == 0 ? Vec3{1.0f, 0.0f, 0.0f} : Vec3{0.0f, 0.0f, 1.0f};
        actuator.max_force = chance.magnitude(0, 5);
        actuator.step_height = chance.between(0.0f, 1.0f);
        actuator.max_slope_rad = chance.between(0.0f, 1.3f);
        for (float& weight : actuator.weights) weight = chance.between(-1.0f, 1.0f) * chance.magnitude(-1, 2);
        def.actuators.push_back(actuator);
    }
    def.bodies.push_back(body);
}

// A chain of ball sockets, that rigs have something to take: of beads that nothing touches, or of anything among the
// other bodies.
void add_some_chain(Chance& chance, WorldDef& def) {
    const bool beads = chance.one_in(2);
    std::uint32_t before = kNone;
    for (std::uint32_t n = 2 + chance.below(7), i = 0; i < n; ++i) {
        BodyDef body = some_body(chance, 2.0f);
        if (beads) {
            body = {};
            body.shape = 1;
            body.mask = 0;
        }
        body.pose.position = {0.6f * static_cast<float>(i), 7.0f, 3.0f};
        def.bodies.push_back(body);
        const auto index = static_cast<std::uint32_t>(def.bodies.size() - 1);
        if (before != kNone || chance.one_in(2)) {
            const Vec3 left{-0.3f, 0.0f, 0.0f},
                right = before == kNone ? Vec3{-0.3f, 7.0f, 3.0f} : Vec3{0.3f, 0.0f, 0.0f};
            BallSocket ball;
            JointDef joint;
            const bool turned = before != kNone && chance.one_in(4);
            ball.anchor_a = turned ? left : right, ball.anchor_b = turned ? right : left;
            joint.body_a = turned ? index : before, joint.body_b = turned ? before : index;
            if (chance.one_in(6)) ball.spring = {chance.magnitude(-1, 3), chance.magnitude(-2, 2)};
            if (chance.one_in(8)) joint.break_force_n = chance.magnitude(2, 6);
            joint.constraint = ball;
            def.joints.push_back(joint);
        }
        before = index;
    }
    def.solver.rig_joints = chance.one_in(4) ? 0 : 1 + chance.below(4);
    def.solver.rig_solver = static_cast<RigSolver>(chance.below(kRigSolverCount));
    def.solver.rig_iterations = 1 + chance.below(12);
    def.solver.rig_compliance = chance.magnitude(-6, 0);
    def.solver.coupling_iterations = 1 + chance.below(5);
    if (def.bodies.back().type == BodyType::dynamic && chance.one_in(2))
        def.rigs.push_back(
            {"named", {static_cast<std::uint32_t>(def.bodies.size() - 1)}, RigSolver::direct, chance.magnitude(-6, 0)});
}

WorldDef some_world(Chance& chance, std::uint32_t& refused_shapes) {
    WorldDef def;
    constexpr float kRates[] = {60.0f, 60.0f, 30.0f, 128.0f, 1.0f, 1000.0f};
    def.tick_rate_hz = kRates[chance.below(std::size(kRates))];
    def.substeps = chance.one_in(3) ? 1 + chance.below(8) : 4;
    if (chance.one_in(5)) def.gravity = chance.vector(chance.magnitude(-1, 3));
    def.solver.sleep = !chance.one_in(4);
    if (chance.one_in(4))
        def.solver.sleep_time_s = chance.between(0.0f, 0.2f), def.solver.sleep_speed_mps = chance.between(0.0f, 0.5f);
    if (chance.one_in(8)) def.solver.slop_m = 0.005f, def.solver.max_recovery_speed_mps = chance.magnitude(-2, 4);
    if (chance.one_in(8))
        def.solver.joint_frequency_hz = chance.magnitude(-1, 4),
        def.solver.joint_damping_ratio = chance.magnitude(-2, 3);
    if (chance.one_in(8))
        def.solver.contact_frequency_hz = chance.magnitude(-1, 4),
        def.solver.contact_damping_ratio = chance.magnitude(-2, 3);
    if (chance.one_in(8)) def.solver.joint_recovery_speed = chance.one_in(3) ? 0.0f : chance.magnitude(-3, 8);
    if (chance.one_in(8)) def.solver.speculative_margin_m = chance.one_in(2) ? 0.0f : chance.magnitude(-4, 1);
    def.materials.push_back({"odd", chance.one_in(3) ? 0.0f : chance.magnitude(-2, 3), chance.between(0.0f, 1.0f),
                             chance.magnitude(-2, 6)});
    for (MaterialDef& material : def.materials) {
        if (chance.one_in(4)) material.rolling_resistance = chance.magnitude(-3, 2);
        if (chance.one_in(4)) material.surface_velocity = chance.vector(chance.magnitude(-4, 2));
    }
    def.shapes = some_shapes(chance);
    const auto first_wild = static_cast<std::uint32_t>(def.shapes.size());
    if (chance.one_in(2)) refused_shapes += add_wild_shapes(chance, def.shapes);
    constexpr std::uint32_t kGround[] = {0, 6, 7, 2};
    BodyDef ground;
    ground.type = BodyType::fixed;
    ground.shape = kGround[chance.below(std::size(kGround))];
    def.bodies.push_back(ground);
    for (std::uint32_t n = 4 + chance.below(5); n > 0; --n) {
        def.bodies.push_back(some_body(chance, chance.one_in(8) ? 0.0f : 2.0f));
        if (chance.one_in(3)) def.bodies.back().material = 1;
        if (BodyDef wild; chance.one_in(4) && wild_body(chance, def, first_wild, 2.0f, wild))
            def.bodies.push_back(wild);
    }
    add_some_joints(chance, chance.below(8), def.bodies, def.joints);
    if (chance.one_in(2)) add_some_chain(chance, def);
    for (int n = 0; n < 2; ++n) {
        PrefabDef prefab;
        for (std::uint32_t k = 1 + chance.below(4); k > 0; --k) prefab.bodies.push_back(some_body(chance, 0.7f));
        add_some_joints(chance, chance.below(4), prefab.bodies, prefab.joints);
        add_some_actuators(chance, prefab.bodies, prefab.joints, prefab.actuators);
        def.prefabs.push_back(std::move(prefab));
    }
    for (std::uint32_t n = first_wild == def.shapes.size() ? 0 : 3; n > 0; --n) {
        PrefabDef prefab;
        for (std::uint32_t k = 1 + chance.below(3); k > 0; --k) {
            if (BodyDef wild; wild_body(chance, def, first_wild, 0.7f, wild)) prefab.bodies.push_back(wild);
        }
        if (prefab.bodies.empty()) continue;
        prefab.bodies.push_back(some_body(chance, 0.7f));
        add_some_joints(chance, chance.below(3), prefab.bodies, prefab.joints);
        add_some_actuators(chance, prefab.bodies, prefab.joints, prefab.actuators);
        def.prefabs.push_back(std::move(prefab));
    }
    def.slots = {{"one", 0, {{0.0f, 3.0f, 0.0f}, chance.turn()}},
                 {"two", chance.one_in(2) ? kNone : 1, {{2.0f, 3.0f, 0.0f}, {}}}};
    add_some_actuators(chance, def.bodies, def.joints, def.actuators);
    if (chance.one_in(3)) add_some_character(chance, def);
    return def;
}

// ---- orders

struct Known {  // ids that were given out, of what lives and of what does not
    std::vector<BodyId> bodies;
    std::vector<JointId> joints;
    std::size_t prefabs = 0;

    void read(const World& world, Chance& chance) {
        if (!chance.one_in(3)) return;  // else of an earlier tick: they may be stale
        std::vector<BodyState> states;
        std::vector<JointState> joint_states;
        world.read_bodies(states);
        world.read_joints(joint_states);
        bodies.clear(), joints.clear();
        for (const BodyState& state : states) bodies.push_back(state.id);
        for (const JointState& state : joint_states) joints.push_back(state.id);
    }
};

Command some_order(Chance& chance, const Known& known) {
    constexpr CommandKind kKinds[] = {CommandKind::join,
                                      CommandKind::leave,
                                      CommandKind::spawn,
                                      CommandKind::despawn,
                                      CommandKind::impulse,
                                      CommandKind::impulse,
                                      CommandKind::teleport,
                                      CommandKind::motor_target,
                                      CommandKind::grab,
                                      CommandKind::move_grab,
                                      CommandKind::remove_joint,
                                      CommandKind::remove_joint,
                                      CommandKind::control,
                                      CommandKind::create_joint,
                                      CommandKind::create_joint,
                                      CommandKind::set_joint,
                                      CommandKind::wake,
                                      CommandKind::set_filter,
                                      CommandKind::set_body_type,
                                      CommandKind::set_body_type,
                                      CommandKind::set_gravity_scale,
                                      CommandKind::set_material,
                                      CommandKind::set_damping,
                                      CommandKind::force,
                                      CommandKind::kinematic_target,
                                      CommandKind::kinematic_target,
                                      CommandKind::teleport_group,
                                      CommandKind::respawn,
                                      CommandKind::occupy,
                                      CommandKind::drive,
                                      CommandKind::vacate};
    Command c;
    c.kind = kKinds[chance.below(std::size(kKinds))];
    if (c.kind == CommandKind::spawn && known.bodies.size() > kManyBodies) c.kind = CommandKind::despawn;
    c.slot = static_cast<std::uint16_t>(chance.below(3));
    c.sequence = chance.below(5);
    c.tag = chance.next();
    c.prefab = chance.below(known.prefabs + (chance.one_in(20) ? 1 : 0));
    if (!known.bodies.empty()) c.body = known.bodies[chance.below(known.bodies.size())];
    if (!known.joints.empty()) c.joint = known.joints[chance.below(known.joints.size())];
    if (chance.one_in(20)) c.body.generation += 1, c.joint.generation += 1;
    if (chance.one_in(40)) c.body.index = chance.below(40), c.joint.index = 0xffff'fff0u + chance.below(16);
    c.value = chance.one_in(3) ? chance.between(-2.0f, 2.0f) : chance.magnitude(-3, 7);
    const bool far = chance.one_in(12);
    c.pose.position = chance.vector(far ? 4095.0f : c.kind == CommandKind::grab ? 0.3f : 3.0f);
    c.pose.orientation = chance.turn();
    c.at_point = chance.one_in(2);
    const float size = c.kind == CommandKind::impulse ? chance.magnitude(-2, 7)
                       : chance.one_in(10)            ? chance.magnitude(0, 3)
                                                      : 3.0f;
    c.linear = chance.vector(size), c.angular = chance.vector(chance.one_in(4) ? size : 1.0f);
    for (float& channel : c.channels) channel = chance.between(-1.2f, 1.2f);
    c.type = static_cast<BodyType>(chance.below(chance.one_in(20) ? 5 : 3));
    c.category = chance.below(4), c.mask = chance.one_in(2) ? 0xffff'ffffu : chance.below(4);
    c.material = chance.below(chance.one_in(20) ? 5 : 2);
    c.linear_damping = chance.magnitude(-3, 3), c.angular_damping = chance.magnitude(-3, 3);
    if (c.kind == CommandKind::set_gravity_scale && !chance.one_in(4)) c.value = chance.between(-2.0f, 2.0f);
    if (c.kind == CommandKind::kinematic_target && !chance.one_in(8)) {
        c.pose.position = chance.vector(0.3f);
        if (chance.one_in(2)) c.pose.orientation = {};
    }
    c.order.constraint = any_constraint(chance);
    BodyId ids[4];
    bool taken[4];
    if (some_bodies(chance, c.order.constraint, known.bodies, ids, taken)) {
        BodyId* const into[] = {&c.order.a, &c.order.b, &c.order.c, &c.order.d};
        for (std::size_t k = 0; k < 4; ++k) {
            if (taken[k]) *into[k] = ids[k];
        }
    }
    if (chance.one_in(5)) c.order.break_force_n = chance.magnitude(-3, 7);
    if (chance.one_in(5)) c.order.break_torque_nm = chance.magnitude(-3, 7);
    if (chance.one_in(25)) {
        chance.spoil(chance.one_in(3) ? c.linear : chance.one_in(2) ? c.angular : c.pose.position);
        c.value = chance.odd_number();
        c.channels[0] = chance.odd_number();
        c.linear_damping = chance.odd_number();
        c.pose.orientation.x = chance.odd_number();
        c.order.break_torque_nm = chance.odd_number();
    }
    return c;
}

// ---- queries

struct Questions {
    std::vector<RayCast> rays;
    std::vector<ShapeCast> casts;
    std::vector<Overlap> overlaps;
    std::vector<ClosestPoint> points;
};

QueryShape some_probe(Chance& chance, std::size_t shapes) {
    QueryShape s;
    if (chance.one_in(3)) s.index = chance.below(shapes + (chance.one_in(10) ? 1 : 0));
    s.type = static_cast<ShapeType>(chance.below(chance.one_in(10) ? 9 : 3));
    const auto size = [&] { return chance.one_in(6) ? chance.magnitude(-4, 4) : chance.between(0.05f, 0.8f); };
    s.radius = size(), s.half_height = size();
    s.half_extents.x = size(), s.half_extents.y = size(), s.half_extents.z = size();
    return s;
}

// Of ticks that both worlds keep, or neither.
Questions some_questions(Chance& chance, const World& world, const World& other, const Known& known) {
    Questions q;
    const std::uint64_t now = world.tick(), low = std::min(world.oldest_tick(), other.oldest_tick()),
                        high = std::max(world.oldest_tick(), other.oldest_tick());
    const auto settle = [&](auto& query) {
        query.mode = static_cast<HitMode>(chance.below(3));
        if (chance.one_in(4)) query.filter.types = static_cast<std::uint8_t>(chance.below(16));
        if (chance.one_in(8)) query.filter.mask = chance.below(4), query.filter.category = chance.below(4);
        if (chance.one_in(4) && !known.bodies.empty())
            query.filter.ignore = known.bodies[chance.below(known.bodies.size())];
        if (chance.one_in(2)) query.tick = high + chance.below(now - high + 1);
        if (chance.one_in(16)) query.tick = chance.one_in(2) ? now + 1 + chance.below(3) : low == 0 ? now + 9 : low - 1;
    };
    const auto place = [&] {
        Vec3 p = chance.vector(chance.one_in(8) ? chance.magnitude(-3, 6) : 2.5f);
        p.y += 1.0f;
        if (chance.one_in(60)) chance.spoil(p);
        return p;
    };
    const auto way = [&] {
        Vec3 v = chance.vector(chance.one_in(8) ? chance.magnitude(-6, 7) : 5.0f);
        if (chance.one_in(8)) v.x = v.z = 0.0f;
        if (chance.one_in(20)) v = {};
        if (chance.one_in(60)) chance.spoil(v);
        return v;
    };
    const std::size_t shapes = world.definition().shapes.size();
    for (std::uint32_t k = chance.one_in(10) ? 20 : 1 + chance.below(2); k > 0; --k) {
        RayCast ray;
        ray.origin = place(), ray.translation = way();
        settle(ray), q.rays.push_back(ray);
        ShapeCast cast;
        cast.shape = some_probe(chance, shapes);
        cast.pose.position = place(), cast.pose.orientation = chance.turn(), cast.translation = way();
        settle(cast), q.casts.push_back(cast);
        Overlap overlap;
        overlap.shape = some_probe(chance, shapes);
        overlap.pose.position = place(), overlap.pose.orientation = chance.turn();
        settle(overlap), q.overlaps.push_back(overlap);
        ClosestPoint point;
        point.point = place();
        if (chance.one_in(2)) point.max_distance = chance.one_in(10) ? chance.odd_number() : chance.magnitude(-2, 2);
        settle(point), q.points.push_back(point);
    }
    return q;
}

struct Answers {
    std::string bytes;
    std::string fault;
    std::size_t hits = 0;

    void add(const World& world, QueryStatus status, std::span<const QueryHit> all) {
        const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
        put(status), put(all.size());
        if ((status == QueryStatus::hit) == all.empty()) fault = "a status that its hits belie";
        hits += all.size();
        for (const QueryHit& h : all) {
            put(h.body), put(h.child), put(h.inside), put(h.despawned), put(h.distance), put(h.fraction), put(h.point),
                put(h.normal);
            const double n = std::hypot(double(h.normal.x), double(h.normal.y), double(h.normal.z));
            constexpr float kFar = 1e6f;
            if (!(std::abs(h.distance) < kFar && h.fraction >= 0.0f && h.fraction <= 1.0f))
                fault = "a distance that is none";
            if (!(std::abs(h.point.x) < kFar && std::abs(h.point.y) < kFar && std::abs(h.point.z) < kFar))
                fault = "a point out of bounds";
            if (!(n == 0.0 || std::abs(n - 1.0) < 1e-5)) fault = "a normal that is not unit";
            if (h.despawned == world.alive(h.body))
                fault = "a body that is told dead and lives, or the other way round";
        }
    }
};

Answers ask(const World& world, const Questions& q, Executor* executor) {
    Answers out;
    QueryAnswers batch;
    const auto add = [&] {
        for (std::size_t k = 0; k < batch.answers.size(); ++k) out.add(world, batch.answers[k].status, batch.of(k));
    };
    world.cast_rays(q.rays, batch, executor), add();
    world.cast_shapes(q.casts, batch, executor), add();
    world.overlaps(q.overlaps, batch, executor), add();
    world.closest_points(q.points, batch, executor), add();
    return out;
}
Answers ask_one_by_one(const World& world, const Questions& q) {
    Answers out;
    std::vector<QueryHit> hits;
    const auto add = [&](QueryStatus status) { out.add(world, status, hits); };
    for (const RayCast& query : q.rays) add(world.cast_ray(query, hits));
    for (const ShapeCast& query : q.casts) add(world.cast_shape(query, hits));
    for (const Overlap& query : q.overlaps) add(world.overlap(query, hits));
    for (const ClosestPoint& query : q.points) add(world.closest_point(query, hits));
    return out;
}

// ---- what has to hold

bool in_bounds(Vec3 v, float most) {
    return std::abs(v.x) <= most && std::abs(v.y) <= most && std::abs(v.z) <= most;
}  // false for NaN

// What is wrong with a body's state, or nothing.
std::string fault_of(const BodyState& s) {
    const Quat q = s.pose.orientation;
    const double n = double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w;
    if (!in_bounds(s.pose.position, kMaxCoordinate_m)) return "position";
    if (!(std::abs(n - 1.0) < 1e-4)) return "orientation";
    if (!in_bounds(s.linear_velocity, std::numeric_limits<float>::max())) return "linear velocity";
    if (!in_bounds(s.angular_velocity, std::numeric_limits<float>::max())) return "angular velocity";
    return {};
}

struct Tally {
    int ticks = 0, refused_worlds = 0, saves = 0, quarantined = 0, rolled_back = 0;
    std::uint32_t refused_shapes = 0;
    std::size_t orders = 0, rejected = 0, made_joints = 0, slept = 0, broken = 0, asked = 0, hits = 0;
};

// A checkpoint and what was ordered since.
struct Mark {
    Checkpoint checkpoint;
    std::vector<std::vector<Command>> orders;
    std::vector<HashTree> hashes;

    void take(const World& world) {
        world.checkpoint(checkpoint);
        orders.clear();
        hashes.assign(1, world.hash());
    }
    // Goes back, at times by a way of other orders, and forth again by the same ones. What went wrong, or nothing.
    std::string retrace(World& world, Chance& chance, const Known& known, Executor* executor) const {
        if (chance.one_in(2)) {
            if (!world.roll_back(checkpoint).ok()) return "a checkpoint is refused";
            for (std::uint32_t k = 1 + chance.below(3); k > 0; --k) {
                const Command astray = some_order(chance, known);
                world.step({&astray, 1}, executor);
            }
        }
        if (!world.roll_back(checkpoint).ok()) return "a checkpoint is refused";
        if (world.hash() != hashes[0]) return "a hash differs after going back";
        for (std::size_t k = 0; k < orders.size(); ++k) {
            world.step(orders[k], executor);
            if (world.hash() != hashes[k + 1])
                return "a hash differs " + std::to_string(k + 1) + " ticks after going back";
        }
        return {};
    }
};

// Empty, or what went wrong.
std::string drive(std::uint64_t seed, Tally& tally) {
    Chance chance(seed);
    const WorldDef def = some_world(chance, tally.refused_shapes);
    const auto some_history = [&] { return chance.one_in(2) ? 0 : chance.below(kMostHistory + 1); };
    auto made = World::create(def, {Target::scalar, some_history()});
    if (!made.ok()) {  // a hull may be too thin, a tetrahedron of joints too far: refused with a reason
        ++tally.refused_worlds;
        return made.error().place.empty() ? "refused without a place: " + made.error().to_string() : std::string();
    }
    const std::unique_ptr<World> reference = std::move(made).value();
    static orrery::server::ThreadPool pools[] = {orrery::server::ThreadPool(2), orrery::server::ThreadPool(3)};
    const auto some_target = [&] { return available_targets()[chance.below(available_targets().size())]; };
    std::unique_ptr<World> other = make_world(def, some_target(), some_history());
    Known known;
    known.prefabs = def.prefabs.size();
    Mark mark;
    mark.take(*reference);
    const std::uint32_t marks = chance.one_in(3) ? 30 : 4;
    std::vector<BodyState> states;
    std::vector<std::uint8_t> saved, saved_other;
    const std::uint32_t busy = 1 + chance.below(4);
    const bool calm = chance.one_in(4);  // long enough for sleep
    for (int n = 0; n < kTicksPerWorld; ++n, ++tally.ticks) {
        const auto at = [&] {
            return " at tick " + std::to_string(n + 1) + " on " + std::string(target_name(other->target()));
        };
        if (chance.one_in(12)) {
            reference->save(saved);
            other->save(saved_other);
            if (saved != saved_other) return "saved states differ" + at();
            other = make_world(def, some_target(), some_history());
            if (const auto restored = other->restore(saved); !restored.ok())
                return "not restored: " + restored.error().to_string() + at();
            if (other->hash() != reference->hash()) return "a restored hash differs" + at();
            ++tally.saves;
        }
        known.read(*reference, chance);
        std::vector<Command> orders;
        const bool pause = calm && !chance.one_in(20);
        for (std::uint32_t k = pause ? 0 : chance.below(2 * busy); k > 0; --k)
            orders.push_back(some_order(chance, known));
        tally.orders += orders.size();
        const StepStatus status = reference->step(orders);
        const std::uint32_t threads = 1 + chance.below(3);
        if (other->step(orders, threads == 1 ? nullptr : &pools[threads - 2]) != status)
            return "steps end differently" + at();
        if (status != StepStatus::ok) return "a step was not taken" + at();
        const HashTree is = other->hash(), wanted = reference->hash();
        for (std::size_t leaf = 0; leaf < kSubsystemCount; ++leaf) {
            if (is.leaves[leaf] != wanted.leaves[leaf])
                return std::string(subsystem_name(static_cast<Subsystem>(leaf))) + " differ" + at();
        }
        mark.orders.push_back(orders), mark.hashes.push_back(wanted);
        Executor* const some_pool = chance.one_in(3) ? &pools[0] : nullptr;
        if (chance.one_in(5)) {
            const Questions q = some_questions(chance, *reference, *other, known);
            const Answers answers = ask(*other, q, some_pool);
            tally.asked += 4 * q.rays.size(), tally.hits += answers.hits;
            if (!answers.fault.empty()) return "a query has " + answers.fault + at();
            if (other->hash() != wanted) return "a query changed the hash" + at();
            if (chance.one_in(2) && ask_one_by_one(*other, q).bytes != answers.bytes)
                return "a batch has other answers" + at();
            if (!chance.one_in(4) && ask(*reference, q, nullptr).bytes != answers.bytes) return "answers differ" + at();
            if (reference->hash() != wanted) return "a query changed the reference's hash" + at();
        }
        if (chance.one_in(25)) {
            World& back = chance.one_in(4) ? *reference : *other;
            if (const std::string fault = mark.retrace(back, chance, known, some_pool); !fault.empty())
                return fault +
                       (&back == other.get() ? at() : " at tick " + std::to_string(n + 1) + " on the reference");
            ++tally.rolled_back;
        }
        if (chance.one_in(marks)) mark.take(chance.one_in(2) ? *reference : *other);
        reference->read_bodies(states);
        for (const BodyState& state : states) {
            if (const std::string fault = fault_of(state); !fault.empty())
                return "body " + std::to_string(state.id.index) + " has a " + fault + " out of bounds" + at();
            tally.slept += state.asleep;
        }
        for (const Event& event : reference->events()) {
            tally.rejected += event.kind == EventKind::command_rejected;
            tally.made_joints += event.kind == EventKind::joint_created;
            tally.quarantined += event.kind == EventKind::quarantined;
            tally.broken += event.kind == EventKind::joint_broken;
        }
    }
    return {};
}

}  // namespace

TEST_CASE(
    "random orders leave small worlds finite, equal on all targets and threads, restorable at any tick and unmoved by "
    "queries") {
    Tally tally;
    const std::uint64_t first = seeded(7'000'000);
    std::uint64_t world = 0;
    for (; tally.ticks < ticks_wanted(); ++world) {
        const std::string fault = drive(first + world, tally);
        CHECK_MESSAGE(fault.empty(), "world of seed " << first + world << ": " << fault);
        if (!fault.empty()) tally.ticks += kTicksPerWorld;
    }
    MESSAGE("seeds " << first << " to " << first + world - 1 << ": " << tally.ticks << " ticks, " << tally.orders
                     << " orders, " << tally.rejected << " rejected, " << tally.made_joints << " joints made, "
                     << tally.saves << " saves, " << tally.quarantined << " quarantined, " << tally.slept
                     << " body ticks asleep, " << tally.refused_worlds << " definitions and " << tally.refused_shapes
                     << " shapes refused, " << tally.broken << " joints broken, " << tally.rolled_back << " ways back, "
                     << tally.asked << " queries with " << tally.hits << " hits");
    CHECK(tally.orders > static_cast<std::size_t>(tally.ticks) / 2);
    CHECK(tally.rejected < 2 * tally.orders / 3);
    CHECK(tally.made_joints > tally.orders / 30);
    CHECK(tally.saves > tally.ticks / 30);
    CHECK(tally.rolled_back > tally.ticks / 50);
    CHECK(tally.asked > static_cast<std::size_t>(tally.ticks) / 2);
    CHECK(tally.hits > tally.asked / 4);
    if (sampled(20) == 20)
        CHECK(tally.slept > static_cast<std::size_t>(tally.ticks) / 200);  // few of the worlds sleep at all
    CHECK(tally.refused_worlds < static_cast<int>(world) / 4);
}
