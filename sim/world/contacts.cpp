// Contacts from tick to tick: a manifold continues the contact of the same pair of bodies and children, and its points
// the impulses of equal feature ids. Both lists are sorted by that key, so that they meet in one walk.

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/assert.h"
#include "sim/base/growth.h"
#include "sim/bodies/numbers.h"
#include "sim/shapes/compound.h"
#include "sim/world/contact_numbers.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kManifoldsPerTask = 256;

bool is_cold(const Core& core, std::uint32_t body) {
    return body < core.cold_start.size() && core.cold_start[body] != 0;
}

void carry_impulses(Manifold& manifold, const KeptContact& contact) {
    ref::carry_normal_impulses(manifold, {contact.feature, contact.count}, contact.normal_impulse);
    manifold.friction_impulse = {contact.friction_impulse[0], contact.friction_impulse[1], contact.friction_impulse[2]};
    manifold.twist_impulse = contact.twist_impulse;
}

// What is rolled on: on a plane all of a hull's points that are near are found, on other shapes those of a face, and so
// their middle rolls along.
bool may_roll(const Shape& above, const Shape& below) {
    return below.type == ShapeType::plane && (above.type == ShapeType::hull || above.type == ShapeType::compound);
}
// What may stand: what turns slowly, touches what bears it, with its centre above the contact, and is held by no joint.
// What hangs, by joints or by a contact, takes energy from arms that lag behind it, and so does what it carries, and
// what rolls. `contact`: what the manifold continues.
Bearing find_bearing(const Core& core, const Manifold& manifold, const KeptContact& contact,
                     const ref::GravityTerms& gravity) {
    if (!may_hold(manifold) || contact.touching == 0) return {};
    const Bodies& bodies = core.state.bodies;
    const int bears = ref::bears(manifold, bodies.pose[manifold.a], bodies.pose[manifold.b], gravity);
    if (bears == 0) return {};
    const Bearing bearing = bears > 0 ? Bearing{manifold.a, manifold.b} : Bearing{manifold.b, manifold.a};
    const std::uint32_t above = bearing.above, shape = bodies.info(above).shape,
                        below = bodies.info(bearing.below).shape;
    const bool jointed = above < core.jointed.size() && core.jointed[above] != 0;
    if (!bodies.dynamic(above) || bodies.asleep(above) || jointed || shape == kNone || below == kNone) return {};
    if (may_roll(core.shapes[shape], core.shapes[below]) && !ref::lies_flat(manifold)) return {};
    return ref::turns_slowly(bodies.velocity[above], core.shapes[shape].bounding_radius, gravity) ? bearing : Bearing{};
}
// What stands by itself, for it neither gives way nor turns.
bool is_ground(const Bodies& bodies, std::uint32_t body) {
    return bodies.dynamic(body) ? bodies.asleep(body) : !ref::any(bodies.velocity[body].angular);
}
// What stands on ground, and on that, and so on, from each body to those on it: a function of the tick's contacts
// alone, for what remembered that it stood would hold itself up. Arms of nothing else are held.
void find_standing(Core& core) {
    const Bodies& bodies = core.state.bodies;
    const auto count = static_cast<std::uint32_t>(core.bearings.size());
    // By body, of those in bearings alone: `first`, a contact by which it bears another; next: by contact, one more of
    // the same body.
    std::vector<std::uint32_t>& first = core.island;
    std::vector<std::uint8_t>& stands = core.island_flag;
    first.resize(bodies.size());
    stands.resize(bodies.size());
    std::uint32_t* const next = core.arena.allocate<std::uint32_t>(count);
    std::uint32_t* const climbing =
        core.arena.allocate<std::uint32_t>(count);  // what stands, those on it not yet looked at; each by a bearing
    std::size_t risen = 0;
    for (const Bearing& bearing : core.bearings) {
        if (bearing.above == kNone) continue;
        for (const std::uint32_t body : {bearing.below, bearing.above}) {
            first[body] = kNone;
            stands[body] = is_ground(bodies, body);
        }
    }
    const auto rise = [&stands, climbing, &risen](std::uint32_t body) {
        if (stands[body] != 0) return;
        stands[body] = 1;
        climbing[risen++] = body;
    };
    for (std::uint32_t k = 0; k < count; ++k) {
        const Bearing& bearing = core.bearings[k];
        if (bearing.above == kNone) continue;
        if (stands[bearing.below] != 0)
            rise(bearing.above);
        else
            next[k] = std::exchange(first[bearing.below], k);
    }
    while (risen > 0) {
        std::uint32_t k = first[climbing[--risen]];
        for (; k != kNone; k = next[k]) rise(core.bearings[k].above);
    }
    for (std::uint32_t k = 0; k < count; ++k) {
        const Bearing& bearing = core.bearings[k];
        core.before[k].holds = bearing.above != kNone && stands[bearing.below] != 0;
        if (bearing.above != kNone && !core.before[k].holds)
            core.manifolds[k].held_a = core.manifolds[k].held_b = {kNoArm, kNoArm, kNoArm};
    }
}

