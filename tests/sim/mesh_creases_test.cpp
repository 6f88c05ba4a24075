// Guards: the edges that triangles share. A body that goes over one feels what the surface does there and nothing else:
// on a flat part nothing; where it falls away (convex) nothing but flight; where it rises (concave) at most the normal
// velocity v sin(angle) that the rise takes. Without friction every true contact normal lies across the crease, so that
// the velocity along it may not change at all, and on a convex one none points backward, so that nothing is slowed:
// both are bounds that any contact with an inner edge breaks. And what stands only on one side of a surface: it
// collides from its front alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/about.h"
#include "tests/support/movers.h"
#include "tests/support/seed.h"
#include "tests/support/worlds.h"

using namespace orrery::sim;
using namespace orrery::test;

namespace {

constexpr double kGravity = 10.0, kTick_s = 1.0 / 60;

double apart(Vec3 a, Vec3 b) {
    return std::hypot(double(a.x) - double(b.x), double(a.y) - double(b.y), double(a.z) - double(b.z));
}

// ---- surfaces

// A grid of triangles whose diagonals run one way, the other, or in turns; a height field, whose run as those of
// `rising`; and such a mesh whose creases lie along its diagonals, not along its rows.
enum class Ground { rising, falling, alternating, field, slanted };
constexpr const char* kGroundNames[] = {"rising", "falling", "alternating", "field", "slanted"};
constexpr Ground kGrounds[] = {Ground::falling, Ground::alternating, Ground::field, Ground::slanted};
constexpr bool is_slanted(Ground ground) { return ground == Ground::slanted; }
constexpr bool is_field(Ground ground) { return ground == Ground::field; }
std::string name_of(Ground ground) { return kGroundNames[static_cast<int>(ground)]; }

constexpr float kCell = 0.5f;

// count x count cells around the origin; `height` of the distance across the crease, which goes through the origin.
template <class Height>
ShapeDef surface(Ground ground, int count, Height height) {
    ShapeDef def;
    def.type = is_field(ground) ? ShapeType::height_field : ShapeType::mesh;
    for (int k = 0; k <= count; ++k) {
        for (int i = 0; i <= count; ++i) {
            const float x = (static_cast<float>(i) - 0.5f * static_cast<float>(count)) * kCell;
            const float z = (static_cast<float>(k) - 0.5f * static_cast<float>(count)) * kCell;
            const float y = height(is_slanted(ground) ? (x + z) * kHalfRoot : x);
            if (is_field(ground))
                def.heights.push_back(y);
            else
                def.points.push_back({x, y, z});
        }
    }
    if (is_field(ground)) {
        def.columns = static_cast<std::uint32_t>(count + 1);
        def.spacing = {kCell, 1.0f, kCell};
        return def;
    }
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < count; ++i) {
            const auto a = static_cast<std::uint32_t>(k * (count + 1) + i), b = a + 1;
            const auto c = a + static_cast<std::uint32_t>(count + 1), d = c + 1;
            const bool falls = ground == Ground::falling || (ground == Ground::alternating && (i + k) % 2 == 0);
            if (falls)
                def.indices.insert(def.indices.end(), {a, c, d, a, d, b});
            else
                def.indices.insert(def.indices.end(), {a, c, b, b, c, d});
        }
    }
    return def;
}
std::uint32_t add_fixed(WorldDef& def, ShapeDef shape, Vec3 at = {}) {
    const std::uint32_t body = add_body(def, add_shape(def, std::move(shape)), at);
    def.bodies[body].type = BodyType::fixed;
    return body;
}

// Two level directions: across the crease, and along it.
struct Ways {
    Vec3 across{1.0f, 0.0f, 0.0f}, along{0.0f, 0.0f, 1.0f};
    Quat ahead{};
    explicit Ways(Ground ground) {
        if (!is_slanted(ground)) return;
        across = {kHalfRoot, 0.0f, kHalfRoot}, along = {-kHalfRoot, 0.0f, kHalfRoot};
        ahead = turn_about_y(-0.25f * kPi);
    }
    Vec3 at(double s, double y, double t) const {
        return {static_cast<float>(across.x * s + along.x * t), static_cast<float>(y),
                static_cast<float>(across.z * s + along.z * t)};
    }
    double s(Vec3 v) const { return double(v.x) * across.x + double(v.z) * across.z; }
    double t(Vec3 v) const { return double(v.x) * along.x + double(v.z) * along.z; }
};

// ---- crossing a crease

struct Crossing {
    Mover kind;
    Ground ground;
    double angle_deg;      // of the part beyond the crease: up, or (negative) down
    double speed;          // m/s
    double oblique = 0.0;  // rad, of the way from straight across
    float friction = 0.0f;
    bool rolls = false;
};
struct Felt {
    double aside = 0;   // change of velocity along the crease, m/s
    double slowed = 0;  // loss of velocity across the crease, m/s
    double lost = 0;    // of speed in the plane across the crease, that from height put back, m/s
    double up = 0;      // m/s, the greatest
    double hop = 0;     // above the surface, m: see below
    double blow = 0;    // the greatest change of velocity in a tick but for gravity's, m/s
    bool crossed = false;
};

