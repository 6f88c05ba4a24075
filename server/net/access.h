// Access to a server: the addresses by which tokens name it, and a token file for everyone who may read the recording
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/netcode/connect_token.h"
#include "sim/base/result.h"

namespace orrery::server {

// The addresses of a server that is bound to `local`. For 0.0.0.0 these are 127.0.0.1 and every IPv4 address of this
// machine, for :: also ::1 and the IPv6 addresses, without link-local ones. For another address: that address alone.
std::vector<protocol::Address> reachable_addresses(const protocol::Address& local);

inline constexpr std::uint32_t kTokenRetry_s = 5;  // s between attempts to write a token file

// A connect token in a file, for development: anyone who can read it can play. A token is good for one client, so the
// file is written again after a client has connected, and before the token expires. After an error it is due again in
// kTokenRetry_s. `unix_now_s` is Unix time in seconds.
class TokenFile {
  public:
    TokenFile(std::string path, const protocol::Key& key, const protocol::Address& server)
        : path_(std::move(path)), key_(key), server_(server) {}

    Result<Ok> renew(std::uint64_t unix_now_s);
    void used() { renew_at_s_ = 0; }  // a client has connected, perhaps with this token
    bool due(std::uint64_t unix_now_s) const { return unix_now_s >= renew_at_s_; }
    const std::string& path() const { return path_; }

  private:
    Result<Ok> write(std::uint64_t unix_now_s);

    std::string path_;
    protocol::Key key_;
    protocol::Address server_;
    protocol::SystemRandom random_;
    std::uint64_t renew_at_s_ = 0;
};

}  // namespace orrery::server
