#include "server/cli/scene_warnings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "protocol/scene/geometry.h"

namespace orrery::server {

namespace {

using protocol::scene::D3;
using protocol::scene::DQuat;
using protocol::scene::narrowed;
using protocol::scene::rotate;
using protocol::scene::widened;

// An overlap is deep above a tenth of the least half extent of the smaller body, within these limits. The solver pushes
// out a smaller overlap without a leap.
constexpr double kDeepShare = 0.1, kLeastDeep_m = 0.0005, kMostDeep_m = 0.01;
constexpr double kSamePose_m = 0.001;          // slots that are nearer have one pose
constexpr double kSteep = 0.3;                 // the least part along "up" of the normal of a face that looks up
constexpr double kLookingAnotherWay = 0.01;    // a smaller share of the faces' area is no ground
constexpr std::uint64_t kMaxTicks = 60;        // of a world that is stepped: enough for bodies to settle
constexpr std::uint64_t kBodyTicks = 600'000;  // bodies times ticks of it: some seconds on one core

double norm(D3 v) { return std::sqrt(dot(v, v)); }

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string spell(D3 v) { return "[" + number(v.x) + ", " + number(v.y) + ", " + number(v.z) + "]"; }

sim::Pose compose(const sim::Pose& frame, const sim::Pose& local) {
    const DQuat turn = widened(frame.orientation);
    return {narrowed(widened(frame.position) + rotate(turn, widened(local.position))),
            narrowed(normalized(turn * widened(local.orientation)))};
}

// The path and the name, in the scene, of a body of the world that is stepped.
struct Called {
    std::string path, name;  // bodies[3]; "crate"
    std::uint32_t prefab = sim::kNone, of_prefab = 0, slot = sim::kNone;
    bool generated = false;  // the path is the generator's
};

// The bodies and joints of a world with every slot taken.
struct Populated {
    sim::WorldDef def;
    std::vector<Called> bodies;
    std::vector<std::string> joint_paths;
};

class Warnings {
  public:
    Warnings(const protocol::LoadedScene& scene, const sim::WorldDef& made) : scene_(scene), made_(made) {}

    Result<SceneWarnings> run() {
        const Populated all = populate();
        find_winding(all);
        // In the order of kinds. The touching pairs are found once, for overlaps and mass ratios.
        std::vector<Populated> worlds;
        worlds.push_back(all);
        for (std::uint32_t i = 0; i < made_.prefabs.size(); ++i) {
            if (std::ranges::none_of(made_.slots, [&](const sim::SlotDef& slot) { return slot.prefab == i; }))
                worlds.push_back(alone(i));
        }
        std::vector<std::set<Pair>> touching(worlds.size());
        for (std::size_t i = 0; i < worlds.size(); ++i) {
            if (const Result<Ok> stepped = find_overlaps(worlds[i], touching[i]); !stepped) return stepped.error();
        }
        find_slots();
        find_static_velocities();
        find_idle_joints();
        for (std::size_t i = 0; i < worlds.size(); ++i) {
            if (const Result<Ok> found = find_mass_ratios(worlds[i], touching[i]); !found) return found.error();
        }
        return std::move(warnings_);
    }

  private:
    using Pair = std::pair<std::uint32_t, std::uint32_t>;  // of bodies of a Populated

    // False: enough warnings of the kind have a message.
    bool count(WarningKind kind) { return ++warnings_.count[static_cast<std::size_t>(kind)] <= kMaxToldWarnings; }
    void tell(WarningKind kind, std::string path, std::string message) {
        warnings_.told.push_back({kind, std::move(path), std::move(message)});
    }
    void add(WarningKind kind, std::string path, std::string message) {
        if (count(kind)) tell(kind, std::move(path), std::move(message));
    }

    static std::string element(const char* list, std::size_t i) { return list + ("[" + std::to_string(i) + "]"); }
    std::string scene_path(const char* list, std::size_t i) const {
        return protocol::scene_path(element(list, i), scene_.generated);
    }

    // ---- the worlds that are stepped