// `hop` is how far the centre comes above where a body stands that touches the level, the slope or both: over the level
// it starts from, for a convex crease; for a concave one above the higher of what the two planes hold up, and half a
// foot's rise between them.
Felt cross(const Crossing& c) {
    const double slope = std::tan(c.angle_deg * kPi / 180), cosine = 1 / std::sqrt(1 + slope * slope);
    WorldDef def;
    def.solver.sleep = false;
    def.materials[0].friction = c.friction;
    const double run = std::max(1.3, 0.15 * c.speed), end = std::max(1.3, 0.25 * c.speed);
    const int count = 2 * static_cast<int>((end + 2.0) * (is_slanted(c.ground) ? 1.5 : 1.0) / double(kCell));
    add_fixed(def, surface(c.ground, count, [&](float s) { return s > 0.0f ? static_cast<float>(slope) * s : 0.0f; }));
    const Ways ways(c.ground);
    const double vs = c.speed * std::cos(c.oblique), vt = c.speed * std::sin(c.oblique);
    const std::uint32_t body = add_mover(def, c.kind, ways.at(-run, kHigh, -0.13 - run * vt / vs), ways.ahead);
    def.bodies[body].linear_velocity = ways.at(vs, 0.0, vt);
    if (c.rolls) def.bodies[body].angular_velocity = ways.at(vt / kHigh, 0.0, -vs / kHigh);
    const auto world = make_world(def);
    Felt felt;
    double start = 0, before_s = 0, before_y = 0;
    for (int tick = 0; tick < 400; ++tick) {
        world->step();
        const BodyState state = state_of(*world, body);
        const double s = ways.s(state.pose.position), y = state.pose.position.y;
        const double us = ways.s(state.linear_velocity), uy = state.linear_velocity.y,
                     ut = ways.t(state.linear_velocity);
        if (tick < 4) {  // it settles on the soft contact
            start = y, before_s = us, before_y = uy;
            continue;
        }
        if (us < 0.4 * vs) break;  // up a slope, and about to turn
        felt.crossed = felt.crossed || s > 0.3;
        if (s > end) break;
        felt.aside = std::max(felt.aside, std::abs(ut - vt));
        felt.slowed = std::max(felt.slowed, vs - us);
        felt.lost = std::max(felt.lost, vs - std::sqrt(std::max(0.0, us * us + uy * uy + 2 * kGravity * (y - start))));
        felt.up = std::max(felt.up, uy);
        const double held = slope < 0 ? start : std::max(start, kHigh / cosine + slope * s);
        felt.hop = std::max(felt.hop, y - held - (slope > 0 ? 0.5 * reach_of(c.kind) * slope : 0.0));
        felt.blow = std::max(felt.blow, std::hypot(us - before_s, uy - before_y + kGravity * kTick_s));
        before_s = us, before_y = uy;
    }
    return felt;
}

constexpr double kAngles_deg[] = {0.5, 2.0, 5.0, 10.0};
constexpr double kSpeeds[] = {1.0, 5.0, 20.0};

// All, or one of so many.
template <class Each>
void for_each_crossing(int one_of, Each each) {
    int n = 0;
    for (const Mover kind : kMovers) {
        for (const Ground ground : kGrounds) {
            for (const double angle_deg : kAngles_deg) {
                for (const double speed : kSpeeds) {
                    for (const double oblique : {0.0, 0.5}) {
                        if (n++ % one_of == 0) each(Crossing{kind, ground, angle_deg, speed, oblique});
                    }
                }
            }
        }
    }
}
int thinned() { return few() ? 17 : 1; }
std::string text_of(const Crossing& c) {
    return name_of(c.kind) + " on " + name_of(c.ground) + " ground, " + std::to_string(c.angle_deg) + " degrees at " +
           std::to_string(c.speed) + " m/s, oblique " + std::to_string(c.oblique);
}

// The worst of many, and where.
class Worst {
  public:
    void take(double x, const Crossing& c) {
        if (x > worst_) worst_ = x, where_ = text_of(c);
    }
    std::string text() const { return std::to_string(worst_ * 1000) + " thousandths (" + where_ + ")"; }

  private:
    double worst_ = -1;
    std::string where_ = "nowhere";
};

// What touches along a line of its own that lies across the crease at an angle: it meets single vertices of it.
bool meets_vertices(const Crossing& c) {
    return (c.kind == Mover::capsule_along || c.kind == Mover::cylinder_along) &&
           (c.oblique != 0.0 || is_slanted(c.ground));
}

}  // namespace

