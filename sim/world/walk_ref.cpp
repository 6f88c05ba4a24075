#include "sim/lanes/ref_pass.h"

#include "sim/world/walk.h"

#include <algorithm>

#include "sim/bodies/numbers.h"
#include "sim/collision/queries/queries.h"
#include "sim/lanes/quat-inl.h"
#include "sim/lanes/trig-inl.h"
#include "sim/lanes/vec3-inl.h"
#include "sim/world/state.h"

namespace orrery::sim::ref {

namespace {

using V = Vec3T<float>;

// What probes for ground and steps is slimmer than the capsule by this part of its radius, and begins as much higher,
// so that it begins free of what the capsule rests on or leans against.
constexpr float kSlimmer = 0.1f;
constexpr float kTouching_m = 0.02f;  // ground so near is stood on
constexpr float kSkin_m = 0.005f;     // left between the probe and what it met
constexpr float kAirShare = 0.1f;     // of the force, without ground
constexpr float kClosest_m = 0.02f;   // to a step that is to be climbed, before the tick's way
constexpr float kEdge_m = 0.02f;      // behind an edge, and above it, is where its face is looked for
constexpr float kFacing = 0.3f;       // how much against the way a step's face points
constexpr float kSameFace = 0.99f;
constexpr float kSlowest_mps = 0.05f;     // a wish that climbs steps
constexpr float kStillRising_mps = 0.1f;  // after a jump ground counts again when it is not left faster than this
constexpr float kThrown_mps = 1.0f;       // ground that is left faster than by walking is left
constexpr float kLevelEnough = 1.0e-4f;   // of the cosine of a slope
constexpr float kMostTurn_rad = 1.0f;     // of ground in a tick: who stands on what spins faster is not carried round

V wide(Vec3 v) { return {v.x, v.y, v.z}; }
Vec3 plain(V v) { return {v.x, v.y, v.z}; }
V shorter(V v, float most) {
    const float n = length(v);
    return n > most ? v * (most / n) : v;
}

class Step {
  public:
    Step(const Walker& walker, const WalkScene& scene)
        : walker_(walker),
          scene_(scene),
          info_(scene.bodies.info(walker.body)),
          shape_(scene.shapes[info_.shape]),
          radius_(shape_.radius),
          position_(position(scene.bodies.pose[walker.body])) {
        const V gravity = wide(scene.gravity);
        const float g = length(gravity);
        up_ = g > 0.0f ? gravity * (-1.0f / g) : V{0.0f, 1.0f, 0.0f};
        const auto slope = sin_cos(walker.settings->max_slope_rad);
        cos_slope_ = slope.cos - kLevelEnough;
        steepest_ = slope.sin / slope.cos;
        // A capsule of this definition passed its check; a slimmer one does, too, or is as small as one may be.
        auto made = make_shape(
            {{}, ShapeType::capsule, max(radius_ * (1.0f - kSlimmer), kMinShapeSize_m), shape_.half_height, {}}, {});
        usable_ = made.ok();
        if (usable_) probe_ = *made;
    }

