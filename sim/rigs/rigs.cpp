#include "sim/rigs/rigs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/constraints/bundle.h"
#include "sim/rigs/graph/graph_layout.h"
#include "sim/rigs/kernels.h"

namespace orrery::sim {
namespace {

// Of a connected component, kept at its root: the lowest body.
struct Component {
    std::uint32_t joints = 0, bodies = 0, inner = 0;  // inner: joints between two dynamic bodies
    std::uint32_t most = 0;                           // joints of one body
    std::uint32_t start = kNone;                      // the first joint with an end of the chain at one side
    std::uint32_t hook = kNone;                       // the first joint on something that is not dynamic
    const RigDef* named = nullptr;
    std::uint32_t rods = 0, sockets = 0;       // sockets: between two dynamic bodies
    std::uint32_t spans = 0, inner_spans = 0;  // pairs of joints that are one edge of a tree
    bool knot = false;                         // two dynamic bodies share joints that are no such pair
    bool loop = false;                         // of sockets alone
    bool placed = false;
};

class Finder {
  public:
    Finder(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints, Rigs& out)
        : choice_(choice), bodies_(bodies), joints_(joints), out_(out) {}

    void find() {
        out_.rigs.clear();
        out_.joints.clear();
        out_.bodies.clear();
        out_.parents.clear();
        out_.seconds.clear();
        out_.coloured.clear();
        out_.faults = {};
        out_.rig_of_body.assign(bodies_.size(), kNone);
        taken_.assign(joints_.size(), false);
        if (!choice_.named.empty() || choice_.settings.rig_joints > 0) {
            find_components();
            find_faulty();
            if (leave_rods_out()) find_components();
            for (const Joint& joint : joints_) {
                if (links(joint)) place(root(joint));
            }
        }
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            if (joints_[i].alive && !taken_[i]) out_.coloured.push_back(i);
        }
        if (!out_.rigs.empty()) mark_coupled();
    }

  private:
    bool dynamic(std::uint32_t body) const { return bodies_.dynamic(body); }
    bool links(const Joint& joint) const {
        return joint.alive && (dynamic(joint.a) || dynamic(joint.b)) && rig_link(joint.constraint).has_value() &&
               (left_out_.empty() || !left_out_[static_cast<std::size_t>(&joint - joints_.data())]);
    }
    std::uint32_t root(std::uint32_t body) {
        while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
        return body;
    }
    std::uint32_t root(const Joint& joint) { return root(dynamic(joint.a) ? joint.a : joint.b); }
    static bool is_rod(const Joint& joint) { return !std::holds_alternative<BallSocket>(joint.constraint); }
    static bool iterates(RigSolver solver) { return solver == RigSolver::jacobi || solver == RigSolver::block_jacobi; }
    // A side of a chain where it ends.
    bool is_end(std::uint32_t body) const { return !dynamic(body) || degree_[body] == 1; }

    std::span<const std::uint32_t> joints_of(std::uint32_t body) const {
        return std::span(incident_).subspan(begin_[body], begin_[body + 1] - begin_[body]);
    }
    std::uint32_t other(const Joint& joint, std::uint32_t body) const { return joint.a == body ? joint.b : joint.a; }
    std::uint32_t span_of(std::uint32_t joint) const { return span_of_.empty() ? kNone : span_of_[joint]; }
    bool is_second(std::uint32_t joint) const { return span_of(joint) < joint; }

