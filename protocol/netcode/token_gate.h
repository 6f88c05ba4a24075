// What a server knows of connect tokens and of the client ids that are connected, whichever transport they come by: one
// gate for the datagrams of NetcodeServer and the streams of StreamServer. A token is good once, a kick voids tokens,
// and a client id has one connection over both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/rate_limit.h"
#include "protocol/netcode/reasons.h"
#include "protocol/netcode/void_tokens.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {

enum class Transport : std::uint8_t { datagrams, streams };

struct TokenGateConfig {
    std::uint64_t protocol_id = 0;
    Key private_key{};
    std::vector<Address> public_addresses;  // of this server; a token names one of them
    std::uint32_t max_clients = 64;         // over both transports
    std::uint32_t token_opens_per_tick = 64;
    // Asked with each good token. A reason denies it. Null: every good token is admitted.
    std::function<std::optional<DenyReason>(std::uint64_t client_id, const UserData& user_data)> admit;
    RequestLimits* shared_limits = nullptr;  // beside token_opens_per_tick; outlives the gate; null: none
};

class TokenGate {
  public:
    explicit TokenGate(const TokenGateConfig& config);
    ~TokenGate();
    TokenGate(const TokenGate&) = delete;
    TokenGate& operator=(const TokenGate&) = delete;

    // Once a tick: refills the budget of openings. Before the first call every token has expired.
    void update(std::uint64_t unix_now_s);
    std::uint64_t unix_now_s() const { return unix_now_s_; }
    // Whether the next opening is within the budget. One that is shared keeps the place for it.
    bool may_open();

    // Opens the private part, which costs one opening of the tick's budget. False: it is not of this server's key.
    bool open(std::span<const std::uint8_t, kPrivateTokenBytes> sealed, std::uint64_t expire_timestamp,
              const TokenNonce& nonce, PrivateToken& out);
    bool charge_opening();  // for other cryptography of the same cost; false: the budget is used up

    bool names_this_server(const PrivateToken& token) const;
    std::optional<DenyReason> admit(std::uint64_t client_id, const UserData& user_data) const;

    // Tokens of this client id that expire at or before `until_unix_s` are void.
    void void_tokens(std::uint64_t client_id, std::uint64_t until_unix_s) { void_.add(client_id, until_unix_s); }
    void void_all_tokens(std::uint64_t until_unix_s) { void_.add_all(until_unix_s); }
    bool is_void(std::uint64_t client_id, std::uint64_t expire_timestamp) const {
        return void_.contains(client_id, expire_timestamp);
    }

    // False: the token was used before, from another address or over a stream. A datagram may be repeated.
    bool claim(const TokenTag& tag, const Address& from);
    bool was_used(const TokenTag& tag) const { return used_by_tag_.count(tag) != 0; }
    void claim_for_stream(const TokenTag& tag);  // from then on no address may use it

    // The connection of a client id.
    struct Holder {
        std::uint64_t expire_timestamp = 0;  // of its token
        Transport transport = Transport::datagrams;
    };
    const Holder* holder(std::uint64_t client_id) const;  // null: none
    bool full() const { return holders_.size() >= config_.max_clients; }
    std::uint32_t max_clients() const { return config_.max_clients; }
    // A later connection of the same id takes its place here; the one before it is then to be ended by its transport.
    void connected(std::uint64_t client_id, const Holder& holder);
    void disconnected(std::uint64_t client_id, Transport transport);  // of another transport: nothing

  private:
    // Which address a token was first used from. A token of a stream has none.
    struct UsedToken {
        bool taken = false;
        TokenTag tag{};
        Address address;
    };
    struct TagHash {
        std::size_t operator()(const TokenTag& tag) const { return static_cast<std::size_t>(load_le(tag.data(), 8)); }
    };

    void remember(const TokenTag& tag, const Address& from);

    TokenGateConfig config_;
    std::uint64_t unix_now_s_ = UINT64_MAX;
    std::uint32_t opens_left_ = 0;
    bool has_shared_opening_ = false;
    VoidTokens void_;
    std::vector<UsedToken> used_;  // a ring: the oldest makes room
    std::unordered_map<TokenTag, std::uint32_t, TagHash> used_by_tag_;
    std::size_t next_used_ = 0;
    std::unordered_map<std::uint64_t, Holder> holders_;  // looked up, never iterated
};

}  // namespace orrery::protocol
