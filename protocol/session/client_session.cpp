#include "protocol/session/client_session.h"

#include <algorithm>
#include <cmath>

#include "protocol/session/handshake.h"
#include "protocol/session/key_frame.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kMaxUnreadEvents = 65'536;  // beyond it events of bodies and world are dropped
constexpr std::size_t kMaxUnreadArrivals = 256;
constexpr std::size_t kCompleteTicksKept = kHistoryWindow;
constexpr std::uint32_t kMaxMessagesPerUpdate = 4096;

bool is_of_mirror(MessageType type) {
    return type == MessageType::mirror_begin || type == MessageType::mirror_part || type == MessageType::mirror_ticks ||
           type == MessageType::mirror_leaves;
}

const char* describe(GoodbyeReason reason) {
    switch (reason) {
        case GoodbyeReason::server_stopped:
            return "the server stopped";
        case GoodbyeReason::protocol_error:
            return "the server could not read what this client sent";
        case GoodbyeReason::too_slow:
            return "this client was too slow to receive what the server sent";
        case GoodbyeReason::handshake_timeout:
            return "this client did not finish the handshake in time";
        case GoodbyeReason::world_too_large:
            return "the server's world has more bodies than a joining client can be told";
        case GoodbyeReason::unacknowledged:
            return "this client acknowledged nothing that the server sent";
        case GoodbyeReason::kicked:
            return "the server kicked this client";
        case GoodbyeReason::replaced:
            return "this client has connected anew";
        case GoodbyeReason::refused_by_game:
            return "the game refused this client";
        case GoodbyeReason::message_limits:
            return "this client sent more game messages than it may";
    }
    return "the server ended the connection";
}

}  // namespace

ClientSession::ClientSession(const ClientHello& hello, TimeNs, const ChannelConfig& channel,
                             std::shared_ptr<const SceneBaseline> scene)
    : own_hello_(hello), channel_(channel), receiver_(codec_, 0), own_scene_(std::move(scene)) {
    if (own_scene_) {
        own_hello_.scene_bytes_hash = own_scene_->scene_bytes_hash;
        own_hello_.baseline_hash = own_scene_->hash;
    }
    if (own_hello_.mode == SessionMode::mirror) mirror_ = std::make_unique<MirrorReceiver>();
    channel_.send_reliable(writer_.write(own_hello_));
}

void ClientSession::receive_packet(Bytes payload, TimeNs now) {
    if (state_ == State::ended) return;
    if (!channel_.read_packet(payload, now))
        end(SessionEnd::unreadable, "unreadable packet: " + std::string(channel_error_name(channel_.error())));
}

// Before the hello they wait: the streams of the channel keep no order between them.
void ClientSession::take_game_messages() {
    Bytes message;
    for (std::uint32_t i = 0; i < kMaxMessagesPerUpdate && (state_ == State::key_frame || state_ == State::playing) &&
                              channel_.pop_reliable(message, StreamId::game);
         ++i) {
        handle_game(message);
    }
}

void ClientSession::update(TimeNs now) {
    updated_at_ = now;
    Bytes message;
    take_game_messages();  // those of before a goodbye are not lost with it
    for (std::uint32_t i = 0; i < kMaxMessagesPerUpdate && state_ != State::ended && channel_.pop_reliable(message);
         ++i) {
        handle_reliable(message, now);
    }
    take_game_messages();
    for (std::uint32_t i = 0; i < kMaxMessagesPerUpdate && state_ != State::ended && channel_.pop_unreliable(message);
         ++i) {
        handle_unreliable(message, now);
    }
    Delivery delivery;
    while (channel_.next_delivery(delivery)) {
    }
    if (state_ == State::playing) send_inputs(now);
}

