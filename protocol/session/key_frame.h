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

BodyDescription describe(const QuantisedWorld::Body& body);

// Splits the living bodies of `world` into parts. Names go with the bodies that bear them.
std::vector<KeyFrameBodies> make_key_frame(const QuantisedWorld& world, const std::map<sim::BodyId, std::string>& names,
                                           const SnapshotCodec& codec);

// The states of a part, in the order of its descriptions; false: they do not fit each other.
bool decode_key_frame_part(const KeyFrameBodies& part, const SnapshotCodec& codec, std::vector<QuantisedBody>& out);

}  // namespace orrery::protocol