    WalkOutcome take() {
        const VelocityRecord& record = scene_.bodies.velocity[walker_.body];
        const MassRecord& mass = scene_.bodies.mass(walker_.body);
        V velocity{record.linear[0], record.linear[1], record.linear[2]};
        const float m = mass.inverse_mass > 0.0f ? 1.0f / mass.inverse_mass : 0.0f, dt = scene_.dt_s;
        WalkOutcome out;
        out.velocity = plain(velocity);
        if (!usable_) return out;
        const V wish = shorter(level(wide(walker_.wish)), walker_.settings->max_speed);
        const V gravity = wide(scene_.gravity) * mass.gravity_scale;
        const Ground ground = find_ground();
        const V relative = velocity - ground.velocity, over_ground = level(relative);
        const float rise = dot(relative, up_);
        const bool near = ground.found && ground.gap <= kTouching_m;
        if (walker_.jumping != nullptr && near && rise <= kStillRising_mps) *walker_.jumping = 0.0f;
        const bool jumping = walker_.jumping != nullptr && *walker_.jumping > 0.0f;
        // As fast as walking could have made it rise; faster, it was thrown.
        const float fastest_rise = max(length(over_ground), length(wish)) * steepest_ + kThrown_mps;
        const bool stands = ground.found && !jumping && (near || *walker_.stood > 0.0f) && rise <= fastest_rise &&
                            !(walker_.lift_n > m * length(gravity));
        *walker_.stood = stands ? 1.0f : 0.0f;
        out.on_belt = stands && ground.runs;
        if (!stands) {
            if (dot(wish, wish) > 0.0f)
                out.force = plain(shorter(level(wish - velocity) * (m / dt), walker_.settings->max_force * kAirShare));
            return out;
        }
        // Along the ground, at the wish's own pace as seen from above; gravity's pull along what is touched is borne.
        const V missing = (ground.velocity + laid(wish, ground.normal)) - velocity;
        const V tangent = missing - ground.normal * dot(missing, ground.normal);
        const V bearing = dot(ground.met, up_) > kFacing ? ground.met : ground.normal;
        const V slide = gravity - bearing * dot(gravity, bearing);
        const V force =
            shorter(tangent * (moved_mass(ground, mass, tangent) / dt) - slide * m, walker_.settings->max_force);
        V pushed = force;
        if (walker_.jumping != nullptr && walker_.jump_mps > 0.0f && near) {
            const V leap = free(up_, mass) * ((walker_.jump_mps - rise) * moved_mass(ground, mass, up_));  // N s
            velocity = velocity + leap * mass.inverse_mass;
            pushed = pushed + leap * (1.0f / dt);
            *walker_.jumping = 1.0f;
            *walker_.stood = 0.0f;
        } else {
            // Led down to ground that falls away, and not thrown off by a step's edge or a ramp's end.
            const float climb = dot(laid(over_ground, ground.normal), up_);
            const float sink = near ? 0.0f : min(ground.gap / dt, length(over_ground) * steepest_ + kThrown_mps);
            if (rise > climb - sink) velocity = velocity + up_ * ((climb - sink) - rise);
            out.shift = plain(free(climb_step(wish), mass));
        }
        out.velocity = plain(velocity);
        out.force = plain(force);
        if (ground.dynamic && near) {
            out.ground = ground.body;
            out.ground_force = plain(-pushed);
            out.ground_torque = plain(cross(ground.arm, -pushed));
        }
        return out;
    }

  private:
    struct Ground {
        bool found = false, dynamic = false, runs = false;
        std::uint32_t body = kNone;
        V arm{0.0f, 0.0f, 0.0f};  // from the body's centre
        V met{0.0f, 0.0f,
              0.0f};  // the normal where it is touched; where that is an edge, `normal` is that of the face behind
        V normal{0.0f, 0.0f, 0.0f}, velocity{0.0f, 0.0f, 0.0f};
        float gap = 0.0f;
    };

    // The velocity to be had at the tick's end, m/s, so that within the tick one goes where ground that turns by w
    // takes a point `arm` from its centre. That way is a chord, c dt = (R - 1) arm. The force is one for all of S
    // substeps, each of which moves the body after it sped it up: the way is (A u + B u') dt with A = (S + 1) / 2S, B =
    // (S - 1) / 2S, where u' is the velocity before. Of steady motion u' = R^-1 u, so that u = (A + B R^-1)^-1 c = (A c
    // + B R c) / (A^2 + B^2 + 2 A B cos(w dt)). With w x arm in its place whoever stands still spirals out.
    V carried_round(V w, V arm) const {
        const float speed = length(w), turn = speed * scene_.dt_s;
        if (!(turn > 0.0f) || turn > kMostTurn_rad) return cross(w, arm);
        const auto half = sin_cos(0.5f * turn);
        const float sine = 2.0f * half.sin * half.cos, versine = 2.0f * half.sin * half.sin;
        const V axis = w * (1.0f / speed);
        const auto turned_less_itself = [&](V v) {
            const V across = cross(axis, v);
            return across * sine + cross(axis, across) * versine;
        };
        const V chord = turned_less_itself(arm) * (1.0f / scene_.dt_s);
        const float s = static_cast<float>(scene_.substeps), a = (s + 1.0f) / (2.0f * s), b = (s - 1.0f) / (2.0f * s);
        return (chord + turned_less_itself(chord) * b) * (1.0f / ((a * a + b * b) + 2.0f * a * b * (1.0f - versine)));
    }

