// The part of ClientSession for clients that mirror the room.
#include <algorithm>
#include <utility>

#include "protocol/session/client_session.h"

namespace orrery::protocol {

namespace {

constexpr std::size_t kMaxUnreadMirrorArrivals = 256;

}  // namespace

bool ClientSession::handle_mirror(Bytes message, MessageType type) {
    if (!mirror_ || !mirror_->receive(message, type)) return false;
    if (state_ == State::key_frame && mirror_->state_is_whole()) {
        // The server needs to know that the state has arrived, and not what the client has made of it.
        channel_.send_reliable(writer_.write(KeyFrameReady{mirror_->state_tick()}));
        state_ = State::playing;
    }
    end_if_too_slow();
    return true;
}

void ClientSession::handle_tick_commands(Bytes message, TimeNs now) {
    const std::uint64_t before = mirror_->newest_tick();
    if (!mirror_->receive_datagram(message)) {
        ++stats_.snapshots_undecodable;
        return;
    }
    const std::uint64_t newest = mirror_->newest_tick();
    if (!mirror_->begun() || newest <= before) return;
    stats_.newest_tick = newest;
    mirror_heard_ = true;
    if (arrivals_.size() < kMaxUnreadMirrorArrivals) arrivals_.push_back({newest, now});
    if (const std::optional<InputFeedback> feedback = mirror_->take_feedback()) {
        stats_.late_inputs = feedback->late_inputs;
        clock_.feedback(feedback->input_tick, feedback->slack_us);
        forget_controls(feedback->input_tick);
    }
    end_if_too_slow();
}

void ClientSession::end_if_too_slow() {
    if (mirror_->overflowed())
        end(SessionEnd::too_slow, "this client steps its world more slowly than the server does");
}

void ClientSession::note_controls(std::uint64_t first, std::uint32_t count) {
    for (std::uint64_t tick = first; tick < first + count; ++tick)
        own_controls_[tick % own_controls_.size()] = {tick, control_};
}

const WireControl* ClientSession::own_control(std::uint64_t tick) const {
    const auto& [of, control] = own_controls_[tick % own_controls_.size()];
    return of == tick && tick != 0 ? &control : nullptr;
}

void ClientSession::report_divergence(std::uint64_t tick) {
    std::vector<std::uint8_t> message;
    write_message(MirrorReport{tick}, message);
    channel_.send_reliable(message);
}

void ClientSession::begin_mirror_world(std::vector<sim::ShapeDef> shapes, Vocabulary vocabulary) {
    shapes_ = std::move(shapes);
    vocabulary_ = std::move(vocabulary);
    names_.clear();
}

void ClientSession::add_mirror_body(const BodyDescription& description, std::string_view name, std::uint64_t tick) {
    const auto at = std::lower_bound(names_.begin(), names_.end(), description.id.index,
                                     [](const BodyName& n, std::uint32_t index) { return n.index < index; });
    const bool known = at != names_.end() && at->index == description.id.index;
    if (!name.empty() && !known) names_.insert(at, {description.id.index, std::string(name)});
    add_body(description, tick);
}

void ClientSession::mirror_joined(std::uint64_t tick) { push_event({SessionEvent::Kind::joined, {}, tick, 0}); }

}  // namespace orrery::protocol
