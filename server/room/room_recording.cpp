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
        recorder_->keyframe(world_->tick(), saved_, saved_host_);
    }
    tell_recording_news();
}

void Room::tell_recording_news() {
    for (const RecordingNews& news : recorder_->take_news()) {
        if (news.kind == RecordingNews::Kind::went_on) record_seats();
        if (observer_) observer_->recording_news(news);
    }
}

void Room::record_player(std::uint16_t slot, std::uint64_t client_id, replay::PlayerChange change, LeaveReason reason) {
    if (!recorder_) return;
    replay::PlayerRecord record;
    record.slot = slot;
    record.change = change;
    record.reason = change == replay::PlayerChange::left ? static_cast<std::uint8_t>(reason) : 0;
    const bool is_hashed = seats_[slot].id_is_hashed && seats_[slot].client_id == client_id;
    record.id_form = is_hashed ? replay::IdForm::hashed : replay_ids_;
    if (is_hashed || replay_ids_ == replay::IdForm::plain) record.client_id = client_id;
    if (!is_hashed && replay_ids_ == replay::IdForm::hashed)
        record.client_id = replay::hashed_client_id(client_id, replay_id_secret_);
    recorder_->player(record);
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