    static V position(const PoseRecord& pose) { return {pose.position[0], pose.position[1], pose.position[2]}; }
    V level(V v) const { return v - up_ * dot(v, up_); }
    // A level vector, tilted into a plane.
    V laid(V flat, V normal) const { return flat - up_ * (dot(flat, normal) / dot(normal, up_)); }
    static V free(V v, const MassRecord& mass) {
        return {v.x * mass.linear_lock[0], v.y * mass.linear_lock[1], v.z * mass.linear_lock[2]};
    }
    // What resists a push between the two along a direction: less than the body's own mass where the ground gives way.
    float moved_mass(const Ground& ground, const MassRecord& mass, V along) const {
        float give = mass.inverse_mass;
        const float n = length(along);
        if (ground.dynamic && n > 0.0f) {
            // Afresh: who was solved as a rig has that of an earlier pose in the body store.
            const InertiaRecord inertia =
                world_inertia(scene_.bodies.mass(ground.body), scene_.bodies.pose[ground.body]);
            const float* i = inertia.inverse_inertia;
            const V turn = cross(ground.arm, along * (1.0f / n));
            const V spin{(i[0] * turn.x + i[1] * turn.y) + i[2] * turn.z,
                         (i[1] * turn.x + i[3] * turn.y) + i[4] * turn.z,
                         (i[2] * turn.x + i[4] * turn.y) + i[5] * turn.z};
            give = (give + scene_.bodies.mass(ground.body).inverse_mass) + dot(turn, spin);
        }
        return give > 0.0f ? 1.0f / give : 0.0f;
    }

