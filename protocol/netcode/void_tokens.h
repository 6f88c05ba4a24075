// Client ids whose tokens are void up to some expiry: after a kick, what the backend has minted before it does not let
// the client in again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace orrery::protocol {

inline constexpr std::size_t kMaxVoidIds = 4096;

class VoidTokens {
  public:
    // Tokens of `client_id` that expire at or before `until_unix_s` are void. An earlier word with a later time stays.
    // A full table drops the id with the least time.
    void add(std::uint64_t client_id, std::uint64_t until_unix_s);
    void add_all(std::uint64_t until_unix_s) { until_of_all_ = until_unix_s; }  // of every client id
    bool contains(std::uint64_t client_id, std::uint64_t expire_timestamp) const;
    std::size_t size() const { return until_by_id_.size(); }

  private:
    std::map<std::uint64_t, std::uint64_t> until_by_id_;
    std::uint64_t until_of_all_ = 0;
};

}  // namespace orrery::protocol
