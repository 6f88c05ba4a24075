#include "client_sdk/src/smoothing.h"

#include <algorithm>
#include <cmath>

namespace orrery::client {
namespace {

using protocol::TimeNs;
using sim::Quat;
using sim::Vec3;

constexpr float kNothing_m = 1e-5f, kNothing_rad = 1e-5f;
constexpr TimeNs kForgottenAfter = 20 * kSmoothingHalfLife;  // a millionth is left

Vec3 sum(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec3 difference(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
float length(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

Quat product(const Quat& a, const Quat& b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
Quat conjugate(const Quat& q) { return {-q.x, -q.y, -q.z, q.w}; }
float angle_of(const Quat& q) { return 2.0f * std::atan2(length({q.x, q.y, q.z}), std::fabs(q.w)); }

Vec3 turned(const Quat& q, const Vec3& v) {
    const Quat t = product(product(q, {v.x, v.y, v.z, 0.0f}), conjugate(q));
    return {t.x, t.y, t.z};
}

// A share of a rotation of at most 30 degrees.
Quat share_of(const Quat& q, float share) {
    const float sign = q.w < 0.0f ? -1.0f : 1.0f;
    const Quat part{q.x * share * sign, q.y * share * sign, q.z * share * sign, 1.0f + (q.w * sign - 1.0f) * share};
    const float size = std::sqrt(part.x * part.x + part.y * part.y + part.z * part.z + part.w * part.w);
    return {part.x / size, part.y / size, part.z / size, part.w / size};
}

}  // namespace

void Smoothing::clear() {
    first_.clear();
    offsets_.clear();
}

void Smoothing::set_groups(std::span<const sim::BodyState> bodies) {
    first_.clear();
    std::map<sim::BodyId, sim::BodyId> first_of;  // by group
    for (const sim::BodyState& body : bodies) {
        if (body.id.index >= first_.size()) first_.resize(body.id.index + 1u);
        if (body.type != sim::BodyType::dynamic) continue;
        first_[body.id.index] = body.group.valid() ? first_of.emplace(body.group, body.id).first->second : body.id;
    }
}

Smoothing::Offset Smoothing::faded(const Offset& offset, TimeNs now) {
    const double age = static_cast<double>(now - std::min(now, offset.at)) / static_cast<double>(kSmoothingHalfLife);
    const auto share = static_cast<float>(std::exp2(-age));
    return {{offset.move.x * share, offset.move.y * share, offset.move.z * share}, share_of(offset.turn, share), now};
}

void Smoothing::forget_old(TimeNs now) {
    std::erase_if(offsets_, [&](const auto& entry) { return now > entry.second.at + kForgottenAfter; });
}

std::uint32_t Smoothing::correct(std::span<const ShownBody> before, std::span<const ShownBody> after, TimeNs now) {
    forget_old(now);
    std::uint32_t cuts = 0;
    std::size_t old = 0;
    for (const ShownBody& body : after) {
        while (old < before.size() && before[old].id.index < body.id.index) ++old;
        if (old == before.size()) break;
        if (before[old].id != body.id || body.id.index >= first_.size() || first_[body.id.index] != body.id) continue;
        Offset offset{difference(before[old].pose.position, body.pose.position),
                      product(before[old].pose.orientation, conjugate(body.pose.orientation)), now};
        const auto known = offsets_.find(body.id);
        if (known != offsets_.end()) {
            const Offset shown = faded(known->second, now);
            offset.move = sum(offset.move, shown.move);
            offset.turn = product(shown.turn, offset.turn);
        }
        const float far = length(offset.move), turn = angle_of(offset.turn);
        if (far > kCutBeyond_m || turn > kCutBeyond_rad) {
            ++cuts;
            offsets_.erase(body.id);
        } else if (far > kNothing_m || turn > kNothing_rad) {
            offsets_[body.id] = offset;
        } else if (known != offsets_.end()) {
            offsets_.erase(known);
        }
    }
    return cuts;
}

void Smoothing::apply(std::span<ShownBody> bodies, TimeNs now) {
    forget_old(now);
    if (offsets_.empty()) return;
    std::map<sim::BodyId, std::pair<Offset, Vec3>> of;  // with the position of the group's first body
    for (const ShownBody& body : bodies) {
        const auto offset = offsets_.find(body.id);
        if (offset != offsets_.end()) of.emplace(body.id, std::pair{faded(offset->second, now), body.pose.position});
    }
    for (ShownBody& body : bodies) {
        if (body.id.index >= first_.size()) continue;
        const auto group = of.find(first_[body.id.index]);
        if (group == of.end()) continue;
        const auto& [offset, centre] = group->second;
        const Vec3 arm = turned(offset.turn, difference(body.pose.position, centre));
        body.pose.position = sum(sum(centre, arm), offset.move);
        body.pose.orientation = product(offset.turn, body.pose.orientation);
    }
}

}  // namespace orrery::client
