// What `orrery --version` says.
#pragma once

#include <string>

namespace orrery::server {

// "orrery 0.1.0, engine version 31, commit 0123456789ab"; the commit is "unknown" where the program was not built in a clone.
std::string version_text();

}  // namespace orrery::server
