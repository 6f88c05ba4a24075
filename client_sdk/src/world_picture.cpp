#include "client_sdk/src/world_picture.h"

#include <cmath>
#include <utility>

namespace orrery::client {
namespace {

sim::Vec3 between(const sim::Vec3& a, const sim::Vec3& b, float part) {
    return {a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part, a.z + (b.z - a.z) * part};
}

// A tick's rotation is small: the straight way, made a unit quaternion again.
sim::Quat between(const sim::Quat& a, const sim::Quat& b, float part) {
    const float sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0f ? -1.0f : 1.0f;
    const float u = 1.0f - part, v = part * sign;
    const sim::Quat q{a.x * u + b.x * v, a.y * u + b.y * v, a.z * u + b.z * v, a.w * u + b.w * v};
    const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (length < 1e-6f) return b;
    return {q.x / length, q.y / length, q.z / length, q.w / length};
}

}  // namespace

void WorldPicture::clear() {
    tick_ = 0;
    before_.clear();
    now_.clear();
}

void WorldPicture::read(const sim::World& world, std::vector<sim::BodyMotion>& out) {
    constexpr std::uint32_t kAtOnce = 4096;
    std::uint32_t count = 0, from = 0;
    for (;;) {
        if (out.size() < count + kAtOnce) out.resize(count + kAtOnce);
        const std::uint32_t read = world.read_motions(from, std::span(out).subspan(count, kAtOnce));
        count += read;
        if (read < kAtOnce) break;
        from = out[count - 1].id.index + 1;
    }
    out.resize(count);
}

void WorldPicture::take(const sim::World& world, bool jumped) {
    std::swap(before_, now_);
    read(world, now_);
    tick_ = world.tick();
    if (jumped) before_ = now_;
}

void WorldPicture::at(double part, std::vector<ShownBody>& out) const {
    const auto share = static_cast<float>(part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part);
    out.clear();
    out.reserve(now_.size());
    std::size_t old = 0;
    for (const sim::BodyMotion& body : now_) {
        while (old < before_.size() && before_[old].id.index < body.id.index) ++old;
        ShownBody shown{body.id, body.pose, body.linear_velocity, body.angular_velocity};
        if (share < 1.0f && old < before_.size() && before_[old].id == body.id) {
            shown.pose.position = between(before_[old].pose.position, body.pose.position, share);
            shown.pose.orientation = between(before_[old].pose.orientation, body.pose.orientation, share);
        }
        out.push_back(shown);
    }
}

}  // namespace orrery::client
