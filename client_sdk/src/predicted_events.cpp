#include "client_sdk/src/predicted_events.h"

#include <algorithm>

namespace orrery::client {
namespace {

bool same(const protocol::WorldEvent& a, const protocol::WorldEvent& b) {
    return a.kind == b.kind && a.a == b.a && a.b == b.b && a.joint == b.joint;
}

std::uint64_t apart(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

void PredictedEvents::cancel() {
    for (const Open& open : open_) tell(open.tick, Certainty::cancelled, open.event);
    open_.clear();
    untold_.clear();
}

void PredictedEvents::went_back(std::uint64_t tick) {
    for (Open& open : open_) open.found = open.tick <= tick;
    std::erase_if(untold_, [&](const Open& untold) { return untold.tick > tick; });
}

void PredictedEvents::stepped_again() {
    for (const Open& open : open_) {
        if (!open.found) tell(open.tick, Certainty::cancelled, open.event);
    }
    std::erase_if(open_, [](const Open& open) { return !open.found; });
}

void PredictedEvents::happened(std::uint64_t tick, std::span<const sim::Event> events, bool confirmed) {
    chosen_.clear();
    protocol::choose_world_events(events, rule_, chosen_);
    for (const protocol::WorldEvent& event : chosen_) {
        const auto known = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
            return !open.found && apart(open.tick, tick) <= kSameEventTicks && same(open.event, event);
        });
        if (known != open_.end() && confirmed) {
            tell(tick, Certainty::confirmed, event);
            open_.erase(known);
        } else if (known != open_.end()) {
            *known = {tick, event, true};
        } else if (confirmed) {
            tell_certain(tick, event);
        } else if (open_.size() < kMaxOpenEvents && has_places(2)) {
            tell(tick, Certainty::predicted, event);
            open_.push_back({tick, event, true});
        } else {
            untold_.push_back({tick, event, true});
        }
    }
}

void PredictedEvents::confirm(std::uint64_t tick) {
    for (const Open& open : open_) {
        if (open.tick == tick) tell(tick, Certainty::confirmed, open.event);
    }
    const auto of_tick = [&](const Open& open) { return open.tick == tick; };
    std::erase_if(open_, of_tick);
    for (const Open& untold : untold_) {
        if (untold.tick == tick) tell_certain(tick, untold.event);
    }
    std::erase_if(untold_, of_tick);
}

// Each open event has its place: how it ends is always told.
bool PredictedEvents::has_places(std::size_t count) const {
    return told_.size() + open_.size() + count <= kMaxUntoldEvents;
}

void PredictedEvents::tell_certain(std::uint64_t tick, const protocol::WorldEvent& event) {
    if (has_places(1))
        tell(tick, Certainty::certain, event);
    else
        ++dropped_;
}

void PredictedEvents::tell(std::uint64_t tick, Certainty certainty, const protocol::WorldEvent& event) {
    told_.push_back({tick, certainty, event});
}

bool PredictedEvents::next(ToldEvent& out) {
    if (told_.empty()) return false;
    out = told_.front();
    told_.pop_front();
    return true;
}

}  // namespace orrery::client
