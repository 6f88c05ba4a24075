// The text of `orrery --version`.
#pragma once

#include <string>

namespace orrery::server {

// "orrery 0.1.0, engine version 31, commit 0123456789ab". The commit is "unknown" in a build outside of a clone.
std::string version_text();

// The commit alone; empty: unknown.
std::string commit_text();

}  // namespace orrery::server
