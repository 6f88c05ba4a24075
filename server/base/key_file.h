// Secrets on disk: the key that the backend and the server share, and connect tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::server {

// Reads 32 bytes, written as 64 hex digits, from a file that only its owner may read (mode 0600 or less).
Result<protocol::Key> read_key_file(const std::string& path);
bool key_of_digits(std::string_view digits, protocol::Key& key);  // 64 hex digits; false: they are none

// A text that is overwritten at its end.
struct SecretText {
    std::string text;
    SecretText() = default;
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    ~SecretText();
};
// The bytes of a file that only its owner may read, `most` of them at most. Errors: io; invalid_argument, others may
// read it; limit_reached.
Result<Ok> read_secret_file(const std::string& path, std::size_t most, SecretText& out);

// Replaces `path` by a file of mode 0600 in one step. A reader sees the old file or the new one, never a part.
Result<Ok> write_secret_file(const std::string& path, protocol::Bytes bytes);

// Keeps this process's memory out of core files and from other processes of the user.
void forbid_core_files();

}  // namespace orrery::server
