#include "server/room/record_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::server {

using namespace orrery::protocol;

std::uint32_t ticks_per_chunk(FsyncPolicy policy, double tick_rate_hz) {
    if (policy != FsyncPolicy::interval) return 1;
    return static_cast<std::uint32_t>(std::clamp(std::round(tick_rate_hz), 1.0, double{replay::kMaxTicksPerChunk}));
}

RecordParts::RecordParts(std::unique_ptr<Recorder> first, PartsSettings settings)
    : settings_(std::move(settings)),
      recorder_(std::move(first)),
      path_(recorder_->path()),
      run_(recorder_->as_parent().run) {
    part_start_ = last_seen_ = recorded_ = recorder_->last_tick_written();
    note_counters();
}

void RecordParts::note_counters() {
    recorded_ = recorder_->last_tick_written();
    if (recorder_->bytes_durable() > 0) durable_ = recorder_->last_tick_durable();
}

// What the file has may still become durable; after a sync() that failed, nobody knows. Of a file that was deleted all
// is lost.
void RecordParts::fail(const Error& error, TimeNs now) {
    const bool trusted = settings_.fsync == FsyncPolicy::none && !recorder_->was_deleted();
    const bool kept = trusted || recorder_->save_rest();
    note_counters();
    if (recorder_->was_deleted()) durable_ = std::min(durable_, part_start_);
    if (!kept) lost_ += recorded_ - std::min(recorded_, durable_);
    next_.parent = recorder_->as_parent();
    if (recorder_->bytes_written() > 0 && recorded_ == 0) {  // not a tick is in it
        files().remove(path_);
        next_.parent = {};
    }
    recorder_.reset();
    if (!first_error_) first_error_ = error;
    news_.push_back({.kind = RecordingNews::Kind::failed, .error = error});
    if (now - part_began_ >= kLastRetry) retry_after_ = kFirstRetry;
    retry_at_ = now + retry_after_;
    retry_after_ = std::min(2 * retry_after_, kLastRetry);
}

// A record that is too long harms nothing else.
void RecordParts::check(const Result<Ok>& done, TimeNs now) {
    if (!done && done.error().code != ErrorCode::limit_reached) return fail(done.error(), now);
    note_counters();
}

void RecordParts::take(const RecordItem& item, TimeNs now) {
    if (last_sync_ == 0) last_sync_ = part_began_ = now;
    if (const auto* tick = std::get_if<TickItem>(&item)) {
        last_seen_ = tick->tick;
        if (!recorder_) return;
        const Result<Ok> done = recorder_->append_tick(tick->tick, tick->commands, tick->hash, tick->slip_ns);
        if (!done) return fail(done.error(), now);  // also one that is too long: the next tick would not follow
        note_counters();
    } else if (const auto* keyframe = std::get_if<KeyframeItem>(&item)) {
        last_seen_ = keyframe->tick;
        if (recorder_)
            keep(*keyframe, now);
        else if (wants_keyframe_)
            begin_part(*keyframe, now);
    } else if (!recorder_) {
        return;
    } else if (const auto* note = std::get_if<NoteItem>(&item)) {
        check(recorder_->append(replay::NoteRecord{.text = note->text}), now);
    } else if (const auto* host = std::get_if<HostItem>(&item)) {
        check(recorder_->append(replay::HostRecord{.state = host->state}), now);
    } else if (const auto* player = std::get_if<replay::PlayerRecord>(&item)) {
        check(recorder_->append(*player), now);
    } else if (const auto* resume = std::get_if<replay::ResumeRecord>(&item)) {
        check(recorder_->append(*resume), now);
    } else {
        fail(Error{ErrorCode::limit_reached, path_,
                   "the disk does not keep up: the recording ends at tick " + std::to_string(recorded_) +
                       "; record to a faster disk"},
             now);
    }
}

void RecordParts::keep(const KeyframeItem& keyframe, TimeNs now) {
    check(recorder_->append_keyframe(keyframe.state), now);
    if (recorder_ && !keyframe.host.empty()) check(recorder_->append(replay::HostRecord{.state = keyframe.host}), now);
}

void RecordParts::begin_part(const KeyframeItem& keyframe, TimeNs now) {
    wants_keyframe_ = false;
    next_.tick = keyframe.tick;
    auto begun = Recorder::open(settings_.recorder,
                                {.name = settings_.scene_name,
                                 .binary = settings_.scene,
                                 .hash = settings_.scene_hash,
                                 .tick_rate_hz = settings_.tick_rate_hz},
                                next_);
    Result<Ok> kept = begun ? (*begun)->append_keyframe(keyframe.state) : Result<Ok>(begun.error());
    for (const replay::PlayerRecord& player : keyframe.seated)
        if (kept) kept = (*begun)->append(player);
    if (kept && !keyframe.host.empty()) kept = (*begun)->append(replay::HostRecord{.state = keyframe.host});
    if (kept && settings_.fsync != FsyncPolicy::none) kept = (*begun)->sync();
    if (!kept) {  // nothing of it is left behind, and the disk is tried again, less and less often
        if (begun) files().remove((*begun)->path());
        retry_at_ = now + retry_after_;
        retry_after_ = std::min(2 * retry_after_, kLastRetry);
        return;
    }
    const std::uint64_t before = recorded_;
    recorder_ = std::move(begun).value();
    path_ = recorder_->path();
    run_ = recorder_->as_parent().run;
    part_began_ = now;
    part_start_ = keyframe.tick;
    lost_ += keyframe.tick - before;
    news_.push_back(
        {.kind = RecordingNews::Kind::went_on, .path = path_, .first_lost = before + 1, .last_lost = keyframe.tick});
    note_counters();
}

bool RecordParts::all_durable() const {
    return recorder_->bytes_durable() == recorder_->bytes_written() &&
           recorder_->last_tick() == recorder_->last_tick_written();
}

void RecordParts::settle(TimeNs now) {
    if (!recorder_) {
        if (!settings_.goes_on || wants_keyframe_ || now < retry_at_) return;
        wants_keyframe_ = files().free_bytes(settings_.recorder.directory) >= kLeastFreeBytes;
        if (!wants_keyframe_) retry_at_ = now + retry_after_;
        return;
    }
    if (settings_.fsync == FsyncPolicy::none || all_durable()) return;
    // Under `interval` a full chunk is waited for, so that the ticks of a second are one record.
    const bool whole = recorder_->last_tick() == recorder_->last_tick_written();
    const bool due =
        settings_.fsync == FsyncPolicy::tick || now - last_sync_ >= (whole ? kSyncEvery * 9 / 10 : kSyncAtLatest);
    if (!due) return;
    const Result<Ok> synced = recorder_->sync();
    last_sync_ = now;
    check(synced, now);
}

TimeNs RecordParts::next_wake() const {
    if (!recorder_) return wants_keyframe_ || !settings_.goes_on ? std::numeric_limits<TimeNs>::max() : retry_at_;
    if (settings_.fsync == FsyncPolicy::none || all_durable()) return std::numeric_limits<TimeNs>::max();
    return last_sync_ + kSyncAtLatest;
}

void RecordParts::leave() {
    if (!recorder_) return;
    (void)recorder_->sync();
    note_counters();
}

Result<Ok> RecordParts::close() {
    if (recorder_) {
        const Result<Ok> closed = recorder_->close();
        note_counters();
        if (!closed) lost_ += last_seen_ - std::min(last_seen_, recorded_);
        if (!closed && !first_error_) first_error_ = closed.error();
    }
    if (first_error_) return *first_error_;
    return Ok{};
}

}  // namespace orrery::server
