// The client side of netcode 1.02, without I/O. It tries the servers of its token in order, answers the challenge,
// keeps the connection alive, and ends it if the server stops sending.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/counters.h"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/datagram_sink.h"
#include "sim/base/result.h"

namespace orrery::protocol {

// The numbers of the standard. A negative number is an end with its reason.
enum class ClientState : std::int8_t {
    token_expired = -6,
    invalid_token = -5,
    timed_out = -4,
    response_timed_out = -3,
    request_timed_out = -2,
    denied = -1,
    disconnected = 0,
    sending_request = 1,
    sending_response = 2,
    connected = 3,
};
std::string_view client_state_name(ClientState state);

inline constexpr std::uint32_t kMaxClientPayloads = 4096;  // unread payloads; further ones are dropped and counted
inline constexpr std::uint32_t kMaxClientPayloadBytes = 4u << 20;

class NetcodeClient {
  public:
    // `sink` and `random` must outlive the client.
    NetcodeClient(RandomSource& random, DatagramSink& sink);
    ~NetcodeClient();

    // A token that cannot be read sets the state to invalid_token; the error has the reason.
    Result<> connect(Bytes token, TimeNs now);
    void update(TimeNs now);  // call it at least 10 times a second
    void receive(const Address& from, Bytes datagram, TimeNs now);
    bool send_payload(Bytes payload, TimeNs now);  // 1 to kMaxPayloadBytes; false: not connected, or the size is wrong
    void disconnect(TimeNs now);                   // tells the server, with ten repetitions

    bool next_payload(Bytes& out);  // valid until the next call that is not const

    ClientState state() const;
    bool ended() const { return state() <= ClientState::disconnected; }
    DenyReason deny_reason() const;              // once denied
    DisconnectReason disconnect_reason() const;  // once the server has ended it; see disconnect_sequence()
    Address server() const;                      // the server that is being tried, or that is connected
    std::uint32_t client_index() const;          // once connected
    std::uint32_t max_clients() const;
    const NetcodeCounters& counters() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::protocol
