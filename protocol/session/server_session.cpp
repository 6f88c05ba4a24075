#include "protocol/session/server_session.h"

#include <algorithm>
#include <cassert>

#include "protocol/session/handshake.h"

namespace orrery::protocol {
namespace {

// What a snapshot's coded bodies may fill.
constexpr std::size_t kSnapshotBudgetBytes = kMaxUnreliableBytes - kSnapshotEnvelopeBytes;

static_assert(kMaxKeyFrameBytes < kMaxUnacknowledgedBytes, "a key frame alone must not make its client too slow");

// A client that keeps sending what cannot be read is not one of ours.
constexpr std::uint64_t kMaxMalformedMessages = 16;

// Messages that wait for the room: what is beyond stays in the channel.
constexpr std::size_t kGameInboxMessages = 512, kGameInboxBytes = 128u << 10;

constexpr BucketRate kExcessRate{kGameMessagesPerSecond, static_cast<double>(kMaxWaitingGameMessages)};

}  // namespace

void RoomDescription::serve_scene(Bytes binary) {
    if (binary.size() > kMaxWireSceneBytes) return;
    scene_bytes.assign(binary.begin(), binary.end());
    hello.scene_bytes = static_cast<std::uint32_t>(binary.size());
    hello.scene_bytes_hash = hash_of_scene_bytes(binary);
}

void RoomDescription::begin_with(SceneBaseline scene) {
    shapes = std::move(scene.shapes);
    names = std::move(scene.names);
    vocabulary = std::move(scene.vocabulary);
    scene_world = std::move(scene.world);
    known_scene_hash = scene.scene_bytes_hash;
    known_scene_check = scene.hash;
}

ServerSession::ServerSession(const RoomDescription& room, const SnapshotCodec& codec, std::uint16_t slot, TimeNs now,
                             const ChannelConfig& channel)
    : room_(room),
      slot_(slot),
      state_since_(now),
      channel_(channel),
      sender_(codec),
      inputs_(static_cast<std::uint64_t>(kControlHold_s * static_cast<double>(room.hello.tick_rate_hz) + 0.5)),
      role_(slot == kNoSlot ? TokenRole::spectator : TokenRole::player),
      game_inbox_(2 * kGameInboxMessages, 2 * kGameInboxBytes),
      pace_(kGamePaceTolerance, kGamePaceBurst_s),
      excess_{kExcessRate.burst, now},
      unreliable_{kServerUnreliableBytes.burst, now},
      now_(now) {}

void ServerSession::receive_packet(Bytes payload, TimeNs arrival) {
    if (state_ == State::closed) return;
    last_arrival_ = arrival;
    if (channel_.read_packet(payload, arrival) || state_ == State::closing) return;
    const bool too_many = channel_.error() == ChannelError::game_queue_full;
    close(too_many ? GoodbyeReason::message_limits : GoodbyeReason::protocol_error, arrival);
}

void ServerSession::process(std::uint64_t tick, TimeNs start_of_next_tick, TimeNs tick_duration, Joins joins,
                            TimeNs now) {
    joins_ = joins;
    now_ = now;
    channel_.heard_until(now);
    Bytes message;
    for (std::uint32_t i = 0; i < kMaxMessagesPerTick && channel_.pop_reliable(message); ++i)
        handle_reliable(message, now);
    for (std::uint32_t i = 0; i < kMaxMessagesPerTick && channel_.pop_unreliable(message); ++i) {
        handle_unreliable(message, tick, start_of_next_tick, tick_duration, now);
    }
    take_game_messages(now);
    send_scene();
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
    if (MessageReader::type_of(message, type) && type == MessageType::mirror_report && welcome() &&
        handle_mirror_report(message, now))
        return;
    SceneRequest request;
    if (welcome() && !room_.scene_bytes.empty() && reader_.read(message, request)) {
        if (!scene_at_) scene_at_ = 0;  // it is sent once
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
    mode_ = hello.mode;
    ServerHello answer = room_.hello;
    answer.mode = mode_;
    answer.slot = slot_;
    answer.role = role_;
    from_scene_ = hello.mode == SessionMode::snapshots && hello.scene_bytes_hash != 0 &&
                  hello.scene_bytes_hash == room_.known_scene_hash && hello.baseline_hash == room_.known_scene_check;
    answer.from_scene = from_scene_;
    send(writer_.write(answer));
    state_ = State::key_frame;
    state_since_ = now;
}

void ServerSession::handle_unreliable(Bytes message, std::uint64_t tick, TimeNs start_of_next_tick,
                                      TimeNs tick_duration, TimeNs now) {
    MessageType type;
    if (!MessageReader::type_of(message, type) || type != MessageType::game_message)
        return handle_input(message, tick, start_of_next_tick, tick_duration);
    if (!welcome()) return;
    if (!reader_.read(message, game_message_) || game_message_.bytes.size() > kMaxUnreliableGameBytes) {
        if (++malformed_ > kMaxMalformedMessages) close(GoodbyeReason::protocol_error, now);
        return;
    }
    if (!pace_.open(now)) {
        if (!excess_.take(kExcessRate, now)) close(GoodbyeReason::message_limits, now);
        return;
    }
    pace_.charge(game_message_.bytes.size());
    game_inbox_.push({game_message_.type, false}, game_message_.bytes);  // without room for it, it is lost
}

void ServerSession::take_game_messages(TimeNs now) {
    Bytes message;
    for (std::uint32_t i = 0; i < kMaxMessagesPerTick && welcome() && pace_.open(now); ++i) {
        if (game_inbox_.size() >= kGameInboxMessages || game_inbox_.bytes() >= kGameInboxBytes) return;
        if (!channel_.pop_reliable(message, StreamId::game)) return;
        if (!reader_.read(message, game_message_)) {
            ++malformed_;
            return close(GoodbyeReason::protocol_error, now);
        }
        pace_.charge(game_message_.bytes.size());
        game_inbox_.push({game_message_.type, true}, game_message_.bytes);
    }
    if (welcome() && channel_.waiting_messages(StreamId::game) > kMaxWaitingGameMessages)
        close(GoodbyeReason::message_limits, now);
}

bool ServerSession::next_message(Received& out) {
    GameHead head;
    if (!game_inbox_.pop(head, out.bytes)) return false;
    out.type = head.type;
    out.reliable = head.reliable;
    return true;
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

void ServerSession::send_key_frame(const KeyFrame& key_frame, TimeNs now) {
    if (key_frame.size_bytes() > kMaxKeyFrameBytes) return close(GoodbyeReason::world_too_large, now);
    for (std::size_t i = 0; i < key_frame.message_count(); ++i) send(key_frame.message(i));
    for (const std::vector<std::uint8_t>& change : key_frame.changes()) send(change);
    sender_.start(key_frame.tick(), key_frame.states());
    key_frame_tick_ = key_frame.tick();
    told_tick_ = key_frame.followed_tick();
}

void ServerSession::send_changes(const QuantisedWorld& world) {
    if (!welcome() || mirrors() || key_frame_tick_ == kNoTick || told_tick_ >= world.tick()) return;
    write_changes(world, writer_, [&](Bytes message) { send(message); });
    told_tick_ = world.tick();
}

void ServerSession::send_snapshot(const QuantisedWorld& world) {
    if (state_ != State::playing || quiet_ || mirrors() || world.tick() <= sender_.last_tick()) return;
    snapshot_.coded.clear();
    const SentSnapshot sent = sender_.encode(world, slot_, kSnapshotBudgetBytes, snapshot_.coded);
    snapshot_.tick = world.tick();
    snapshot_.ticks_since_last = sent.ticks_since_last;
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

bool ServerSession::game_has_room(std::size_t bytes, std::size_t most) const {
    return channel_.unacknowledged_bytes(StreamId::game) + bytes + kGameFrameBytes <= most;
}

SendStatus ServerSession::send_message(std::uint16_t type, Bytes bytes, bool reliable) {
    if (!welcome()) return SendStatus::failed;
    if (bytes.size() > (reliable ? kMaxGameMessageBytes : kMaxUnreliableGameBytes)) return SendStatus::too_large;
    game_message_.type = type;
    game_message_.bytes.assign(bytes.begin(), bytes.end());
    const Bytes message = writer_.write(game_message_);
    if (reliable) {
        if (!game_has_room(message.size(), kMaxServerGameQueueBytes)) return SendStatus::queue_full;
        return channel_.send_reliable(message, StreamId::game);
    }
    if (channel_.waiting_unreliable_bytes() + message.size() > kMaxUnreliableGameWaitingBytes)
        return SendStatus::queue_full;
    unreliable_.fill(kServerUnreliableBytes, now_);
    if (unreliable_.tokens < static_cast<double>(message.size())) return SendStatus::rate_limited;
    unreliable_.tokens -= static_cast<double>(message.size());
    return channel_.send_unreliable(message);
}

void ServerSession::send_board(const Board& board, std::uint64_t tick) {
    if (!welcome() || board.version() == board_version_) return;
    if (!board_begun_ || board_version_ < board.forgotten()) {
        BoardState whole;
        whole.tick = tick;
        for (const auto& [key, value] : board.values()) whole.entries.push_back({key, value.bytes});
        if (channel_.send_reliable(writer_.write(whole), StreamId::game) != SendStatus::ok) return;
        board_begun_ = true;
        board_version_ = board.version();
        return;
    }
    for (auto change = board.changes().upper_bound(board_version_); change != board.changes().end(); ++change) {
        const Board::Value* value = board.find(change->second);
        BoardChange told{tick, {change->second, {}}, value == nullptr};
        if (value) told.entry.value = value->bytes;
        if (channel_.send_reliable(writer_.write(told), StreamId::game) != SendStatus::ok) return;
        board_version_ = change->first;
    }
}

void ServerSession::send_world_events(std::uint64_t tick, std::span<const WorldEvent> events) {
    if (state_ != State::playing || events.empty()) return;
    world_events_.tick = tick;
    world_events_.events.assign(events.begin(), events.end());
    const std::uint32_t least = drop_least_events(world_events_.events);
    world_events_.dropped = least + events_untold_;
    const Bytes message = writer_.write(world_events_);
    const bool sent = game_has_room(message.size(), kMaxServerGameQueueBytes) &&
                      channel_.send_reliable(message, StreamId::game) == SendStatus::ok;
    const auto lost = sent ? least : static_cast<std::uint32_t>(events.size());
    events_untold_ = sent ? 0 : events_untold_ + lost;
    events_dropped_ += lost;
}

void ServerSession::send_scene() {
    if (!welcome() || !scene_at_) return;
    const Bytes scene = room_.scene_bytes;
    while (*scene_at_ < scene.size() && channel_.unacknowledged_bytes() + kScenePartBytes <= kMaxSceneAheadBytes) {
        const Bytes rest = scene.subspan(*scene_at_);
        const Bytes part = rest.first(std::min(rest.size(), kScenePartBytes));
        send(
            writer_.write(ScenePart{*scene_at_, static_cast<std::uint32_t>(scene.size()), {part.begin(), part.end()}}));
        *scene_at_ += static_cast<std::uint32_t>(part.size());
    }
}

void ServerSession::close(GoodbyeReason reason, TimeNs now, std::string_view text) {
    if (state_ == State::closing || state_ == State::closed) return;
    goodbye_ = reason;
    send_last_word(writer_.write(Goodbye{reason, std::string(text)}), now);
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

void ServerSession::send(const SharedBytes& message) {
    if (channel_.send_reliable(message) != SendStatus::ok) overflowed_ = true;
}

}  // namespace orrery::protocol
