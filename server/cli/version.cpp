#include "server/cli/version.h"

#include "orrery/sim.hpp"
#include "server/cli/commit.h"

namespace orrery::server {

std::string version_text() {
    return "orrery " ORRERY_VERSION ", engine version " + std::to_string(sim::kEngineVersion) +
           ", commit " ORRERY_COMMIT;
}

std::string commit_text() {
    const std::string commit = ORRERY_COMMIT;
    return commit == "unknown" ? std::string() : commit;
}

}  // namespace orrery::server