    void append(Populated& to, std::uint32_t prefab, std::uint32_t slot, const sim::Pose& pose) const {
        const sim::PrefabDef& group = made_.prefabs[prefab];
        const std::string in = element("templates", prefab);
        const auto first = static_cast<std::uint32_t>(to.def.bodies.size());
        for (std::uint32_t i = 0; i < group.bodies.size(); ++i) {
            sim::BodyDef& body = to.def.bodies.emplace_back(group.bodies[i]);
            const std::string name = body.name.empty() ? "bodies[" + std::to_string(i) + "]" : "\"" + body.name + "\"";
            to.bodies.push_back({in + ".bodies[" + std::to_string(i) + "]",
                                 name + " of " + (slot == sim::kNone ? in : element("slots", slot)), prefab, i, slot});
            body.name.clear();
            body.pose = compose(pose, body.pose);
        }
        for (std::uint32_t i = 0; i < group.joints.size(); ++i) {
            sim::JointDef& joint = to.def.joints.emplace_back(group.joints[i]);
            joint.name.clear();
            for (std::uint32_t* end : {&joint.body_a, &joint.body_b, &joint.body_c, &joint.body_d})
                *end += *end == sim::kNone ? 0 : first;
            to.joint_paths.push_back(in + ".joints[" + std::to_string(i) + "]");
        }
    }

    Populated populate() const {
        Populated all;
        all.def = made_;
        all.def.actuators.clear();
        all.def.slots.clear();
        all.def.prefabs.clear();
        all.def.rigs.clear();
        all.def.solver.rig_joints = 0;
        for (std::size_t i = 0; i < made_.bodies.size(); ++i) {
            const std::string path = scene_path("bodies", i), &name = made_.bodies[i].name;
            all.bodies.push_back({path, name.empty() ? path : "\"" + name + "\""});
        }
        for (const protocol::GeneratedRange& range : scene_.generated) {
            for (std::uint32_t i = 0; i < range.count; ++i) {
                Called& made = all.bodies[range.first + i];
                if (made_.bodies[range.first + i].name.empty())
                    made.name = "body " + std::to_string(i) + " of " + made.path;
                made.generated = true;
            }
        }
        for (std::size_t i = 0; i < made_.joints.size(); ++i) all.joint_paths.push_back(scene_path("joints", i));
        for (std::uint32_t i = 0; i < made_.slots.size(); ++i) {
            if (made_.slots[i].prefab != sim::kNone && !earlier_slot(i))
                append(all, made_.slots[i].prefab, i, made_.slots[i].pose);
        }
        return all;
    }

    Populated alone(std::uint32_t prefab) const {
        Populated one;
        one.def.shapes = made_.shapes;
        one.def.materials = made_.materials;
        one.def.tick_rate_hz = made_.tick_rate_hz;
        append(one, prefab, sim::kNone, {});
        return one;
    }

    // The first slot before this one with a template and the same pose.
    std::optional<std::uint32_t> earlier_slot(std::uint32_t slot) const {
        for (std::uint32_t i = 0; i < slot; ++i) {
            if (made_.slots[i].prefab == sim::kNone) continue;
            if (norm(widened(made_.slots[i].pose.position) - widened(made_.slots[slot].pose.position)) < kSamePose_m)
                return i;
        }
        return std::nullopt;
    }

    // ---- warnings that need no world

    void find_slots() {
        for (std::uint32_t i = 0; i < made_.slots.size(); ++i) {
            if (made_.slots[i].prefab == sim::kNone) continue;
            if (const std::optional<std::uint32_t> first = earlier_slot(i)) {
                add(WarningKind::slots_at_one_pose, element("slots", i) + ".position",
                    "is the position of slots[" + std::to_string(*first) +
                        "], too: two players start inside each other; give each slot its own position");
            }
        }
        for (std::uint32_t i = 0; i < made_.slots.size(); ++i) {
            const sim::SlotDef& slot = made_.slots[i];
            const bool steers = (slot.prefab != sim::kNone && !made_.prefabs[slot.prefab].actuators.empty()) ||
                                std::ranges::any_of(made_.actuators, [&](const sim::ActuatorDef& actuator) {
                                    return actuator.slot == i;
                                });
            if (!steers) {
                add(WarningKind::idle_slot, element("slots", i),
                    "controls nothing: no actuator names it, and it has no template with actuators; add "
                    "\"actuators\" to its template, or "
                    "an actuator with this \"slot\"");
            }
        }
    }

