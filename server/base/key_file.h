// Secrets on disk: the key that the backend and the server share, and connect tokens.
#pragma once

#include <span>
#include <string>

#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::server {

// Reads 32 bytes, written as 64 hex digits, from a file that only its owner may read (mode 0600 or less).
Result<protocol::Key> read_key_file(const std::string& path);

// Replaces `path` by a file of mode 0600 in one step. A reader sees the old file or the new one, never a part.
Result<Ok> write_secret_file(const std::string& path, protocol::Bytes bytes);

// Keeps this process's memory out of core files and from other processes of the user.
void forbid_core_files();

}  // namespace orrery::server
