#include "server/cli/motion_track.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::server {

namespace {

constexpr double kMaxTurn_rad = 3.0;  // between two keys: beyond pi the shortest way is another one

D3 offset_of(const sim::Vec3& from, const sim::Vec3& to) {
    const auto wide = [](float x) { return static_cast<double>(x); };
    return {wide(to.x) - wide(from.x), wide(to.y) - wide(from.y), wide(to.z) - wide(from.z)};
}

// The rotation vector of what turns `from` into `to`, in the frame of `from`. A shortest way at a constant speed is a
// straight line from 0 of these, and two rotations differ by no more than their vectors do.
D3 offset_of(const sim::Quat& from, const sim::Quat& to) {
    const double ax = -static_cast<double>(from.x), ay = -static_cast<double>(from.y),
                 az = -static_cast<double>(from.z), aw = static_cast<double>(from.w), bx = static_cast<double>(to.x),
                 by = static_cast<double>(to.y), bz = static_cast<double>(to.z), bw = static_cast<double>(to.w);
    D3 v = {aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw};
    double w = aw * bw - ax * bx - ay * by - az * bz;
    if (w < 0.0) w = -w, v = {-v[0], -v[1], -v[2]};
    const double sine = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double scale = sine > 1e-9 ? 2.0 * std::atan2(sine, w) / sine : 2.0;
    return {scale * v[0], scale * v[1], scale * v[2]};
}

bool is_too_far(const sim::Vec3&, const D3&) { return false; }
bool is_too_far(const sim::Quat&, const D3& turn) {
    return turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] > kMaxTurn_rad * kMaxTurn_rad;
}

}  // namespace

SlopeCone::SlopeCone(double tolerance) : tolerance_(tolerance / std::sqrt(3.0)) { reset(); }

void SlopeCone::reset() {
    low_.fill(-std::numeric_limits<double>::infinity());
    high_.fill(std::numeric_limits<double>::infinity());
}

bool SlopeCone::contains(const D3& offset, double dt) const {
    for (std::size_t i = 0; i < 3; ++i)
        if (offset[i] < low_[i] * dt || offset[i] > high_[i] * dt) return false;
    return true;
}

void SlopeCone::narrow(const D3& offset, double dt) {
    for (std::size_t i = 0; i < 3; ++i) {
        low_[i] = std::max(low_[i], (offset[i] - tolerance_) / dt);
        high_[i] = std::min(high_[i], (offset[i] + tolerance_) / dt);
    }
}

template <class Value>
void MotionTrack<Value>::add(double time_s, const Value& value) {
    if (keys_.empty()) {
        keys_.push_back({time_s, value});
        return;
    }
    D3 offset = offset_of(keys_.back().value, value);
    if (has_last_ && (is_too_far(value, offset) || !cone_.contains(offset, time_s - keys_.back().time_s))) {
        keys_.push_back(last_);
        cone_.reset();
        offset = offset_of(keys_.back().value, value);
    }
    cone_.narrow(offset, time_s - keys_.back().time_s);
    last_ = {time_s, value};
    has_last_ = true;
}

template <class Value>
void MotionTrack<Value>::end() {
    if (has_last_) keys_.push_back(last_);
    has_last_ = false;
}

template <class Value>
bool MotionTrack<Value>::moves() const {
    return std::ranges::any_of(keys_, [&](const auto& key) { return offset_of(keys_[0].value, key.value) != D3{}; });
}

template class MotionTrack<sim::Vec3>;
template class MotionTrack<sim::Quat>;

}  // namespace orrery::server