TEST_CASE("what slides over a convex crease is neither slowed nor lifted nor pushed aside" *
          doctest::test_suite("quality")) {
    Worst aside, slowed, hop, up;
    for_each_crossing(thinned(), [&](Crossing c) {
        c.angle_deg = -c.angle_deg;
        if (meets_vertices(c)) return;
        const Felt felt = cross(c);
        CAPTURE(text_of(c));
        CHECK(felt.crossed);
        CHECK(felt.aside < 1e-3);
        CHECK(felt.slowed < 2e-4);
        CHECK(felt.hop < 5e-4);
        // A foot that tips over the edge comes down on its front: what that frees, a fifth of it at most, may rock the
        // centre.
        CHECK(felt.up < 2e-3 + 0.2 * std::sqrt(2 * kGravity * reach_of(c.kind) * std::sin(-c.angle_deg * kPi / 180)));
        aside.take(felt.aside, c), slowed.take(felt.slowed, c), hop.take(felt.hop, c), up.take(felt.up, c);
    });
    MESSAGE("aside by " << aside.text());
    MESSAGE("slowed by " << slowed.text());
    MESSAGE("hops " << hop.text());
    MESSAGE("up at " << up.text());
}

// At 20 m/s the rise is met up to a tick late, for a triangle is touched as a face from above it only: by then a body
// is v sin(angle) dt deep, 6 cm at 10 degrees, and a line's ends are pushed out one after the other. So the bound of a
// hop is wider there.
TEST_CASE(
    "what slides into a concave crease loses at most the velocity that the rise takes, and is pushed neither aside nor "
    "off" *
    doctest::test_suite("quality")) {
    Worst aside, lost, hop, blow;
    for_each_crossing(thinned(), [&](const Crossing& c) {
        const double sine = std::sin(c.angle_deg * kPi / 180), cosine = std::cos(c.angle_deg * kPi / 180);
        const double across = c.speed * std::cos(c.oblique), reach = reach_of(c.kind), taken = across * sine;
        const Felt felt = cross(c);
        CAPTURE(text_of(c));
        if (across * across > 4 * kGravity * (0.3 + reach) * sine) CHECK(felt.crossed);  // else it turns back
        CHECK(felt.aside < 1e-4);
        // A foot that bridges the crease rises by up to half its reach times the slope, and drops again.
        CHECK(felt.lost <
              across * (1 - cosine) + 0.015 * taken + 0.1 * sine + 0.25 * kGravity * reach * sine / across + 1e-4);
        CHECK(felt.hop < (c.speed < 20 ? 2e-4 : 0.04));
        CHECK(felt.blow < 1.9 * taken + 1.05 * kGravity * kTick_s);
        aside.take(felt.aside, c), lost.take((felt.lost - across * (1 - cosine)) / taken, c);
        hop.take(felt.hop, c), blow.take((felt.blow - kGravity * kTick_s) / taken, c);
    });
    MESSAGE("aside by " << aside.text());
    MESSAGE("speed lost beside v (1 - cos), of v sin, " << lost.text());
    MESSAGE("hops " << hop.text());
    MESSAGE("a tick's blow, of v sin, " << blow.text());
}

// With friction enough to roll. A line that comes down on its whole length has its two ends stopped one after the
// other, and turns.
TEST_CASE("what rolls over a crease keeps to its way and its speed" * doctest::test_suite("quality")) {
    for (const Mover kind : {Mover::ball, Mover::capsule_across, Mover::cylinder_across}) {
        Worst aside, slowed, lost, hop;
        for (const Ground ground : kGrounds) {
            for (const double angle_deg : kAngles_deg) {
                for (const double speed : kSpeeds) {
                    for (const bool down : {false, true}) {
                        for (const double oblique : {0.0, 0.5}) {
                            if (oblique != 0.0 && kind != Mover::ball) continue;
                            const Crossing c{kind, ground, down ? -angle_deg : angle_deg, speed, oblique, 0.6f, true};
                            const Felt felt = cross(c);
                            CAPTURE(text_of(c));
                            const double across = speed * std::cos(oblique), sine = std::sin(angle_deg * kPi / 180);
                            const double free = across * (1 - std::cos(angle_deg * kPi / 180));
                            CHECK(felt.aside < (kind == Mover::ball             ? 0.022
                                                : kind == Mover::capsule_across ? 0.013
                                                                                : 0.028) *
                                                   speed);
                            CHECK(felt.hop < 1.3e-3);
                            if (down)
                                CHECK(felt.slowed < 6e-4);
                            else
                                CHECK(felt.lost < free + 0.15 * across * sine);
                            aside.take(felt.aside / speed, c), hop.take(felt.hop, c);
                            if (down)
                                slowed.take(felt.slowed, c);
                            else
                                lost.take((felt.lost - free) / (across * sine), c);
                        }
                    }
                }
            }
        }
        MESSAGE(name_of(kind) << " goes aside, of its speed, by " << aside.text());
        MESSAGE("is slowed where it falls by " << slowed.text());
        MESSAGE("loses of speed where it rises, beside v (1 - cos), of v sin, " << lost.text());
        MESSAGE("hops " << hop.text());
    }
}

