// The identity of a definition: every field that influences a state, in a fixed order. A saved state names it, so that
// it is not restored into another world.

#include "sim/world/canonical.h"
#include "sim/world/constraint_fields.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

void put(HashWriter& out, const PrefabDef& p);
void put(HashWriter& out, const SlotDef& s);
void put(HashWriter& out, const RigDef& r);

void put_points(HashWriter& out, const std::vector<Vec3>& points) {
    out.put(static_cast<std::uint64_t>(points.size()));
    for (const Vec3& p : points) out.put(p);
}

void put(HashWriter& out, const ShapeDef& s) {
    out.put(static_cast<std::uint8_t>(s.type));
    out.put(s.radius);
    out.put(s.half_height);
    out.put(s.half_extents);
    if (s.type == ShapeType::hull || s.type == ShapeType::mesh) put_points(out, s.points);
    if (s.type == ShapeType::mesh) {
        out.put(static_cast<std::uint64_t>(s.indices.size()));
        for (const std::uint32_t index : s.indices) out.put(index);
    }
    if (s.type == ShapeType::height_field) {
        out.put(s.columns);
        out.put(s.spacing);
        out.put(static_cast<std::uint64_t>(s.heights.size()));
        for (const float height : s.heights) out.put(height);
    }
    if (s.type == ShapeType::compound) {
        out.put(static_cast<std::uint64_t>(s.children.size()));
        for (const CompoundChild& child : s.children) {
            out.put(child.shape);
            out.put(child.pose);
        }
    }
}

void put(HashWriter& out, const MaterialDef& m) {
    out.put(m.friction);
    out.put(m.restitution);
    out.put(m.density_kgpm3);
}

void put(HashWriter& out, const BodyDef& b) {
    out.put(static_cast<std::uint8_t>(b.type));
    out.put(b.shape);
    out.put(b.material);
    out.put(b.pose);
    out.put(b.linear_velocity);
    out.put(b.angular_velocity);
    out.put(b.mass_kg);
    out.put(b.linear_damping);
    out.put(b.angular_damping);
    out.put(b.gravity_scale);
    out.put(b.locks);
    out.put(b.can_sleep);
    out.put(b.sensor);
    out.put(static_cast<std::uint8_t>(b.collision_mode));
    out.put(b.category);
    out.put(b.mask);
    out.put(b.user_data);
}

void put(HashWriter& out, const JointDef& j) {
    out.put(j.body_a);
    out.put(j.body_b);
    put_constraint(out, j.constraint);
    out.put(j.collide_connected);
    out.put(j.break_force_n);
    out.put(j.break_torque_nm);
    out.put(j.break_removes);
    put_more_bodies(out, j.constraint, j.body_c, j.body_d);
}

void put(HashWriter& out, const ActuatorDef& a) {
    out.put(static_cast<std::uint8_t>(a.kind));
    out.put(a.joint);
    out.put(a.body);
    out.put(a.slot);
    for (const float weight : a.weights) out.put(weight);
    out.put(a.offset);
    out.put(a.min);
    out.put(a.max);
    out.put(a.direction);
    out.put(a.direction_local);
    out.put(a.max_speed);
    if (a.kind != ActuatorKind::walk) return;
    out.put(a.max_force);
    out.put(a.step_height);
    out.put(a.max_slope_rad);
}

template <class T>
void put_list(HashWriter& out, const std::vector<T>& list) {
    out.put(static_cast<std::uint64_t>(list.size()));
    for (const T& element : list) put(out, element);
}

void put(HashWriter& out, const PrefabDef& p) {
    put_list(out, p.bodies);
    put_list(out, p.joints);
    put_list(out, p.actuators);
}

void put(HashWriter& out, const SlotDef& s) {
    out.put(s.prefab);
    out.put(s.pose);
}

void put(HashWriter& out, const RigDef& r) {
    out.put(static_cast<std::uint64_t>(r.bodies.size()));
    for (const std::uint32_t body : r.bodies) out.put(body);
    out.put(static_cast<std::uint8_t>(r.solver));
    out.put(r.compliance);
    out.put(r.iterations);
}

}  // namespace

std::uint64_t hash_definition(const WorldDef& def) {
    HashWriter out;
    out.put(def.tick_rate_hz);
    out.put(def.substeps);
    out.put(def.gravity);
    out.put(def.seed);
    const SolverSettings& s = def.solver;
    for (const float setting : {s.joint_frequency_hz, s.joint_damping_ratio, s.contact_frequency_hz,
                                s.contact_damping_ratio, s.slop_m, s.speculative_margin_m, s.max_recovery_speed_mps,
                                s.joint_recovery_speed, s.restitution_threshold_mps, s.sleep_speed_mps, s.sleep_time_s})
        out.put(setting);
    out.put(s.sleep);
    put_list(out, def.shapes);
    put_list(out, def.materials);
    put_list(out, def.bodies);
    put_list(out, def.joints);
    put_list(out, def.actuators);
    put_list(out, def.prefabs);
    put_list(out, def.slots);
    out.put(s.rig_joints);
    out.put(static_cast<std::uint8_t>(s.rig_solver));
    out.put(s.rig_compliance);
    out.put(s.rig_iterations);
    out.put(s.coupling_iterations);
    put_list(out, def.rigs);
    if (any_surfaces(def)) {
        for (const MaterialDef& m : def.materials) {
            out.put(m.rolling_resistance);
            out.put(m.surface_velocity);
            out.put(m.contact_frequency_hz);
            out.put(m.contact_damping_ratio);
            out.put(m.max_recovery_speed_mps);
        }
    }
    return out.digest();
}

}  // namespace orrery::sim
