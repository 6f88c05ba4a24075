#include "sim/lanes/ref_pass.h"

#include "sim/lanes/double-inl.h"

#include "sim/rigs/graph/stars.h"

#include <algorithm>
#include <optional>

#include "sim/rigs/rig-inl.h"

namespace orrery::sim::ref {
namespace {

using Vec = Vec3T<double>;
using Sym = Sym3T<double>;

constexpr double kStarShare = 0.25;

struct Arm {
    std::uint32_t body;
    Vec3 anchor;
};

// Twice what W has across an arm, times its square.
double across(const Vec& arm, const Sym& w) { return dot(arm, arm) * ((w.xx + w.yy) + w.zz) - dot(arm, w * arm); }

std::optional<Star> star_of(std::span<const Arm> arms, const MassRecord& mass) {
    const float* const i = mass.inverse_inertia;
    Sym w{i[0], i[1], i[2], i[3], i[4], i[5]};
    const double share = kStarShare / (static_cast<double>(mass.inverse_mass) * static_cast<double>(arms.size()));
    double levers = 0.0;
    for (const Arm& arm : arms) levers += across({arm.anchor.x, arm.anchor.y, arm.anchor.z}, w);
    const double s = share * levers * 0.5;
    if (!(s > 1.0)) return std::nullopt;
    const double missing = 2.0 - 2.0 / s;
    for (const Arm& arm : arms) {
        const Vec r{arm.anchor.x, arm.anchor.y, arm.anchor.z};
        w = stiffened_across(w, r, share * missing * dot(r, r));
    }
    Star star{arms.front().body, {}};
    const double values[6] = {w.xx, w.xy, w.xz, w.yy, w.yz, w.zz};
    for (int k = 0; k < 6; ++k) star.inverse_inertia[k] = static_cast<float>(values[k]);
    return star;
}

}  // namespace

void find_stars(const Rigs& rigs, const Bodies& bodies, std::span<const Joint> joints, std::vector<Star>& out) {
    out.clear();
    std::vector<Arm> arms;
    for (const Rig& rig : rigs.rigs) {
        if (rig.method == RigMethod::exact) continue;
        for (const std::uint32_t i : std::span(rigs.joints).subspan(rig.first, rig.links)) {
            const std::optional<RigLink> link = rig_link(joints[i].constraint);
            if (!link) continue;
            for (const auto& [body, anchor] : {Arm{joints[i].a, link->anchor_a}, Arm{joints[i].b, link->anchor_b}}) {
                if (bodies.dynamic(body) && (anchor.x != 0.0f || anchor.y != 0.0f || anchor.z != 0.0f))
                    arms.push_back({body, anchor});
            }
        }
    }
    std::ranges::stable_sort(arms, {}, &Arm::body);
    for (auto first = arms.begin(); first != arms.end();) {
        const auto last = std::find_if(first, arms.end(), [&](const Arm& arm) { return arm.body != first->body; });
        if (const std::optional<Star> star = star_of({first, last}, bodies.mass(first->body))) out.push_back(*star);
        first = last;
    }
}

}  // namespace orrery::sim::ref
