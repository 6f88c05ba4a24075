#include "sim/jacobi/rigs.h"

#include <algorithm>
#include <numeric>

namespace orrery::sim {
namespace {

// Of a connected component, kept at its root: the lowest body.
struct Component {
    std::uint32_t joints = 0, bodies = 0, inner = 0;  // inner: joints between two dynamic bodies
    std::uint32_t most = 0;                           // joints of one body
    std::uint32_t start = kNone;                      // the first joint with an end of the chain at one side
    const RigDef* named = nullptr;
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
        out_.coloured.clear();
        out_.rig_of_body.assign(bodies_.size(), kNone);
        taken_.assign(joints_.size(), false);
        if (!choice_.named.empty() || choice_.settings.rig_joints > 0) find_components();
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            if (joints_[i].alive && !taken_[i]) out_.coloured.push_back(i);
        }
        if (!out_.rigs.empty()) mark_coupled();
    }

  private:
    bool dynamic(std::uint32_t body) const { return bodies_.dynamic(body); }
    bool links(const Joint& joint) const {
        return joint.alive && std::holds_alternative<BallSocket>(joint.constraint) &&
               (dynamic(joint.a) || dynamic(joint.b));
    }
    std::uint32_t root(std::uint32_t body) {
        while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
        return body;
    }
    std::uint32_t root(const Joint& joint) { return root(dynamic(joint.a) ? joint.a : joint.b); }
    // A side of a chain where it ends.
    bool is_end(std::uint32_t body) const { return !dynamic(body) || degree_[body] == 1; }

    void find_components() {
        parent_.resize(bodies_.size());
        std::iota(parent_.begin(), parent_.end(), 0u);
        degree_.assign(bodies_.size(), 0);
        of_body_.assign(bodies_.size(), {kNone, kNone});
        components_.assign(bodies_.size(), {});
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = joints_[i];
            if (!links(joint)) continue;
            for (const std::uint32_t body : {joint.a, joint.b}) {
                if (!dynamic(body)) continue;
                if (degree_[body] < 2) of_body_[body][degree_[body]] = i;
                ++degree_[body];
            }
            if (!dynamic(joint.a) || !dynamic(joint.b)) continue;
            const std::uint32_t a = root(joint.a), b = root(joint.b);
            parent_[std::max(a, b)] = std::min(a, b);
        }
        for (std::uint32_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = joints_[i];
            if (!links(joint)) continue;
            Component& component = components_[root(joint)];
            ++component.joints;
            component.inner += dynamic(joint.a) && dynamic(joint.b) ? 1 : 0;
            if (component.start == kNone && (is_end(joint.a) || is_end(joint.b))) component.start = i;
        }
        for (std::uint32_t body = 1; body < bodies_.size(); ++body) {
            if (degree_[body] == 0) continue;
            Component& component = components_[root(body)];
            ++component.bodies;
            component.most = std::max(component.most, degree_[body]);
        }
        for (const RigDef& def : choice_.named) {
            for (const std::uint32_t i : def.bodies) {
                const std::uint32_t body = i + 1;  // of the definition; its generation is 0 as long as it lives
                if (bodies_.generation[body] != 0 || !dynamic(body)) continue;
                Component& component = components_[root(body)];
                if (component.named == nullptr) component.named = &def;
            }
        }
        for (const Joint& joint : joints_) {
            if (links(joint)) place(components_[root(joint)]);
        }
    }

    void place(Component& component) {
        if (component.placed) return;
        component.placed = true;
        const SolverSettings& settings = choice_.settings;
        if (component.named == nullptr && (settings.rig_joints == 0 || component.joints < settings.rig_joints)) return;
        const RigSolver solver = component.named ? component.named->solver : settings.rig_solver;
        if (solver == RigSolver::coloured) return;
        const bool loop = component.inner + 1 != component.bodies;
        const RigClass kind = loop ? RigClass::loopy : component.most > 2 ? RigClass::tree : RigClass::chain;
        if (kind != RigClass::chain) return;  // the coloured solver's
        Rig rig;
        rig.kind = kind;
        rig.first = static_cast<std::uint32_t>(out_.joints.size());
        rig.links = component.joints;
        rig.compliance = component.named ? component.named->compliance : settings.rig_compliance;
        walk(component.start);
        const bool held = !dynamic(out_.bodies[out_.bodies.size() - rig.links - 1]) && !dynamic(out_.bodies.back());
        // Not negative, so their bits order as they do; a comparison and a choice of floats would be arithmetic.
        if (held && std::bit_cast<std::uint32_t>(rig.compliance) < std::bit_cast<std::uint32_t>(kHeldCompliance))
            rig.compliance = kHeldCompliance;
        out_.rigs.push_back(rig);
    }

    // From the first joint at an end, so that the order is the topology's alone.
    void walk(std::uint32_t joint) {
        const auto rig = static_cast<std::uint32_t>(out_.rigs.size());
        const Joint& first = joints_[joint];
        const bool from_b = is_end(first.b) && (!is_end(first.a) || (dynamic(first.a) && !dynamic(first.b)));
        std::uint32_t body = from_b ? first.b : first.a;
        enter(body, rig);
        for (;;) {
            out_.joints.push_back(joint);
            taken_[joint] = true;
            const Joint& here = joints_[joint];
            body = here.a == body ? here.b : here.a;
            enter(body, rig);
            if (is_end(body)) return;
            joint = of_body_[body][0] == joint ? of_body_[body][1] : of_body_[body][0];
        }
    }
    void enter(std::uint32_t body, std::uint32_t rig) {
        out_.bodies.push_back(body);
        if (dynamic(body)) out_.rig_of_body[body] = rig;
    }

    static bool same(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
    bool round(std::uint32_t body) const {
        const MassRecord& m = bodies_.mass[body];
        const float* i = m.inverse_inertia;
        const bool sphere = same(i[0], i[3]) && same(i[3], i[5]) && i[1] == 0.0f && i[2] == 0.0f && i[4] == 0.0f;
        const auto is_one = [](float lock) { return lock == 1.0f; };
        return sphere && std::all_of(std::begin(m.linear_lock), std::end(m.linear_lock), is_one) &&
               std::all_of(std::begin(m.angular_lock), std::end(m.angular_lock), is_one);
    }

    void mark_coupled() {
        for (std::uint32_t body = 1; body < bodies_.size(); ++body) {
            const std::uint32_t rig = out_.rig_of_body[body];
            if (rig != kNone && !round(body)) out_.rigs[rig].always_coupled = true;
        }
        for (const std::uint32_t i : out_.coloured) {
            for (const std::uint32_t body : joints_[i].bodies()) {
                const std::uint32_t rig = out_.rig_of_body[body];
                if (rig != kNone) out_.rigs[rig].always_coupled = true;
            }
        }
    }

    const RigChoice& choice_;
    const Bodies& bodies_;
    std::span<const Joint> joints_;
    Rigs& out_;
    std::vector<std::uint32_t> parent_, degree_;         // by body
    std::vector<std::array<std::uint32_t, 2>> of_body_;  // the first two joints of a body
    std::vector<Component> components_;                  // by root
    std::vector<bool> taken_;                            // by joint
};

}  // namespace

void find_rigs(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints, Rigs& out) {
    Finder(choice, bodies, joints, out).find();
}

}  // namespace orrery::sim