    void find_static_velocities() {
        const auto look = [&](const sim::BodyDef& body, const std::string& path) {
            if (body.type != sim::BodyType::fixed) return;
            for (const auto& [velocity, field] :
                 {std::pair(body.linear_velocity, ".linear_velocity"), {body.angular_velocity, ".angular_velocity"}}) {
                if (velocity == sim::Vec3{}) continue;
                add(WarningKind::static_velocity, path + field,
                    "is the velocity of a static body, which never moves; remove it, or write \"type\": \"kinematic\"");
            }
        };
        for (std::size_t i = 0; i < scene_.world.bodies.size(); ++i) {
            if (scene_.world.bodies[i].type == sim::BodyType::fixed)
                look(scene_.world.bodies[i], scene_path("bodies", i));
        }
        for (std::size_t t = 0; t < scene_.world.prefabs.size(); ++t) {
            const auto& bodies = scene_.world.prefabs[t].bodies;
            for (std::size_t i = 0; i < bodies.size(); ++i)
                look(bodies[i], element("templates", t) + "." + element("bodies", i));
        }
    }

    void find_idle_joints() {
        const auto look = [&](const std::vector<sim::BodyDef>& bodies, const sim::JointDef& joint,
                              const std::string& path) {
            bool dynamic = false, kinematic = false;
            for (const std::uint32_t end : {joint.body_a, joint.body_b, joint.body_c, joint.body_d}) {
                dynamic = dynamic || (end != sim::kNone && bodies[end].type == sim::BodyType::dynamic);
                kinematic = kinematic || (end != sim::kNone && bodies[end].type == sim::BodyType::kinematic);
            }
            if (dynamic) return;
            add(WarningKind::idle_joint, path,
                std::string("connects only static") + (kinematic ? " or kinematic" : "") +
                    " bodies, and joints move dynamic bodies alone; make one of them \"dynamic\", or remove the joint");
        };
        for (std::size_t i = 0; i < made_.joints.size(); ++i)
            look(made_.bodies, made_.joints[i], scene_path("joints", i));
        for (std::size_t t = 0; t < made_.prefabs.size(); ++t) {
            const sim::PrefabDef& group = made_.prefabs[t];
            for (std::size_t i = 0; i < group.joints.size(); ++i)
                look(group.bodies, group.joints[i], element("templates", t) + "." + element("joints", i));
        }
    }

    // ---- meshes

    D3 up() const {
        const D3 gravity = widened(made_.gravity);
        return norm(gravity) > 0.0 ? (-1.0 / norm(gravity)) * gravity : D3{0.0, 1.0, 0.0};
    }

    // An edge of a triangle. Vertices at one position count as one.
    struct Edge {
        std::uint32_t low = 0, high = 0, triangle = 0;
        bool rising = false;  // from low to high
    };