    QueryFilter filter(std::uint8_t types) const {
        QueryFilter f;
        f.category = info_.category;
        f.mask = info_.mask;
        f.types = types;
        f.ignore = {walker_.body, scene_.bodies.generation[walker_.body]};
        return f;
    }
    bool cast(V from, V way, std::uint8_t types, QueryHit& hit) {
        ShapeCast query;
        const float* q = scene_.bodies.pose[walker_.body].orientation;
        query.pose = {plain(from), {q[0], q[1], q[2], q[3]}};
        query.translation = plain(way);
        query.filter = filter(types);
        query.mode = HitMode::all;
        hits_.clear();
        if (query_holds(query)) ask(query, &probe_, scene_.snapshot, scene_.shapes, hits_);
        return first(hit);
    }
    // The nearest, but for what it is jointed to, and what is in it already.
    bool first(QueryHit& hit) const {
        for (const QueryHit& one : hits_) {
            const Pair pair{min_index(walker_.body, one.body.index), max_index(walker_.body, one.body.index)};
            if (one.inside || std::binary_search(scene_.excluded.begin(), scene_.excluded.end(), pair)) continue;
            hit = one;
            return true;
        }
        return false;
    }
    static std::uint32_t min_index(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
    static std::uint32_t max_index(std::uint32_t a, std::uint32_t b) { return a < b ? b : a; }
    // The normal to stand on at a point that the probe met: of an edge that of the face behind it.
    bool walkable(const QueryHit& hit, V& normal) {
        normal = wide(hit.normal);
        return dot(normal, up_) >= cos_slope_ || face_behind(hit, normal);
    }
    // The normal of the face above and behind a point, if it can be stood on.
    bool face_behind(const QueryHit& hit, V& normal) {
        const V out = level(wide(hit.normal));
        const float n = length(out);
        if (!(n > 0.0f)) return false;
        RayCast query;
        query.origin = plain((wide(hit.point) + up_ * kEdge_m) - out * (kEdge_m / n));
        query.translation = plain(up_ * (-2.0f * kEdge_m));
        query.filter = filter(kQueryAllTypes);
        query.mode = HitMode::all;
        hits_.clear();
        if (query_holds(query)) ask(query, nullptr, scene_.snapshot, scene_.shapes, hits_);
        QueryHit face;
        if (!first(face)) return false;
        normal = wide(face.normal);
        return dot(normal, up_) >= cos_slope_;
    }
    // How much lower than the probe the capsule stands on what the probe met: on a plane exactly.
    float stoop(V normal) const { return radius_ * kSlimmer / max(dot(normal, up_), kFacing); }

    Ground find_ground() {
        Ground ground;
        QueryHit hit;
        const float slim = radius_ * kSlimmer, reach = max(walker_.settings->step_height, kTouching_m);
        if (!cast(position_ + up_ * slim, up_ * -(reach + slim + slim / kFacing), kQueryAllTypes, hit)) return ground;
        ground.met = wide(hit.normal);
        if (!walkable(hit, ground.normal)) return ground;
        ground.gap = hit.distance - (slim + stoop(ground.met));
        if (ground.gap > reach) return ground;
        ground.found = true;
        ground.body = hit.body.index;
        ground.arm = wide(hit.point) - position(scene_.bodies.pose[ground.body]);
        ground.dynamic = scene_.bodies.dynamic(ground.body);
        const VelocityRecord& v = scene_.bodies.velocity[ground.body];
        const V linear{v.linear[0], v.linear[1], v.linear[2]}, angular{v.angular[0], v.angular[1], v.angular[2]};
        if ((scene_.bodies.flags[ground.body] & (kBodyDynamic | kBodyKinematic)) != 0)
            ground.velocity = linear + carried_round(angular, ground.arm);
        const Vec3 run = scene_.materials[scene_.bodies.info(ground.body).material].surface_velocity;
        if (!is_zero(run)) {  // a belt
            ground.runs = true;
            const float* q = scene_.bodies.pose[ground.body].orientation;
            const V belt = rotate(QuatT<float>{q[0], q[1], q[2], q[3]}, wide(run));
            ground.velocity = ground.velocity + (belt - ground.met * dot(belt, ground.met));
        }
        return ground;
    }

    // Up, over and down onto a step in the way, if there is room and something to stand on.
    V climb_step(V wish) {
        const V none{0.0f, 0.0f, 0.0f};
        const float speed = length(wish), height = walker_.settings->step_height;
        if (!(speed > kSlowest_mps) || !(height > kTouching_m)) return none;
        const V ahead = wish * (1.0f / speed);
        const float slim = radius_ * kSlimmer, way = speed * scene_.dt_s;
        const V from = position_ + up_ * slim;
        constexpr std::uint8_t kStill = kQueryFixed | kQueryKinematic;
        QueryHit hit;
        if (!cast(from, ahead * (way + slim + kClosest_m), kStill, hit)) return none;
        // A slope is no step: there the face is as what was met.
        const V met = wide(hit.normal);
        V face;
        if (dot(met, ahead) > -kFacing ||
            (dot(met, up_) >= cos_slope_ && face_behind(hit, face) && dot(face, met) > kSameFace))
            return none;
        const float room = cast(from, up_ * height, kQueryAllTypes, hit) ? hit.distance - kTouching_m : height;
        if (!(room > kTouching_m)) return none;
        const V above = from + up_ * room;
        const float over = hit_distance(above, ahead, max(way, 0.25f * radius_) + slim + kClosest_m) - kSkin_m;
        if (over < slim + kClosest_m) return none;  // a wall
        if (!cast(above + ahead * over, up_ * -room, kStill, hit)) return none;
        V normal;
        const V top = wide(hit.point) - (position_ - up_ * (shape_.half_height + radius_));
        if (!walkable(hit, normal) || dot(top, up_) > height + kSkin_m) return none;
        const float rise = ((slim + room) - hit.distance) + stoop(wide(hit.normal));
        return rise > kTouching_m && rise <= room + kSkin_m ? ahead * (over - slim) + up_ * rise : none;
    }
    float hit_distance(V from, V ahead, float most) {
        QueryHit hit;
        return cast(from, ahead * most, kQueryAllTypes, hit) ? hit.distance : most;
    }

    const Walker& walker_;
    const WalkScene& scene_;
    const BodyInfo& info_;
    const Shape& shape_;
    float radius_, cos_slope_ = 1.0f, steepest_ = 0.0f;
    V position_, up_{0.0f, 1.0f, 0.0f};
    Shape probe_;
    bool usable_ = false;
    std::vector<QueryHit> hits_;
};

}  // namespace

WalkOutcome walk(const Walker& walker, const WalkScene& scene) { return Step(walker, scene).take(); }

}  // namespace orrery::sim::ref
