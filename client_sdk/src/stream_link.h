// Packets as messages of an ordered, lossless stream, which is a WebSocket that the program opens. Without I/O.
//
//   to the server:  the connect token (2,048 bytes), then packets of the Channel
//   to the client:  accept (u8 1, u32 client index, u32 largest number of clients, little endian), then packets
// An empty message says that the sender is there; each side sends one when it has sent nothing for kStreamKeepAlive.
// A close code says why the server ended it: 4000 and a DenyReason, or 4100 and a DisconnectReason.
#pragma once

#include <optional>

#include "client_sdk/src/link.h"
#include "protocol/netcode/byte_queue.h"
#include "protocol/netcode/connect_token.h"

namespace orrery::client {

inline constexpr protocol::TimeNs kStreamKeepAlive = protocol::kNsPerSecond;
inline constexpr std::uint32_t kDeniedCode = 4000, kEndedCode = 4100;
inline constexpr std::uint32_t kBrokenCode = 1006;  // of WebSocket: closed without a word
inline constexpr std::size_t kStreamAcceptBytes = 9;
// Messages that wait for the program's poll. A program that polls ten times a second has a tenth of a second's.
inline constexpr std::size_t kMaxStreamReceived = 16'384, kMaxStreamReceivedBytes = 16u << 20;
// Messages that wait for the program to send them. Above it the session waits with what it has.
inline constexpr std::size_t kMaxStreamUnsent = 1024, kMaxStreamUnsentBytes = 256u << 10;

class StreamLink final : public Link {
  public:
    StreamLink();

    Result<> connect(protocol::Bytes token, protocol::TimeNs now) override;
    Result<> connect_insecure(std::string_view server, protocol::TimeNs now) override;
    void ask_again(protocol::TimeNs) override {}
    void update(protocol::TimeNs now) override;
    void disconnect(protocol::TimeNs now) override;
    bool next_payload(protocol::Bytes& out, protocol::TimeNs& at) override;
    bool ready() const override;
    bool send_payload(protocol::Bytes payload, protocol::TimeNs now) override;
    // What came before the end is there until it was read.
    LinkState state() const override;
    LinkEnd end(bool greeted) const override;
    std::string take_warning() override { return std::exchange(warning_, {}); }
    bool lossless() const override { return true; }
    std::uint32_t client_index() const override { return client_index_; }
    LinkCounters counters() const override { return counters_; }

    // The number of the stream that should be open: 1 for the first, then 2 and so on; 0: none.
    std::uint32_t wanted() const { return stage_ == Stage::ended ? 0 : number_; }
    void opened(protocol::TimeNs now);
    void received(protocol::Bytes message, protocol::TimeNs now);
    void closed(std::uint32_t code, std::string_view text, protocol::TimeNs now);
    // The next message to send; valid until the next call that is not const. False: none, or no stream is open.
    bool next_message(protocol::Bytes& out);

  private:
    enum class Stage : std::uint8_t { ended, opening, asking, connected };
    struct At {
        protocol::TimeNs at = 0;
    };
    struct NoHeader {};

    void queue(protocol::Bytes message, protocol::TimeNs now);
    void finish(LinkEnd end);
    LinkEnd end_of(std::uint32_t code, std::string_view text) const;

    Stage stage_ = Stage::ended;
    bool open_ = false;  // messages may leave
    std::uint32_t number_ = 0;
    std::int32_t timeout_s_ = 0;
    std::uint32_t client_index_ = 0;
    protocol::TimeNs begun_ = 0, last_received_ = 0, last_sent_ = 0;
    bool warned_ = false;
    std::string warning_;
    LinkEnd end_;
    protocol::ByteQueue<At> received_{kMaxStreamReceived, kMaxStreamReceivedBytes};
    protocol::ByteQueue<NoHeader> unsent_{kMaxStreamUnsent, kMaxStreamUnsentBytes};
    LinkCounters counters_;
};

}  // namespace orrery::client
