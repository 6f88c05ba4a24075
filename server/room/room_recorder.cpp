#include "server/room/room_recorder.h"

#include "server/base/thread_priority.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace orrery::server {

using namespace orrery::protocol;

namespace {

TimeNs no_clock() { return 0; }

// Bytes that an item keeps in memory. Keyframes are bounded by their number (kMaxKeyframesWaiting).
std::size_t size_of(const RecordItem& item) {
    std::size_t bytes = sizeof item;
    if (const auto* tick = std::get_if<TickItem>(&item)) bytes += tick->commands.size() * sizeof(sim::Command);
    if (const auto* note = std::get_if<NoteItem>(&item)) bytes += note->text.size();
    if (const auto* host = std::get_if<HostItem>(&item)) bytes += host->state.size();
    return bytes;
}

PartsSettings of_one_file() {
    PartsSettings settings;
    settings.goes_on = false;
    return settings;
}

}  // namespace

RoomRecorder::RoomRecorder(std::unique_ptr<Recorder> only)
    : RoomRecorder(std::move(only), of_one_file(), &no_clock, false) {}

RoomRecorder::RoomRecorder(std::unique_ptr<Recorder> first, PartsSettings settings, TimeNs (*clock)(), bool threaded)
    : keyframe_ticks_(first->keyframe_ticks()),
      keyframe_phase_(static_cast<std::uint64_t>(settings.keyframe_phase * static_cast<double>(keyframe_ticks_)) %
                      keyframe_ticks_),
      tick_rate_hz_(double{settings.tick_rate_hz}) {
    announced_ = first->last_tick();
    next_keyframe_ = keyframe_after(announced_);
    shared_ = std::make_shared<Shared>(std::move(first), std::move(settings), clock);
    shared_->taken = announced_;
    shared_->publish();
    if (threaded)
        thread_ = std::thread([shared = shared_] {
            give_way();  // of its keyframes, which may wait
            shared->run();
        });
}

RoomRecorder::~RoomRecorder() {
    if (!thread_.joinable()) {
        if (!closed_) shared_->parts.leave();
        return;
    }
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->closing = true;
        shared_->left = !closed_;
    }
    shared_->wake.notify_one();
    std::unique_lock lock(shared_->mutex);
    const auto patience = std::chrono::nanoseconds(closed_ ? 0 : kCloseWithin);  // close() has waited already
    const bool ended = shared_->ended.wait_for(lock, patience, [&] { return shared_->closed; });
    lock.unlock();
    if (ended)
        thread_.join();
    else
        thread_.detach();
}

void RoomRecorder::hand_over(RecordItem item) {
    Shared& s = *shared_;
    const std::size_t bytes = size_of(item), waiting = s.backlog.load(std::memory_order_relaxed);
    if (waiting == 0) overflow_ = false;
    if (overflow_ || (waiting > 0 && waiting + bytes > kMaxRecordBacklog)) {
        if (std::holds_alternative<KeyframeItem>(item)) --s.keyframes;
        if (std::exchange(overflow_, true)) return;
        item = OverflowItem{};
    }
    s.backlog += size_of(item);
    {
        const std::lock_guard lock(s.mutex);
        s.queue.push_back(std::move(item));
    }
    if (thread_.joinable())
        s.wake.notify_one();
    else
        s.work();
}

void RoomRecorder::tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                        std::uint64_t slip_ns) {
    announced_ = tick;
    hand_over(TickItem{tick, slip_ns, hash, {commands.begin(), commands.end()}});
    const double lag = static_cast<double>(tick - std::min(tick, shared_->taken.load(std::memory_order_relaxed)));
    const bool late = lag > kMaxRecordLag_s * tick_rate_hz_;
    if (late == late_) return;
    late_ = late;
    const std::lock_guard lock(shared_->mutex);
    shared_->news.push_back({.kind = late ? RecordingNews::Kind::late : RecordingNews::Kind::in_time});
    shared_->has_news = true;
}

std::uint64_t RoomRecorder::keyframe_after(std::uint64_t tick) const {
    return tick + keyframe_ticks_ - (tick + keyframe_ticks_ - keyframe_phase_) % keyframe_ticks_;
}

bool RoomRecorder::keyframe_due() const {
    if (shared_->keyframes.load(std::memory_order_relaxed) >= kMaxKeyframesWaiting) return false;
    return announced_ >= next_keyframe_ || shared_->wants_keyframe.load(std::memory_order_relaxed);
}

