#include "server/cli/version.h"

#include "orrery/sim.hpp"
#include "server/cli/commit.h"

namespace orrery::server {

std::string version_text() {
    return "orrery " ORRERY_VERSION ", engine version " + std::to_string(sim::kEngineVersion) +
           ", commit " ORRERY_COMMIT;
}

}  // namespace orrery::server
