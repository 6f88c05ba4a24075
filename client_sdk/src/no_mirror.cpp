// For builds without the simulation.
#include "client_sdk/src/mirror_seam.h"
#include "client_sdk/src/player_seam.h"

namespace orrery::client {

std::unique_ptr<Mirror> make_mirror() { return nullptr; }

Result<std::shared_ptr<const protocol::SceneBaseline>> make_baseline(protocol::Bytes) {
    return std::shared_ptr<const protocol::SceneBaseline>();
}

Result<std::unique_ptr<Player>> open_player(protocol::Bytes) { return std::unique_ptr<Player>(); }

}  // namespace orrery::client
