// Bundles: each constraint lies in one lane of one bundle of its kind, no dynamic body is twice in a bundle or in a
// colour, and whom colours cannot take is laid out the same way.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/solver/layout.h"
#include "tests/support/body_worlds.h"
#include "tests/support/executors.h"

namespace orrery::sim {
namespace {

struct Case {
    test::TestBodies world;
    std::vector<Contact> contacts;
};

// Every contact between two of few bodies, so that each has more than there are colours; some bodies are fixed.
Case crowd(test::Random& random, std::uint32_t bodies, std::uint32_t contacts) {
    Case out;
    for (std::uint32_t i = 0; i < bodies; ++i) {
        out.world.add(kNone, random.below(10) == 0 ? std::uint8_t{0} : std::uint8_t{kBodyDynamic}, {});
    }
    for (std::uint32_t i = 0; i < contacts; ++i) {
        Contact c;
        c.a = 1 + random.below(bodies);
        do c.b = 1 + random.below(bodies);
        while (c.b == c.a);
        c.points = static_cast<std::uint8_t>(1 + random.below(4));
        c.manifolds = random.below(8) == 0 ? std::uint8_t{2} : std::uint8_t{1};
        c.dynamic_a = out.world.bodies.dynamic(c.a);
        c.dynamic_b = out.world.bodies.dynamic(c.b);
        c.surface = c.manifolds == 1 && random.below(9) == 0;
        c.bounces = random.below(5) == 0;
        c.near = random.below(6) == 0;
        out.contacts.push_back(c);
    }
    return out;
}

Kind expected_kind(const Contact& c) {
    return c.manifolds > 1 ? Kind::nonconvex_contact
           : c.surface     ? Kind::surface_contact
           : c.bounces     ? Kind::bouncing_contact
                           : Kind::contact;
}

}  // namespace

TEST_CASE("each contact lies in one lane, though most are more than colours can take") {
    test::Random random(5);
    for (int round = 0; round < 30; ++round) {
        const bool crowded = round % 3 != 0;
        const Case at = crowd(random, crowded ? 40 : 900, 3000);
        const Bodies& bodies = at.world.bodies;
        Colouring colouring;
        colour_joints(bodies, {}, {}, colouring);
        colour_contacts(at.contacts, colouring);
        BundleLayout layout;
        TickArena arena;
        test::ThreadedExecutor executor(1 + static_cast<std::uint32_t>(round) % 3);
        layout.build(bodies, {}, {}, at.contacts, colouring, false, executor, arena);

        std::map<std::uint32_t, int> seen;
        std::set<std::pair<std::uint8_t, std::uint32_t>> bundles;
        std::uint32_t overflow = 0, fullest = 0;
        const auto look = [&](const Block& block, std::uint8_t colour, std::set<std::uint32_t>& busy) {
            std::uint32_t lanes = 0;
            bool near = false;
            for (std::uint32_t k = 0; k < block.count; ++k) {
                REQUIRE(bundles.emplace(static_cast<std::uint8_t>(block.kind), block.first + k).second);
                const BundleHead& head = layout.head(block.kind, block.first + k);
                REQUIRE(head.count > 0);
                std::uint32_t points = 0;
                for (std::uint32_t lane = 0; lane < head.count; ++lane) {
                    const std::uint32_t i = head.source[lane];
                    const Contact& c = at.contacts[i];
                    ++seen[i];
                    REQUIRE(colouring.contacts[i] == colour);
                    const bool whole = block.kind == Kind::contact_1 || block.kind == Kind::contact_2;
                    REQUIRE(expected_kind(c) == (whole ? Kind::contact : block.kind));
                    if (whole) REQUIRE(head.count == kBundleLanes);
                    REQUIRE(row_at(head.body_a[lane]) == c.a);
                    REQUIRE(row_at(head.body_b[lane]) == c.b);
                    REQUIRE(((head.write_a >> lane & 1u) != 0) == c.dynamic_a);
                    REQUIRE(((head.write_b >> lane & 1u) != 0) == c.dynamic_b);
                    if (c.dynamic_a) REQUIRE(busy.insert(c.a).second);
                    if (c.dynamic_b) REQUIRE(busy.insert(c.b).second);
                    points = std::max<std::uint32_t>(points, c.points);
                    near = near || c.near;
                    if (colour != kOverflowColour) REQUIRE(c.near == block.near);
                }
                for (std::uint32_t lane = head.count; lane < kBundleLanes; ++lane)
                    REQUIRE((head.source[lane] == 0 && row_at(head.body_a[lane]) == kWorldBody));
                REQUIRE(head.points == points);
                lanes += head.count;
                fullest = std::max(fullest, head.count);
            }
            REQUIRE(block.lanes == lanes);
            REQUIRE(block.near == near);
            return lanes;
        };
        for (std::uint32_t colour = 0; colour < layout.colours(); ++colour) {
            std::set<std::uint32_t> busy;
            for (std::uint32_t k = layout.colour_begin(colour); k < layout.colour_begin(colour + 1); ++k)
                look(layout.blocks()[k], static_cast<std::uint8_t>(colour), busy);
        }
        fullest = 0;
        for (std::size_t k = layout.overflow_begin(); k < layout.blocks().size(); ++k) {
            std::set<std::uint32_t> busy;
            overflow += look(layout.blocks()[k], kOverflowColour, busy);
        }
        CHECK(overflow == layout.overflow_constraints());
        CHECK((overflow > 0) == crowded);
        if (crowded) CHECK(fullest > 4);
        CHECK(bundles.size() == layout.bundle_count());
        std::uint32_t solved = 0;
        for (std::uint32_t i = 0; i < at.contacts.size(); ++i) {
            const bool taken = colouring.contacts[i] != kNoColour;
            solved += taken ? 1u : 0u;
            REQUIRE(seen[i] == (taken ? 1 : 0));
        }
        CHECK(solved == layout.constraint_count());
    }
}

}  // namespace orrery::sim
