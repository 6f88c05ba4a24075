// The part of Room that records.
#include "protocol/replay/client_ids.h"
#include "server/room/room.h"

namespace orrery::server {

using namespace orrery::protocol;

static_assert(static_cast<std::uint8_t>(LeaveReason::stopped) == replay::kLastLeaveReason,
              "recordings have the numbers");

void Room::record(std::uint64_t slipped_ns, const sim::HashTree& hash) {
    if (!recorder_) return;
    recorder_->tick(world_->tick(), commands_, hash, slipped_ns);
    if (recorder_->keyframe_due()) {
        world_->save(saved_);
        save_host(saved_host_);
        recorder_->keyframe(world_->tick(), saved_, saved_host_, seated());
    }
    tell_recording_news();
}

void Room::tell_recording_news() {
    for (const RecordingNews& news : recorder_->take_news()) {
        if (observer_) observer_->recording_news(news);
    }
}

replay::PlayerRecord Room::player_record(std::uint16_t slot, replay::PlayerChange change, LeaveReason reason) const {
    const Seat& seat = seats_[slot];
    replay::PlayerRecord record;
    record.slot = slot;
    record.change = change;
    record.reason = change == replay::PlayerChange::left ? static_cast<std::uint8_t>(reason) : 0;
    record.id_form = seat.id_form == replay::IdForm::plain ? replay_ids_ : seat.id_form;
    if (record.id_form == replay::IdForm::plain || seat.id_form == replay::IdForm::hashed)
        record.client_id = seat.client_id;
    else if (record.id_form == replay::IdForm::hashed)
        record.client_id = replay::hashed_client_id(seat.client_id, replay_id_secret_);
    return record;
}

void Room::record_player(std::uint16_t slot, replay::PlayerChange change, LeaveReason reason) {
    if (recorder_) recorder_->player(player_record(slot, change, reason));
}

// Who sits in the room, for a part that begins now.
std::vector<replay::PlayerRecord> Room::seated() const {
    std::vector<replay::PlayerRecord> seated;
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        const Seat& seat = seats_[slot];
        if (seat.state == Seat::State::free || !seat.in_world) continue;
        seated.push_back(player_record(slot, replay::PlayerChange::came));
        if (seat.state == Seat::State::held) seated.push_back(player_record(slot, replay::PlayerChange::lost));
    }
    return seated;
}

bool Room::note(std::string_view text) {
    if (!recorder_ || text.size() > replay::kMaxNoteBytes) return false;
    const auto second =
        static_cast<std::uint64_t>(static_cast<double>(world_->tick()) / double{description_.hello.tick_rate_hz});
    if (second != notes_second_) notes_ = 0;
    notes_second_ = second;
    if (notes_ == kMaxNotesPerSecond) return false;
    ++notes_;
    recorder_->note(text);
    return true;
}

}  // namespace orrery::server