namespace {

// ---- along a ridge or a valley: what lies across a crease that it crosses lies along one that it follows

struct Along {
    double slower = 0, hop = 0, kick = 0;  // of the speed; m above the start; m/s up or down in a tick
};
// Its sides rise (a valley) or fall (a ridge) by `slope_deg`; it slides along the middle, and may not turn.
Along slide_along(Mover kind, Ground ground, double slope_deg, double speed) {
    const double slope = std::tan(slope_deg * kPi / 180), cosine = 1 / std::sqrt(1 + slope * slope);
    WorldDef def;
    def.solver.sleep = false;
    def.materials[0].friction = 0.0f;
    add_fixed(def, surface(ground, is_slanted(ground) ? 36 : 24,
                           [&](float s) { return static_cast<float>(slope * double(std::abs(s))); }));
    const Ways ways(ground);
    const bool bridges = kind == Mover::capsule_along;  // a valley, with its round ends
    const double half = kind == Mover::hull || kind == Mover::turned_box ? 0.6 : 0.4;
    const double high = slope < 0        ? kHigh
                        : is_round(kind) ? kHigh / cosine
                        : bridges        ? kHigh / cosine + half * slope
                                         : kHigh + half * slope;
    const std::uint32_t body = add_mover(def, kind, ways.at(0.0, high, -4.03), ways.ahead);
    def.bodies[body].linear_velocity = ways.at(0.0, 0.0, speed);
    def.bodies[body].locks = kLockAngularX | kLockAngularY | kLockAngularZ;
    const auto world = make_world(def);
    Along out;
    double start = 0, before = 0;
    const int settle = slope > 0 ? 20 : 5;
    for (int tick = 0; tick < settle + std::min(200, static_cast<int>(60 * 4 / speed)); ++tick) {
        world->step();
        const BodyState state = state_of(*world, body);
        const double y = state.pose.position.y, uy = state.linear_velocity.y;
        if (tick >= settle) {
            out.slower = std::max(out.slower, 1 - ways.t(state.linear_velocity) / speed);
            out.hop = std::max(out.hop, y - start);
            out.kick = std::max(out.kick, std::abs(uy - before));
        } else {
            start = y;
        }
        before = uy;
    }
    return out;
}

}  // namespace

TEST_CASE("what slides along a valley is not slowed" * doctest::test_suite("quality")) {
    double slower = 0, hop = 0;
    for (const Mover kind : kMovers) {
        for (const Ground ground : kGrounds) {
            for (const double slope_deg : {1.0, 5.0, 30.0}) {
                for (const double speed : {2.0, 8.0, 20.0}) {
                    const Along felt = slide_along(kind, ground, slope_deg, speed);
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(ground));
                    CAPTURE(slope_deg);
                    CAPTURE(speed);
                    slower = std::max(slower, felt.slower), hop = std::max(hop, felt.hop);
                    CHECK(felt.slower < 1e-6);
                    CHECK(felt.hop < 1e-3);
                }
            }
        }
    }
    MESSAGE("slowed by " << slower << " of its speed, hops " << hop << " m");
}

TEST_CASE("a broad foot slides along a ridge and is not slowed" * doctest::test_suite("quality")) {
    double slower = 0, hop = 0;
    for (const Mover kind : {Mover::box, Mover::turned_box, Mover::hull, Mover::drum}) {
        for (const Ground ground : kGrounds) {
            for (const double slope_deg : {-1.0, -5.0, -15.0, -30.0}) {
                for (const double speed : {2.0, 8.0, 20.0}) {
                    const Along felt = slide_along(kind, ground, slope_deg, speed);
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(ground));
                    CAPTURE(slope_deg);
                    CAPTURE(speed);
                    slower = std::max(slower, felt.slower), hop = std::max(hop, felt.hop);
                    CHECK(felt.slower < 1e-6);
                    CHECK(felt.hop < 0.009);
                }
            }
        }
    }
    MESSAGE("slowed by " << slower << " of its speed, hops " << hop << " m");
}