void RoomRecorder::keyframe(std::uint64_t tick, std::vector<std::uint8_t>& state, std::vector<std::uint8_t>& host,
                            std::span<const replay::PlayerRecord> seated) {
    next_keyframe_ = keyframe_after(tick);
    shared_->wants_keyframe = false;
    ++shared_->keyframes;
    KeyframeItem item{tick, std::move(state), std::move(host), {seated.begin(), seated.end()}};
    state = {};
    host = {};
    {
        const std::lock_guard lock(shared_->mutex);
        if (!shared_->spare.empty()) state = std::move(shared_->spare.back()), shared_->spare.pop_back();
    }
    state.clear();
    hand_over(std::move(item));
}

std::vector<RecordingNews> RoomRecorder::take_news() {
    if (!shared_->has_news.exchange(false)) return {};
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->news, {});
}

RecordingCounters RoomRecorder::counters() const {
    const Shared& s = *shared_;
    RecordingCounters counters;
    {
        const std::lock_guard lock(shared_->mutex);
        counters = s.published;
    }
    counters.announced = announced_;
    if (counters.failing) counters.lost += announced_ - std::min(announced_, s.taken.load());
    counters.late = late_;
    return counters;
}

Result<Ok> RoomRecorder::close() {
    Shared& s = *shared_;
    closed_ = true;
    std::unique_lock lock(s.mutex);
    s.closing = true;
    if (!thread_.joinable()) {
        lock.unlock();
        s.end();
        lock.lock();
    } else {
        s.wake.notify_one();
        s.ended.wait_for(lock, std::chrono::nanoseconds(kCloseWithin), [&] { return s.closed; });
    }
    if (!s.closed)
        return Error{ErrorCode::io, *s.published.path,
                     "the disk does not answer: the recording ends at tick " + std::to_string(s.published.recorded) +
                         ", without an end record"};
    if (s.close_error) return *s.close_error;
    return Ok{};
}

// ---- the thread

void RoomRecorder::Shared::publish() {
    if (parts.wants_keyframe() && !asked) wants_keyframe = true;
    asked = parts.wants_keyframe();
    const std::lock_guard lock(mutex);
    published.recorded = parts.recorded();
    published.durable = parts.durable();
    published.lost = parts.lost();
    published.failing = parts.failing();
    if (!published.path || *published.path != parts.path())
        published.path = std::make_shared<const std::string>(parts.path());
    published.run = parts.run();
    if (parts.news().empty()) return;
    for (RecordingNews& item : parts.news()) news.push_back(std::move(item));
    parts.news().clear();
    has_news = true;
}

// Takes all that waits. False: nothing did.
bool RoomRecorder::Shared::work() {
    {
        const std::lock_guard lock(mutex);
        batch.swap(queue);
    }
    for (RecordItem& item : batch) {
        const std::size_t bytes = size_of(item);
        parts.take(item, clock());
        if (const auto* tick = std::get_if<TickItem>(&item)) taken = tick->tick;
        if (auto* keyframe = std::get_if<KeyframeItem>(&item)) {
            --keyframes;
            const std::lock_guard lock(mutex);
            if (spare.empty()) spare.push_back(std::move(keyframe->state));
        }
        backlog -= bytes;
    }
    const bool any = !batch.empty();
    batch.clear();
    parts.settle(clock());
    publish();
    return any;
}

void RoomRecorder::Shared::end() {
    work();
    const Result<Ok> done = parts.close();
    publish();
    const std::lock_guard lock(mutex);
    if (!done) close_error = done.error();
    closed = true;
}

void RoomRecorder::Shared::run() {
    for (;;) {
        while (work()) {
        }
        const TimeNs wake_at = parts.next_wake(), now = clock();
        std::unique_lock lock(mutex);
        if (!queue.empty()) continue;
        if (closing) break;
        const auto ready = [&] { return closing || !queue.empty(); };
        if (wake_at == std::numeric_limits<TimeNs>::max())
            wake.wait(lock, ready);
        else if (wake_at > now)
            wake.wait_for(lock, std::chrono::nanoseconds(wake_at - now), ready);
    }
    std::unique_lock lock(mutex);
    const bool leaves = left;
    lock.unlock();
    if (leaves)
        parts.leave();
    else
        end();
    lock.lock();
    closed = true;
    ended.notify_all();
}

}  // namespace orrery::server
