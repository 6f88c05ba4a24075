// Events of a predicted world: each is told once, whatever rollbacks find of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "client_sdk/src/predicted_events.h"

using namespace orrery;
using client::Certainty;

namespace {

sim::Event hit(std::uint32_t a, std::uint32_t b, float impulse) {
    sim::Event event{};
    event.kind = sim::EventKind::contact_hit;
    event.a = {a, 0};
    event.b = {b, 0};
    event.impulse = impulse;
    return event;
}

struct Ledger {
    client::PredictedEvents events;
    Ledger() { events.set_rule({.least_hit_impulse = 1.0f}); }
    void happened(std::uint64_t tick, std::vector<sim::Event> list, bool confirmed = false) {
        events.happened(tick, list, confirmed);
    }
    // "tick:certainty" of each event told since the last call.
    std::vector<std::pair<std::uint64_t, Certainty>> told() {
        std::vector<std::pair<std::uint64_t, Certainty>> out;
        for (client::ToldEvent event; events.next(event);) out.emplace_back(event.tick, event.certainty);
        return out;
    }
};
using Told = std::vector<std::pair<std::uint64_t, Certainty>>;

}  // namespace

TEST_CASE("an event that was predicted right is told as predicted, then as confirmed") {
    Ledger ledger;
    ledger.happened(10, {hit(1, 2, 5.0f), hit(1, 3, 0.5f)});  // the second is too weak
    CHECK(ledger.told() == Told{{10, Certainty::predicted}});
    ledger.events.confirm(9);
    CHECK(ledger.told().empty());
    ledger.events.confirm(10);
    CHECK(ledger.told() == Told{{10, Certainty::confirmed}});
    ledger.events.confirm(10);
    CHECK(ledger.told().empty());
}

TEST_CASE(
    "an event that a rollback finds again some ticks apart is the same, and one that it does not find is cancelled") {
    Ledger ledger;
    ledger.happened(10, {hit(1, 2, 5.0f)});
    ledger.happened(11, {hit(1, 3, 5.0f)});
    ledger.happened(12, {hit(1, 4, 5.0f)});
    ledger.told();
    ledger.events.went_back(7);
    ledger.happened(8, {}, true);
    ledger.happened(9, {hit(1, 2, 7.0f)}, true);  // earlier and stronger than predicted
    CHECK(ledger.told() == Told{{9, Certainty::confirmed}});
    ledger.happened(14, {hit(1, 4, 5.0f)});  // still predicted, but later
    ledger.happened(15, {hit(1, 5, 5.0f)});
    CHECK(ledger.told() == Told{{15, Certainty::predicted}});
    ledger.events.stepped_again();
    CHECK(ledger.told() == Told{{11, Certainty::cancelled}});
    ledger.events.confirm(14);
    CHECK(ledger.told() == Told{{14, Certainty::confirmed}});
}

TEST_CASE("an event far from the predicted one is another, and what was not predicted is told when it is certain") {
    Ledger ledger;
    ledger.happened(10, {hit(1, 2, 5.0f)});
    ledger.told();
    ledger.events.went_back(9);
    ledger.happened(10, {}, true);
    ledger.happened(10 + client::kSameEventTicks + 1, {hit(1, 2, 5.0f)}, true);
    ledger.events.stepped_again();
    CHECK(ledger.told() == Told{{17, Certainty::certain}, {10, Certainty::cancelled}});
}

TEST_CASE("events that nobody takes are bounded and counted") {
    Ledger ledger;
    for (std::uint64_t tick = 1; tick <= client::kMaxUntoldEvents + 10; ++tick)
        ledger.happened(tick, {hit(1, 2, 5.0f)}, true);
    CHECK(ledger.events.take_dropped() == 10);
    CHECK(ledger.events.take_dropped() == 0);
    CHECK(ledger.told().size() == client::kMaxUntoldEvents);
}

TEST_CASE("what was predicted beyond the open events is told when it is certain, unless a rollback finds none of it") {
    Ledger ledger;
    const std::uint64_t all = client::kMaxOpenEvents + 5;
    const auto count = [](const Told& told, Certainty certainty) {
        return std::count_if(told.begin(), told.end(), [&](const auto& event) { return event.second == certainty; });
    };
    for (std::uint64_t tick = 1; tick <= all; ++tick) ledger.happened(tick, {hit(1, 2, 5.0f)});
    Told told = ledger.told();
    CHECK(told.size() == client::kMaxOpenEvents);
    CHECK(count(told, Certainty::predicted) == static_cast<std::ptrdiff_t>(client::kMaxOpenEvents));
    // The last two do not happen, and so are never told.
    for (std::uint64_t tick = 1; tick <= all - 2; ++tick) ledger.events.confirm(tick);
    ledger.events.went_back(all - 2);
    ledger.happened(all - 1, {}, true);
    ledger.happened(all, {}, true);
    ledger.events.stepped_again();
    ledger.events.confirm(all);
    told = ledger.told();
    CHECK(count(told, Certainty::confirmed) == static_cast<std::ptrdiff_t>(client::kMaxOpenEvents));
    CHECK(count(told, Certainty::certain) == 3);
    CHECK(told.size() == client::kMaxOpenEvents + 3);
    CHECK(ledger.events.take_dropped() == 0);
}

TEST_CASE("where a new world begins, each open event is cancelled, also if nobody takes events") {
    Ledger ledger;
    int predicted = 0, ended = 0;
    for (std::uint64_t tick = 1; tick <= client::kMaxUntoldEvents; ++tick) {
        ledger.happened(tick, {hit(1, 2, 5.0f)});
        ledger.happened(tick, {hit(1, 3, 5.0f)}, true);
    }
    ledger.events.cancel();
    for (const auto& [tick, certainty] : ledger.told()) {
        predicted += certainty == Certainty::predicted ? 1 : 0;
        ended += certainty == Certainty::cancelled || certainty == Certainty::confirmed ? 1 : 0;
    }
    CHECK(predicted > 500);
    CHECK(ended == predicted);
}
