// A key frame for a client that has the scene: what differs from the scene's bodies.
//
// Parts first list the bodies of the scene that are gone, then have the bodies that are new or other than in the scene,
// ascending. A body that is described in its part is new, or of another type; one that is not has the description of
// the scene. States are coded against those of the scene (BaselineReference::Kind::standing), those of new bodies
// absolutely. Bodies in no part are as in the scene.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/session/key_frame.h"
#include "protocol/session/scene_baseline.h"

namespace orrery::protocol {

std::vector<KeyFrameBodies> make_scene_key_frame_parts(const QuantisedWorld& scene, const QuantisedWorld& world,
                                                       const SnapshotCodec& codec);
// As messages. `scene` is the world of the scene before its first tick.
KeyFrame make_scene_key_frame(const QuantisedWorld& scene, const QuantisedWorld& world, const SnapshotCodec& codec);

// The reader's side: the bodies of the scene, which parts turn into those of the room.
class SceneKeyFrameReader {
  public:
    explicit SceneKeyFrameReader(const QuantisedWorld& scene);

    // In order. False: the part does not fit to the bodies so far, or has one with an index of `body_capacity` or more.
    bool apply(const KeyFrameBodies& part, const SnapshotCodec& codec, std::uint32_t body_capacity);

    std::span<const QuantisedWorld::Body> bodies() const { return bodies_; }  // by index; includes dead ones
    std::uint32_t parts() const { return parts_; }                            // that were applied

  private:
    bool apply_gone(std::span<const std::uint32_t> gone);
    bool apply_states(const KeyFrameBodies& part, std::uint32_t body_capacity);

    std::vector<QuantisedWorld::Body> bodies_;
    std::vector<QuantisedBody> decoded_;
    std::uint64_t next_index_ = 0;
    std::uint32_t parts_ = 0;
};

}  // namespace orrery::protocol
