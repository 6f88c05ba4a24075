// The key that a host signs its recordings with, on disk: the seed, as 64 hex digits, in a file of mode 0600.
#pragma once

#include <string>

#include "protocol/replay/sign.h"
#include "sim/base/result.h"

namespace orrery::server {

Result<protocol::replay::SigningKey> read_signing_key(const std::string& path);

// Draws a key, writes its file and gives the key. A file that exists is an error and stays as it is.
Result<protocol::replay::SigningKey> create_signing_key(const std::string& path);

}  // namespace orrery::server
