// Sleep. Bodies that a contact or a joint connects through dynamic bodies form an island; it falls asleep as one when
// every body of it has been slow for SolverSettings::sleep_time_s, and wakes as one. A sleeping body has no velocity,
// and neither it nor what it touches takes part in a tick: its contacts lie in State::sleeping_contacts as they were,
// and count as they are when it wakes. Islands are recomputed from contacts and joints when they matter, and are no
// state.
//
// Slow is a body whose mean motion is: of its ways from tick to tick, which include what contacts and joints correct, a
// mean whose time constant is a fifth of sleep_time_s. A rock that rattles in its place by some millimetres is slow,
// though it has a speed in every tick; a pendulum that turns round is not. A body that gravity moves and that nothing
// touches or is jointed to does not sleep, however slow: a ball at the top of its way. Any command on a body makes it
// begin anew.
//
// A joint that is at work keeps its bodies awake: a motor that is to give a speed, however slow, and a servo for as
// long as its bodies move faster than a part of the sleep speed, so that one that creeps arrives. A servo that rests
// short of its goal, for its force or its spring is not enough, lets them sleep. A running surface
// (MaterialDef::surface_velocity) keeps awake what it presses on, however slowly it runs and whether that moves or is
// held back.
//
// What wakes: a contact point with an awake body or a moving kinematic one, before the tick's solve; a command or an
// actuator on the body or on a joint of it; the removal of a body or joint that it hung on; a kinematic body that it
// touches or is jointed to and that begins to move.

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "sim/bodies/numbers.h"
#include "sim/constraints/fields.h"
#include "sim/world/canonical.h"
#include "sim/world/contact_numbers.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

bool dozing(const State& state, const KeptContact& contact) {
    return state.bodies.asleep(contact.a) || state.bodies.asleep(contact.b);
}
constexpr float kServoPart = 0.02f;  // of the sleep speed: 1 mm/s, at which a servo is as good as there

// What a constraint does by itself.
struct Work : FieldVisitor<Work> {
    bool force = false, speed_wanted = false, servo_at_work = false;

    explicit Work(const Constraint& constraint) {
        std::visit([this]<class T>(const T& c) { T::fields(c, *this); }, constraint);
    }
    bool keeps_awake() const { return force && speed_wanted; }

    template <class V>
    void velocity(Side, const char*, V& v, float) {
        speed_wanted = speed_wanted || !is_zero(v.x) || !is_zero(v.y) || !is_zero(v.z);
    }
    template <class X>
    void speed(const char*, X& x, float) {
        speed_wanted = speed_wanted || !is_zero(x);
    }
    template <class M>
    void motor(const char*, M& m) {
        force = force || !is_zero(m.max_force);
    }
    template <class S>
    void servo(const char*, S& s) {
        servo_at_work = servo_at_work || !is_zero(s.max_force);
    }

  private:
    static bool is_zero(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7fff'ffffu) == 0; }
};
// Every two bodies of a joint.
template <class Connect>
void connect_joint(const Joint& joint, const Connect& connect) {
    const auto bodies = joint.bodies();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for (std::size_t k = i + 1; k < bodies.size(); ++k) connect(bodies[i], bodies[k]);
    }
}

constexpr float kMeanTime = 0.2f;  // of sleep_time_s
constexpr float kRattle = 16.0f;   // times the sleep speed, 0.8 m/s: faster than that is on its way, whatever its mean

