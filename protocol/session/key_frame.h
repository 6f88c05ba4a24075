// The world for a client that joins late: every body with its description and absolute state, in parts of a limited
// size.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/session/messages.h"
#include "protocol/snapshot/quantised_world.h"
#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

// Limit for all messages of a key frame together. Changes of the world while the key frame is sent must also fit into
// kMaxUnacknowledgedBytes.
inline constexpr std::size_t kMaxKeyFrameBytes = 16u << 20;

BodyDescription describe(const QuantisedWorld::Body& body);

// Splits the living bodies of `world` into parts. A body has its name with it.
std::vector<KeyFrameBodies> make_key_frame(const QuantisedWorld& world, const std::map<sim::BodyId, std::string>& names,
                                           const SnapshotCodec& codec);

// A key frame as its messages, in order. It is made once for all clients that join at a tick.
class KeyFrame {
  public:
    KeyFrame(const QuantisedWorld& world, const std::vector<sim::ShapeDef>& shapes,
             const std::map<sim::BodyId, std::string>& names, const SnapshotCodec& codec,
             const Vocabulary& vocabulary = {});
    KeyFrame(const KeyFrameBegin& begin, const std::vector<KeyFrameBodies>& parts);

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

// The states of a part, in the order of its descriptions. False: they do not match each other.
bool decode_key_frame_part(const KeyFrameBodies& part, const SnapshotCodec& codec, std::vector<QuantisedBody>& out);

}  // namespace orrery::protocol
