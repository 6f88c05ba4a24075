// For builds without the simulation.
#include "client_sdk/src/mirror_seam.h"
#include "client_sdk/src/player_seam.h"
#include "client_sdk/src/world_look.h"

namespace orrery::client {

std::unique_ptr<Mirror> make_mirror() { return nullptr; }

Result<std::shared_ptr<const protocol::SceneBaseline>> make_baseline(protocol::Bytes) {
    return std::shared_ptr<const protocol::SceneBaseline>();
}

Result<std::unique_ptr<Player>> open_player(protocol::Bytes) { return std::unique_ptr<Player>(); }
// There is no world that these could be called with.
bool look_at_contacts(const sim::World&, sim::BodyId, Seen&) { return false; }
bool look_at_joints(const sim::World&, sim::BodyId, Seen&) { return false; }
void look_at_bodies(const sim::World&, Seen&) {}
std::optional<SeenBody> look_at_body(const sim::World&, sim::BodyId) { return {}; }
std::uint32_t joint_kind_count() { return 0; }
const char* joint_kind_name(std::uint32_t) { return ""; }
Result<std::unique_ptr<SceneLook>> open_scene(protocol::Bytes) { return std::unique_ptr<SceneLook>(); }

}  // namespace orrery::client