void ClientSession::handle_reliable(Bytes message, TimeNs now) {
    (void)now;
    MessageType type{};
    bool read = MessageReader::type_of(message, type);
    if (read && type == MessageType::server_hello && state_ == State::awaiting_hello) {
        read = reader_.read(message, hello_);
        if (read) {
            const Refusal mismatch = check(own_hello_, hello_);
            if (mismatch.reason != RefusalReason::none)
                return end(SessionEnd::incompatible, protocol::describe(mismatch));
            if (hello_.snapshot_codec != codec_.id())
                return end(SessionEnd::incompatible, "the server codes snapshots in a way that this client lacks");
            if (hello_.mode != own_hello_.mode)
                return end(SessionEnd::incompatible,
                           "the server does not answer in the mode that this client asked for");
            if (hello_.from_scene && !own_scene_)
                return end(SessionEnd::incompatible, "the server takes this client to have the scene");
            receiver_ = SnapshotReceiver(codec_, hello_.body_capacity);
            state_ = State::key_frame;
        }
    } else if (read && handle_last_word(message, type)) {
        return;
    } else if (read && mirror_ && is_of_mirror(type) && state_ != State::awaiting_hello) {
        read = handle_mirror(message, type);
    } else if (read && type == MessageType::key_frame_begin && state_ == State::key_frame && !key_frame_begun_) {
        read = reader_.read(message, key_frame_) && key_frame_.body_count <= hello_.body_capacity;
        if (read) {
            key_frame_begun_ = true;
            shapes_ = std::move(key_frame_.shapes);
            vocabulary_ = std::move(key_frame_.vocabulary);
            if (hello_.from_scene) {
                shapes_ = own_scene_->shapes;
                vocabulary_ = own_scene_->vocabulary;
                scene_key_frame_.emplace(own_scene_->world);
                if (key_frame_.part_count == 0) read = finish_scene_key_frame();
            } else if (key_frame_.body_count == 0) {
                finish_key_frame();
            }
        }
    } else if (read && type == MessageType::key_frame_bodies && state_ == State::key_frame && key_frame_begun_) {
        read = scene_key_frame_ ? handle_scene_key_frame_part(message) : handle_key_frame_part(message);
    } else if (read && type == MessageType::bodies_changed && state_ == State::playing) {
        read = handle_changes(message);
    } else if (read && type == MessageType::scene_part && scene_requested_ && !scene_whole_) {
        read = handle_scene_part(message);
    } else if (read && type == MessageType::slip && state_ != State::awaiting_hello) {
        Slip slip;
        read = reader_.read(message, slip);
        if (read) handle_slip(slip);
    } else {
        read = false;
    }
    if (!read) end(SessionEnd::unreadable, "the server sent a message that this client cannot read");
}

// A refusal or goodbye. False: it is neither, or cannot be read.
bool ClientSession::handle_last_word(Bytes message, MessageType type) {
    Refusal refusal;
    Goodbye goodbye;
    if (type == MessageType::refusal && reader_.read(message, refusal)) {
        end(SessionEnd::refused, protocol::describe(refusal));
        return true;
    }
    if (type != MessageType::goodbye || !reader_.read(message, goodbye)) return false;
    goodbye_ = goodbye.reason;
    end(SessionEnd::said_goodbye,
        goodbye.text.empty() ? describe(goodbye.reason) : describe(goodbye.reason) + (": " + goodbye.text));
    return true;
}

// A last word comes beside the stream, too, which may be blocked.
void ClientSession::handle_unreliable(Bytes message, TimeNs now) {
    MessageType type{};
    if (MessageReader::type_of(message, type)) {
        if (handle_last_word(message, type)) return;
        if (type == MessageType::game_message) {
            // A message that overtook the hello, or a damaged one, is lost as others are.
            if (state_ != State::awaiting_hello && reader_.read(message, game_message_)) handle_game_message(false);
            return;
        }
        if (type == MessageType::tick_commands && mirror_) return handle_tick_commands(message, now);
    }
    handle_snapshot(message, now);
}

// Of the game stream.
void ClientSession::handle_game(Bytes message) {
    MessageType type{};
    bool read = MessageReader::type_of(message, type);
    BoardState board;
    BoardChange change;
    WorldEvents events;
    if (read && type == MessageType::game_message && reader_.read(message, game_message_)) {
        handle_game_message(true);
    } else if (read && type == MessageType::board_state && reader_.read(message, board)) {
        read = handle_board(std::move(board));
    } else if (read && type == MessageType::board_change && reader_.read(message, change)) {
        read = handle_board(std::move(change.entry), change.removed, change.tick);
    } else if (read && type == MessageType::world_events && reader_.read(message, events)) {
        handle_world_events(events);
    } else {
        read = false;
    }
    if (!read) end(SessionEnd::unreadable, "the server sent a message that this client cannot read");
}

void ClientSession::handle_game_message(bool reliable) {
    auto detail = std::make_unique<EventDetail>();
    detail->type = game_message_.type;
    detail->reliable = reliable;
    detail->bytes = std::move(game_message_.bytes);
    push_event({SessionEvent::Kind::message, {}, stats_.newest_tick, 0, std::move(detail)});
}