namespace {

// ---- coming down on flat triangles

// The place is given in cells, and so lies on a seam, a corner or in the middle of a triangle.
struct Fall {
    Mover kind;
    Ground ground;
    double i, k;  // of the place, in cells
    Vec3 velocity;
    Quat turned{};
    float friction = 0.0f;
};
// What it does until `after` ticks after the first in which it touches.
std::vector<BodyState> land(const Fall& fall, bool box, int after) {
    WorldDef def;
    def.solver.sleep = false;
    def.materials[0].friction = fall.friction;
    if (box)
        add_fixed(def, {"", ShapeType::box, 0.0f, 0.0f, {30, 1, 30}}, {0, -1, 0});
    else
        add_fixed(def, surface(fall.ground, 24, [](float) { return 0.0f; }));
    // It arrives on its place after a tenth of a second, however it comes.
    const double high = (fall.turned.w < 1.0f ? 0.75 : double(kHigh)) + 0.02, time = 0.1;
    const Vec3 v = fall.velocity;
    const Vec3 from{static_cast<float>(fall.i * double(kCell) - double(v.x) * time),
                    static_cast<float>(high - double(v.y) * time),
                    static_cast<float>(fall.k * double(kCell) - double(v.z) * time)};
    const std::uint32_t body = add_mover(def, fall.kind, from, fall.turned);
    def.bodies[body].linear_velocity = v;
    const auto world = make_world(def);
    std::vector<BodyState> path;
    for (int tick = 0, left = after; tick < 60 && left >= 0; ++tick) {
        world->step();
        path.push_back(state_of(*world, body));
        if (left < after || count_events(*world, EventKind::contact_begin) > 0) --left;
    }
    return path;
}

constexpr double kPlaces[][2] = {{0, 0}, {0.5, 0}, {0, 0.5}, {0.5, 0.5}, {0.25, 0.75}, {1, 0.02}};

}  // namespace

// What comes down on a whole face is stopped point by point, and turns by that, on a box as here, by up to 1.65 rad/s a
// m/s.
TEST_CASE(
    "what comes down flat on a seam of a flat mesh, straight or grazing, is stopped as by a box and goes on as it "
    "went" *
    doctest::test_suite("quality")) {
    double turned = 0, round_turned = 0, above = 0, below = 0;
    for (const Mover kind : kMovers) {
        for (const Ground ground : {Ground::rising, Ground::alternating, Ground::field}) {
            for (const auto& place : kPlaces) {
                for (const Vec3 velocity :
                     {Vec3{0, -3, 0}, Vec3{0, -15, 0}, Vec3{5, -2, 0}, Vec3{-12, -3, 12}, Vec3{20, -1, 7}}) {
                    const Fall fall{kind, ground, place[0], place[1], velocity};
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(ground));
                    CAPTURE(place[0]);
                    CAPTURE(place[1]);
                    CAPTURE(velocity.x);
                    CAPTURE(velocity.y);
                    const std::vector<BodyState> on_mesh = land(fall, false, 10), on_box = land(fall, true, 10);
                    REQUIRE(on_mesh.size() == on_box.size());
                    double turn = 0;
                    bool level = true;
                    for (std::size_t n = 0; n < on_mesh.size(); ++n) {
                        const BodyState& is = on_mesh[n];
                        const double higher = double(is.pose.position.y) - double(on_box[n].pose.position.y);
                        level = level && is.linear_velocity.x == velocity.x && is.linear_velocity.z == velocity.z;
                        turn = std::max(turn, apart(is.angular_velocity, {}) / std::abs(double(velocity.y)));
                        above = std::max(above, higher), below = std::max(below, -higher);
                    }
                    CHECK(level);
                    CHECK(turn < (kind == Mover::ball                                             ? 1e-6
                                  : kind == Mover::capsule_across || kind == Mover::capsule_along ? 0.15
                                                                                                  : 2.5));
                    (is_round(kind) ? round_turned : turned) = std::max(is_round(kind) ? round_turned : turned, turn);
                }
            }
        }
    }
    CHECK(above < 2e-3);
    CHECK(below < 2e-3);
    MESSAGE("turned by " << turned << ", round ones by " << round_turned << " rad/s a m/s; up to " << above
                         << " m above and " << below << " m below what is on a box");
}

// Where two of its points touch in one tick, which of them is stopped first makes the difference.
TEST_CASE("what comes down on a corner or an edge of its own does on a flat mesh what it does on a box" *
          doctest::test_suite("quality")) {
    Lcg random(31);
    double off = 0, turned = 0;
    for (const Mover kind : kMovers) {
        for (int n = 0; n < sampled(60); ++n) {
            const float x = random.between(-1, 1), y = random.between(-1, 1), z = random.between(-1, 1);
            const float scale = 1.0f / std::sqrt(1.0f + x * x + y * y + z * z);
            Fall fall{kind, kGrounds[n % 4], kPlaces[n % 6][0], kPlaces[n % 6][1], {}};
            fall.turned = {x * scale, y * scale, z * scale, scale};
            fall.velocity.x = random.between(-8, 8), fall.velocity.y = random.between(-8, -2),
            fall.velocity.z = random.between(-8, 8);
            fall.friction = n % 2 == 0 ? 0.0f : 0.5f;
            const std::vector<BodyState> on_mesh = land(fall, false, 0), on_box = land(fall, true, 0);
            CAPTURE(name_of(kind));
            CAPTURE(n);
            REQUIRE(on_mesh.size() == on_box.size());
            const double moved = apart(on_mesh.back().linear_velocity, on_box.back().linear_velocity);
            const double turn = apart(on_mesh.back().angular_velocity, on_box.back().angular_velocity);
            CHECK(moved < (kind == Mover::ball ? 1e-4 : 0.25));
            CHECK(turn < (kind == Mover::ball ? 1e-3 : 0.7));
            off = std::max(off, moved), turned = std::max(turned, turn);
        }
    }
    MESSAGE("velocities differ by " << off << " m/s and " << turned << " rad/s");
}