    void find_components() {
        parent_.resize(bodies_.size());
        std::iota(parent_.begin(), parent_.end(), 0u);
        degree_.assign(bodies_.size(), 0);
        components_.assign(bodies_.size(), {});
        for (const Joint& joint : joints_) {
            if (!links(joint)) continue;
            for (const std::uint32_t body : {joint.a, joint.b}) degree_[body] += dynamic(body) ? 1 : 0;
            if (!dynamic(joint.a) || !dynamic(joint.b)) continue;
            const std::uint32_t a = root(joint.a), b = root(joint.b);
            parent_[std::max(a, b)] = std::min(a, b);
        }
        begin_.assign(bodies_.size() + 1, 0);
        std::inclusive_scan(degree_.begin(), degree_.end(), begin_.begin() + 1);
        incident_.resize(begin_.back());
        std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = joints_[i];
            if (!links(joint)) continue;
            for (const std::uint32_t body : {joint.a, joint.b}) {
                if (dynamic(body)) incident_[next[body]++] = i;
            }
            Component& component = components_[root(joint)];
            const bool inner = dynamic(joint.a) && dynamic(joint.b);
            ++component.joints;
            const bool socket = std::holds_alternative<BallSocket>(joint.constraint);
            component.rods += socket ? 0 : 1;
            component.sockets += socket && inner ? 1 : 0;
            component.inner += inner ? 1 : 0;
            if (component.hook == kNone && !inner) component.hook = i;
            if (component.start == kNone && (is_end(joint.a) || is_end(joint.b))) component.start = i;
        }
        for (std::uint32_t body = 1; body < bodies_.size(); ++body) {
            if (degree_[body] == 0) continue;
            Component& component = components_[root(body)];
            ++component.bodies;
            component.most = std::max(component.most, degree_[body]);
        }
        find_spans();
        for (const RigDef& def : choice_.named) {
            for (const std::uint32_t i : def.bodies) {
                const std::uint32_t body = i + 1;
                if (!names(body)) continue;
                Component& component = components_[root(body)];
                if (component.named == nullptr) component.named = &def;
            }
        }
    }

    // Of a body of the definition, whose generation is 0 as long as it lives.
    bool names(std::uint32_t body) const { return bodies_.generation[body] == 0 && dynamic(body); }
    static void note(std::uint32_t& count, std::uint32_t& first, std::uint32_t named) {
        if (count++ == 0) first = named;
    }
    void find_faulty() {
        for (std::uint32_t i = 0; i < choice_.named.size(); ++i) {
            bool lives = false, held = false, unheeded = false;
            const RigDef& def = choice_.named[i];
            for (const std::uint32_t body : def.bodies) {
                if (!names(body + 1)) continue;
                lives = true;
                if (degree_[body + 1] == 0) continue;
                held = true;
                const RigDef& first = *components_[root(body + 1)].named;
                unheeded = unheeded || first.solver != def.solver || !same(first.compliance, def.compliance) ||
                           first.iterations != def.iterations;
            }
            if (lives && !held) note(out_.faults.idle, out_.faults.first_idle, i);
            if (unheeded) note(out_.faults.unheeded, out_.faults.first_unheeded, i);
        }
    }

    // Among ball sockets of the same two bodies, which the lower one looks at, or the one that is dynamic.
    void find_spans() {
        struct Alike {
            std::uint32_t joints = 0, first = kNone, second = kNone;
        };
        span_of_.clear();
        std::vector<Alike> with(bodies_.size());  // by the other body; while one is looked at
        for (std::uint32_t body = 1; body < bodies_.size(); ++body) {
            if (degree_[body] < 2) continue;
            const auto looks = [&](std::uint32_t i) {
                const std::uint32_t to = other(joints_[i], body);
                return !is_rod(joints_[i]) && (to > body || !dynamic(to));
            };
            for (const std::uint32_t i : joints_of(body)) {
                if (!looks(i)) continue;
                Alike& alike = with[other(joints_[i], body)];
                ++alike.joints;
                (alike.first == kNone ? alike.first : alike.second) = i;
            }
            for (const std::uint32_t i : joints_of(body)) {
                if (!looks(i)) continue;
                const std::uint32_t to = other(joints_[i], body);
                const Alike alike = std::exchange(with[to], {});
                if (alike.joints < 2) continue;
                Component& component = components_[root(body)];
                if (alike.joints == 2 && makes_span(joints_[alike.first], joints_[alike.second])) {
                    if (span_of_.empty()) span_of_.assign(joints_.size(), kNone);
                    span_of_[alike.first] = alike.second;
                    span_of_[alike.second] = alike.first;
                    ++component.spans;
                    component.inner_spans += dynamic(to) ? 1 : 0;
                } else if (dynamic(to)) {
                    component.knot = true;  // on what does not move each is an edge by itself
                }
            }
        }
    }
    static bool makes_span(const Joint& x, const Joint& y) {
        const BallSocket &p = *std::get_if<BallSocket>(&x.constraint), &q = *std::get_if<BallSocket>(&y.constraint);
        const bool crossed = x.a != y.a;
        return same(p.spring.frequency_hz, q.spring.frequency_hz) &&
               same(p.spring.damping_ratio, q.spring.damping_ratio) &&
               ref::points_apart(p.anchor_a, crossed ? q.anchor_b : q.anchor_a) &&
               ref::points_apart(p.anchor_b, crossed ? q.anchor_a : q.anchor_b);
    }

