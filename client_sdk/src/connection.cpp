#include "client_sdk/src/connection.h"

#include <algorithm>

#include "protocol/session/handshake.h"

namespace orrery::client {

using namespace orrery::protocol;

namespace {

EndReason reason_of(GoodbyeReason goodbye) {
    switch (goodbye) {
        case GoodbyeReason::server_stopped:
            return EndReason::server_stopped;
        case GoodbyeReason::protocol_error:
            return EndReason::protocol_error;
        case GoodbyeReason::too_slow:
            return EndReason::too_slow;
        case GoodbyeReason::handshake_timeout:
            return EndReason::handshake;
        case GoodbyeReason::world_too_large:
            return EndReason::world_too_large;
        case GoodbyeReason::unacknowledged:
            return EndReason::unacknowledged;
        case GoodbyeReason::kicked:
            return EndReason::kicked;
        case GoodbyeReason::replaced:
            return EndReason::replaced;
        case GoodbyeReason::refused_by_game:
            return EndReason::refused_by_game;
        case GoodbyeReason::message_limits:
            return EndReason::message_limits;
    }
    return EndReason::by_server;
}

EndReason reason_of(const ClientSession& session) {
    switch (session.end_kind()) {
        case SessionEnd::refused:
        case SessionEnd::incompatible:
            return EndReason::refused;
        case SessionEnd::said_goodbye:
            return reason_of(session.goodbye());
        case SessionEnd::unreadable:
            return EndReason::unreadable;
        case SessionEnd::none:
            break;
    }
    return EndReason::none;
}

EndReason reason_of(DenyReason denied) {
    switch (denied) {
        case DenyReason::already_connected:
            return EndReason::already_connected;
        case DenyReason::kicked:
            return EndReason::kicked;
        case DenyReason::refused_by_game:
            return EndReason::refused_by_game;
        case DenyReason::token_used:
        case DenyReason::expired:
        case DenyReason::bad_token_role:
        case DenyReason::other_server:
            return EndReason::token;
        default:
            return EndReason::denied;
    }
}

std::size_t unread_bytes_of(const ConnectionEvent& event) {
    using Kind = ConnectionEvent::Kind;
    if (event.kind != Kind::message && event.kind != Kind::board) return 0;
    return kEventBytes + event.detail->bytes.size() + event.detail->board.value.size();
}

// Of a connection that netcode ended.
EndReason reason_of(const NetcodeClient& netcode) {
    switch (netcode.state()) {
        case ClientState::token_expired:
        case ClientState::invalid_token:
            return EndReason::token;
        case ClientState::timed_out:
            return EndReason::timed_out;
        case ClientState::response_timed_out:
        case ClientState::request_timed_out:
            return EndReason::no_answer;
        case ClientState::denied:
            return reason_of(netcode.deny_reason());
        default:
            return EndReason::by_server;
    }
}

// Of a connection that a server of this protocol ended.
EndReason reason_of(DisconnectReason reason) {
    switch (reason) {
        case DisconnectReason::server_stopped:
            return EndReason::server_stopped;
        case DisconnectReason::replaced:
            return EndReason::replaced;
        case DisconnectReason::kicked:
            return EndReason::kicked;
        default:
            return EndReason::by_server;
    }
}

const char* text_of(EndReason reason) {
    switch (reason) {
        case EndReason::server_stopped:
            return "the server stopped";
        case EndReason::replaced:
            return "another connection of this player took its place";
        case EndReason::kicked:
            return "the server removed this player";
        default:
            return "the server ended the connection without a reason";
    }
}

std::string no_answer_from(const Address& server) { return "no answer from " + server.to_string(); }

constexpr const char* kCausesOfSilence =
    ". Possible causes: no server runs at this address; a firewall drops UDP; the server has another key than the "
    "maker of the token; the server expects another protocol id";
constexpr const char* kCausesOfNoToken =
    ". Possible causes: no server runs at this address; a firewall drops UDP; the server was started without "
    "--insecure, or without --insecure-public and this client is on another machine; the server expects another "
    "protocol id";

}  // namespace

Connection::Connection(Transport& transport, RandomSource& random, const ClientHello& hello,
                       const PlayoutLimits& limits)
    : transport_(transport), hello_(hello), netcode_(random, transport), asker_(random, transport), playout_(limits) {}

Result<> Connection::connect(Bytes token, TimeNs now) {
    Result<> started = netcode_.connect(token, now);
    if (started) begin(now, false);
    return started;
}

Result<> Connection::connect_insecure(std::string_view server, TimeNs now) {
    const Result<Address> address = Address::parse(server);
    if (!address) return address.error();
    if (address->port == 0) {
        return Error{ErrorCode::invalid_argument, std::string(server.substr(0, 64)),
                     "the address has no port; give the port of the server"};
    }
    asked_ = *address;
    begin(now, true);
    ask(now);
    return Ok{};
}

void Connection::begin(TimeNs now, bool insecure) {
    session_.reset();
    session_lost_ = false;
    lost_since_.reset();
    active_ = true;
    insecure_ = insecure;
    asked_since_ = now;
}

void Connection::ask(TimeNs now) {
    asker_.start(asked_, kNetcodeProtocolId, now);
    asking_ = true;
    asked_since_ = now;
}

Result<> Connection::renew(Bytes token, TimeNs now) {
    Result<> started = netcode_.connect(token, now);
    if (!started) return started;
    token_needed_ = false;
    asked_since_ = now;
    return started;
}

void Connection::disconnect(TimeNs now) {
    if (!active_) return;
    end(EndReason::by_client, "this client disconnected", now);
}

Connection::State Connection::state() const {
    if (!active_) return State::disconnected;
    if (!session_ || session_lost_) return State::connecting;
    return session_->state() == ClientSession::State::playing ? State::playing : State::joining;
}

void Connection::set_control(const WireControl& control) {
    control_ = control;
    if (session_) session_->set_control(control);
}

void Connection::poll(TimeNs now) {
    receive(now);
    if (session_lost_ && now - std::min(now, *lost_since_) >= reconnect_within_)
        return end(EndReason::timed_out, "timed out, and not reconnected in time", now);
    if (token_needed_) return;
    if (asking_) {
        asker_.update(now);
        warn_of_silence(now);
        if (asker_.state() == TokenAsker::State::timed_out) {
            if (session_lost_) return ask(now);
            return end(EndReason::no_answer, no_answer_from(asked_) + kCausesOfNoToken, now);
        }
        if (asker_.state() != TokenAsker::State::received) return;
        asking_ = false;
        asked_since_ = now;
        const Result<> started = use_answer(now);
        if (!started) return end(EndReason::token, started.error().to_string(), now);
    }
    if (!active_) return;
    netcode_.update(now);
    warn_of_silence(now);
    if (netcode_.state() == ClientState::connected && (!session_ || session_lost_)) start_session(now);
    if (session_ && !session_lost_) {
        Bytes payload;
        while (netcode_.next_payload(payload)) session_->receive_packet(payload, now);
        session_->update(now);
        flush(now);
        take_session_events(now);
    }
    if (active_ && !asking_ && !token_needed_ && netcode_.ended()) end_by_netcode(now);
}

void Connection::warn_of_silence(TimeNs now) {
    if (!asking_ && netcode_.state() != ClientState::sending_request) asked_since_.reset();
    if (!asked_since_ || now - std::min(now, *asked_since_) < kNoAnswerWarning) return;
    asked_since_.reset();
    warning_ =
        asking_ ? no_answer_from(asked_) + kCausesOfNoToken : no_answer_from(netcode_.server()) + kCausesOfSilence;
}

void Connection::end_by_netcode(TimeNs now) {
    if (netcode_.state() == ClientState::disconnected) {
        const bool greeted = session_ && session_->state() != ClientSession::State::awaiting_hello;
        const EndReason reason = greeted ? reason_of(netcode_.disconnect_reason()) : EndReason::by_server;
        return end(reason, text_of(reason), now);
    }
    std::string text(client_state_name(netcode_.state()));
    if (netcode_.state() == ClientState::request_timed_out)
        text += ": " + no_answer_from(netcode_.server()) + kCausesOfSilence;
    if (netcode_.state() == ClientState::denied && netcode_.deny_reason() != DenyReason::unspecified)
        text.append("; the server says: ").append(deny_reason_text(netcode_.deny_reason()));
    if (lost()) return lose(std::move(text), now);
    end(reason_of(netcode_), std::move(text), now);
}

// Whether the end that netcode came to may be mended: the server fell silent, and a connection has been there.
bool Connection::lost() const {
    if (reconnect_within_ == 0 || !session_) return false;
    switch (netcode_.state()) {
        case ClientState::timed_out:
            return true;
        case ClientState::request_timed_out:
        case ClientState::response_timed_out:
        case ClientState::token_expired:
            return session_lost_;
        default:
            return false;
    }
}

// Whether the server has ended the session because this client was silent or slow: a loss, too.
bool Connection::given_up() const {
    if (reconnect_within_ == 0 || session_->end_kind() != SessionEnd::said_goodbye) return false;
    return session_->goodbye() == GoodbyeReason::unacknowledged || session_->goodbye() == GoodbyeReason::too_slow;
}

void Connection::lose(std::string why, TimeNs now) {
    if (!lost_since_) lost_since_ = now;
    session_lost_ = true;
    if (insecure_) return ask(now);
    token_needed_ = true;
    events_.push_back({ConnectionEvent::Kind::token_needed, session_->newest_tick(), {}, 0, std::move(why), {}});
}

// The server knows itself by many addresses, of which this client reaches the one that answered: that one comes first.
// The list for the client is outside of the sealed part, so the token stays good.
Result<> Connection::use_answer(TimeNs now) {
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

void Connection::receive(TimeNs now) {
    std::array<std::uint8_t, kMaxDatagramBytes> buffer;
    Address from;
    for (std::uint32_t i = 0; i < kMaxDatagramsPerPoll; ++i) {
        const std::size_t size = transport_.receive(from, buffer);
        if (size == 0) return;
        if (!active_) continue;
        if (asking_)
            asker_.receive(from, Bytes(buffer).first(size));
        else
            netcode_.receive(from, Bytes(buffer).first(size), now);
    }
}

void Connection::start_session(TimeNs now) {
    if (session_) {  // its bodies are shown until now; those of the new key frame follow
        const std::uint64_t tick = session_->newest_tick();
        for (const MirrorBody& body : session_->bodies()) {
            if (body.alive) push_droppable({ConnectionEvent::Kind::body_removed, tick, body.description.id, 0, {}, {}});
        }
    }
    session_lost_ = false;
    session_ = std::make_unique<ClientSession>(hello_, now);
    session_->set_control(control_);
    session_->set_observer(observer_);
}

void Connection::flush(TimeNs now) {
    constexpr int kMaxPacketsPerPoll = 64;
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (int i = 0; i < kMaxPacketsPerPoll; ++i) {
        const std::size_t size = session_->write_packet(now, packet);
        if (size == 0 || !netcode_.send_payload(Bytes(packet).first(size), now)) return;
    }
}

void Connection::take_session_events(TimeNs now) {
    SessionEvent event;
    while (active_ && session_->next_event(event)) {
        using From = SessionEvent::Kind;
        using To = ConnectionEvent::Kind;
        switch (event.kind) {
            case From::joined:
                playout_.start(event.tick, session_->hello().tick_rate_hz, now);
                lost_since_.reset();
                events_.push_back({To::connected, event.tick, {}, 0, {}, {}});
                break;
            case From::body_added:
                push_droppable({To::body_added, event.tick, event.body, 0, {}, {}});
                break;
            case From::body_removed:
                push_droppable({To::body_removed, event.tick, event.body, 0, {}, {}});
                break;
            case From::slipped:
                events_.push_back({To::slipped, event.tick, {}, event.late_ns, {}, {}});
                break;
            case From::message:
                push_counted({To::message, event.tick, {}, 0, {}, {}, std::move(event.detail)}, now);
                break;
            case From::board:
                push_counted({To::board, event.tick, {}, 0, {}, {}, std::move(event.detail)}, now);
                break;
            case From::world:
                push_droppable({To::world, event.tick, event.body, 0, {}, {}, std::move(event.detail)});
                break;
            case From::scene:
                events_.push_back({To::scene, event.tick, {}, 0, {}, {}});
                break;
            case From::ended:
                if (given_up()) {
                    netcode_.disconnect(now);
                    lose(session_->end_reason(), now);
                } else {
                    end(reason_of(*session_), session_->end_reason(), now);
                }
                break;
        }
    }
    ClientSession::Arrival arrival;
    while (session_->next_arrival(arrival)) playout_.arrived(arrival.tick, arrival.at);
}

void Connection::push_droppable(ConnectionEvent event) {
    if (events_.size() < kMaxWaitingEvents) events_.push_back(std::move(event));
}

void Connection::push_counted(ConnectionEvent event, TimeNs now) {
    if (!active_) return;
    unread_bytes_ += unread_bytes_of(event);
    events_.push_back(std::move(event));
    if (unread_bytes_ > kMaxUnreadBytes)
        end(EndReason::message_limits, "this program left more than 4 MiB of messages unread", now);
}

SendStatus Connection::send_message(std::uint16_t type, Bytes bytes, bool reliable) {
    return active_ && session_ ? session_->send_message(type, bytes, reliable) : SendStatus::failed;
}

void Connection::end(EndReason reason, std::string text, TimeNs now) {
    if (!active_) return;
    active_ = false;
    asking_ = false;
    token_needed_ = false;
    if (!netcode_.ended()) netcode_.disconnect(now);
    const std::uint64_t tick = session_ ? session_->newest_tick() : 0;
    events_.push_back({ConnectionEvent::Kind::disconnected, tick, {}, 0, std::move(text), reason});
}

bool Connection::next_event(ConnectionEvent& out) {
    if (events_.empty()) return false;
    out = std::move(events_.front());
    events_.pop_front();
    unread_bytes_ -= unread_bytes_of(out);
    return true;
}

}  // namespace orrery::client