// Of what rolls: 0 of boxes, hulls, planes and meshes.
float rolling_radius(const Shape& shape, std::uint32_t child) {
    switch (shape.type) {
        case ShapeType::sphere:
        case ShapeType::capsule:
            return shape.radius;
        case ShapeType::cylinder:
            return shape.disc_radius;
        case ShapeType::compound:
            return rolling_radius(shape.compound->shapes[shape.compound->child[child].shape], 0);
        default:
            return 0.0f;
    }
}

ContactSurface surface_of(const Core& core, const Manifold& manifold, const MaterialDef& a, const MaterialDef& b) {
    const Bodies& bodies = core.state.bodies;
    return ref::mixed_surface(manifold, a, b, pose_of(bodies.pose[manifold.a]), pose_of(bodies.pose[manifold.b]),
                              rolling_radius(core.shapes[bodies.info(manifold.a).shape], manifold.child_a),
                              rolling_radius(core.shapes[bodies.info(manifold.b).shape], manifold.child_b));
}

bool resists_rolling(const ContactSurface& surface) { return surface.rolling_m > 0.0f; }

void warm_start_range(Core& core, std::uint32_t first, std::uint32_t last) {
    const ref::GravityTerms gravity = ref::gravity_terms(core.def.gravity);
    const ContactList& contacts = core.state.contacts;
    const Bodies& bodies = core.state.bodies;
    const std::vector<RollingImpulse>& rolling = core.state.rolling;
    auto rolled = std::lower_bound(rolling.begin(), rolling.end(), core.manifolds[first],
                                   [](const RollingImpulse& x, const Manifold& y) { return comes_before(x, y); });
    auto contact = std::lower_bound(contacts.begin(), contacts.end(), core.manifolds[first],
                                    [](const KeptContact& x, const Manifold& y) { return comes_before(x, y); });
    for (std::uint32_t i = first; i < last; ++i) {
        Manifold& manifold = core.manifolds[i];
        ORRERY_DEBUG_ASSERT(i == 0 || comes_before(core.manifolds[i - 1], manifold) ||
                            !comes_before(manifold, core.manifolds[i - 1]));
        ORRERY_ASSERT(manifold.count >= 1 && manifold.count <= kMaxManifoldPoints && manifold.a < manifold.b);
        const MaterialDef& a = core.def.materials[bodies.info(manifold.a).material];
        const MaterialDef& b = core.def.materials[bodies.info(manifold.b).material];
        manifold.friction = ref::mixed_friction(a.friction, b.friction);
        manifold.restitution = ref::mixed_restitution(a.restitution, b.restitution);
        if (core.any_surfaces) core.surfaces[i] = surface_of(core, manifold, a, b);
        if (may_hold(manifold)) manifold.held_a = manifold.held_b = {kNoArm, kNoArm, kNoArm};
        core.before[i] = {};
        core.bearings[i] = {};
        while (contact != contacts.end() && comes_before(*contact, manifold)) ++contact;
        if (contact == contacts.end() || comes_before(manifold, *contact)) continue;
        core.before[i].index = static_cast<std::uint32_t>(contact - contacts.begin()) & ContactBefore::kNoIndex;
        core.before[i].touching = contact->touching != 0;
        core.before[i].total_normal_impulse = contact->total_normal_impulse;
        core.bearings[i] = find_bearing(core, manifold, *contact, gravity);
        // What meets within the tick is apart when it begins: nothing bears yet.
        if (is_cold(core, manifold.a) || is_cold(core, manifold.b) || has_moved(manifold)) continue;
        carry_impulses(manifold, *contact);
        // What bears turns about gravity with what it carries, and so do the arms; its tilts are what they are held
        // for.
        if (core.bearings[i].above != kNone)
            ref::carry_arms(manifold, *contact, core.state.bodies.velocity[core.bearings[i].below], gravity, core.dt_s);
        while (rolled != rolling.end() && comes_before(*rolled, manifold)) ++rolled;
        if (rolled == rolling.end() || comes_before(manifold, *rolled) || !resists_rolling(core.surfaces[i])) continue;
        core.surfaces[i].rolling_impulse = {rolled->impulse[0], rolled->impulse[1], rolled->impulse[2]};
    }
}

