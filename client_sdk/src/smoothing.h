// Hides corrections of predicted bodies from the eye. It changes the picture alone.
//
// When a prediction was wrong, bodies stand elsewhere at once. The difference is kept as an offset of the picture that
// fades away. Bodies that were made together (a vehicle with its wheels) have one offset and stay as they are to each
// other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "orrery/sim.hpp"

namespace orrery::client {

inline constexpr protocol::TimeNs kSmoothingHalfLife = 80 * protocol::kNsPerMs;
inline constexpr float kCutBeyond_m = 1.0f;  // larger corrections are shown as they are: to hide them would mislead
inline constexpr float kCutBeyond_rad = 0.5235988f;  // 30 degrees

class Smoothing {
  public:
    void clear();
    void drop_offsets() { offsets_.clear(); }
    // Which bodies belong together. To be called when bodies came or went.
    void set_groups(std::span<const sim::BodyState> bodies);
    // The picture was `before` and is `after`, both without offsets, in order of index. Returns the number of groups
    // whose correction is too large to be smoothed.
    std::uint32_t correct(std::span<const ShownBody> before, std::span<const ShownBody> after, protocol::TimeNs now);
    void apply(std::span<ShownBody> bodies, protocol::TimeNs now);
    std::size_t active() const { return offsets_.size(); }

  private:
    struct Offset {
        sim::Vec3 move;
        sim::Quat turn;
        protocol::TimeNs at = 0;
    };
    static Offset faded(const Offset& offset, protocol::TimeNs now);
    void forget_old(protocol::TimeNs now);

    std::vector<sim::BodyId> first_;         // by body index: the group's first body; invalid: not dynamic
    std::map<sim::BodyId, Offset> offsets_;  // by that body
};

}  // namespace orrery::client
