#include "sim/solver/colouring.h"

#include <algorithm>
#include <bit>

#include "sim/base/assert.h"
#include "sim/base/growth.h"

namespace orrery::sim {
namespace {

// Contacts against fixed bodies get colours of their own only where so many are left: otherwise one crowded body would
// send all of them to overflow.
constexpr std::uint32_t kColoursForFixed = 8;

// The lowest colour from `lowest` on that is not in `taken`, or overflow.
std::uint8_t lowest_free(std::uint64_t taken, std::uint32_t lowest, std::uint32_t& colours) {
    const std::uint64_t free = ~taken & (~std::uint64_t{0} << lowest);
    if (free == 0) return kOverflowColour;
    const auto colour = static_cast<std::uint32_t>(std::countr_zero(free));
    colours = std::max(colours, colour + 1);
    return static_cast<std::uint8_t>(colour);
}

// Leaves what joints use. Where few bodies touch anything, only these are looked at.
void forget_contacts(Colouring& colouring) {
    const std::vector<std::uint64_t>& by_joints = colouring.used_by_joints;
    if (colouring.joints_anew || colouring.used.size() != colouring.bodies) {
        colouring.used.assign(by_joints.begin(), by_joints.end());
        colouring.used.resize(colouring.bodies, 0);
        colouring.touched.assign(colouring.bodies, 0);
        colouring.joints_anew = false;
    } else {
        for (const std::uint32_t body : colouring.met) {
            colouring.used[body] = by_joints.empty() ? 0 : by_joints[body];
            colouring.touched[body] = 0;
        }
    }
    colouring.met.clear();
}

}  // namespace

void colour_joints(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                   Colouring& colouring) {
    std::vector<std::uint64_t>& used = colouring.used_by_joints;
    colouring.joints_anew = colouring.joints_anew || !used.empty() || !taken.empty();
    used.assign(taken.empty() ? 0 : bodies.size(), 0);
    colouring.bodies = bodies.size();
    colouring.joints.resize(taken.size());
    colouring.joint_colours = 0;
    ORRERY_DEBUG_ASSERT(std::is_sorted(taken.begin(), taken.end()));
    ORRERY_ASSERT(taken.empty() || taken.back() < joints.size());
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const Joint& joint = joints[taken[k]];
        colouring.joints[k] = kNoColour;
        if (!joint.alive) continue;
        const auto joined = joint.bodies();
        std::uint64_t there = 0;
        bool any_dynamic = false, any_asleep = false;
        for (const std::uint32_t body : joined) {
            any_asleep |= bodies.asleep(body);
            if (!bodies.dynamic(body)) continue;
            any_dynamic = true;
            there |= used[body];
        }
        if (any_asleep || !any_dynamic) continue;
        const std::uint8_t colour = colouring.joints[k] = lowest_free(there, 0, colouring.joint_colours);
        if (colour == kOverflowColour) continue;
        ORRERY_DEBUG_ASSERT((there >> colour & 1u) == 0);
        for (const std::uint32_t body : joined) {
            if (bodies.dynamic(body)) used[body] |= std::uint64_t{1} << colour;
        }
    }
}

void colour_contacts(std::span<const Contact> contacts, Colouring& colouring) {
    resize_sparingly(colouring.contacts, contacts.size());
    colouring.colours = colouring.joint_colours;
    forget_contacts(colouring);
    std::uint64_t* const used = colouring.used.data();
    std::uint8_t* const touched = colouring.touched.data();
    std::vector<std::uint32_t>& against_fixed = colouring.against_fixed;
    against_fixed.clear();
    colouring.any_thin = false;
    for (std::uint32_t i = 0; i < contacts.size(); ++i) {
        const Contact& c = contacts[i];
        colouring.contacts[i] = kNoColour;
        ORRERY_ASSERT(c.a != c.b && c.a < colouring.bodies && c.b < colouring.bodies);
        for (const std::uint32_t body : {c.a, c.b}) {
            if (touched[body] == 0) colouring.met.push_back(body);
            touched[body] = 1;
        }
        colouring.any_thin |= c.thin;
        if (c.points == 0) continue;
        if (!(c.dynamic_a && c.dynamic_b)) {
            if (c.dynamic_a != c.dynamic_b) against_fixed.push_back(i);
            continue;
        }
        const std::uint8_t colour = colouring.contacts[i] = lowest_free(used[c.a] | used[c.b], 0, colouring.colours);
        if (colour == kOverflowColour) continue;
        used[c.a] |= std::uint64_t{1} << colour;
        used[c.b] |= std::uint64_t{1} << colour;
    }
    const std::uint32_t lowest = colouring.colours + kColoursForFixed <= kMaxColours ? colouring.colours : 0;
    for (const std::uint32_t i : against_fixed) {
        const Contact& c = contacts[i];
        const std::uint32_t body = c.dynamic_a ? c.a : c.b;
        const std::uint8_t colour = colouring.contacts[i] = lowest_free(used[body], lowest, colouring.colours);
        if (colour != kOverflowColour) used[body] |= std::uint64_t{1} << colour;
    }
}

}  // namespace orrery::sim
