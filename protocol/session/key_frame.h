// The world for a client that joins late: every body with its description and absolute state, in parts of a limited
// size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/shared_bytes.h"
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

// For how long a key frame is used for clients that join later, s; and how much may have been added to it meanwhile.
// Short: a joiner's first snapshots tell what has moved since.
inline constexpr double kKeyFrameUse_s = 0.5;
inline constexpr std::size_t kMaxKeyFrameChangeBytes = 1u << 20;

// A key frame as its messages, in order: the world of one tick, then the bodies that came and went since. It is made
// once for all clients that join at its tick or soon after. They share its bytes, and keep them for as long as they
// need them.
class KeyFrame {
  public:
    KeyFrame(const QuantisedWorld& world, const std::vector<sim::ShapeDef>& shapes,
             const std::map<sim::BodyId, std::string>& names, const SnapshotCodec& codec,
             const Vocabulary& vocabulary = {});
    // `parts` tell the present `world`.
    KeyFrame(const KeyFrameBegin& begin, const std::vector<KeyFrameBodies>& parts, const QuantisedWorld& world);

    // Call it after each update of `world`, so that the key frame can be used afterwards.
    void follow(const QuantisedWorld& world);
    // Whether a client that joins at `tick` may have it.
    bool serves(std::uint64_t tick, double tick_rate_hz) const;

    std::uint64_t tick() const { return tick_; }                // of the states
    std::uint64_t followed_tick() const { return followed_; }   // of the last changes
    std::size_t size_bytes() const { return bytes_->size(); }   // without changes
    std::size_t message_count() const { return ends_.size(); }  // likewise
    SharedBytes message(std::size_t i) const;
    const std::vector<std::vector<std::uint8_t>>& changes() const { return changes_; }  // messages, in order
    const std::vector<QuantisedBody>& states() const { return states_; }                // of the living, by index
    // How many hold the bytes, this key frame among them: a joiner for each message that is on its way.
    long holders() const { return bytes_.use_count(); }

  private:
    void add(Bytes message);

    std::uint64_t tick_, followed_;
    std::shared_ptr<std::vector<std::uint8_t>> bytes_;
    std::vector<std::size_t> ends_;  // of each message in `bytes_`
    std::vector<QuantisedBody> states_;
    std::vector<std::vector<std::uint8_t>> changes_;
    std::size_t change_bytes_ = 0;
    MessageWriter writer_;
};

// Gives `send` the messages that tell which bodies came and went in the last update of `world`.
template <class Send>
void write_changes(const QuantisedWorld& world, MessageWriter& writer, Send send) {
    std::size_t added = 0, removed = 0;
    while (added < world.added().size() || removed < world.removed().size()) {
        BodiesChanged change;
        change.tick = world.tick();
        // All that left is told before anything that came: an index may be in both.
        while (removed < world.removed().size() && change.removed.size() < kMaxBodiesPerChange) {
            change.removed.push_back(world.removed()[removed++]);
        }
        while (removed == world.removed().size() && added < world.added().size() &&
               change.added.size() < kMaxBodiesPerChange) {
            change.added.push_back(describe(world.bodies()[world.added()[added++]]));
        }
        send(writer.write(change));
    }
}

// The states of a part, in the order of its descriptions. False: they do not match each other.
bool decode_key_frame_part(const KeyFrameBodies& part, const SnapshotCodec& codec, std::vector<QuantisedBody>& out);

}  // namespace orrery::protocol