// Faster than a speed along some axis: no need to look any further. Magnitudes as bits order like the numbers.
bool fast_along_an_axis(const VelocityRecord& v, float speed_mps) {
    const std::uint32_t most = std::bit_cast<std::uint32_t>(speed_mps);
    const auto beyond = [&](float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7fff'ffffu) > most; };
    return beyond(v.linear[0]) || beyond(v.linear[1]) || beyond(v.linear[2]);
}

// Slower than a part of the sleep speed at every point of its surface.
bool slow(const Core& core, std::uint32_t body, const VelocityRecord& velocity, float part) {
    const std::uint32_t shape = core.state.bodies.info(body).shape;
    const float radius_m = shape == kNone ? 0.0f : core.shapes[shape].bounding_radius;
    return ref::is_slow(velocity, radius_m, core.def.solver.sleep_speed_mps, part);
}

// Notes the tick's motion; whether the mean of it is slow. What is fast has none, so that it costs a saved state
// nothing. Of a chain that is solved by itself nobody knows where it was.
bool note_rest(Core& core, std::uint32_t body) {
    Bodies& bodies = core.state.bodies;
    const SolverSettings& settings = core.def.solver;
    VelocityRecord& mean = bodies.mean_motion[body];
    const VelocityRecord& velocity = bodies.velocity[body];
    if (bodies.info(body).can_sleep && !fast_along_an_axis(velocity, ref::product(settings.sleep_speed_mps, kRattle))) {
        const VelocityRecord way = core.rigs.of_lone_chain(body)
                                       ? velocity
                                       : ref::way_between(core.start_pose[body], bodies.pose[body], core.dt_s);
        if (slow(core, body, way, kRattle)) {
            mean = ref::moved_towards(mean, way, ref::part_of_mean(core.dt_s, settings.sleep_time_s, kMeanTime));
            return slow(core, body, mean, 1.0f);
        }
    }
    mean = {};
    return false;
}

// Whether gravity moves it where nothing holds it.
bool falls(const Core& core, std::uint32_t body) {
    const MassRecord& mass = core.state.bodies.mass(body);
    const Vec3 g = core.def.gravity;
    const float pull[3] = {g.x, g.y, g.z};
    bool any = false;
    for (int axis = 0; axis < 3; ++axis) any = any || (pull[axis] != 0.0f && mass.linear_lock[axis] != 0.0f);
    return any && mass.gravity_scale != 0.0f;
}

// Sets of bodies: the root of a set is its lowest index.
class Islands {
  public:
    // By body, of which alone those in `members` are asked for.
    Islands(std::vector<std::uint32_t>& parent, std::uint32_t bodies, std::span<const std::uint32_t> members)
        : parent_(parent) {
        parent_.resize(bodies);
        for (const std::uint32_t body : members) parent_[body] = body;
    }
    Islands(std::vector<std::uint32_t>& parent, std::uint32_t bodies) : parent_(parent) {
        parent_.resize(bodies);
        std::iota(parent_.begin(), parent_.end(), 0u);
    }
    std::uint32_t root(std::uint32_t body) {
        while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
        return body;
    }
    void connect(std::uint32_t a, std::uint32_t b) {
        a = root(a), b = root(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<std::uint32_t>& parent_;
};

void take_over(std::vector<KeptContact>& list, std::vector<KeptContact>& scratch) { list.swap(scratch); }
void take_over(ContactList& list, std::vector<KeptContact>& scratch) { list.adopt(scratch); }

// Moves the contacts that `leaves` picks from one sorted list to another.
template <class From, class To, class Leaves>
void move_contacts(From& from, To& to, std::vector<KeptContact>& moved, std::vector<KeptContact>& scratch,
                   Leaves leaves) {
    moved.clear();
    erase_if(from, [&](const KeptContact& contact) {
        const bool goes = leaves(contact);
        if (goes) moved.push_back(contact);
        return goes;
    });
    if (moved.empty()) return;
    scratch.resize(to.size() + moved.size());
    std::merge(to.begin(), to.end(), moved.begin(), moved.end(), scratch.begin(),
               [](const KeptContact& x, const KeptContact& y) { return comes_before(x, y); });
    take_over(to, scratch);
}

}  // namespace

void rouse(Core& core, std::uint32_t body) {
    if (core.state.bodies.asleep(body)) core.to_wake.push_back(body);
}

void wake(Core& core, std::uint32_t body) {
    rouse(core, body);
    core.state.bodies.slow_ticks[body] = 0;
}

void wake(Core& core, const Joint& joint) {
    for (const std::uint32_t body : joint.bodies()) wake(core, body);
}

void wake_neighbours(Core& core, std::uint32_t body) {
    wake(core, body);
    core.disturbed.push_back(body);
}

bool wake_islands(Core& core) {
    State& state = core.state;
    Bodies& bodies = state.bodies;
    if (!core.disturbed.empty()) {
        core.island_flag.assign(bodies.size(), 0);
        for (const std::uint32_t body : core.disturbed) core.island_flag[body] = 1;
        core.disturbed.clear();
        const auto disturb = [&](std::uint32_t a, std::uint32_t b) {
            if (core.island_flag[a] != 0) wake(core, b);
            if (core.island_flag[b] != 0) wake(core, a);
        };
        for (const KeptContact& c : state.sleeping_contacts) disturb(c.a, c.b);
        for (const Joint& joint : state.joints) {
            if (joint.alive) connect_joint(joint, disturb);
        }
    }
    if (core.to_wake.empty()) return false;
    Islands islands(core.island, bodies.size());
    const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        if (bodies.asleep(a) && bodies.asleep(b)) islands.connect(a, b);
    };
    for (const KeptContact& c : state.sleeping_contacts) connect(c.a, c.b);
    for (const Joint& joint : state.joints) {
        if (joint.alive) connect_joint(joint, connect);
    }
    core.island_flag.assign(bodies.size(), 0);
    for (const std::uint32_t body : core.to_wake) core.island_flag[islands.root(body)] = 1;
    core.to_wake.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if (!bodies.asleep(i) || core.island_flag[islands.root(i)] == 0) continue;
        bodies.flags[i] = static_cast<std::uint8_t>(bodies.flags[i] & ~kBodyAsleep);
        bodies.slow_ticks[i] = 0;
        note_body(core, i);
    }
    move_contacts(state.sleeping_contacts, state.contacts, core.moved_contacts, core.merged_contacts,
                  [&](const KeptContact& c) { return !dozing(state, c); });
    core.sleeping_changed = true;
    return true;
}

