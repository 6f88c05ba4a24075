#include "protocol/scene/convert.h"

#include <cstdlib>
#include <limits>

namespace orrery::protocol::scene {

sim::BodyType convert_type(BodyType type) {
    switch (type) {
        case BodyType::static_:
            return sim::BodyType::fixed;
        case BodyType::kinematic:
            return sim::BodyType::kinematic;
        default:
            return sim::BodyType::dynamic;
    }
}

namespace {

constexpr std::uint64_t kMaxListed = 1'000'000;  // of materials, shapes, actuators: lists that a person writes

sim::RigSolver rig_solver(Reader& reader, RigSolver from, const Path& where) {
    const auto i = static_cast<std::uint8_t>(from);
    if (i < sim::kRigSolverCount) return static_cast<sim::RigSolver>(i);
    reader.fail(where, "is the unknown solver " + std::to_string(i));
    return sim::RigSolver::automatic;
}

std::uint32_t iterations(Reader& reader, std::uint32_t from, const Path& where) {
    if (from < 1 || from > sim::kMaxRigIterations)
        reader.fail(where, "is " + std::to_string(from) + "; give 1 to " + std::to_string(sim::kMaxRigIterations) +
                               " (kMaxRigIterations)");
    return from;
}

void convert_solver(Reader& reader, const SolverSettingsT& from, const Path& where, sim::SolverSettings& to) {
    to.joint_frequency_hz = reader.number(from.joint_frequency_hz, where / "joint_frequency_hz", 1e-3f, 1e4f);
    to.joint_damping_ratio = reader.number(from.joint_damping_ratio, where / "joint_damping_ratio", 0.0f, 1e4f);
    to.contact_frequency_hz = reader.number(from.contact_frequency_hz, where / "contact_frequency_hz", 1e-3f, 1e4f);
    to.contact_damping_ratio = reader.number(from.contact_damping_ratio, where / "contact_damping_ratio", 0.0f, 1e4f);
    to.sleep = from.sleep;
    to.rig_joints = from.rig_joints;
    to.rig_solver = rig_solver(reader, from.rig_solver, where / "rig_solver");
    to.rig_compliance = reader.number(from.rig_compliance, where / "rig_compliance", 0.0f, sim::kMaxRigCompliance);
    to.rig_iterations = iterations(reader, from.rig_iterations, where / "rig_iterations");
    if (from.coupling_iterations < 1 || from.coupling_iterations > sim::kMaxCouplingIterations)
        reader.fail(where / "coupling_iterations", "is " + std::to_string(from.coupling_iterations) + "; give 1 to " +
                                                       std::to_string(sim::kMaxCouplingIterations) +
                                                       " (kMaxCouplingIterations)");
    to.coupling_iterations = from.coupling_iterations;
    to.sleep_speed_mps = reader.number(from.sleep_speed_mps, where / "sleep_speed_mps", 0.0f, sim::kMaxLinearSpeed_mps,
                                       "kMaxLinearSpeed_mps");
    to.sleep_time_s =
        reader.number(from.sleep_time_s, where / "sleep_time_s", 0.0f, sim::kMaxSleepTime_s, "kMaxSleepTime_s");
    to.slop_m = reader.number(from.slop_m, where / "slop_m", 0.0f, 1.0f);
    to.speculative_margin_m = reader.number(from.speculative_margin_m, where / "speculative_margin_m", 0.0f, 1.0f);
    to.max_recovery_speed_mps =
        reader.number(from.max_recovery_speed_mps, where / "max_recovery_speed_mps", 0.0f, 1e3f);
    to.joint_recovery_speed = reader.number(from.joint_recovery_speed, where / "joint_recovery_speed", 0.0f,
                                            static_cast<float>(kMaxForce), "kMaxForce");
    to.restitution_threshold_mps =
        reader.number(from.restitution_threshold_mps, where / "restitution_threshold_mps", 0.0f, 1e3f);
}

void convert_settings(Reader& reader, const SceneT& from, const Path& root, sim::WorldDef& to) {
    to.name = from.name;
    to.tick_rate_hz = reader.number(from.tick_rate_hz, root / "tick_rate_hz", 1.0f, kMaxTickRate_hz, "kMaxTickRate_hz");
    if (from.substeps < 1 || from.substeps > sim::kMaxSubsteps) {
        reader.fail(root / "substeps", "is " + std::to_string(from.substeps) + "; give 1 to " +
                                           std::to_string(sim::kMaxSubsteps) + " (kMaxSubsteps)");
    }
    to.substeps = from.substeps;
    if (from.gravity) to.gravity = narrowed(reader.vector(*from.gravity, root / "gravity", 1e4));
    to.seed = from.seed;
    if (from.solver) convert_solver(reader, *from.solver, root / "solver", to.solver);
}

void convert_rigs(Reader& reader, const SceneT& from, const Path& root, const Scope& scope, sim::WorldDef& world) {
    Names names("rig");
    for (std::size_t i = 0; i < from.rigs.size() && reader.ok(); ++i) {
        const RigT& rig = *from.rigs[i];
        const Path where = root.element("rigs", i);
        names.add(reader, rig.name, static_cast<std::uint32_t>(i), where);
        sim::RigDef to;
        to.name = rig.name;
        to.solver = rig_solver(reader, rig.solver, where / "solver");
        to.compliance = reader.number(rig.compliance, where / "compliance", 0.0f, sim::kMaxRigCompliance);
        to.iterations = iterations(reader, rig.iterations, where / "iterations");
        if (rig.bodies.empty())
            reader.fail(where / "bodies", "is empty; name a dynamic body that the rig's ball sockets or rods hold");
        for (std::size_t k = 0; k < rig.bodies.size() && reader.ok(); ++k) {
            const Path place = where.element("bodies", k);
            const std::uint32_t body = scope.find_body(reader, rig.bodies[k], place);
            if (reader.ok() && world.bodies[body].type != sim::BodyType::dynamic)
                reader.fail(place,
                            "\"" + rig.bodies[k] + "\" is not dynamic; name dynamic bodies, which alone connect a rig");
            to.bodies.push_back(body);
        }
        world.rigs.push_back(std::move(to));
    }
}

void convert_bounds(Reader& reader, const SceneT& from, const Path& root, const Scope& scope,
                    std::vector<SceneBound>& bounds) {
    static_assert(static_cast<int>(Measure::MAX) == static_cast<int>(SceneBound::Of::angle_deg));
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const auto store = [](D3 v, double(&to)[3]) { to[0] = v.x, to[1] = v.y, to[2] = v.z; };
    for (std::size_t i = 0; i < from.bounds.size() && reader.ok(); ++i) {
        const BoundT& bound = *from.bounds[i];
        const Path where = root.element("bounds", i);
        SceneBound to;
        if (bound.body.empty())
            reader.fail(where / "body", "is missing; name the body to measure");
        else
            scope.find_body(reader, bound.body, where / "body");
        if (bound.of > Measure::MAX)
            reader.fail(where / "of", "is not a measure; see Measure in protocol/scene/scene.fbs");
        if (!bound.least && !bound.most) reader.fail(where, "has no bound; give \"least\", \"most\" or both");
        to.body = bound.body;
        to.of = static_cast<SceneBound::Of>(bound.of);
        to.least = bound.least ? reader.number(*bound.least, where / "least", -1e9, 1e9) : -kNone;
        to.most = bound.most ? reader.number(*bound.most, where / "most", -1e9, 1e9) : kNone;
        if (to.least > to.most) reader.fail(where / "least", "is above \"most\"; swap them");
        to.from_s = reader.number(bound.from_s, where / "from_s", 0.0, 1e9);
        if (bound.point)
            store(reader.vector(*bound.point, where / "point", kMaxLength_m, "kMaxCoordinate_m"), to.point);
        store(bound.axis ? reader.direction(*bound.axis, where / "axis") : D3{1, 0, 0}, to.axis);
        store(bound.to ? reader.direction(*bound.to, where / "to") : D3{0, 1, 0}, to.to);
        bounds.push_back(std::move(to));
    }
}

void convert_materials(Reader& reader, const SceneT& from, const Path& root, Library& library) {
    if (from.materials.empty()) return;  // the definition begins with the default material
    library.world->materials.clear();
    for (std::size_t i = 0; i < from.materials.size() && reader.ok(); ++i) {
        const MaterialT& material = *from.materials[i];
        const Path where = root.element("materials", i);
        library.materials.add(reader, material.name, static_cast<std::uint32_t>(i), where);
        sim::MaterialDef to;
        to.name = material.name;
        to.friction = reader.number(material.friction, where / "friction", 0.0f, kMaxFriction, "kMaxFriction");
        to.restitution = reader.number(material.restitution, where / "restitution", 0.0f, 1.0f);
        to.density_kgpm3 = reader.number(material.density_kgpm3, where / "density_kgpm3", 1e-3f, 1e6f);
        to.rolling_resistance = reader.number(material.rolling_resistance, where / "rolling_resistance", 0.0f, 100.0f);
        to.contact_frequency_hz =
            reader.number(material.contact_frequency_hz, where / "contact_frequency_hz", 0.0f, 1e4f);
        to.contact_damping_ratio =
            reader.number(material.contact_damping_ratio, where / "contact_damping_ratio", 0.0f, 1e4f);
        to.max_recovery_speed_mps =
            reader.number(material.max_recovery_speed_mps, where / "max_recovery_speed_mps", 0.0f, 1e3f);
        if (material.surface_velocity) {
            to.surface_velocity = narrowed(reader.vector(*material.surface_velocity, where / "surface_velocity",
                                                         sim::kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps"));
        }
        library.world->materials.push_back(std::move(to));
    }
}

void convert_points(Reader& reader, const std::vector<Vec3>& from, const Path& where, std::size_t most,
                    const char* limit, std::vector<sim::Vec3>& to) {
    if (!reader.at_most(from.size(), most, limit, where)) return;
    to.reserve(from.size());
    for (const Vec3& point : from)
        to.push_back(narrowed(reader.vector(point, where, kMaxLength_m, "kMaxCoordinate_m")));
}

void convert_children(Reader& reader, const CompoundShapeT& from, const Path& where, const Library& library,
                      sim::ShapeDef& to) {
    if (!reader.at_most(from.children.size(), sim::kMaxCompoundChildren, "kMaxCompoundChildren", where / "children"))
        return;
    for (std::size_t i = 0; i < from.children.size() && reader.ok(); ++i) {
        const CompoundChildT& child = *from.children[i];
        const Path here = where.element("children", i);
        const sim::Pose pose =
            convert_pose(reader, child.position.get(), child.orientation.get(), child.rotation_deg.get(), here);
        to.children.push_back({library.shapes.find(reader, child.shape, here / "shape"), pose});
    }
}

void convert_shape(Reader& reader, const ShapeT& from, const Path& where, const Library& library, sim::ShapeDef& to) {
    const int kinds = (from.sphere != nullptr) + (from.box != nullptr) + (from.capsule != nullptr) +
                      (from.plane != nullptr) + (from.cylinder != nullptr) + (from.hull != nullptr) +
                      (from.mesh != nullptr) + (from.height_field != nullptr) + (from.compound != nullptr);
    if (kinds != 1) {
        reader.fail(where, std::string(kinds == 0 ? "has no form; give one of "
                                                  : "has more than one form; give exactly one of ") +
                               "sphere, box, capsule, plane, cylinder, hull, mesh, height_field, compound");
        return;
    }
    const float low = static_cast<float>(kMinLength_m), high = static_cast<float>(kMaxLength_m);
    to.name = from.name;
    if (from.sphere) {
        to.type = sim::ShapeType::sphere;
        to.radius = reader.number(from.sphere->radius, where / "sphere.radius", low, high, "kMaxCoordinate_m");
    } else if (from.box) {
        to.type = sim::ShapeType::box;
        if (from.box->half_extents) {
            const Vec3& half = *from.box->half_extents;
            const Path here = where / "box.half_extents";
            to.half_extents = {reader.number(half.x(), here / "x", low, high, "kMaxCoordinate_m"),
                               reader.number(half.y(), here / "y", low, high, "kMaxCoordinate_m"),
                               reader.number(half.z(), here / "z", low, high, "kMaxCoordinate_m")};
        }
    } else if (from.capsule) {
        to.type = sim::ShapeType::capsule;
        to.radius = reader.number(from.capsule->radius, where / "capsule.radius", low, high, "kMaxCoordinate_m");
        to.half_height =
            reader.number(from.capsule->half_height, where / "capsule.half_height", low, high, "kMaxCoordinate_m");
    } else if (from.cylinder) {
        to.type = sim::ShapeType::cylinder;
        to.radius = reader.number(from.cylinder->radius, where / "cylinder.radius", low, high, "kMaxCoordinate_m");
        to.half_height =
            reader.number(from.cylinder->half_height, where / "cylinder.half_height", low, high, "kMaxCoordinate_m");
    } else if (from.hull) {
        to.type = sim::ShapeType::hull;
        convert_points(reader, from.hull->points, where / "hull.points", sim::kMaxHullPoints, "kMaxHullPoints",
                       to.points);
    } else if (from.mesh) {
        to.type = sim::ShapeType::mesh;
        convert_points(reader, from.mesh->vertices, where / "mesh.vertices", sim::kMaxMeshVertices, "kMaxMeshVertices",
                       to.points);
        to.indices = from.mesh->indices;
    } else if (from.height_field) {
        to.type = sim::ShapeType::height_field;
        to.columns = from.height_field->columns;
        to.heights = from.height_field->heights;
        if (from.height_field->spacing) {
            const Path here = where / "height_field.spacing";
            to.spacing = narrowed(reader.vector(*from.height_field->spacing, here, kMaxLength_m, "kMaxCoordinate_m"));
        }
    } else if (from.compound) {
        to.type = sim::ShapeType::compound;
        convert_children(reader, *from.compound, where / "compound", library, to);
    } else {
        to.type = sim::ShapeType::plane;
    }
}

void convert_shapes(Reader& reader, const SceneT& from, const Path& root, Library& library) {
    for (std::size_t i = 0; i < from.shapes.size() && reader.ok(); ++i) {
        const Path where = root.element("shapes", i);
        library.shapes.add(reader, from.shapes[i]->name, static_cast<std::uint32_t>(i), where);
        sim::ShapeDef to;
        convert_shape(reader, *from.shapes[i], where, library, to);
        library.world->shapes.push_back(std::move(to));
    }
}

sim::CollisionMode convert_mode(Reader& reader, const BodyT& from, const Path& where) {
    if (from.continuous) reader.fail(where / "continuous", "is not a field; write \"collision_mode\": \"continuous\"");
    const auto i = static_cast<std::uint8_t>(from.collision_mode);
    if (i < sim::kCollisionModeCount) return static_cast<sim::CollisionMode>(i);
    reader.fail(where / "collision_mode", "is none of discrete, passive, continuous");
    return sim::CollisionMode::discrete;
}

void check_shape_use(Reader& reader, const BodyT& from, const sim::BodyDef& to, const Library& library,
                     const Path& where) {
    if (to.shape == sim::kNone) {
        if (to.sensor) reader.fail(where / "sensor", "is set for a body without a shape; give the body a shape");
        if (to.type == sim::BodyType::dynamic && !(from.mass_kg > 0.0f)) {
            reader.fail(where / "mass_kg", "is missing for a dynamic body without a shape; give a mass or a shape");
        }
    } else if (library.world->shapes[to.shape].type == sim::ShapeType::plane && to.type != sim::BodyType::fixed) {
        reader.fail(where / "type",
                    "does not fit a plane, which is unbounded and has no mass; make the body \"static\"");
    } else if (to.type == sim::BodyType::dynamic &&
               (library.world->shapes[to.shape].type == sim::ShapeType::mesh ||
                library.world->shapes[to.shape].type == sim::ShapeType::height_field)) {
        reader.fail(where / "type", "does not fit a " +
                                        std::string(sim::shape_type_name(library.world->shapes[to.shape].type)) +
                                        ", which has no inside and no mass; make the body \"static\" or \"kinematic\"");
    }
}

void convert_body(Reader& reader, const BodyT& from, const Path& where, const Library& library, Scope& scope) {
    const auto index = static_cast<std::uint32_t>(scope.bodies->size());
    scope.body_names.add(reader, from.name, index, where);
    if (from.type > BodyType::MAX) reader.fail(where / "type", "is none of dynamic, static, kinematic");
    if ((static_cast<unsigned>(from.locks) & ~0x3fu) != 0)
        reader.fail(where / "locks", "has bits that are not axis locks; use linear_x to angular_z");
    sim::BodyDef to;
    to.name = from.name;
    to.type = convert_type(from.type);
    if (!from.shape.empty()) to.shape = library.shapes.find(reader, from.shape, where / "shape");
    to.material = convert_material(reader, from.material, library, where / "material");
    to.pose = convert_pose(reader, from.position.get(), from.orientation.get(), from.rotation_deg.get(), where);
    if (from.linear_velocity) {
        to.linear_velocity = narrowed(reader.vector(*from.linear_velocity, where / "linear_velocity",
                                                    sim::kMaxLinearSpeed_mps, "kMaxLinearSpeed_mps"));
    }
    if (from.angular_velocity) {
        to.angular_velocity = narrowed(reader.vector(*from.angular_velocity, where / "angular_velocity",
                                                     sim::kMaxAngularSpeed_radps, "kMaxAngularSpeed_radps"));
    }
    convert_mass(reader, from, where, to);
    to.gravity_scale = reader.number(from.gravity_scale, where / "gravity_scale", -1e4f, 1e4f);
    to.locks = static_cast<std::uint8_t>(from.locks);
    to.category = from.category;
    to.mask = from.mask;
    to.user_data = from.user_data;
    to.sensor = from.sensor;
    to.can_sleep = from.can_sleep;
    to.collision_mode = convert_mode(reader, from, where);
    if (reader.ok()) check_shape_use(reader, from, to, library, where);
    scope.bodies->push_back(std::move(to));
}

void convert_bodies(Reader& reader, const std::vector<std::unique_ptr<BodyT>>& from, const Path& root,
                    const Library& library, Scope& scope) {
    for (std::size_t i = 0; i < from.size() && reader.ok(); ++i) {
        convert_body(reader, *from[i], root.element("bodies", i), library, scope);
    }
}

void convert_joints(Reader& reader, const flatbuffers::Vector<flatbuffers::Offset<Joint>>* from, const Path& root,
                    Scope& scope) {
    for (flatbuffers::uoffset_t i = 0; from && i < from->size() && reader.ok(); ++i) {
        const Joint& joint = *from->Get(i);
        const Path where = root.element("joints", i);
        scope.joint_names.add(reader, view_of(joint.name()), static_cast<std::uint32_t>(scope.joints->size()), where);
        convert_joint(reader, joint, where, scope);
    }
}

void convert_actuators(Reader& reader, const std::vector<std::unique_ptr<ActuatorT>>& from, const Path& root,
                       const Scope& scope, const Library& library, std::vector<sim::ActuatorDef>& out) {
    Names names{"actuator"};
    for (std::size_t i = 0; i < from.size() && reader.ok(); ++i) {
        const Path where = root.element("actuators", i);
        names.add(reader, from[i]->name, static_cast<std::uint32_t>(i), where);
        convert_actuator(reader, *from[i], where, scope, library, out);
    }
}

void convert_templates(Reader& reader, const SceneT& from, const Scene& flat, const Path& root, Library& library) {
    for (std::size_t i = 0; i < from.templates.size() && reader.ok(); ++i) {
        const Path where = root.element("templates", i);
        const TemplateT& group = *from.templates[i];
        library.templates.add(reader, group.name, static_cast<std::uint32_t>(i), where);
        if (group.bodies.empty()) reader.fail(where / "bodies", "is empty; a template needs at least one body");
        sim::PrefabDef to;
        to.name = group.name;
        Scope scope;
        scope.bodies = &to.bodies;
        scope.joints = &to.joints;
        scope.in_template = true;
        convert_bodies(reader, group.bodies, where, library, scope);
        convert_joints(reader, flat.templates()->Get(static_cast<flatbuffers::uoffset_t>(i))->joints(), where, scope);
        convert_actuators(reader, group.actuators, where, scope, library, to.actuators);
        library.world->prefabs.push_back(std::move(to));
    }
}

void convert_slots(Reader& reader, const SceneT& from, const Path& root, Library& library) {
    reader.at_most(from.slots.size(), sim::kMaxSlots, "kMaxSlots", root / "slots");
    for (std::size_t i = 0; i < from.slots.size() && reader.ok(); ++i) {
        const SlotT& slot = *from.slots[i];
        const Path where = root.element("slots", i);
        library.slots.add(reader, slot.name, static_cast<std::uint32_t>(i), where);
        sim::SlotDef to;
        to.name = slot.name;
        if (!slot.template_.empty()) to.prefab = library.templates.find(reader, slot.template_, where / "template");
        to.pose = convert_pose(reader, slot.position.get(), slot.orientation.get(), slot.rotation_deg.get(), where);
        library.world->slots.push_back(std::move(to));
    }
}

void expand_generators(Reader& reader, const SceneT& from, const Path& root, const Library& library, Scope& scope) {
    for (std::size_t i = 0; i < from.generators.size() && reader.ok(); ++i) {
        const Path where = root.element("generators", i);
        scope.generator_names.add(reader, from.generators[i]->name, static_cast<std::uint32_t>(scope.generated.size()),
                                  where);
        const auto first = static_cast<std::uint32_t>(scope.bodies->size()),
                   first_joint = static_cast<std::uint32_t>(scope.joints->size());
        expand_generator(reader, *from.generators[i], where, library, scope);
        scope.generated.push_back({first, static_cast<std::uint32_t>(scope.bodies->size()) - first, first_joint,
                                   static_cast<std::uint32_t>(scope.joints->size()) - first_joint});
    }
}

// Everything that will be made, summed before any of it is.
void check_counts(Reader& reader, const SceneT& from, const Path& root, const SceneCaps& caps) {
    Count total{from.bodies.size(), from.joints.size()};
    for (const auto& group : from.templates) total.bodies += group->bodies.size(), total.joints += group->joints.size();
    for (std::size_t i = 0; i <= from.generators.size() && reader.ok(); ++i) {
        const Path where = i == 0 ? root : root.element("generators", i - 1);
        if (i > 0) {
            const Count added = count_generator(*from.generators[i - 1], from);
            total.bodies += added.bodies;
            total.joints += added.joints;
        }
        if (total.bodies > caps.max_bodies) {
            reader.fail(where,
                        "raises the scene to more bodies (" + std::to_string(total.bodies) +
                            " or more) than the limit of " + std::to_string(caps.max_bodies) +
                            "; use fewer, or raise the limit (max_bodies)",
                        ErrorCode::limit_reached);
        } else if (total.joints > caps.max_joints) {
            reader.fail(where,
                        "raises the scene to more joints (" + std::to_string(total.joints) +
                            " or more) than the limit of " + std::to_string(caps.max_joints) +
                            "; use fewer, or raise the limit (max_joints)",
                        ErrorCode::limit_reached);
        }
    }
    if (from.materials.size() > kMaxListed || from.shapes.size() > kMaxListed || from.actuators.size() > kMaxListed) {
        reader.fail(
            root,
            "has a list of more than " + std::to_string(kMaxListed) + " materials, shapes or actuators (kMaxListed)",
            ErrorCode::limit_reached);
    }
}

}  // namespace

sim::Pose convert_pose(Reader& reader, const Vec3* position, const Quat* orientation, const Vec3* rotation_deg,
                       const Path& where) {
    sim::Pose pose;
    if (position)
        pose.position = narrowed(reader.vector(*position, where / "position", kMaxLength_m, "kMaxCoordinate_m"));
    if (orientation && rotation_deg)
        reader.fail(where / "rotation_deg", "is given together with `orientation`; give one of the two");
    if (orientation) pose.orientation = narrowed(reader.orientation(*orientation, where / "orientation"));
    if (rotation_deg)
        pose.orientation = narrowed(from_rotation_deg(reader.vector(*rotation_deg, where / "rotation_deg", 1e6)));
    return pose;
}

sim::Spring convert_spring(Reader& reader, const SpringT* spring, sim::Spring absent, const Path& where) {
    if (!spring) return absent;
    return {
        reader.number(spring->frequency_hz, where / "frequency_hz", 0.0f, static_cast<float>(kMaxFrequency_hz),
                      "kMaxFrequency_hz"),
        reader.number(spring->damping_ratio, where / "damping_ratio", 0.0f, static_cast<float>(kMaxRatio), "kMaxRatio"),
        reader.number(spring->max_recovery_speed, where / "max_recovery_speed", 0.0f, static_cast<float>(kMaxForce),
                      "kMaxForce")};
}

std::uint32_t convert_material(Reader& reader, const std::string& name, const Library& library, const Path& where) {
    return name.empty() ? 0 : library.materials.find(reader, name, where);
}

float limit_or_none(Reader& reader, const flatbuffers::Optional<float>& value, const Path& where) {
    return value ? reader.number(*value, where, 0.0f, static_cast<float>(kMaxForce), "kMaxForce") : sim::kNoLimit;
}

std::uint32_t Scope::find_body(Reader& reader, std::string_view name, const Path& where) const {
    const std::size_t bracket = name.find('[');
    const bool generated_name = bracket != std::string_view::npos && name.ends_with(']') && !body_names.get(name);
    if (!generated_name) return body_names.find(reader, name, where);
    const std::uint32_t range = generator_names.find(reader, name.substr(0, bracket), where);
    const std::string digits(name.substr(bracket + 1, name.size() - bracket - 2));
    const bool numeric =
        !digits.empty() && digits.size() <= 9 && digits.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long index = numeric ? std::strtoul(digits.c_str(), nullptr, 10) : 0;
    if (!reader.ok()) return 0;
    if (!numeric || index >= generated[range].count) {
        reader.fail(where,
                    "names body \"" + std::string(name) + "\" of a generator that makes " +
                        std::to_string(generated[range].count) + " bodies; write a number below that in the brackets",
                    ErrorCode::not_found);
        return 0;
    }
    return generated[range].first + static_cast<std::uint32_t>(index);
}

Result<sim::WorldDef> convert_scene(const SceneT& scene, const Scene& flat, std::string_view file_name,
                                    const SceneCaps& caps, std::vector<SceneBound>& bounds,
                                    std::vector<GeneratedRange>& generated) {
    Reader reader(file_name);
    const Path root;
    check_counts(reader, scene, root, caps);
    sim::WorldDef world;
    Library library;
    library.world = &world;
    Scope scope;
    scope.bodies = &world.bodies;
    scope.joints = &world.joints;
    if (reader.ok()) convert_settings(reader, scene, root, world);
    if (reader.ok()) convert_materials(reader, scene, root, library);
    if (reader.ok()) convert_shapes(reader, scene, root, library);
    if (reader.ok()) convert_bodies(reader, scene.bodies, root, library, scope);
    if (reader.ok()) convert_templates(reader, scene, flat, root, library);
    if (reader.ok()) expand_generators(reader, scene, root, library, scope);
    if (reader.ok()) convert_joints(reader, flat.joints(), root, scope);
    if (reader.ok()) convert_slots(reader, scene, root, library);
    if (reader.ok()) convert_actuators(reader, scene.actuators, root, scope, library, world.actuators);
    if (reader.ok()) convert_rigs(reader, scene, root, scope, world);
    if (reader.ok()) convert_bounds(reader, scene, root, scope, bounds);
    if (!reader.ok()) return reader.error();
    generated = std::move(scope.generated);
    return world;
}

}  // namespace orrery::protocol::scene
