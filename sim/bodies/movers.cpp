#include "sim/bodies/movers.h"

#include <algorithm>

namespace orrery::sim {

namespace {

constexpr std::size_t kBodiesPerChange = 16;  // with more changes looking at all flags is no more work

}  // namespace

void Movers::list_all(const Bodies& bodies) {
    list_.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if (may_move(bodies.flags[i])) list_.push_back(i);
    }
}

void Movers::update(const Bodies& bodies) {
    all_noted_ = all_noted_ || all_;
    for (const auto* some : {&placed_, &changed_}) noted_.insert(noted_.end(), some->begin(), some->end());
    if (!all_ && changed_.empty()) return;
    if (all_ || changed_.size() * kBodiesPerChange > bodies.size()) {
        list_all(bodies);
    } else {
        std::sort(changed_.begin(), changed_.end());
        changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
        merged_.clear();
        auto old = list_.begin();
        for (const std::uint32_t body : changed_) {
            const auto until = std::lower_bound(old, list_.end(), body);
            merged_.insert(merged_.end(), old, until);
            old = until != list_.end() && *until == body ? until + 1 : until;
            if (may_move(bodies.flags[body])) merged_.push_back(body);
        }
        merged_.insert(merged_.end(), old, list_.end());
        list_.swap(merged_);
    }
    changed_.clear();
    all_ = false;
}

bool Movers::touched(std::vector<std::uint32_t>& out) const {
    out.clear();
    if (all_ || all_noted_) return false;
    out.assign(list_.begin(), list_.end());
    const std::size_t movers = out.size();
    for (const auto* noted : {&noted_, &changed_, &placed_}) out.insert(out.end(), noted->begin(), noted->end());
    if (out.size() == movers) return true;
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return true;
}

}  // namespace orrery::sim
