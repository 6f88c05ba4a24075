// A pool of threads that steps rooms by a heap of deadlines, one tick a turn. A room that is late comes back behind all
// that are due by then: however long its ticks are, it delays another room by no more than the tick in progress.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

// Something that is to be done again and again.
class Turns {
  public:
    virtual protocol::TimeNs next_deadline() const = 0;
    virtual bool turn() = 0;  // false: no more

  protected:
    ~Turns() = default;
};

class RoomThreads {
  public:
    // Deadlines are times of NetworkThread::now(). `ended` is called by the threads, with
    // what has no more turns.
    RoomThreads(std::uint32_t threads, std::function<void(std::shared_ptr<Turns>)> ended);
    ~RoomThreads();  // ends after the turns in progress; what waits gets no more
    RoomThreads(const RoomThreads&) = delete;
    RoomThreads& operator=(const RoomThreads&) = delete;

    void add(std::shared_ptr<Turns> turns);

  private:
    struct Waiting {
        protocol::TimeNs at = 0;
        std::uint64_t order = 0;  // of those of one time the one that came first
        std::shared_ptr<Turns> turns;
        bool operator>(const Waiting& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    void run();
    void put(std::shared_ptr<Turns> turns, protocol::TimeNs not_before);

    const std::function<void(std::shared_ptr<Turns>)> ended_;
    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
    std::uint64_t order_ = 0;
    bool watched_ = false;  // a thread waits for the first deadline
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace orrery::server