// The tick's contacts, and those of sleepers as they were.
void keep_rolling(Core& core) {
    std::vector<RollingImpulse>& next = core.next_rolling;
    next.clear();
    const Bodies& bodies = core.state.bodies;
    for (const RollingImpulse& r : core.state.rolling) {
        if (bodies.asleep(r.a) || bodies.asleep(r.b)) next.push_back(r);
    }
    const auto sleeping = static_cast<std::ptrdiff_t>(next.size());
    for (std::size_t i = 0; i < core.surfaces.size(); ++i) {
        if (!resists_rolling(core.surfaces[i])) continue;
        const Manifold& m = core.manifolds[i];
        const Vec3 l = core.surfaces[i].rolling_impulse;
        next.push_back({m.a, m.b, m.child_a, m.child_b, {l.x, l.y, l.z}});
    }
    std::inplace_merge(next.begin(), next.begin() + sleeping, next.end(),
                       [](const RollingImpulse& x, const RollingImpulse& y) { return comes_before(x, y); });
    core.state.rolling.swap(next);
}

// Of a manifold, or what was one.
template <class Contact>
Event contact_event(const Core& core, EventKind kind, const Contact& contact) {
    Event event;
    event.kind = kind;
    event.a = body_id(core.state, contact.a);
    event.b = body_id(core.state, contact.b);
    event.child_a = contact.child_a;
    event.child_b = contact.child_b;
    return event;
}

// Of the deepest point; at the tick's start.
Vec3 contact_point(const Core& core, const Manifold& manifold) {
    const Vec3 point =
        ref::sum(pose_of(start_of(core, manifold.a)).position, manifold.points[ref::deepest_point(manifold)].offset_a);
    if (!has_moved(manifold) || core.state.bodies.active(manifold.b)) return point;
    return ref::sum(point, {-manifold.moved.x, -manifold.moved.y, -manifold.moved.z});
}

void report(Core& core, EventKind kind, const Manifold& manifold) {
    Event event = contact_event(core, kind, manifold);
    event.point = contact_point(core, manifold);
    event.normal = manifold.normal;
    event.impulse = manifold.total_normal_impulse;
    core.state.events.push_back(event);
}

// Those of the last tick that no manifold continues.
void list_ended(Core& core) {
    core.ended.clear();
    std::uint32_t passed = 0;
    const auto pass_to = [&](std::uint32_t last) {
        for (; passed < last; ++passed) {
            const KeptContact& contact = core.state.contacts[passed];
            if (contact.touching != 0)
                core.ended.push_back({passed, contact.a, contact.b, contact.child_a, contact.child_b});
        }
    };
    for (const ContactBefore& before : core.before) {
        if (before.index == ContactBefore::kNoIndex) continue;
        pass_to(before.index);
        passed = before.index + 1;
    }
    pass_to(static_cast<std::uint32_t>(core.state.contacts.size()));
}

}  // namespace

void match_contacts(Core& core, Executor& executor) {
    const auto count = static_cast<std::uint32_t>(core.manifolds.size());
    resize_sparingly(core.before, count);
    core.bearings = {core.arena.allocate<Bearing>(count), count};
    if (core.any_surfaces) resize_sparingly(core.surfaces, count);
    executor.run((count + kManifoldsPerTask - 1) / kManifoldsPerTask,
                 [](void* context, std::uint32_t task) {
                     Core& inner = *static_cast<Core*>(context);
                     const auto all = static_cast<std::uint32_t>(inner.manifolds.size());
                     warm_start_range(inner, task * kManifoldsPerTask, std::min(all, (task + 1) * kManifoldsPerTask));
                 },
                 &core);
    if (count > 0) find_standing(core);
    list_ended(core);
}

