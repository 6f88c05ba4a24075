// For builds without the simulation.
#include "client_sdk/src/mirror_seam.h"

namespace orrery::client {

std::unique_ptr<Mirror> make_mirror() { return nullptr; }

}  // namespace orrery::client