    // Sorted by their ends. A triangle with two corners at one position has no edges.
    static std::vector<Edge> edges_of(const sim::ShapeDef& mesh) {
        std::vector<std::uint32_t> order(mesh.points.size()), place(mesh.points.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        const auto key = [&](std::uint32_t i) {
            return std::tie(mesh.points[i].x, mesh.points[i].y, mesh.points[i].z);
        };
        std::ranges::sort(
            order, [&](std::uint32_t a, std::uint32_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
        for (std::size_t i = 0; i < order.size(); ++i)
            place[order[i]] = i > 0 && key(order[i]) == key(order[i - 1]) ? place[order[i - 1]] : order[i];
        std::vector<Edge> edges;
        for (std::uint32_t t = 0; t < mesh.indices.size() / 3; ++t) {
            const std::uint32_t corner[3] = {place[mesh.indices[3 * t]], place[mesh.indices[3 * t + 1]],
                                             place[mesh.indices[3 * t + 2]]};
            if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
            for (int k = 0; k < 3; ++k) {
                const std::uint32_t from = corner[k], to = corner[(k + 1) % 3];
                edges.push_back({std::min(from, to), std::max(from, to), t, from < to});
            }
        }
        std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
            return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
        });
        return edges;
    }

    // The faces of a mesh in the pose of a body.
    struct Faces {
        double looking_up_m2 = 0.0, looking_down_m2 = 0.0, volume_m3 = 0.0;
        D3 low{1e30, 1e30, 1e30}, high{-1e30, -1e30, -1e30};  // corners of the box around them, world
    };

    Faces faces_of(const sim::ShapeDef& mesh, const sim::Pose& pose) const {
        Faces faces;
        const DQuat turn = widened(pose.orientation);
        const auto at = [&](std::uint32_t i) { return widened(pose.position) + rotate(turn, widened(mesh.points[i])); };
        for (std::size_t t = 0; t + 2 < mesh.indices.size(); t += 3) {
            const D3 a = at(mesh.indices[t]), b = at(mesh.indices[t + 1]), c = at(mesh.indices[t + 2]);
            const D3 twice = cross(b - a, c - a);
            const double area = 0.5 * norm(twice), rise = 0.5 * dot(twice, up());
            if (rise > kSteep * area) faces.looking_up_m2 += area;
            if (-rise > kSteep * area) faces.looking_down_m2 += area;
            const D3 from = widened(pose.position);
            faces.volume_m3 += dot(a - from, cross(b - from, c - from)) / 6.0;
            for (const D3& corner : {a, b, c}) {
                faces.low = {std::min(faces.low.x, corner.x), std::min(faces.low.y, corner.y),
                             std::min(faces.low.z, corner.z)};
                faces.high = {std::max(faces.high.x, corner.x), std::max(faces.high.y, corner.y),
                              std::max(faces.high.z, corner.z)};
            }
        }
        return faces;
    }

    void find_winding(const Populated& all) {
        for (std::uint32_t s = 0; s < made_.shapes.size(); ++s) {
            const sim::ShapeDef& mesh = made_.shapes[s];
            if (mesh.type != sim::ShapeType::mesh) continue;
            const std::string path = element("shapes", s) + ".mesh.indices";
            const std::vector<Edge> edges = edges_of(mesh);
            std::uint64_t against = 0;
            std::optional<std::pair<std::uint32_t, std::uint32_t>> first;
            bool closed = true;
            for (std::size_t i = 0, end; i < edges.size(); i = end) {
                for (end = i + 1;
                     end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high;)
                    ++end;
                closed = closed && end - i == 2;
                if (end - i != 2 || edges[i].rising != edges[i + 1].rising) continue;
                ++against;
                if (!first) first = {edges[i].triangle, edges[i + 1].triangle};
            }
            if (first) {
                add(WarningKind::mesh_winding, path,
                    "wind triangle " + std::to_string(first->second) + " against its neighbour, triangle " +
                        std::to_string(first->first) +
                        (against > 1 ? " (" + std::to_string(against) + " such edges in all)" : "") +
                        ": bodies fall through the back of a face; list the corners of every triangle "
                        "counter-clockwise, seen from the side that collides");
                continue;
            }
            if (!edges.empty()) find_facing(all, s, closed, path);
        }
    }

    // In the pose of the first body with this shape. A closed mesh around a body is a room; a mesh above all bodies is
    // a ceiling.
    void find_facing(const Populated& all, std::uint32_t shape, bool closed, const std::string& path) {
        const auto user = std::ranges::find_if(
            all.def.bodies, [&](const sim::BodyDef& body) { return body.shape == shape && !body.sensor; });
        const Faces faces = faces_of(made_.shapes[shape], user == all.def.bodies.end() ? sim::Pose{} : user->pose);
        bool inside = false, above = false, below = false;
        for (const sim::BodyDef& body : all.def.bodies) {
            const D3 p = widened(body.pose.position);
            if (body.type != sim::BodyType::dynamic || p.x < faces.low.x || p.x > faces.high.x || p.z < faces.low.z ||
                p.z > faces.high.z)
                continue;
            above = above || p.y > faces.high.y;
            below = below || p.y < faces.low.y;
            inside = inside || (p.y >= faces.low.y && p.y <= faces.high.y);
        }
        constexpr const char* kMend =
            "; swap two corners of every triangle: they go round counter-clockwise, seen from the side that collides";
        if (closed && faces.volume_m3 < 0.0 && !inside) {
            add(WarningKind::mesh_winding, path,
                "turn the faces of a closed mesh inward: bodies fall into it" + std::string(kMend));
        } else if (!closed && faces.looking_down_m2 > 0.0 &&
                   faces.looking_up_m2 <= kLookingAnotherWay * faces.looking_down_m2 && (above || inside || !below)) {
            add(WarningKind::mesh_winding, path,
                "turn all faces of the mesh down: bodies that stand on it fall through" + std::string(kMend));
        }
    }

    // ---- overlaps and mass ratios

    static double least_half_extent(const sim::ShapeDef& shape) {
        switch (shape.type) {
            case sim::ShapeType::sphere:
            case sim::ShapeType::capsule:
                return static_cast<double>(shape.radius);
            case sim::ShapeType::cylinder:
                return static_cast<double>(std::min(shape.radius, shape.half_height));
            case sim::ShapeType::box:
            case sim::ShapeType::hull:
            case sim::ShapeType::compound:
                return static_cast<double>(
                    std::min({shape.half_extents.x, shape.half_extents.y, shape.half_extents.z}));
            default:
                return 1e9;  // planes, meshes and height fields have no inside to be deep in
        }
    }

    // A convex part of a body's shape, in the body's frame.
    struct Part {
        std::uint32_t shape = sim::kNone;
        sim::Pose pose;
    };
    Result<std::vector<Part>> parts_of(std::uint32_t shape) const {
        const sim::ShapeDef& def = made_.shapes[shape];
        if (def.type != sim::ShapeType::compound) return std::vector<Part>{{shape, {}}};
        const Result<sim::Vec3> centre = sim::shape_centre(def, std::span(made_.shapes).first(shape));
        if (!centre) return centre.error();
        std::vector<Part> parts;
        for (const sim::CompoundChild& child : def.children)
            parts.push_back(
                {child.shape, {narrowed(widened(child.pose.position) - widened(*centre)), child.pose.orientation}});
        return parts;
    }

    // Whether a body, moved by `shift` from its first pose, overlaps another.
    static bool overlaps(const sim::World& world, const sim::WorldDef& def, const std::vector<Part>& parts,
                         std::uint32_t mover, std::uint32_t other, D3 shift) {
        std::vector<sim::QueryHit> hits;
        for (const Part& part : parts) {
            sim::Overlap query;
            query.shape.index = part.shape;
            query.pose = compose(def.bodies[mover].pose, part.pose);
            query.pose.position = narrowed(widened(query.pose.position) + shift);
            query.filter.ignore = {mover + 1, 0};
            query.tick = 0;
            if (world.overlap(query, hits) != sim::QueryStatus::hit) continue;
            if (std::ranges::any_of(hits, [&](const sim::QueryHit& hit) {
                    return hit.body == sim::BodyId{other + 1, 0};
                }))
                return true;
        }
        return false;
    }

    // The shortest of several translations out of the other body, to within an eighth. None: the overlap is at most
    // `deep_m`.
    std::optional<D3> way_out(const sim::World& world, const sim::WorldDef& def, std::uint32_t mover,
                              std::uint32_t other, D3 normal, double deep_m) const {
        const Result<std::vector<Part>> parts = parts_of(def.bodies[mover].shape);
        if (!parts) return std::nullopt;
        std::vector<D3> ways;
        if (norm(normal) > 0.5) ways.push_back(normal);
        for (const D3& axis : {D3{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}) ways.push_back(axis), ways.push_back(-1.0 * axis);
        for (const D3& way : ways) {
            if (!overlaps(world, def, *parts, mover, other, deep_m * way)) return std::nullopt;
        }
        std::optional<D3> shortest;
        double least = 64.0 * static_cast<double>(sim::kMaxCoordinate_m);
        for (const D3& way : ways) {
            double within = deep_m, out = 2.0 * deep_m;
            while (out < least && overlaps(world, def, *parts, mover, other, out * way)) within = out, out *= 2.0;
            if (out >= least) continue;
            for (int i = 0; i < 3; ++i)
                (overlaps(world, def, *parts, mover, other, 0.5 * (within + out) * way) ? within : out) =
                    0.5 * (within + out);
            if (out < least) least = out, shortest = out * way;
        }
        return shortest;
    }

    Result<Ok> find_overlaps(const Populated& all, std::set<Pair>& touching) {
        if (all.def.bodies.empty()) return Ok{};
        const Result<std::unique_ptr<sim::World>> made = sim::World::create(all.def, {.history_ticks = 1});
        if (!made) return made.error();
        sim::World& world = **made;
        const std::uint64_t ticks = std::clamp<std::uint64_t>(kBodyTicks / all.def.bodies.size(), 1,
                                                              std::min<std::uint64_t>(kMaxTicks, tick_rate()));
        std::map<Pair, D3> first;  // pairs of the first tick, with the normal from the one to the other
        for (std::uint64_t tick = 1; tick <= ticks; ++tick) {
            if (const sim::StepStatus status = world.step(); status != sim::StepStatus::ok)
                return sim::step_error(status, tick);
            for (const sim::Event& event : world.events()) {
                if (event.kind != sim::EventKind::contact_begin) continue;
                const Pair pair{event.a.index - 1, event.b.index - 1};
                touching.insert(pair);
                if (tick == 1) first.emplace(pair, widened(event.normal));
            }
            if (tick == 1) tell_overlaps(all, world, first);
        }
        return Ok{};
    }
    std::uint64_t tick_rate() const { return static_cast<std::uint64_t>(std::max(made_.tick_rate_hz, 1.0f)); }

    void tell_overlaps(const Populated& all, const sim::World& world, const std::map<Pair, D3>& pairs) {
        const auto& bodies = all.def.bodies;
        for (const auto& [pair, normal] : pairs) {
            const bool second = bodies[pair.second].type == sim::BodyType::dynamic;
            const std::uint32_t mover = second ? pair.second : pair.first, other = second ? pair.first : pair.second;
            const double size = std::min(least_half_extent(made_.shapes[bodies[mover].shape]),
                                         least_half_extent(made_.shapes[bodies[other].shape]));
            const double deep_m = std::clamp(kDeepShare * size, kLeastDeep_m, kMostDeep_m);
            const std::optional<D3> out =
                way_out(world, all.def, mover, other, second ? normal : -1.0 * normal, deep_m);
            const Called &is = all.bodies[mover], &in = all.bodies[other];
            if (!out || (is.slot != sim::kNone && is.slot == in.slot &&
                         !told_.insert({is.prefab, is.of_prefab, in.of_prefab}).second))
                continue;
            if (!count(WarningKind::overlap)) continue;
            tell(WarningKind::overlap, is.path + (is.generated ? "" : ".position"),
                 is.name + " starts about " + number(norm(*out) * 1000.0) + " mm deep inside " + in.name +
                     (in.name == in.path || in.name.ends_with(in.path) ? "" : " (" + in.path + ")") + "; move it by " +
                     spell(*out) + " m, or set \"category\" and \"mask\" so that the two do not collide");
        }
    }

    Result<Ok> find_mass_ratios(const Populated& all, const std::set<Pair>& touching) {
        if (all.def.bodies.empty()) return Ok{};
        const Result<std::unique_ptr<sim::World>> made = sim::World::create(all.def);
        if (!made) return made.error();
        std::vector<sim::BodyState> states;
        (*made)->read_bodies(states);
        const auto mass = [&](std::uint32_t body) {
            return states[body].inverse_mass > 0.0f ? 1.0 / static_cast<double>(states[body].inverse_mass)
                                                    : 0.0;  // 0: it is not dynamic
        };
        std::set<Pair> told;
        const auto look = [&](std::uint32_t a, std::uint32_t b, const char* how, const std::string& path) {
            if (a == sim::kNone || b == sim::kNone || mass(a) == 0.0 || mass(b) == 0.0) return;
            const std::uint32_t light = mass(a) < mass(b) ? a : b, heavy = light == a ? b : a;
            if (mass(heavy) <= kMaxMassRatio * mass(light) || !told.insert({light, heavy}).second ||
                !count(WarningKind::mass_ratio))
                return;
            tell(WarningKind::mass_ratio, path.empty() ? all.bodies[light].path : path,
                 all.bodies[light].name + " (" + number(mass(light)) + " kg) " + how + " " + all.bodies[heavy].name +
                     " (" + number(mass(heavy)) + " kg), which is " + number(mass(heavy) / mass(light)) +
                     " times as heavy; the solver holds ratios of up to " + number(kMaxMassRatio) +
                     ": change \"mass_kg\" or the material's \"density_kgpm3\"");
        };
        for (std::size_t i = 0; i < all.def.joints.size(); ++i) {
            const sim::JointDef& joint = all.def.joints[i];
            const std::uint32_t ends[] = {joint.body_a, joint.body_b, joint.body_c, joint.body_d};
            for (int a = 0; a < 4; ++a) {
                for (int b = a + 1; b < 4; ++b) look(ends[a], ends[b], "is jointed to", all.joint_paths[i]);
            }
        }
        for (const auto& [a, b] : touching) look(a, b, "touches", "");
        return Ok{};
    }

    const protocol::LoadedScene& scene_;
    const sim::WorldDef& made_;
    SceneWarnings warnings_;
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>
        told_;  // overlaps in a template: it and two of its bodies
};

}  // namespace

std::string_view warning_name(WarningKind kind) {
    constexpr std::string_view kNames[kWarningKinds] = {
        "mesh_winding", "overlap", "slots_at_one_pose", "idle_slot", "static_velocity", "idle_joint", "mass_ratio"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t SceneWarnings::total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : count) sum += one;
    return sum;
}

Result<SceneWarnings> scene_warnings(const protocol::LoadedScene& scene, const sim::Definition& definition) {
    return Warnings(scene, definition.def()).run();
}

}  // namespace orrery::server
