// The world for a late joiner: every body described and stated absolutely, in parts of a bounded size.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/session/messages.h"
#include "protocol/snapshot/quantised_world.h"
#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

// Of a key frame's messages together: what happens in the world while it is on its way has to fit into
// kMaxUnacknowledgedBytes, too.
inline constexpr std::size_t kMaxKeyFrameBytes = 16u << 20;

BodyDescription describe(const QuantisedWorld::Body& body);

// Splits the living bodies of `world` into parts. Names go with the bodies that bear them.
std::vector<KeyFrameBodies> make_key_frame(const QuantisedWorld& world, const std::map<sim::BodyId, std::string>& names,
                                           const SnapshotCodec& codec);

// A key frame as the messages that go out, in order: made once for all that join at a tick.
class KeyFrame {
  public:
    KeyFrame(const QuantisedWorld& world, const std::vector<sim::ShapeDef>& shapes,
             const std::map<sim::BodyId, std::string>& names, const SnapshotCodec& codec);

    std::uint64_t tick() const { return tick_; }
    std::size_t size_bytes() const { return bytes_.size(); }
    std::size_t message_count() const { return ends_.size(); }
    Bytes message(std::size_t i) const;

  private:
    void add(Bytes message);

    std::uint64_t tick_;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> ends_;  // of each message in `bytes_`
};

// The states of a part, in the order of its descriptions; false: they do not fit each other.
bool decode_key_frame_part(const KeyFrameBodies& part, const SnapshotCodec& codec, std::vector<QuantisedBody>& out);

}  // namespace orrery::protocol