bool ClientSession::handle_board(BoardEntry entry, bool removed, std::uint64_t tick) {
    auto at = board_.find(entry.key);
    if (at != board_.end()) board_bytes_ -= entry.key.size() + at->second.size();
    if (removed) {
        if (at != board_.end()) board_.erase(at);
    } else {
        if (at == board_.end()) at = board_.emplace(entry.key, std::vector<std::uint8_t>()).first;
        at->second = entry.value;
        board_bytes_ += entry.key.size() + entry.value.size();
    }
    // Changes come with each key's last value, so that the board may hold old values beside a whole board of new ones.
    if (board_.size() > 2 * kMaxBoardKeys || board_bytes_ > 2 * kMaxBoardBytes) return false;
    auto detail = std::make_unique<EventDetail>();
    detail->board = std::move(entry);
    detail->removed = removed;
    push_event({SessionEvent::Kind::board, {}, tick, 0, std::move(detail)});
    return true;
}

bool ClientSession::handle_board(BoardState whole) {
    std::vector<std::string> gone;
    for (const auto& [key, value] : board_) {
        const bool stays = std::any_of(whole.entries.begin(), whole.entries.end(),
                                       [&name = key](const BoardEntry& entry) { return entry.key == name; });
        if (!stays) gone.push_back(key);
    }
    for (std::string& key : gone) handle_board({std::move(key), {}}, true, whole.tick);
    for (BoardEntry& entry : whole.entries) {
        const auto known = board_.find(entry.key);
        if (known != board_.end() && known->second == entry.value) continue;
        if (!handle_board(std::move(entry), false, whole.tick)) return false;
    }
    return true;
}

void ClientSession::handle_world_events(const WorldEvents& told) {
    stats_.world_events_dropped += told.dropped;
    for (const WorldEvent& event : told.events) {
        auto detail = std::make_unique<EventDetail>();
        detail->world = event;
        push_event({SessionEvent::Kind::world, event.a, told.tick, 0, std::move(detail)});
    }
}

SendStatus ClientSession::send_message(std::uint16_t type, Bytes bytes, bool reliable) {
    if (state_ != State::key_frame && state_ != State::playing) return SendStatus::failed;
    if (bytes.size() > (reliable ? kMaxGameMessageBytes : kMaxUnreliableGameBytes)) return SendStatus::too_large;
    game_message_.type = type;
    game_message_.bytes.assign(bytes.begin(), bytes.end());
    const Bytes message = writer_.write(game_message_);
    const std::size_t waiting =
        reliable ? channel_.unacknowledged_bytes(StreamId::game) : channel_.waiting_unreliable_bytes();
    const std::size_t most = reliable ? kMaxClientGameQueueBytes : kMaxUnreliableGameWaitingBytes;
    if (waiting + message.size() + kGameFrameBytes > most) return SendStatus::queue_full;
    if (!pace_.take(bytes.size(), updated_at_)) return SendStatus::rate_limited;
    return reliable ? channel_.send_reliable(message, StreamId::game) : channel_.send_unreliable(message);
}

bool ClientSession::request_scene() {
    if ((state_ != State::key_frame && state_ != State::playing) || hello_.scene_bytes == 0 || scene_requested_)
        return false;
    scene_requested_ = channel_.send_reliable(writer_.write(SceneRequest{})) == SendStatus::ok;
    return scene_requested_;
}

bool ClientSession::handle_scene_part(Bytes message) {
    ScenePart part;
    if (!reader_.read(message, part) || part.total != hello_.scene_bytes || part.offset != scene_.size()) return false;
    scene_.insert(scene_.end(), part.bytes.begin(), part.bytes.end());
    if (scene_.size() < part.total) return true;
    if (hash_of_scene_bytes(scene_) != hello_.scene_bytes_hash) return false;
    scene_whole_ = true;
    push_event({SessionEvent::Kind::scene, {}, stats_.newest_tick, 0});
    return true;
}

void ClientSession::handle_slip(const Slip& slip) {
    push_event({SessionEvent::Kind::slipped, {}, slip.tick, slip.late_ns});
    if (!clock_.running() || slip.tick <= input_base_tick_) return;
    clock_.slip(slip.tick, static_cast<std::uint64_t>(
                               std::llround(static_cast<double>(slip.late_ns) * 1e-9 * hello_.tick_rate_hz)));
    // Controls of the old numbering end where the new one begins.
    while (!input_.controls.empty() && input_.first_tick + input_.controls.size() > clock_.next_tick())
        input_.controls.pop_back();
}

