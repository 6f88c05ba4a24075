// Reasons why datagrams were ignored, with counts. They are counted, and never logged one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/netcode/reasons.h"

namespace orrery::protocol {

enum class Ignored : std::uint8_t {
    // Before any cryptography.
    rate_address,
    rate_prefix,
    rate_client,
    rate_pending,
    open_budget,
    unknown_address,
    // Reading a packet, in reading order.
    too_short,
    unknown_type,
    type_not_allowed,
    bad_sequence_length,
    no_room_for_tag,
    replayed,
    does_not_open,
    wrong_size,
    // A connection request, in the order of checks.
    request_length,
    request_version,
    request_protocol,
    request_expired,
    request_does_not_open,
    request_address_connected,
    request_address_pending,
    // A challenge response.
    response_challenge,
    response_other_address,
    response_client_id,
    response_address_connected,
    response_id_connected,
    // Tokens on request (`--insecure`).
    mint_disabled,
    mint_not_loopback,
    mint_malformed,
    // Limits of this implementation.
    event_queue_full,
    wrong_state,
    kCount
};
std::string_view ignored_name(Ignored reason);

struct NetcodeCounters {
    std::uint64_t datagrams_received = 0, datagrams_sent = 0;
    std::uint64_t bytes_received = 0, bytes_sent = 0;
    std::uint64_t requests_challenged = 0, requests_denied = 0, connections = 0, disconnections = 0, timeouts = 0;
    std::uint64_t tokens_opened = 0, tokens_minted = 0;
    std::array<std::uint64_t, static_cast<std::size_t>(Ignored::kCount)> ignored{};
    std::array<std::uint64_t, kDenyReasons> denied{};  // requests_denied, by reason

    std::uint64_t operator[](Ignored reason) const { return ignored[static_cast<std::size_t>(reason)]; }
    std::uint64_t operator[](DenyReason reason) const { return denied[static_cast<std::size_t>(reason)]; }
    void count(Ignored reason) { ++ignored[static_cast<std::size_t>(reason)]; }
    std::uint64_t ignored_total() const;
};

}  // namespace orrery::protocol
