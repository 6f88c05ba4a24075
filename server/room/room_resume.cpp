// The part of Room that goes on from a recording.
#include "protocol/replay/byte_io.h"
#include "protocol/replay/client_ids.h"
#include "protocol/replay/recorded.h"
#include "server/room/resumption.h"
#include "server/room/room.h"

namespace orrery::server {

using namespace orrery::protocol;
using replay::PlayerChange;

namespace {

// What a HOST record holds:  version u8 | has a director's state u8 | count varint | so many times key, value |
//                            the director's state to the end
constexpr std::uint8_t kHostVersion = 1;

Error host_error(std::string message) { return Error{ErrorCode::invalid_argument, "resume", std::move(message)}; }

}  // namespace

// Nothing, if there is nothing to keep, or more than a record takes.
void Room::save_host(std::vector<std::uint8_t>& out) {
    out.clear();
    std::vector<std::uint8_t> state;
    const bool has_state = director_ && director_->save(state);
    if (!has_state && board_.values().empty()) return;
    replay::ByteWriter writer(out);
    writer.u8(kHostVersion);
    writer.u8(has_state ? 1 : 0);
    writer.varint(board_.values().size());
    for (const auto& [key, value] : board_.values()) {
        writer.text(key);
        writer.varint(value.bytes.size());
        writer.bytes(value.bytes);
    }
    if (has_state) writer.bytes(state);
    if (out.size() <= replay::kMaxHostBytes) return;
    const std::string bytes = std::to_string(out.size());
    out.clear();
    if (std::exchange(told_of_host_, true) || !observer_) return;
    observer_->recording_news(
        {.kind = RecordingNews::Kind::host_too_large,
         .error = Error{ErrorCode::limit_reached, "the game's state",
                        "has " + bytes +
                            " bytes with the board, and a recording takes 15 MiB (kMaxHostBytes): it is "
                            "not kept, and the room could not go on"}});
}

Result<Ok> Room::restore_host(Bytes bytes) {
    replay::ByteReader reader(bytes);
    const Error unknown = host_error("a HOST record is of another form: go on with the version that recorded it");
    if (reader.u8() != kHostVersion) return unknown;
    const bool has_state = reader.u8() != 0;
    std::vector<std::string> old;
    for (const auto& [key, value] : board_.values()) old.push_back(key);
    for (const std::string& key : old) board_.remove(key);
    for (std::uint64_t left = reader.varint(kMaxBoardKeys); left > 0 && reader.ok(); --left) {
        const std::string key(reader.text(kMaxBoardKeyBytes));
        const auto value = reader.bytes(reader.varint(kMaxBoardBytes));
        if (board_.set(key, value) != BoardStatus::ok) return unknown;
    }
    if (!reader.ok()) return unknown;
    if (has_state != (director_ != nullptr))
        return host_error(has_state ? "the recording has a game's own state: go on with that game's server, or with "
                                      "--hands if those kept it"
                                    : "the recording has no state of a game: go on without one");
    if (has_state && !director_->restore(reader.bytes(reader.remaining()), *world_))
        return host_error("the game does not take the state that the recording has (Director::restore)");
    return Ok{};
}

bool Room::save_now() {
    if (!recorder_) return false;
    save_host(saved_host_);
    if (saved_host_.empty()) return false;
    recorder_->host(saved_host_);
    return true;
}

// Joins, losses and leaves come again as the director was told them, behind its state.
void Room::tell_again(const replay::PlayerRecord& player) {
    if (!director_ || player.id_form != replay::IdForm::plain) return;
    switch (player.change) {
        case PlayerChange::came:
        case PlayerChange::returned:
            return director_->joined(player.slot, player.client_id, player.change == PlayerChange::returned);
        case PlayerChange::lost:
            return director_->lost(player.slot, player.client_id);
        case PlayerChange::left:
            return director_->left(player.slot, static_cast<LeaveReason>(player.reason));
    }
}

Result<Ok> Room::simulate_again(const Resumption& from) {
    std::vector<std::uint8_t> ignored;
    if (director_ && !director_->save(ignored))
        return host_error("the game does not keep its own state (Director::save): start a new room");
    const replay::Mark start = from.start(director_ != nullptr);
    if (director_ && !from.has_host() && start.tick > 0)
        return host_error("the recording has no state of a game: go on without one");
    replay::ReplayReader reader(from.source(), start);
    bool keyframe_comes = start.keyframe;
    while (world_->tick() < from.seen().ticks || keyframe_comes ||
           reader.position().offset < from.seen().record_end.offset) {
        const auto kind = reader.next_of_all();
        if (kind == replay::ReplayReader::Kind::stop) break;
        if (kind == replay::ReplayReader::Kind::keyframe && keyframe_comes) {
            keyframe_comes = false;
            if (const auto restored = world_->restore(reader.keyframe().state); !restored)
                return Error{ErrorCode::corrupt, from.path() + ": keyframe of tick " + std::to_string(start.tick),
                             restored.error().to_string()};
        } else if (kind == replay::ReplayReader::Kind::tick) {
            if (const auto taken = replay::take(*world_, reader.tick(), executor_); !taken)
                return Error{taken.error().code, from.path() + ": " + taken.error().place, taken.error().message};
            if (director_) director_->on_replayed_tick(*world_, reader.tick().commands);
        } else if (kind == replay::ReplayReader::Kind::ancillary) {
            if (const auto* host = std::get_if<replay::HostRecord>(&reader.ancillary())) {
                if (const auto restored = restore_host(host->state); !restored) return restored;
            }
            if (const auto* player = std::get_if<replay::PlayerRecord>(&reader.ancillary())) tell_again(*player);
        }
    }
    if (world_->tick() != from.seen().ticks)
        return Error{ErrorCode::io, from.path(), "the file changed while it was read"};
    return Ok{};
}

// Whoever sat in the room is lost: their seats are held as if all had fallen silent now.
void Room::hold_seats(const Resumption& from) {
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        Seat& seat = seats_[slot];
        const auto known = from.seats().find(slot);
        const bool in_world = world_->slot_taken(slot) && !world_->slot_driven(slot);
        if (in_world) seat.control = to_wire(world_->controls(slot));
        if (known == from.seats().end()) {  // its player has left: that is recorded, and the director was told
            seat.leaving = in_world;
            continue;
        }
        seats_.take(slot, known->second.client_id);
        seat.id_form = known->second.id_form;
        seat.in_world = in_world;
        if (!in_world) {  // came, but no tick with it was recorded
            record_player(slot, PlayerChange::left, LeaveReason::lost);
            seats_.free(slot);
            if (director_) director_->left(slot, LeaveReason::lost);
        } else if (seat.id_form == replay::IdForm::none || hold_seat_ticks_ == 0) {
            free_seat(slot, LeaveReason::lost);
        } else {
            seats_.hold(slot, world_->tick() + hold_seat_ticks_);
            if (known->second.change == PlayerChange::lost) continue;
            record_player(slot, PlayerChange::lost);
            if (director_) director_->lost(slot, seat.client_id);
        }
    }
}