bool ClientSession::handle_key_frame_part(Bytes message) {
    KeyFrameBodies part;
    if (!reader_.read(message, part) || part.descriptions.empty() || !decode_key_frame_part(part, codec_, part_))
        return false;
    if (key_frame_bodies_.size() + part_.size() > key_frame_.body_count) return false;
    for (std::size_t i = 0; i < part_.size(); ++i) {
        if (part_[i].index >= hello_.body_capacity) return false;
        if (!key_frame_bodies_.empty() && part_[i].index <= key_frame_bodies_.back().index) return false;
        key_frame_bodies_.push_back(part_[i]);
        add_body(part.descriptions[i], key_frame_.tick);
    }
    for (const BodyName& name : part.names) {
        if (!names_.empty() && name.index <= names_.back().index) return false;
        names_.push_back(name);
    }
    if (key_frame_bodies_.size() == key_frame_.body_count) finish_key_frame();
    return true;
}

bool ClientSession::handle_scene_key_frame_part(Bytes message) {
    KeyFrameBodies part;
    if (!reader_.read(message, part) || !scene_key_frame_->apply(part, codec_, hello_.body_capacity)) return false;
    return scene_key_frame_->parts() < key_frame_.part_count || finish_scene_key_frame();
}

// False: it has not made the bodies that it announced.
bool ClientSession::finish_scene_key_frame() {
    for (const QuantisedWorld::Body& body : scene_key_frame_->bodies()) {
        if (!body.alive || body.state.index >= hello_.body_capacity) continue;
        key_frame_bodies_.push_back(body.state);
        add_body(protocol::describe(body), key_frame_.tick);
        const auto name = own_scene_->names.find({body.state.index, body.state.generation});
        if (name != own_scene_->names.end())
            names_.push_back({body.state.index, name->second.substr(0, kMaxWireNameBytes)});
    }
    scene_key_frame_.reset();
    if (key_frame_bodies_.size() != key_frame_.body_count) return false;
    finish_key_frame();
    return true;
}

void ClientSession::finish_key_frame() {
    receiver_.start(key_frame_.tick, key_frame_bodies_);
    key_frame_bodies_ = {};
    channel_.send_reliable(writer_.write(KeyFrameReady{key_frame_.tick}));
    stats_.newest_tick = key_frame_.tick;
    complete_ticks_.assign(1, key_frame_.tick);
    state_ = State::playing;
    push_event({SessionEvent::Kind::joined, {}, key_frame_.tick, 0});
}

bool ClientSession::handle_changes(Bytes message) {
    BodiesChanged change;
    if (!reader_.read(message, change)) return false;
    for (const sim::BodyId& id : change.removed) remove_body(id, change.tick);
    for (const BodyDescription& description : change.added) {
        if (description.id.index >= hello_.body_capacity) return false;
        add_body(description, change.tick);
    }
    return true;
}

void ClientSession::add_body(const BodyDescription& description, std::uint64_t tick) {
    if (description.id.index >= bodies_.size()) bodies_.resize(description.id.index + 1u);
    MirrorBody& body = bodies_[description.id.index];
    if (body.alive && body.description.id == description.id) {  // it is of another type now
        body.description = description;
        return;
    }
    body = {description, tick, true};
    push_event({SessionEvent::Kind::body_added, description.id, tick, 0});
}

void ClientSession::remove_body(sim::BodyId id, std::uint64_t tick) {
    if (id.index >= bodies_.size() || !bodies_[id.index].alive || bodies_[id.index].description.id != id) return;
    bodies_[id.index].alive = false;
    const auto name = std::lower_bound(names_.begin(), names_.end(), id.index,
                                       [](const BodyName& n, std::uint32_t index) { return n.index < index; });
    if (name != names_.end() && name->index == id.index) names_.erase(name);
    push_event({SessionEvent::Kind::body_removed, id, tick, 0});
}

std::string_view ClientSession::body_name(sim::BodyId id) const {
    const auto name = std::lower_bound(names_.begin(), names_.end(), id.index,
                                       [](const BodyName& n, std::uint32_t index) { return n.index < index; });
    return name != names_.end() && name->index == id.index ? std::string_view(name->name) : std::string_view();
}

BodyCost ClientSession::cost(sim::BodyId id) const {
    const auto second = static_cast<std::uint64_t>(std::max(1.0f, hello_.tick_rate_hz + 0.5f));
    return receiver_.cost(id.index, id.generation, second);
}