namespace {

// ---- an inner corner: a wall of triangles on a floor of triangles

// The wall stands at x = 0 and faces +x; of one mesh with the floor, welded at the corner or not, or of another body.
enum class Corner { welded, unwelded, two_bodies };

void add_corner(WorldDef& def, Corner corner, int count) {
    ShapeDef floor, wall;
    floor.type = wall.type = ShapeType::mesh;
    const int width = 8;
    const auto grid = [&](ShapeDef& into, bool upright) {
        const auto first = static_cast<std::uint32_t>(into.points.size());
        for (int k = 0; k <= count; ++k) {
            for (int i = 0; i <= width; ++i) {
                const float s = kCell * static_cast<float>(i),
                            z = kCell * (static_cast<float>(k) - 0.5f * static_cast<float>(count));
                into.points.push_back(upright ? Vec3{0.0f, s, z} : Vec3{s, 0.0f, z});
            }
        }
        for (int k = 0; k < count; ++k) {
            for (int i = 0; i < width; ++i) {
                const auto a = first + static_cast<std::uint32_t>(k * (width + 1) + i), b = a + 1, c = a + width + 1,
                           d = c + 1;
                if (upright)
                    into.indices.insert(into.indices.end(), {a, b, c, b, d, c});
                else
                    into.indices.insert(into.indices.end(), {a, c, b, b, c, d});
            }
        }
    };
    grid(floor, false);
    if (corner == Corner::welded) {
        grid(floor, true);  // points at one place count as one
        add_fixed(def, floor);
        return;
    }
    grid(wall, true);
    if (corner == Corner::unwelded) {
        for (Vec3& p : wall.points) {
            if (p.y == 0.0f) p.y = -0.01f;  // it ends below the floor
        }
        const auto first = static_cast<std::uint32_t>(floor.points.size());
        floor.points.insert(floor.points.end(), wall.points.begin(), wall.points.end());
        for (const std::uint32_t i : wall.indices) floor.indices.push_back(first + i);
        add_fixed(def, floor);
        return;
    }
    add_fixed(def, floor);
    add_fixed(def, wall);
}

}  // namespace

TEST_CASE(
    "what slides along a wall of triangles on a floor of triangles is not slowed, lifted or turned by the corner" *
    doctest::test_suite("quality")) {
    double slower = 0, hop = 0, turn = 0, away = 0;
    for (const Corner corner : {Corner::welded, Corner::unwelded, Corner::two_bodies}) {
        for (const Mover kind : {Mover::ball, Mover::box, Mover::drum, Mover::capsule_along, Mover::capsule_across,
                                 Mover::cylinder_along}) {
            for (const double speed : {1.0, 5.0, 20.0}) {
                for (const double press : {0.0, 2.0, 8.0}) {
                    WorldDef def;
                    def.solver.sleep = false;
                    def.materials[0].friction = 0.0f;
                    def.gravity = {static_cast<float>(-press), -10.0f, 0.0f};
                    add_corner(def, corner, 40);
                    // Rods along and across the wall; `across` of a mover that goes along z lies along z.
                    const double half = kind == Mover::capsule_along ? 0.7 : is_round(kind) ? double(kHigh) : 0.4;
                    const std::uint32_t body = add_mover(def, kind, {static_cast<float>(half), kHigh, -6.01f}, {});
                    def.bodies[body].linear_velocity = {0.0f, 0.0f, static_cast<float>(speed)};
                    const auto world = make_world(def);
                    CAPTURE(static_cast<int>(corner));
                    CAPTURE(name_of(kind));
                    CAPTURE(speed);
                    CAPTURE(press);
                    double this_slower = 0, this_hop = 0, this_turn = 0, this_away = 0;
                    for (int tick = 0; tick < std::min(180, static_cast<int>(60 * 10 / speed)); ++tick) {
                        world->step();
                        const BodyState state = state_of(*world, body);
                        const Vec3 w = state.angular_velocity;
                        if (tick < 5) continue;
                        this_slower = std::max(this_slower, speed - double(state.linear_velocity.z));
                        this_hop = std::max(this_hop, double(state.pose.position.y) - double(kHigh));
                        this_turn = std::max(this_turn, std::hypot(double(w.x), double(w.y), double(w.z)));
                        this_away = std::max(this_away, std::abs(double(state.pose.position.x) - half));
                    }
                    CHECK(this_slower < 1e-6 * speed);
                    CHECK(this_hop < 1e-6);
                    CHECK(this_turn < 2e-3);
                    if (press > 0) CHECK(this_away < 2e-4);
                    slower = std::max(slower, this_slower), hop = std::max(hop, this_hop),
                    turn = std::max(turn, this_turn);
                    if (press > 0) away = std::max(away, this_away);
                }
            }
        }
    }
    MESSAGE("slower by " << slower << " m/s, hops " << hop << " m, turns at " << turn << " rad/s, " << away
                         << " m off the wall");
}

