// Token buckets per address and per prefix, in tables of fixed size: the gate of a request from someone who is not
// connected, before any cryptography. What fails the checks that cost nothing (length, version, protocol id) takes
// nothing from a bucket: noise from an address uses up nothing of what its players may ask.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/counters.h"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/token_bucket.h"

namespace orrery::protocol {

struct RateLimitConfig {
    // A player sends 10 requests a second; many may share one address behind a NAT.
    BucketRate per_address{200.0, 400.0};
    BucketRate per_prefix{1000.0, 2000.0};  // /24 and /64
    // A connected client's datagrams, so that a flood from its address costs a bounded number of tag checks.
    BucketRate per_client{2000.0, 2000.0};
    std::uint32_t table_entries = 4096;  // entries of each table; a power of two
};

// The limits of requests that all servers of a process share, which may call it from several threads.
class RequestLimits {
  public:
    virtual bool admit(const Address& from, TimeNs now, Ignored& reason) = 0;  // see RateLimiter
    virtual bool take_opening() = 0;  // of a token; false: the budget is used up at present

  protected:
    ~RequestLimits() = default;
};

// Sets of four entries, found by a keyed hash, so that an attacker cannot choose a set. A new key replaces the fullest
// bucket of its set. A full bucket has no information, so that nothing is lost until a set has four busy keys.
class BucketTable {
  public:
    BucketTable(const BucketRate& rate, std::uint32_t entries, RandomSource& random);
    bool take(const Address& key, TimeNs now);

  private:
    static constexpr std::size_t kWays = 4;
    struct Entry {
        Address key;
        TokenBucket bucket;
    };
    BucketRate rate_;
    std::array<std::uint8_t, 16> hash_key_{};
    std::vector<Entry> entries_;
};

class RateLimiter {
  public:
    RateLimiter(const RateLimitConfig& config, RandomSource& random);
    // False: over a limit, which `reason` names. A datagram is charged to the prefix only if its address may send it.
    bool admit(const Address& from, TimeNs now, Ignored& reason);

  private:
    BucketTable addresses_, prefixes_;
};

}  // namespace orrery::protocol
