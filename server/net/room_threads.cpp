#include "server/net/room_threads.h"

#include <algorithm>
#include <chrono>

#include "server/base/thread_priority.h"
#include "server/net/network_thread.h"

namespace orrery::server {

RoomThreads::RoomThreads(std::uint32_t threads, std::function<void(std::shared_ptr<Turns>)> ended)
    : ended_(std::move(ended)) {
    for (std::uint32_t i = 0; i < threads; ++i)
        threads_.emplace_back([this] {
            ask_for_short_waits();
            run();
        });
}

RoomThreads::~RoomThreads() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
}

void RoomThreads::add(std::shared_ptr<Turns> turns) {
    const std::lock_guard lock(mutex_);
    put(std::move(turns), 0);
}

void RoomThreads::put(std::shared_ptr<Turns> turns, protocol::TimeNs not_before) {
    const protocol::TimeNs at = std::max(turns->next_deadline(), not_before);
    const bool first = waiting_.empty() || at < waiting_.top().at;
    waiting_.push({at, order_++, std::move(turns)});
    // The thread that waits for the first deadline is to wait for the new one; if there is none, another is to.
    if (first) watched_ ? changed_.notify_all() : changed_.notify_one();
}

void RoomThreads::run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        if (waiting_.empty() || (watched_ && waiting_.top().at > NetworkThread::now())) {
            changed_.wait(lock);
            continue;
        }
        const protocol::TimeNs at = waiting_.top().at;
        if (at > NetworkThread::now()) {
            watched_ = true;
            changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at)));
            watched_ = false;
            continue;
        }
        std::shared_ptr<Turns> turns = waiting_.top().turns;
        waiting_.pop();
        if (!waiting_.empty()) changed_.notify_one();  // to wait for the next one, or to do it
        lock.unlock();
        const bool more = turns->turn();
        if (!more) ended_(std::move(turns));
        lock.lock();
        if (more) put(std::move(turns), NetworkThread::now());
    }
}

}  // namespace orrery::server