// ---- one side

// From behind it is met once its centre is in front, and pushed out forward.
TEST_CASE("a mesh and a height field stop what comes from the front, and do not hold up what comes from behind" *
          doctest::test_suite("quality")) {
    double pushed = 0;
    for (const Ground ground : {Ground::rising, Ground::alternating, Ground::field}) {
        for (const Mover kind : kMovers) {
            for (const float speed : {1.0f, 6.0f, 40.0f}) {
                for (const bool behind : {false, true}) {
                    WorldDef def;
                    def.gravity = {};
                    def.solver.sleep = false;
                    add_fixed(def, surface(ground, 20, [](float) { return 0.0f; }));
                    const std::uint32_t body = add_mover(def, kind, {0.13f, behind ? -2.0f : 2.0f, 0.21f}, {});
                    def.bodies[body].linear_velocity = {0.0f, behind ? speed : -speed, 0.0f};
                    const auto world = make_world(def);
                    CAPTURE(name_of(ground));
                    CAPTURE(name_of(kind));
                    CAPTURE(speed);
                    CAPTURE(behind);
                    double slowest = speed, fastest = speed;
                    for (int tick = 0; tick < static_cast<int>(60 * 4 / speed); ++tick) {
                        world->step();
                        const double now = state_of(*world, body).linear_velocity.y;
                        slowest = std::min(slowest, now), fastest = std::max(fastest, now);
                    }
                    const double y = state_of(*world, body).pose.position.y;
                    if (behind) {
                        CHECK(y > 1.5);
                        CHECK(slowest > speed * (1 - 1e-6));
                        pushed = std::max(pushed, fastest - double(speed));
                    } else {
                        CHECK(y > 0.29);
                        CHECK(fastest >= 0);
                    }
                }
            }
        }
    }
    CHECK(pushed < 0.5);
    MESSAGE("pushed out forward at " << pushed << " m/s");
}

TEST_CASE("a mesh with triangles both ways round stops what comes from either side") {
    for (const bool below : {false, true}) {
        WorldDef def;
        def.gravity = {};
        ShapeDef both = surface(Ground::rising, 8, [](float) { return 0.0f; });
        for (std::size_t k = 0, n = both.indices.size(); k < n; k += 3)
            both.indices.insert(both.indices.end(), {both.indices[k], both.indices[k + 2], both.indices[k + 1]});
        add_fixed(def, both);
        const std::uint32_t ball = add_mover(def, Mover::ball, {0.13f, below ? -1.0f : 1.0f, 0.21f}, {});
        def.bodies[ball].linear_velocity = {0.0f, below ? 6.0f : -6.0f, 0.0f};
        const auto world = make_world(def);
        run(*world, 60);
        CHECK(std::abs(state_of(*world, ball).pose.position.y) == about(kHigh, 0.01));
    }
}

// ---- crests, corners and ramps

// What touches a gentle crest has its lowest point, seen from each face, above the other: both must hold it there.
TEST_CASE("what is round stays on the crest of a ridge, however gentle" * doctest::test_suite("quality")) {
    for (const Mover kind : {Mover::ball, Mover::capsule_across, Mover::cylinder_across}) {
        for (const double slope_deg : {0.05, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 20.0}) {
            double sunk = 0;
            for (const Ground ground : {Ground::rising, Ground::falling, Ground::field}) {
                WorldDef def;
                def.solver.sleep = false;
                const auto slope = static_cast<float>(std::tan(slope_deg * kPi / 180));
                add_fixed(def, surface(ground, 8, [&](float s) { return -slope * std::abs(s); }));
                const std::uint32_t body = add_mover(def, kind, {0.0f, kHigh, 0.13f}, {});
                def.bodies[body].locks = kLockLinearX | kLockAngularX | kLockAngularY | kLockAngularZ;
                const auto world = make_world(def);
                for (int tick = 0; tick < 20; ++tick) {
                    world->step();
                    sunk = std::max(sunk, double(kHigh) - double(state_of(*world, body).pose.position.y));
                }
            }
            CAPTURE(name_of(kind));
            CAPTURE(slope_deg);
            CHECK(sunk < 1e-3);
            if (sunk > 1e-3)
                MESSAGE(name_of(kind) << ", sides of " << slope_deg << " degrees: sinks by " << sunk
                                      << " m in 20 ticks");
        }
    }
}

