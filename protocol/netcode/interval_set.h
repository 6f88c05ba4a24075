// Disjoint half-open intervals of stream offsets, sorted. There are few in practice: a gap for each lost packet in
// flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::protocol {

struct Interval {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t size() const { return end - begin; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

class IntervalSet {
  public:
    bool empty() const { return parts_.empty(); }
    std::size_t count() const { return parts_.size(); }
    const Interval& front() const { return parts_.front(); }
    const std::vector<Interval>& parts() const { return parts_; }
    void clear() { parts_.clear(); }

    void insert(Interval added) {
        if (added.begin >= added.end) return;
        // Intervals that touch or overlap `added` are merged with it.
        const auto first = std::lower_bound(parts_.begin(), parts_.end(), added.begin,
                                            [](const Interval& part, std::uint64_t at) { return part.end < at; });
        auto last = first;
        for (; last != parts_.end() && last->begin <= added.end; ++last) {
            added.begin = std::min(added.begin, last->begin);
            added.end = std::max(added.end, last->end);
        }
        if (first == last) {
            parts_.insert(first, added);
        } else {
            *first = added;
            parts_.erase(first + 1, last);
        }
    }

    void erase(Interval removed) {
        if (removed.begin >= removed.end) return;
        auto at = std::lower_bound(parts_.begin(), parts_.end(), removed.begin,
                                   [](const Interval& part, std::uint64_t begin) { return part.end <= begin; });
        if (at != parts_.end() && at->begin < removed.begin && at->end > removed.end) {
            const Interval tail{removed.end, at->end};
            at->end = removed.begin;
            parts_.insert(at + 1, tail);
            return;
        }
        if (at != parts_.end() && at->begin < removed.begin) {
            at->end = removed.begin;
            ++at;
        }
        auto last = at;
        while (last != parts_.end() && last->end <= removed.end) ++last;
        if (last != parts_.end() && last->begin < removed.end) last->begin = removed.end;
        parts_.erase(at, last);
    }

  private:
    std::vector<Interval> parts_;
};

}  // namespace orrery::protocol
