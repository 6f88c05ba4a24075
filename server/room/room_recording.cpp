// The part of Room that records.
#include "protocol/replay/client_ids.h"
#include "server/room/room.h"

namespace orrery::server {

using namespace orrery::protocol;

static_assert(static_cast<std::uint8_t>(LeaveReason::stopped) == replay::kLastLeaveReason,
              "recordings have the numbers");

void Room::record(std::uint64_t slipped_ns, const sim::HashTree& hash) {
    if (!recorder_) return;
    Result<Ok> written = recorder_->append_tick(world_->tick(), commands_, hash, slipped_ns);
    if (written && recorder_->keyframe_due()) {
        saved_.clear();
        world_->save(saved_);
        written = recorder_->append_keyframe(saved_);
        // A state too large for a keyframe leaves the recording sound.
        if (!written && written.error().code == ErrorCode::limit_reached) written = Ok{};
    }
    if (!written) return end_recording(written.error());
    stats_.last_recorded_tick = recorder_->last_tick_written();
}

void Room::record_player(std::uint16_t slot, std::uint64_t client_id, replay::PlayerChange change, LeaveReason reason) {
    if (!recorder_) return;
    replay::PlayerRecord record;
    record.slot = slot;
    record.change = change;
    record.reason = change == replay::PlayerChange::left ? static_cast<std::uint8_t>(reason) : 0;
    record.id_form = replay_ids_;
    if (replay_ids_ == replay::IdForm::plain) record.client_id = client_id;
    if (replay_ids_ == replay::IdForm::hashed)
        record.client_id = replay::hashed_client_id(client_id, replay_id_secret_);
    if (auto written = recorder_->append(record); !written) end_recording(written.error());
}

bool Room::note(std::string_view text) {
    if (!recorder_ || text.size() > replay::kMaxNoteBytes) return false;
    const auto second =
        static_cast<std::uint64_t>(static_cast<double>(world_->tick()) / double{description_.hello.tick_rate_hz});
    if (second != notes_second_) notes_ = 0;
    notes_second_ = second;
    if (notes_ == kMaxNotesPerSecond) return false;
    ++notes_;
    replay::NoteRecord record;
    record.text = text;
    const auto written = recorder_->append(record);
    if (!written) end_recording(written.error());
    return written.ok();
}

void Room::end_recording(const Error& error) {
    if (observer_) observer_->recording_failed(error);
    recorder_.reset();
    recording_error_ = error;
    stats_.recording_failed = true;
}

}  // namespace orrery::server