    // Rods that join what at least as many ball sockets hold together as chains and trees, so that these are solved
    // exactly. True if some do.
    bool leave_rods_out() {
        if (std::none_of(components_.begin(), components_.end(),
                         [](const Component& c) { return c.rods > 0 && c.sockets >= c.rods; }))
            return false;
        std::vector<std::uint32_t> held(bodies_.size());  // roots of what sockets hold
        std::iota(held.begin(), held.end(), 0u);
        const auto end = [&](std::uint32_t body) {
            while (held[body] != body) body = held[body] = held[held[body]];
            return body;
        };
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = joints_[i];
            if (!links(joint) || is_rod(joint) || !dynamic(joint.a) || !dynamic(joint.b)) continue;
            const std::uint32_t a = end(joint.a), b = end(joint.b);
            Component& component = components_[root(joint)];
            if (a == b && (component.knot || !is_second(i))) component.loop = true;
            held[std::max(a, b)] = std::min(a, b);
        }
        std::vector<bool> out(joints_.size());
        bool any = false;
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            if (!links(joints_[i]) || !is_rod(joints_[i])) continue;
            const Component& component = components_[root(joints_[i])];
            const RigSolver solver = component.named ? component.named->solver : choice_.settings.rig_solver;
            out[i] = component.sockets >= component.rods && !component.loop && !iterates(solver);
            any = any || out[i];
        }
        left_out_ = std::move(out);
        return any;
    }

    void place(std::uint32_t lowest) {
        Component& component = components_[lowest];
        if (component.placed) return;
        component.placed = true;
        const SolverSettings& settings = choice_.settings;
        if (component.named == nullptr && (settings.rig_joints == 0 || component.joints < settings.rig_joints)) return;
        const RigSolver solver = component.named ? component.named->solver : settings.rig_solver;
        if (solver == RigSolver::coloured) return;
        const bool spans = component.spans > 0 && !component.knot && !iterates(solver);
        const std::uint32_t inner = component.inner - (spans ? component.inner_spans : 0);
        const bool loop = component.rods > 0 || inner + 1 != component.bodies;
        Rig rig;
        rig.kind = loop ? RigClass::loopy : component.most > 2 || spans ? RigClass::tree : RigClass::chain;
        if (solver == RigSolver::direct && loop) {  // the coloured solver's
            if (component.named != nullptr)
                note(out_.faults.looped, out_.faults.first_looped,
                     static_cast<std::uint32_t>(component.named - choice_.named.data()));
            return;
        }
        rig.method = solver == RigSolver::block_jacobi     ? RigMethod::block_jacobi
                     : solver == RigSolver::jacobi || loop ? RigMethod::jacobi
                                                           : RigMethod::exact;
        rig.first = static_cast<std::uint32_t>(out_.joints.size());
        rig.first_body = static_cast<std::uint32_t>(out_.bodies.size());
        rig.links = component.joints;
        rig.compliance = component.named ? component.named->compliance : settings.rig_compliance;
        rig.iterations = component.named ? component.named->iterations : settings.rig_iterations;
        if (rig.method == RigMethod::block_jacobi) rig.iterations += rig.iterations % 2;
        bool held = false;
        if (rig.method != RigMethod::exact) {
            collect(lowest);
        } else if (rig.kind == RigClass::tree) {
            grow(component.hook, lowest, spans);
            rig.links = component.joints - (spans ? component.spans : 0);
            held = component.joints - component.inner - (spans ? component.spans - component.inner_spans : 0) > 1;
        } else {
            walk(component.start);
            held = !dynamic(out_.bodies[rig.first_body]) && !dynamic(out_.bodies.back());
        }
        rig.members = static_cast<std::uint32_t>(out_.bodies.size()) - rig.first_body;
        if (const std::string_view limit = afford(rig, component); !limit.empty()) {
            if (out_.faults.beyond_limits++ == 0) out_.faults.limit = limit;
            leave(rig);
            return;
        }
        // Not negative, so their bits order as they do; a comparison and a choice of floats would be arithmetic.
        const float least = held                                                     ? kHeldCompliance
                            : rig.method == RigMethod::exact && rig.links > kLongRig ? kRigCompliance
                                                                                     : 0.0f;
        if (std::bit_cast<std::uint32_t>(rig.compliance) < std::bit_cast<std::uint32_t>(least)) rig.compliance = least;
        out_.rigs.push_back(rig);
    }

    // In the order of the rigs, so that what room there is goes to the same ones everywhere. The name of the limit that
    // it passes, or "".
    std::string_view afford(const Rig& rig, const Component& component) {
        if (rig.method != RigMethod::exact) {
            if (component.most > kMaxGraphSides) return "kMaxGraphSides";
            rank_.resize(bodies_.size(), kNone);
            for (std::uint32_t k = 0; k < rig.members; ++k) rank_[out_.bodies[rig.first_body + k]] = k;
            std::vector<GraphLink> links;
            std::uint32_t outer = 0;
            for (std::uint32_t k = 0; k < rig.links; ++k) {
                const Joint& joint = joints_[out_.joints[rig.first + k]];
                links.push_back({rank_[joint.a], rank_[joint.b]});
                outer += links.back().a == kNone || links.back().b == kNone ? 1 : 0;
            }
            for (std::uint32_t k = 0; k < rig.members; ++k) rank_[out_.bodies[rig.first_body + k]] = kNone;
            const GraphShape shape = shape_graph(links, rig.members);
            const std::uint32_t groups = shape.joint_groups, side_groups = shape.side_groups;
            const std::uint32_t body_groups =
                rig.members / kBundleLanes + outer / kBundleLanes + 4;  // and the rows around them
            if (groups > kMaxGraphGroups - groups_) return "kMaxGraphGroups";
            if (side_groups > kMaxGraphSideGroups - side_groups_) return "kMaxGraphSideGroups";
            if (body_groups > kMaxGraphBodyGroups - body_groups_) return "kMaxGraphBodyGroups";
            body_groups_ += body_groups;
            groups_ += groups;
            side_groups_ += side_groups;
        } else if (rig.kind == RigClass::tree) {
            std::vector<std::uint32_t> shape(out_.parents.begin() + rig.first_body, out_.parents.end());
            std::uint32_t slots = rig.members;  // and as many again for a span
            for (std::uint32_t k = 0; k < rig.members; ++k) {
                const bool span = out_.seconds[rig.first_body + k] != kNone;
                slots += span ? 1 : 0;
                shape.push_back(span ? 1 : 0);
            }
            std::uint32_t& lanes = alike_[shape];
            if (lanes % kBundleLanes != 0) slots = 0;
            if (slots > kMaxTreeSlots - tree_slots_) return "kMaxTreeSlots";
            tree_slots_ += slots;
            ++lanes;
        }
        return {};
    }
    void leave(const Rig& rig) {
        for (std::size_t k = rig.first; k < out_.joints.size(); ++k) taken_[out_.joints[k]] = false;
        for (std::size_t k = rig.first_body; k < out_.bodies.size(); ++k) out_.rig_of_body[out_.bodies[k]] = kNone;
        out_.joints.resize(rig.first);
        out_.bodies.resize(rig.first_body);
        out_.parents.resize(rig.first_body);
        out_.seconds.resize(rig.first_body);
    }

    // From the first joint at an end, so that the order is the topology's alone.
    void walk(std::uint32_t joint) {
        const Joint& first = joints_[joint];
        const bool from_b = is_end(first.b) && (!is_end(first.a) || (dynamic(first.a) && !dynamic(first.b)));
        std::uint32_t body = from_b ? first.b : first.a;
        enter(body, kNone);
        for (std::uint32_t parent = 0;; ++parent) {
            take(joint);
            body = other(joints_[joint], body);
            enter(body, parent);
            if (is_end(body)) return;
            const auto both = joints_of(body);
            joint = both[0] == joint ? both[1] : both[0];
        }
    }
    // From what it hangs from, or the lowest body; a body's joints in ascending order, each with all that is below it.
    // Of a span the lower joint; the other ones come behind all of these.
    void grow(std::uint32_t hook, std::uint32_t lowest, bool spans) {
        struct Branch {
            std::uint32_t joint, from, parent;
        };
        std::vector<Branch> open;
        const auto rig_body = static_cast<std::uint32_t>(out_.bodies.size());
        const auto branch = [&](std::uint32_t body, std::uint32_t parent, std::uint32_t came_by) {
            const auto all = joints_of(body);
            for (std::size_t k = all.size(); k-- > 0;) {
                if (all[k] != came_by && !(spans && is_second(all[k]))) open.push_back({all[k], body, parent});
            }
        };
        if (hook != kNone) {
            const std::uint32_t body = dynamic(joints_[hook].a) ? joints_[hook].b : joints_[hook].a;
            enter(body, kNone);
            open.push_back({hook, body, 0});
        } else {
            enter(lowest, kNone);
            branch(lowest, 0, kNone);
        }
        while (!open.empty()) {
            const Branch here = open.back();
            open.pop_back();
            const std::uint32_t body = other(joints_[here.joint], here.from),
                                slot = static_cast<std::uint32_t>(out_.bodies.size()) - rig_body;
            take(here.joint);
            enter(body, here.parent, spans ? span_of(here.joint) : kNone);
            if (dynamic(body)) branch(body, slot, here.joint);
        }
        for (std::size_t k = out_.bodies.size() - rig_body; k > 0; --k) {
            const std::uint32_t second = out_.seconds[out_.seconds.size() - k];
            if (second != kNone) take(second);
        }
    }
    void collect(std::uint32_t lowest) {
        const std::size_t first_joint = out_.joints.size(), first_body = out_.bodies.size();
        enter(lowest, kNone);
        for (std::size_t k = first_body; k < out_.bodies.size(); ++k) {
            const std::uint32_t body = out_.bodies[k];
            for (const std::uint32_t i : joints_of(body)) {
                if (taken_[i]) continue;
                take(i);
                const std::uint32_t next = other(joints_[i], body);
                if (dynamic(next) && out_.rig_of_body[next] == kNone) enter(next, kNone);
            }
        }
        std::sort(out_.joints.begin() + static_cast<std::ptrdiff_t>(first_joint), out_.joints.end());
        std::sort(out_.bodies.begin() + static_cast<std::ptrdiff_t>(first_body), out_.bodies.end());
    }
    void take(std::uint32_t joint) {
        out_.joints.push_back(joint);
        taken_[joint] = true;
    }
    void enter(std::uint32_t body, std::uint32_t parent, std::uint32_t second = kNone) {
        out_.bodies.push_back(body);
        out_.parents.push_back(parent);
        out_.seconds.push_back(second);
        if (dynamic(body)) out_.rig_of_body[body] = static_cast<std::uint32_t>(out_.rigs.size());
    }

    static bool same(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
    bool round(std::uint32_t body) const {
        const MassRecord& m = bodies_.mass(body);
        const float* i = m.inverse_inertia;
        const bool sphere = same(i[0], i[3]) && same(i[3], i[5]) && i[1] == 0.0f && i[2] == 0.0f && i[4] == 0.0f;
        return sphere && free(m.linear_lock) && free(m.angular_lock);
    }
    static bool free(const float (&locks)[3]) {
        return std::all_of(std::begin(locks), std::end(locks), [](float lock) { return lock == 1.0f; });
    }

    void mark_coupled() {
        for (std::uint32_t body = 1; body < bodies_.size(); ++body) {
            const std::uint32_t rig = out_.rig_of_body[body];
            if (rig == kNone) continue;
            if (!round(body)) out_.rigs[rig].always_coupled = true;
            if (!free(bodies_.mass(body).linear_lock)) out_.rigs[rig].locked = true;
        }
        for (const std::uint32_t i : out_.coloured) {
            for (const std::uint32_t body : joints_[i].bodies()) {
                const std::uint32_t rig = out_.rig_of_body[body];
                if (rig != kNone) out_.rigs[rig].jointed_otherwise = out_.rigs[rig].always_coupled = true;
            }
        }
    }

    const RigChoice& choice_;
    const Bodies& bodies_;
    std::span<const Joint> joints_;
    Rigs& out_;
    std::vector<std::uint32_t> parent_, degree_;   // by body
    std::vector<std::uint32_t> begin_, incident_;  // a body's joints are incident_[begin_[body] ..], ascending
    std::vector<Component> components_;            // by root
    std::vector<bool> taken_;                      // by joint
    std::map<std::vector<std::uint32_t>, std::uint32_t> alike_;  // trees of each shape
    std::vector<std::uint32_t> rank_;     // by body, while a rig's shape is found: among its members
    std::vector<bool> left_out_;          // by joint: rods that are no links
    std::vector<std::uint32_t> span_of_;  // by joint: the other one of its span, or kNone; empty: there is none
    std::uint32_t tree_slots_ = 0, groups_ = 0, side_groups_ = 0, body_groups_ = 0;  // of what was taken
};

}  // namespace

