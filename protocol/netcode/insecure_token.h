// `--insecure`, for development: a server that gives a token to every client that asks, with one datagram in each
// direction.
//
// The question is padded so that the answer is smaller. So the server cannot be used to amplify traffic.
//   question: 0x0f, "ORRERY TOKEN", protocol id u64, cookie u64, zero padding to kTokenQuestionBytes
//   answer:   0x1f, "ORRERY TOKEN", cookie u64, the connect token
#pragma once

#include <cstdint>

#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/datagram_sink.h"

namespace orrery::protocol {

inline constexpr std::uint8_t kTokenQuestionPrefix = 0x0f;  // type 15: no netcode packet has it
inline constexpr std::uint8_t kTokenAnswerPrefix = 0x1f;
inline constexpr std::size_t kTokenQuestionBytes = kMaxDatagramBytes;
inline constexpr std::size_t kTokenAnswerBytes = 1 + 12 + 8 + kConnectTokenBytes;
static_assert(kTokenAnswerBytes < kTokenQuestionBytes);

struct TokenQuestion {
    std::uint64_t protocol_id = 0;
    std::uint64_t cookie = 0;  // chosen by the asking client, and repeated in the answer
};
void write_token_question(const TokenQuestion& question, std::span<std::uint8_t, kTokenQuestionBytes> out);
bool read_token_question(Bytes datagram, TokenQuestion& out);
void write_token_answer(std::uint64_t cookie, const PublicTokenBytes& token,
                        std::span<std::uint8_t, kTokenAnswerBytes> out);
bool read_token_answer(Bytes datagram, std::uint64_t cookie, PublicTokenBytes& token);

// Asks 10 times a second until an answer arrives or the time is over.
class TokenAsker {
  public:
    enum class State : std::uint8_t { idle, asking, received, timed_out };
    TokenAsker(RandomSource& random, DatagramSink& sink) : random_(random), sink_(sink) {}

    void start(const Address& server, std::uint64_t protocol_id, TimeNs now, TimeNs timeout = 5 * kNsPerSecond);
    void update(TimeNs now);
    void receive(const Address& from, Bytes datagram);
    State state() const { return state_; }
    const PublicTokenBytes& token() const { return token_; }  // once received

  private:
    RandomSource& random_;
    DatagramSink& sink_;
    State state_ = State::idle;
    Address server_;
    TokenQuestion question_;
    TimeNs next_send_ = 0, deadline_ = 0;
    PublicTokenBytes token_{};
};

}  // namespace orrery::protocol
