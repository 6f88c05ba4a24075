#include "client_sdk/src/connection.h"

#include <algorithm>
#include <array>

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
        case SessionEnd::too_slow:
            return EndReason::too_slow;
        case SessionEnd::none:
            break;
    }
    return EndReason::none;
}

std::size_t unread_bytes_of(const ConnectionEvent& event) {
    using Kind = ConnectionEvent::Kind;
    if (event.kind != Kind::message && event.kind != Kind::board) return 0;
    return kEventBytes + event.detail->bytes.size() + event.detail->board.value.size();
}

}  // namespace

Connection::Connection(Link& link, const ClientHello& hello, const PlayoutLimits& limits)
    : link_(link), hello_(hello), engine_version_(hello.engine_version), playout_(limits) {}

Result<> Connection::connect(Bytes token, TimeNs now) {
    Result<> started = link_.connect(token, now);
    if (started) begin(false);
    return started;
}

Result<> Connection::connect_insecure(std::string_view server, TimeNs now) {
    Result<> started = link_.connect_insecure(server, now);
    if (started) begin(true);
    return started;
}

void Connection::begin(bool insecure) {
    session_.reset();
    session_lost_ = false;
    lost_since_.reset();
    active_ = true;
    insecure_ = insecure;
}

Result<> Connection::renew(Bytes token, TimeNs now) {
    Result<> started = link_.connect(token, now);
    if (started) token_needed_ = false;
    return started;
}

void Connection::disconnect(TimeNs now) {
    if (!active_) return;
    end(EndReason::by_client, "this client disconnected", now);
}

Connection::State Connection::state() const {
    if (!active_) return State::disconnected;
    if (!session_ || session_lost_) return State::connecting;
    if (mirror_ && !mirror_->running()) return State::joining;
    return session_->state() == ClientSession::State::playing ? State::playing : State::joining;
}

void Connection::set_control(const WireControl& control) {
    control_ = control;
    if (session_) session_->set_control(control);
}

void Connection::poll(TimeNs now) {
    link_.update(now);
    if (session_lost_ && now - std::min(now, *lost_since_) >= reconnect_within_)
        return end(EndReason::timed_out, "timed out, and not reconnected in time", now);
    if (!active_ || token_needed_) return;
    if (link_.state() == LinkState::connected && (!session_ || session_lost_)) start_session(now);
    if (session_ && !session_lost_) {
        Bytes payload;
        TimeNs at = 0;
        while (link_.next_payload(payload, at)) session_->receive_packet(payload, at);
        session_->update(now);
        update_mirror(now);
        flush(now);
        take_session_events(now);
    }
    if (active_ && !token_needed_ && link_.state() == LinkState::ended) end_by_link(now);
}

void Connection::end_by_link(TimeNs now) {
    const bool greeted = session_ && session_->state() != ClientSession::State::awaiting_hello;
    LinkEnd ended = link_.end(greeted);
    if (lost(ended.mend)) return lose(std::move(ended.text), now);
    end(ended.reason, std::move(ended.text), now);
}

// Whether the end that the link came to may be mended: the server fell silent, and a connection has been there.
bool Connection::lost(LinkEnd::Mend mend) const {
    if (reconnect_within_ == 0 || !session_) return false;
    return mend == LinkEnd::Mend::of_connection || (mend == LinkEnd::Mend::of_attempt && session_lost_);
}

// Whether the server has ended the session because this client was silent or slow: a loss, too.
bool Connection::given_up() const {
    if (reconnect_within_ == 0 || session_->end_kind() != SessionEnd::said_goodbye) return false;
    return session_->goodbye() == GoodbyeReason::unacknowledged || session_->goodbye() == GoodbyeReason::too_slow;
}

void Connection::lose(std::string why, TimeNs now) {
    if (!lost_since_) lost_since_ = now;
    session_lost_ = true;
    if (insecure_) return link_.ask_again(now);
    token_needed_ = true;
    events_.push_back({ConnectionEvent::Kind::token_needed, session_->newest_tick(), {}, 0, std::move(why), {}});
}

void Connection::start_session(TimeNs now) {
    if (session_) {  // its bodies are shown until now; those of the new key frame follow
        const std::uint64_t tick = session_->newest_tick();
        for (const MirrorBody& body : session_->bodies()) {
            if (body.alive) push_droppable({ConnectionEvent::Kind::body_removed, tick, body.description.id, 0, {}, {}});
        }
    }
    session_lost_ = false;
    session_ = std::make_unique<ClientSession>(hello_, now, client_channel_config(link_.lossless()),
                                               mirror_ ? nullptr : scene_);
    session_->set_control(control_);
    if (mirror_) mirror_->start();
    session_->set_observer(observer_);
}

bool Connection::set_mirror(bool on) {
    if (active_) return false;
    mirror_ = on ? make_mirror() : nullptr;
    mirror_events_ = false;
    hello_.mode = mirror_ ? SessionMode::mirror : SessionMode::snapshots;
    hello_.engine_version = mirror_ ? sim::kEngineVersion : engine_version_;
    return !on || mirror_;
}

bool Connection::set_mirror_events(const std::optional<EventRule>& rule) {
    if (!mirror_) return false;
    mirror_->set_events(rule.value_or(EventRule{}));
    mirror_events_ = rule.has_value();
    return true;
}

void Connection::update_mirror(TimeNs now) {
    if (!mirror_ || session_->state() == ClientSession::State::ended) return;
    if (!mirror_->poll(*session_, now, playout_.advance(now)))
        return end(EndReason::mirror, "this client cannot mirror the room: " + mirror_->error(), now);
    MirrorEvent event;
    while (mirror_->next_event(event))
        events_.push_back({ConnectionEvent::Kind::diverged, event.tick, {}, 0, std::move(event.subsystem), {}});
    ToldEvent told;
    while (mirror_->next_world_event(told)) {
        auto detail = std::make_unique<EventDetail>();
        detail->world = told.event;
        push_droppable(
            {ConnectionEvent::Kind::world, told.tick, told.event.a, 0, {}, {}, std::move(detail), told.certainty});
    }
}

void Connection::flush(TimeNs now) {
    constexpr int kMaxPacketsPerPoll = 64;
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (int i = 0; i < kMaxPacketsPerPoll && link_.ready(); ++i) {
        const std::size_t size = session_->write_packet(now, packet);
        if (size == 0 || !link_.send_payload(Bytes(packet).first(size), now)) return;
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
                if (mirror_events_) break;
                push_droppable({To::world, event.tick, event.body, 0, {}, {}, std::move(event.detail)});
                break;
            case From::scene:
                events_.push_back({To::scene, event.tick, {}, 0, {}, {}});
                break;
            case From::ended:
                if (given_up()) {
                    link_.disconnect(now);
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
    token_needed_ = false;
    link_.disconnect(now);
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