void ClientSession::handle_snapshot(Bytes message, TimeNs now) {
    if (state_ != State::playing) return;
    if (!reader_.read(message, snapshot_)) {
        ++stats_.snapshots_undecodable;
        return;
    }
    const ReceiveStatus status = receiver_.receive(snapshot_.tick, snapshot_.coded);
    if (status == ReceiveStatus::duplicate) {
        ++stats_.snapshots_duplicate;
        return;
    }
    if (status != ReceiveStatus::ok) {
        ++stats_.snapshots_undecodable;
        return;
    }
    ++stats_.snapshots_received;
    if (observer_) observer_->decoded(snapshot_.tick, snapshot_.complete, receiver_.decoded());
    if (snapshot_.tick > newest_snapshot_) {
        stats_.snapshots_lost += lost_before(snapshot_);
        newest_snapshot_ = snapshot_.tick;
        stats_.newest_tick = std::max(stats_.newest_tick, snapshot_.tick);
        stats_.late_inputs = snapshot_.late_inputs;
        clock_.feedback(snapshot_.input_tick, snapshot_.input_slack_us);
        forget_controls(snapshot_.input_tick);
    } else if (stats_.snapshots_lost > 0) {
        --stats_.snapshots_lost;  // it was late, not lost
    }
    if (snapshot_.complete) {
        complete_ticks_.insert(std::upper_bound(complete_ticks_.begin(), complete_ticks_.end(), snapshot_.tick),
                               snapshot_.tick);
        if (complete_ticks_.size() > kCompleteTicksKept) complete_ticks_.erase(complete_ticks_.begin());
    }
    if (arrivals_.size() < kMaxUnreadArrivals) arrivals_.push_back({snapshot_.tick, now});
}

// Controls up to this tick are at the server; one that is still to be sent was numbered before a slip.
void ClientSession::forget_controls(std::uint64_t up_to) {
    while (up_to < clock_.next_tick() && !input_.controls.empty() && input_.first_tick <= up_to) {
        input_.controls.erase(input_.controls.begin());
        ++input_.first_tick;
    }
}

// How many snapshots were sent between the newest one and `snapshot`, if those had its distance from one another.
std::uint64_t ClientSession::lost_before(const Snapshot& snapshot) const {
    const std::uint64_t distance = snapshot.ticks_since_last;
    if (distance == 0 || distance == kManyTicks || distance >= snapshot.tick) return 0;
    if (newest_snapshot_ == 0) return 1;
    const std::uint64_t ticks = snapshot.tick - newest_snapshot_;
    return ticks <= distance ? 0 : std::max<std::uint64_t>(ticks / distance - 1, 1);
}

void ClientSession::send_inputs(TimeNs now) {
    if (!clock_.running()) {
        if (newest_snapshot_ == 0 && !mirror_heard_) return;
        // The first guess: what the server steps when this has crossed the network, and the slack to hold.
        const double ahead = channel_.stats().rtt_s * hello_.tick_rate_hz + kTargetSlackTicks;
        input_base_tick_ = stats_.newest_tick;
        clock_.start(stats_.newest_tick + static_cast<std::uint64_t>(std::ceil(std::min(ahead, 64.0))),
                     hello_.tick_rate_hz, now);
    }
    const std::uint32_t count = clock_.advance(now);
    stats_.input_slack_ticks = clock_.slack_ticks();
    stats_.input_steer = clock_.steer();
    if (count == 0) return;
    const std::uint64_t first = clock_.first_tick();
    if (input_.controls.empty() || input_.first_tick + input_.controls.size() != first) {
        input_.controls.clear();  // a jump of the clock leaves a gap
        input_.first_tick = first;
    }
    input_.controls.insert(input_.controls.end(), count, control_);
    while (input_.controls.size() > kMaxControlsPerInput) {
        input_.controls.erase(input_.controls.begin());
        ++input_.first_tick;
    }
    note_controls(first, count);
    input_.snapshots = receiver_.acknowledgement();
    if (mirror_) input_.mirror_tick = mirror_->complete_up_to();
    channel_.send_unreliable(writer_.write(input_));
}

bool ClientSession::next_event(SessionEvent& out) {
    if (events_.empty()) return false;
    out = std::move(events_.front());
    events_.pop_front();
    return true;
}

bool ClientSession::next_arrival(Arrival& out) {
    if (arrivals_.empty()) return false;
    out = arrivals_.front();
    arrivals_.pop_front();
    return true;
}

void ClientSession::push_event(SessionEvent event) {
    const bool of_body = event.kind == SessionEvent::Kind::body_added || event.kind == SessionEvent::Kind::body_removed;
    const bool may_go = of_body || event.kind == SessionEvent::Kind::world;
    if (!may_go || events_.size() < kMaxUnreadEvents) events_.push_back(std::move(event));
}

void ClientSession::end(SessionEnd kind, std::string reason) {
    if (state_ == State::ended) return;
    state_ = State::ended;
    end_kind_ = kind;
    end_reason_ = std::move(reason);
    push_event({SessionEvent::Kind::ended, {}, stats_.newest_tick, 0});
}

}  // namespace orrery::protocol
