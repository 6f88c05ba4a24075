// Access to a server: the addresses by which tokens name it, and a token file for everyone who may read the recording
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/netcode/connect_token.h"
#include "sim/base/result.h"

namespace orrery::server {

// The addresses of a server that is bound to `local`: that address. For "any address" these are loopback and every
// address of this machine, and for "::" the IPv4 ones, too.
std::vector<protocol::Address> reachable_addresses(const protocol::Address& local);

// A connect token in a file, for development: everyone who can read it can play. A token is good for one client. So the
// file is written anew after a token was used, and before it expires.
class TokenFile {
  public:
    TokenFile(std::string path, const protocol::Key& key, const protocol::Address& server)
        : path_(std::move(path)), key_(key), server_(server) {}

    Result<Ok> renew(std::uint64_t unix_now_s);
    bool due(std::uint64_t unix_now_s) const { return unix_now_s >= renew_at_s_; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    protocol::Key key_;
    protocol::Address server_;
    protocol::SystemRandom random_;
    std::uint64_t renew_at_s_ = 0;
};

}  // namespace orrery::server
