#include "client_sdk/src/netcode_link.h"

#include <algorithm>
#include <array>

#include "client_sdk/src/end_reasons.h"
#include "protocol/session/handshake.h"

namespace orrery::client {

using namespace orrery::protocol;

namespace {

std::string no_answer_from(const Address& server) { return "no answer from " + server.to_string(); }

constexpr const char* kCausesOfSilence =
    ". Possible causes: no server runs at this address; a firewall drops UDP; the server has another key than the "
    "maker of the token; the server expects another protocol id";
constexpr const char* kCausesOfNoToken =
    ". Possible causes: no server runs at this address; a firewall drops UDP; the server was started without "
    "--insecure, or without --insecure-public and this client is on another machine; the server expects another "
    "protocol id";

}  // namespace

NetcodeLink::NetcodeLink(Transport& transport, RandomSource& random)
    : transport_(transport), netcode_(random, transport), asker_(random, transport) {}

Result<> NetcodeLink::connect(Bytes token, TimeNs now) {
    Result<> started = netcode_.connect(token, now);
    if (!started) return started;
    asking_ = false;
    ended_asking_.reset();
    asked_since_ = now;
    return started;
}

Result<> NetcodeLink::connect_insecure(std::string_view server, TimeNs now) {
    const Result<Address> address = Address::parse(server);
    if (!address) return address.error();
    if (address->port == 0) {
        return Error{ErrorCode::invalid_argument, std::string(server.substr(0, 64)),
                     "the address has no port; give the port of the server"};
    }
    asked_ = *address;
    ask_again(now);
    return Ok{};
}

void NetcodeLink::ask_again(TimeNs now) {
    asker_.start(asked_, kNetcodeProtocolId, now);
    asking_ = true;
    ended_asking_.reset();
    asked_since_ = now;
}

void NetcodeLink::update(TimeNs now) {
    updated_at_ = now;
    receive(now);
    if (asking_) update_asking(now);
    if (asking_ || ended_asking_) return;
    netcode_.update(now);
    warn_of_silence(now);
}

void NetcodeLink::update_asking(TimeNs now) {
    asker_.update(now);
    warn_of_silence(now);
    if (asker_.state() == TokenAsker::State::timed_out) {
        asking_ = false;
        ended_asking_ =
            LinkEnd{EndReason::no_answer, no_answer_from(asked_) + kCausesOfNoToken, LinkEnd::Mend::of_attempt};
    }
    if (asker_.state() != TokenAsker::State::received) return;
    asking_ = false;
    asked_since_ = now;
    const Result<> started = use_answer(now);
    if (!started) ended_asking_ = LinkEnd{EndReason::token, started.error().to_string(), LinkEnd::Mend::never};
}

// The server knows itself by many addresses, of which this client reaches the one that answered: that one comes first.
// The list for the client is outside of the sealed part, so the token stays good.
Result<> NetcodeLink::use_answer(TimeNs now) {
    Result<ConnectToken> token = read_connect_token(asker_.token());
    if (!token) return token.error();
    token->servers.put_first(asked_);
    PublicTokenBytes bytes;
    write_connect_token(*token, bytes);
    wipe(token->client_to_server);
    wipe(token->server_to_client);
    const Result<> started = netcode_.connect(bytes, now);
    wipe(bytes);
    return started;
}

void NetcodeLink::receive(TimeNs now) {
    std::array<std::uint8_t, kMaxDatagramBytes> buffer;
    Address from;
    for (std::uint32_t i = 0; i < kMaxDatagramsPerPoll; ++i) {
        const std::size_t size = transport_.receive(from, buffer);
        if (size == 0) return;
        if (asking_)
            asker_.receive(from, Bytes(buffer).first(size));
        else
            netcode_.receive(from, Bytes(buffer).first(size), now);
    }
}

void NetcodeLink::warn_of_silence(TimeNs now) {
    if (!asking_ && netcode_.state() != ClientState::sending_request) asked_since_.reset();
    if (!asked_since_ || now - std::min(now, *asked_since_) < kNoAnswerWarning) return;
    asked_since_.reset();
    warning_ =
        asking_ ? no_answer_from(asked_) + kCausesOfNoToken : no_answer_from(netcode_.server()) + kCausesOfSilence;
}

void NetcodeLink::disconnect(TimeNs now) {
    asking_ = false;
    netcode_.disconnect(now);
}

bool NetcodeLink::next_payload(Bytes& out, TimeNs& at) {
    at = updated_at_;
    return netcode_.next_payload(out);
}

bool NetcodeLink::send_payload(Bytes payload, TimeNs now) { return netcode_.send_payload(payload, now); }

LinkState NetcodeLink::state() const {
    if (asking_) return LinkState::connecting;
    if (ended_asking_ || netcode_.ended()) return LinkState::ended;
    return netcode_.state() == ClientState::connected ? LinkState::connected : LinkState::connecting;
}

LinkEnd NetcodeLink::end(bool greeted) const {
    using Mend = LinkEnd::Mend;
    if (ended_asking_) return *ended_asking_;
    const ClientState state = netcode_.state();
    std::string text(client_state_name(state));
    switch (state) {
        case ClientState::token_expired:
            return {EndReason::token, std::move(text), Mend::of_attempt};
        case ClientState::invalid_token:
            return {EndReason::token, std::move(text), Mend::never};
        case ClientState::timed_out:
            return {EndReason::timed_out, std::move(text), Mend::of_connection};
        case ClientState::request_timed_out:
            return {EndReason::no_answer, text + ": " + no_answer_from(netcode_.server()) + kCausesOfSilence,
                    Mend::of_attempt};
        case ClientState::response_timed_out:
            return {EndReason::no_answer, std::move(text), Mend::of_attempt};
        case ClientState::denied:
            return {reason_of(netcode_.deny_reason()), denied_text(netcode_.deny_reason()), Mend::never};
        default:
            break;
    }
    const EndReason reason = greeted ? reason_of(netcode_.disconnect_reason()) : EndReason::by_server;
    return {reason, text_of(reason), Mend::never};
}

LinkCounters NetcodeLink::counters() const {
    const NetcodeCounters& c = netcode_.counters();
    return {c.bytes_sent, c.bytes_received, c.datagrams_sent, c.datagrams_received};
}

}  // namespace orrery::client
