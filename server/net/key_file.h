// Secrets on disk: the key that backend and server share, and connect tokens.
#pragma once

#include <span>
#include <string>

#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::server {

// 32 bytes as 64 hex digits in a file that its owner alone may read (mode 0600 or less).
Result<protocol::Key> read_key_file(const std::string& path);

// Replaces `path` by a file of mode 0600 in one step: a reader sees the old or the new, never a part.
Result<Ok> write_secret_file(const std::string& path, protocol::Bytes bytes);

// Keeps this process's memory out of core files and from other processes of the user.
void forbid_core_files();

}  // namespace orrery::server