std::optional<RigLink> rig_link(const Constraint& constraint) {
    const auto unlimited = [](const Servo& servo) {
        return servo.max_speed == kNoLimit && servo.base_speed == 0.0f && servo.max_force == kNoLimit;
    };
    // Between points that are to coincide a rod has no direction.
    const auto above_0 = [](const RigLink& rod) { return rod.length_m > 0.0f ? std::optional(rod) : std::nullopt; };
    if (const auto* ball = std::get_if<BallSocket>(&constraint))
        return RigLink{ball->anchor_a, ball->anchor_b, ball->spring};
    if (const auto* rod = std::get_if<CenterDistance>(&constraint))
        return above_0(RigLink{{}, {}, rod->spring, true, rod->target_m});
    if (const auto* rod = std::get_if<DistanceServo>(&constraint); rod != nullptr && unlimited(rod->servo))
        return above_0(RigLink{rod->anchor_a, rod->anchor_b, rod->spring, true, rod->target_m});
    if (const auto* rod = std::get_if<DistanceLimit>(&constraint); rod != nullptr && rod->min_m == rod->max_m)
        return above_0(RigLink{rod->anchor_a, rod->anchor_b, rod->spring, true, rod->min_m});
    if (const auto* rod = std::get_if<CenterDistanceLimit>(&constraint); rod != nullptr && rod->min_m == rod->max_m)
        return above_0(RigLink{{}, {}, rod->spring, true, rod->min_m});
    return std::nullopt;
}

void find_rigs(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints, Rigs& out) {
    Finder(choice, bodies, joints, out).find();
}

}  // namespace orrery::sim