Result<Ok> Room::resume(Resumption& from, const ResumeOptions& options) {
    if (const auto simulated = simulate_again(from); !simulated) return simulated;
    Result<std::unique_ptr<RoomRecorder>> recorder = options.open_recorder(from, *world_);
    if (!recorder) return recorder.error();
    recorder_ = std::move(recorder).value();
    grid_.begin_at(world_->tick(), clock_ ? clock_() : now_);
    quantised_.update(*world_);
    if (options.refuse_older_tokens) netcode_->void_all_tokens(options.unix_ms / 1000 + token_lifetime_s_);
    replay::ResumeRecord record;
    record.unix_ms = options.unix_ms;
    record.downtime_ms = options.unix_ms - std::min(options.unix_ms, from.last_write_unix_ms());
    record.build = options.build.substr(0, replay::kMaxTextBytes);
    recorder_->resume(std::move(record));
    if (from.ended()) {  // a new part: it has the seats from its begin on
        for (const auto& [slot, player] : from.seats()) recorder_->player(player);
    }
    hold_seats(from);
    save_now();
    return Ok{};
}

// Held seats whose ids are known by their hashes alone.
void Room::name_hashed_seat(std::uint64_t client_id) {
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        Seat& seat = seats_[slot];
        if (seat.state != Seat::State::held || seat.id_form != replay::IdForm::hashed) continue;
        if (seat.client_id != replay::hashed_client_id(client_id, replay_id_secret_)) continue;
        seat.client_id = client_id;
        seat.id_form = replay::IdForm::plain;
    }
}

}  // namespace orrery::server