void wake_touched(Core& core) {
    for (const Manifold& m : core.manifolds) {
        rouse(core, m.a);
        rouse(core, m.b);
    }
    core.woken_pairs.clear();
    if (!wake_islands(core)) return;
    for (const KeptContact& c : core.moved_contacts) {
        const Pair pair{c.a, c.b};
        if (!core.woken_pairs.empty() && core.woken_pairs.back() == pair) continue;
        if (!std::binary_search(core.pairs.begin(), core.pairs.end(), pair)) core.woken_pairs.push_back(pair);
    }
}

void renew_sleeping_digest(Core& core) {
    if (!core.sleeping_changed) return;
    HashWriter out;
    out.put_array(core.state.sleeping_contacts);
    core.sleeping_digest = out.digest();
    core.sleeping_changed = false;
}

void put_to_sleep(Core& core) {
    const SolverSettings& settings = core.def.solver;
    if (!settings.sleep) return;
    State& state = core.state;
    Bodies& bodies = state.bodies;
    const std::span<const std::uint32_t> movers = core.movers.list();
    bool any = false;
    for (const std::uint32_t i : movers) {
        if (!bodies.dynamic(i)) continue;
        bodies.slow_ticks[i] =
            note_rest(core, i)
                ? static_cast<std::uint16_t>(std::min<std::uint32_t>(bodies.slow_ticks[i] + 1u, core.sleep_ticks))
                : std::uint16_t{0};
        any |= bodies.slow_ticks[i] == core.sleep_ticks;
    }
    if (!any) return;

    Islands islands(core.island, bodies.size(), movers);
    constexpr std::uint8_t kAwake = 1, kHeld = 2;  // it stays awake; something touches it or is jointed to it
    core.island_flag.resize(bodies.size());
    for (const std::uint32_t i : movers) core.island_flag[i] = 0;
    const auto awake = [&](std::uint32_t i) { return bodies.dynamic(i) && !bodies.asleep(i); };
    const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        if (awake(a) && awake(b))
            islands.connect(a, b);
        else if (awake(a) && bodies.active(b))
            core.island_flag[a] |= kAwake;
        else if (awake(b) && bodies.active(a))
            core.island_flag[b] |= kAwake;
    };
    for (const KeptContact& c : state.contacts) {
        connect(c.a, c.b);
        if (c.touching != 0) core.island_flag[c.a] |= kHeld, core.island_flag[c.b] |= kHeld;
    }
    for (const Joint& joint : state.joints) {
        if (!joint.alive) continue;
        connect_joint(joint, connect);
        const Work work(joint.constraint);
        for (const std::uint32_t body : joint.bodies()) {
            if (!awake(body)) continue;
            core.island_flag[body] |= kHeld;
            if (work.keeps_awake() || (work.servo_at_work && !slow(core, body, bodies.velocity[body], kServoPart)))
                core.island_flag[body] |= kAwake;
        }
    }
    for (std::size_t k = 0; k < core.walkers.size(); ++k) {
        const Walker& walker = core.walkers[k];
        if (awake(walker.body) && (wants_something(walker) || core.walk_outcomes[k].on_belt))
            core.island_flag[walker.body] |= kAwake;
    }
    for (std::size_t i = 0; i < core.surfaces.size(); ++i) {
        const Manifold& m = core.manifolds[i];
        if (!ref::drags(m, core.surfaces[i])) continue;
        if (awake(m.a)) core.island_flag[m.a] |= kAwake;
        if (awake(m.b)) core.island_flag[m.b] |= kAwake;
    }
    for (const std::uint32_t i : movers) {
        if (!awake(i)) continue;
        if ((core.island_flag[i] & kAwake) != 0 || bodies.slow_ticks[i] < core.sleep_ticks ||
            ((core.island_flag[i] & kHeld) == 0 && falls(core, i)))
            core.island_flag[islands.root(i)] |= kAwake;
    }
    any = false;
    for (const std::uint32_t i : movers) {
        if (!awake(i) || (core.island_flag[islands.root(i)] & kAwake) != 0) continue;
        bodies.flags[i] = static_cast<std::uint8_t>((bodies.flags[i] & ~kBodyAtSpeedLimit) |
                                                    kBodyAsleep);  // it may spin without a shape
        bodies.velocity[i] = {};
        bodies.mean_motion[i] = {};
        bodies.delta[i] = {};
        note_body(core, i);
        any = true;
    }
    if (!any) return;
    move_contacts(state.contacts, state.sleeping_contacts, core.moved_contacts, core.merged_contacts,
                  [&](const KeptContact& c) { return dozing(state, c); });
    core.sleeping_changed = true;
}

}  // namespace orrery::sim
