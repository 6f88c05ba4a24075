// `orrery swarm` of a build without the client library.
#include "server/cli/command_line.h"
#include "server/cli/swarm.h"

namespace orrery::server {

int swarm_command(const std::vector<std::string>&) {
    return complain("swarm: this build has no client library; build with -DORRERY_BUILD_CLIENT=ON", kExitMachine);
}

}  // namespace orrery::server