TEST_CASE("balls that come down on a smooth dome of a height field stay on it" * doctest::test_suite("quality")) {
    WorldDef def;
    def.materials[0].friction = 0.8f;
    add_fixed(def, surface(Ground::field, 24, [](float) { return 0.0f; }));
    ShapeDef& dome = def.shapes.back();
    for (std::size_t k = 0; k < 25; ++k) {
        for (std::size_t i = 0; i < 25; ++i) {
            const double x = (double(i) - 12) * double(kCell), z = (double(k) - 12) * double(kCell);
            dome.heights[k * 25 + i] = static_cast<float>(-0.002 * (x * x + z * z));
        }
    }
    std::vector<std::uint32_t> balls;
    for (int k = -4; k <= 4; ++k) {
        for (int i = -4; i <= 4; ++i)
            balls.push_back(add_mover(def, Mover::ball, {static_cast<float>(i), 0.5f, static_cast<float>(k)}, {}));
    }
    const auto world = make_world(def);
    run(*world, 240);
    int fell = 0;
    for (const std::uint32_t ball : balls) fell += state_of(*world, ball).pose.position.y < -1.0f;
    CHECK(fell == 0);
    MESSAGE(fell << " of " << balls.size() << " fell through");
}

// A corner's contact counts where no edge that goes out from the corner runs into its normal; else normals would lean
// along the crease, and what touches at a point or along a line would trip.
TEST_CASE("what touches a ridge at a point slides along it and is not slowed" * doctest::test_suite("quality")) {
    for (const double slope_deg : {-1.0, -5.0, -15.0, -30.0}) {
        double slower = 0, hop = 0, kick = 0;
        for (const Mover kind : {Mover::ball, Mover::capsule_across, Mover::cylinder_across}) {
            for (const Ground ground : kGrounds) {
                for (const double speed : {2.0, 8.0, 20.0}) {
                    const Along felt = slide_along(kind, ground, slope_deg, speed);
                    slower = std::max(slower, felt.slower), hop = std::max(hop, felt.hop),
                    kick = std::max(kick, felt.kick);
                }
            }
        }
        CAPTURE(slope_deg);
        CHECK(slower < 1e-3);
        CHECK(hop < 2e-3);
        CHECK(kick < 0.08);
        MESSAGE("sides of " << slope_deg << " degrees: slowed by " << slower << " of its speed, hops " << hop
                            << " m, kicked at " << kick << " m/s");
    }
}

TEST_CASE("a rod that slides askew over a convex crease is neither lifted nor pushed aside" *
          doctest::test_suite("quality")) {
    Worst aside, hop;
    for_each_crossing(1, [&](Crossing c) {
        c.angle_deg = -c.angle_deg;
        if (!meets_vertices(c)) return;
        const Felt felt = cross(c);
        CHECK_MESSAGE(felt.aside < 1e-3, text_of(c));
        CHECK_MESSAGE(felt.hop < 1e-4, text_of(c));
        aside.take(felt.aside, c), hop.take(felt.hop, c);
    });
    MESSAGE("aside by " << aside.text());
    MESSAGE("hops " << hop.text());
}

// A rise that begins within the tick's way is above no part of the body when the tick begins, and what is smaller than
// v sin(angle) dt would be behind its front when it ends.
TEST_CASE("what slides onto a ramp of the same mesh at speed does not pass it" * doctest::test_suite("quality")) {
    for (const double angle_deg : {10.0, 20.0, 45.0}) {
        for (const double speed : {10.0, 20.0, 40.0}) {
            int passed = 0;
            constexpr int kTries = 20;
            for (int n = 0; n < kTries; ++n) {
                const auto slope = static_cast<float>(std::tan(angle_deg * kPi / 180));
                WorldDef def;
                def.materials[0].friction = 0.0f;
                add_fixed(def, surface(Ground::rising, 24, [&](float s) { return s > 0.0f ? slope * s : 0.0f; }));
                const auto back = static_cast<float>(speed * kTick_s * n / kTries);
                const std::uint32_t ball = add_body(def, add_sphere_shape(def, 0.1f), {-1.0f - back, 0.1f, -0.13f});
                def.bodies[ball].linear_velocity = {static_cast<float>(speed), 0.0f, 0.0f};
                const auto world = make_world(def);
                run(*world, static_cast<int>(60 * 3 / speed) + 6);
                const Vec3 p = state_of(*world, ball).pose.position;
                passed += p.x > 0.0f && p.y < slope * p.x;
            }
            CAPTURE(angle_deg);
            CAPTURE(speed);
            CHECK(passed == 0);
            if (passed > 0)
                MESSAGE("a ball of 0.1 m at " << speed << " m/s passes a ramp of " << angle_deg << " degrees " << passed
                                              << " times of " << kTries);
        }
    }
}
