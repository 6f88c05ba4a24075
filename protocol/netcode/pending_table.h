// Challenged addresses that have not answered yet: what is needed to open their responses. They have no slot.
//
// Why there is a table: a response is sealed under a key that the server knows from the token alone, and the standard's
// response does not repeat the token. So the key waits here, by address. A client that has its challenge repeats only
// the response. It would not come back if its entry were gone, so an entry must outlive the round trip under any flood:
//
//   * Whoever shows a token gets an entry. When the table is full, the oldest entry makes room; when a prefix (/24,
//     /64) has all its places, the prefix's own oldest. One prefix cannot take the places of others.
//   * An entry lives for kPendingLife at least, because the places are as many as the entries that can come in that
//     time. Each costs the opening of a token, and the server opens at most 64 a tick (NetcodeServerConfig): 15,360 a
//     second at 240 Hz. A prefix may send 1,000 requests a second and 2,000 at once (RateLimitConfig).
//   * A repeated request does not make an entry younger. One that comes after kPendingLife begins a new life at the end
//     of the queue, as the request of a newcomer does.
//   * A client id has one place. A request of the same id from another address (a client that was restarted) takes it
//     over, so that many tokens of one id hold one place.
//   * An address has one place. Another id cannot take it over before kPendingLife.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/rate_limit.h"

namespace orrery::protocol {

inline constexpr TimeNs kPendingLife = kNsPerSecond;  // five round trips of 200 ms
inline constexpr std::uint32_t kMaxPending = 16'384;  // see above; memory is taken only as entries come
inline constexpr std::uint32_t kMaxPendingPerPrefix = 4096;
inline constexpr BucketRate kPendingResponses{20.0, 20.0};  // each a tag check; a client sends ten a second

struct PendingClient {
    Address address;
    std::uint64_t client_id = 0;
    Key send_key{}, receive_key{};
    std::int32_t timeout_seconds = 0;
    std::uint64_t expire_timestamp = 0;
    UserData user_data{};  // of the token whose keys these are: the challenge may be that of an earlier one
    TokenBucket responses{kPendingResponses.burst, 0};
};

// Keyed, so that nobody can choose addresses or ids that share a place in a hash table.
struct KeyedHash {
    std::array<std::uint8_t, 16> key{};
    std::size_t operator()(const Address& address) const;
    std::size_t operator()(std::uint64_t client_id) const;
};

class PendingTable {
  public:
    PendingTable(std::uint32_t max_entries, std::uint32_t max_per_prefix, RandomSource& random);
    ~PendingTable();

    PendingClient* find(const Address& address);  // null: none

    // The entry of `address` for `client_id`, which is there already or is made (its other fields are empty then).
    // Null: another id has the address.
    PendingClient* admit(const Address& address, std::uint64_t client_id, TimeNs now);

    void drop(const Address& address);
    void clear();
    std::size_t size() const { return by_address_.size(); }

  private:
    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

    // Entries in order of age: all of them, and those of a prefix.
    enum Order : std::size_t { kAll, kPrefix, kOrders };
    struct Links {
        std::uint32_t older = kNobody, newer = kNobody;
    };
    struct Queue {
        std::uint32_t oldest = kNobody, newest = kNobody, count = 0;
    };
    struct Entry {
        PendingClient client;
        TimeNs since = 0;
        std::array<Links, kOrders> links;
    };

    void append(Queue& queue, Order order, std::uint32_t index);
    void unlink(Queue& queue, Order order, std::uint32_t index);
    void remove(std::uint32_t index);

    std::uint32_t max_entries_, max_per_prefix_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
    Queue all_;
    std::unordered_map<Address, std::uint32_t, KeyedHash> by_address_;
    std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> by_id_;
    std::unordered_map<Address, Queue, KeyedHash> by_prefix_;
};

}  // namespace orrery::protocol
