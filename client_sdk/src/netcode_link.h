// Packets over UDP: netcode 1.02, and the question for a token of `--insecure`.
#pragma once

#include <optional>

#include "client_sdk/src/link.h"
#include "client_sdk/src/transport.h"
#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_client.h"

namespace orrery::client {

inline constexpr std::uint32_t kMaxDatagramsPerPoll = 1024;

class NetcodeLink : public Link {
  public:
    // Both must outlive the link.
    NetcodeLink(Transport& transport, protocol::RandomSource& random);

    Result<> connect(protocol::Bytes token, protocol::TimeNs now) override;
    Result<> connect_insecure(std::string_view server, protocol::TimeNs now) override;
    void ask_again(protocol::TimeNs now) override;
    void update(protocol::TimeNs now) override;
    void disconnect(protocol::TimeNs now) override;
    bool next_payload(protocol::Bytes& out, protocol::TimeNs& at) override;
    bool ready() const override { return true; }  // netcode's sockets drop what is too much
    bool send_payload(protocol::Bytes payload, protocol::TimeNs now) override;
    LinkState state() const override;
    LinkEnd end(bool greeted) const override;
    std::string take_warning() override { return std::exchange(warning_, {}); }
    bool lossless() const override { return false; }
    std::uint32_t client_index() const override { return netcode_.client_index(); }
    LinkCounters counters() const override;

    const protocol::NetcodeClient& netcode() const { return netcode_; }

  private:
    void receive(protocol::TimeNs now);
    void update_asking(protocol::TimeNs now);
    Result<> use_answer(protocol::TimeNs now);
    void warn_of_silence(protocol::TimeNs now);

    Transport& transport_;
    protocol::NetcodeClient netcode_;
    protocol::TokenAsker asker_;
    protocol::Address asked_;
    bool asking_ = false;
    std::optional<LinkEnd> ended_asking_;  // no token came of it
    protocol::TimeNs updated_at_ = 0;
    std::optional<protocol::TimeNs> asked_since_;  // nothing has answered since then, and no warning was given
    std::string warning_;
};

}  // namespace orrery::client
