#include "protocol/session/server_session.h"

#include <cassert>

#include "protocol/session/handshake.h"

namespace orrery::protocol {
namespace {

// What a snapshot's coded bodies may fill.
constexpr std::size_t kSnapshotBudgetBytes = kMaxUnreliableBytes - kSnapshotEnvelopeBytes;

static_assert(kMaxKeyFrameBytes < kMaxUnacknowledgedBytes, "a key frame alone must not make its client too slow");

// A client that keeps sending what cannot be read is not one of ours.
constexpr std::uint64_t kMaxMalformedMessages = 16;

}  // namespace

ServerSession::ServerSession(const RoomDescription& room, const SnapshotCodec& codec, std::uint16_t slot, TimeNs now)
    : room_(room),
      slot_(slot),
      state_since_(now),
      channel_(server_channel_config()),
      sender_(codec),
      inputs_(static_cast<std::uint64_t>(kControlHold_s * static_cast<double>(room.hello.tick_rate_hz) + 0.5)) {}

void ServerSession::receive_packet(Bytes payload, TimeNs arrival) {
    if (state_ == State::closed) return;
    last_arrival_ = arrival;
    if (!channel_.read_packet(payload, arrival) && state_ != State::closing)
        close(GoodbyeReason::protocol_error, arrival);
}

void ServerSession::process(std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration, Joins joins,
                            TimeNs now) {
    joins_ = joins;
    Bytes message;
    for (std::uint32_t i = 0; i < kMaxMessagesPerTick && channel_.pop_reliable(message); ++i)
        handle_reliable(message, now);
    for (std::uint32_t i = 0; i < kMaxMessagesPerTick && channel_.pop_unreliable(message); ++i) {
        handle_input(message, tick, start_of_next_tick, tick_duration);
    }
    Delivery delivery;  // snapshots are acknowledged by what the client could decode, in its inputs
    while (channel_.next_delivery(delivery)) {
    }
    check_timeouts(now);
    quiet_ = channel_.quiet(now);
}

void ServerSession::handle_reliable(Bytes message, TimeNs now) {
    MessageType type;
    if (state_ == State::closing || state_ == State::closed) return;
    if (MessageReader::type_of(message, type) && type == MessageType::client_hello && state_ == State::awaiting_hello) {
        return handle_hello(message, now);
    }
    KeyFrameReady ready;
    if (state_ == State::key_frame && key_frame_tick_ != kNoTick && reader_.read(message, ready) &&
        ready.tick == key_frame_tick_) {
        state_ = State::playing;
        state_since_ = now;
        return;
    }
    ++malformed_;
    close(GoodbyeReason::protocol_error, now);
}

void ServerSession::handle_hello(Bytes message, TimeNs now) {
    ClientHello hello;
    if (!reader_.read(message, hello)) {
        ++malformed_;
        return close(GoodbyeReason::protocol_error, now);
    }
    refusal_ = check(hello, room_.hello);
    if (refusal_.reason == RefusalReason::none && joins_ == Joins::shed) refusal_.reason = RefusalReason::overloaded;
    if (refusal_.reason != RefusalReason::none) {
        return send_last_word(writer_.write(refusal_), now);
    }
    ServerHello answer = room_.hello;
    answer.slot = slot_;
    send(writer_.write(answer));
    state_ = State::key_frame;
    state_since_ = now;
}

void ServerSession::handle_input(Bytes message, std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration) {
    if (state_ != State::playing) return;  // a straggler of before, or too early: neither does harm
    if (!reader_.read(message, input_)) {
        if (++malformed_ > kMaxMalformedMessages) close(GoodbyeReason::protocol_error, last_arrival_);
        return;
    }
    sender_.acknowledge(input_.snapshots.newest, input_.snapshots.older);
    const std::uint64_t next_tick = tick + 1;
    inputs_.receive(input_.first_tick, input_.controls, next_tick, [&](std::uint64_t target) {
        const double ticks_ahead = static_cast<double>(static_cast<std::int64_t>(target - next_tick));
        const double start_ns =
            static_cast<double>(start_of_next_tick) + ticks_ahead * static_cast<double>(tick_duration);
        const double slack_us = (start_ns - static_cast<double>(last_arrival_)) * 1e-3;
        return static_cast<std::int32_t>(slack_us > 2e9 ? 2e9 : (slack_us < -2e9 ? -2e9 : slack_us));
    });
}

void ServerSession::check_timeouts(TimeNs now) {
    const TimeNs waited = now - state_since_;
    if (state_ == State::closing) {
        const bool heard = last_word_in_stream_ && channel_.unacknowledged_bytes() == 0;
        if (waited > kClosingLinger || heard) state_ = State::closed;
        return;
    }
    if (state_ == State::awaiting_hello && waited > kHandshakeTimeout)
        return close(GoodbyeReason::handshake_timeout, now);
    if (state_ == State::key_frame && waited > kKeyFrameTimeout) return close(GoodbyeReason::too_slow, now);
    if (welcome() && channel_.unacknowledged_for(now) >= kUnacknowledgedTimeout)
        return close(GoodbyeReason::unacknowledged, now);
    if (welcome() && (overflowed_ || channel_.unacknowledged_bytes() > kMaxUnacknowledgedBytes)) {
        close(GoodbyeReason::too_slow, now);
    }
}

void ServerSession::send_key_frame(const KeyFrame& key_frame, const QuantisedWorld& world, TimeNs now) {
    assert(key_frame.tick() == world.tick());
    if (key_frame.size_bytes() > kMaxKeyFrameBytes) return close(GoodbyeReason::world_too_large, now);
    for (std::size_t i = 0; i < key_frame.message_count(); ++i) send(key_frame.message(i));
    sender_.start(world);
    key_frame_tick_ = key_frame.tick();
}

void ServerSession::send_changes(const QuantisedWorld& world) {
    if (!welcome() || key_frame_tick_ == kNoTick || key_frame_tick_ >= world.tick()) return;
    std::size_t added = 0, removed = 0;
    while (added < world.added().size() || removed < world.removed().size()) {
        BodiesChanged change;
        change.tick = world.tick();
        // All that left is told before anything that came: an index may be in both.
        while (removed < world.removed().size() && change.removed.size() < kMaxBodiesPerChange) {
            change.removed.push_back(world.removed()[removed++]);
        }
        while (removed == world.removed().size() && added < world.added().size() &&
               change.added.size() < kMaxBodiesPerChange) {
            change.added.push_back(describe(world.bodies()[world.added()[added++]]));
        }
        send(writer_.write(change));
    }
}

void ServerSession::send_snapshot(const QuantisedWorld& world) {
    if (state_ != State::playing || quiet_) return;
    snapshot_.coded.clear();
    const SentSnapshot sent = sender_.encode(world, slot_, kSnapshotBudgetBytes, snapshot_.coded);
    snapshot_.tick = world.tick();
    snapshot_.sequence = sent.sequence;
    snapshot_.complete = sent.complete;
    snapshot_.input_tick = inputs_.newest_tick();
    snapshot_.input_slack_us = inputs_.slack_us();
    snapshot_.late_inputs = static_cast<std::uint32_t>(inputs_.counters().late);
    channel_.send_unreliable(writer_.write(snapshot_));
}

void ServerSession::send_slip(const Slip& slip) {
    inputs_.slip();
    if (welcome()) send(writer_.write(slip));
}

void ServerSession::close(GoodbyeReason reason, TimeNs now) {
    if (state_ == State::closing || state_ == State::closed) return;
    goodbye_ = reason;
    send_last_word(writer_.write(Goodbye{reason}), now);
}

void ServerSession::send_last_word(Bytes message, TimeNs now) {
    last_word_.assign(message.begin(), message.end());
    last_word_in_stream_ = channel_.send_reliable(message) == SendStatus::ok;
    state_ = State::closing;
    state_since_ = now;
}

std::size_t ServerSession::write_packet(TimeNs now, std::span<std::uint8_t, kMaxPayloadBytes> out) {
    if (state_ == State::closed) return 0;
    const bool word_is_due = last_words_sent_ < kLastWordsAtOnce || now >= last_word_at_ + kLastWordInterval;
    if (state_ == State::closing && word_is_due) {
        ++last_words_sent_;
        last_word_at_ = now;
        return channel_.write_last_word(now, last_word_, out);
    }
    return channel_.write_packet(now, out);
}

void ServerSession::send(Bytes message) {
    if (channel_.send_reliable(message) != SendStatus::ok) overflowed_ = true;
}

}  // namespace orrery::protocol