void keep_contacts(Core& core, Executor& executor) {
    const auto count = static_cast<std::uint32_t>(core.manifolds.size());
    const std::uint32_t tasks = (count + kManifoldsPerTask - 1) / kManifoldsPerTask;
    core.arena.reset();
    core.state.contacts.view({core.arena.allocate<KeptContact>(count), count});  // all of them are written whole
    resize_sparingly(core.contact_news, count);
    core.contact_totals.assign(tasks, {});
    executor.run(
        tasks,
        [](void* context, std::uint32_t task) {
            Core& inner = *static_cast<Core*>(context);
            const auto all = static_cast<std::uint32_t>(inner.manifolds.size());
            const std::uint32_t first = task * kManifoldsPerTask, last = std::min(all, first + kManifoldsPerTask);
            for (std::uint32_t i = first; i < last; ++i) {
                const ContactBefore& before = inner.before[i];
                inner.contact_news[i] =
                    ref::keep_contact(inner.manifolds[i], before.touching, before.holds, before.total_normal_impulse,
                                      inner.state.bodies.inertia.data(), inner.def.solver.restitution_threshold_mps,
                                      inner.state.contacts[i], inner.contact_totals[task]);
            }
        },
        &core);

    auto ended = core.ended.begin();
    const auto end_before = [&](std::uint32_t index) {
        for (; ended != core.ended.end() && ended->index < index; ++ended)
            core.state.events.push_back(contact_event(core, EventKind::contact_end, *ended));
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        if (core.before[i].index != ContactBefore::kNoIndex) end_before(core.before[i].index);
        const std::uint8_t news = core.contact_news[i];
        if (news == 0) continue;
        const Manifold& manifold = core.manifolds[i];
        if ((news & kContactBegins) != 0) report(core, EventKind::contact_begin, manifold);
        if ((news & kContactEnds) != 0)
            core.state.events.push_back(contact_event(core, EventKind::contact_end, manifold));
        if ((news & kContactHits) != 0) report(core, EventKind::contact_hit, manifold);
    }
    end_before(kNone);
    if (core.any_surfaces) keep_rolling(core);

    ContactTotals sum;
    for (const ContactTotals& totals : core.contact_totals) ref::add_totals(sum, totals);
    core.stats.touching_pairs = sum.touching;
    core.stats.contact_points = sum.points;
    core.stats.max_penetration_m = sum.largest_depth_m;
}

namespace {

// Where it is, and which way it points.
void describe(const Core& core, const Manifold& manifold, bool from_b, BodyContact& out) {
    const ManifoldPoint& deepest = manifold.points[ref::deepest_point(manifold)];
    const Vec3 n = manifold.normal;
    out.point = contact_point(core, manifold);
    out.normal = from_b ? Vec3{-n.x, -n.y, -n.z} : n;
    out.separation = -deepest.depth;
}

// Of a list of contacts, those of one body.
template <class List>
void add_contacts(const Core& core, const List& list, std::uint32_t body, std::vector<BodyContact>& out) {
    for (const KeptContact& contact : list) {
        if (contact.a != body && contact.b != body) continue;
        const bool from_b = contact.b == body;
        BodyContact& to = out.emplace_back();
        to.other = body_id(core.state, from_b ? contact.a : contact.b);
        to.child = from_b ? contact.child_b : contact.child_a;
        to.other_child = from_b ? contact.child_a : contact.child_b;
        to.impulse = contact.total_normal_impulse;
        to.touching = contact.touching != 0;
        if (core.state.bodies.asleep(contact.a) || core.state.bodies.asleep(contact.b)) continue;
        const Manifolds& all = core.manifolds;
        std::size_t first = 0, count = all.size();
        while (count > 0) {
            const std::size_t half = count / 2;
            const bool before = comes_before(all[first + half], contact);
            first += before ? half + 1 : 0;
            count = before ? count - half - 1 : half;
        }
        if (first < all.size() && !comes_before(contact, all[first])) describe(core, all[first], from_b, to);
    }
}

}  // namespace

void list_contacts(const Core& core, std::uint32_t body, std::vector<BodyContact>& out) {
    add_contacts(core, core.state.contacts, body, out);
    add_contacts(core, core.state.sleeping_contacts, body, out);
    std::ranges::sort(out, {}, [](const BodyContact& c) { return std::tuple(c.other, c.child, c.other_child); });
}

void zero_contact_impulses(Core& core, std::uint32_t index) {
    Manifold& manifold = core.manifolds[index];
    if (!core.surfaces.empty()) core.surfaces[index].rolling_impulse = {};
    for (std::uint32_t i = 0; i < manifold.count; ++i) manifold.points[i].normal_impulse = 0.0f;
    manifold.friction_impulse = {};
    manifold.twist_impulse = 0.0f;
    manifold.total_normal_impulse = 0.0f;
}

}  // namespace orrery::sim
