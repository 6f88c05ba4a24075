// The pool where there is one thread: it says how many workers it was asked for, so that work is split for as many, and
// runs their tasks from last to first, so that nothing may rely on their order.
#include "server/room/thread_pool.h"

#include <algorithm>

namespace orrery::server {

ThreadPool::ThreadPool(std::uint32_t threads) {
    for (std::uint32_t i = 1; i < std::min(threads, kMaxThreads); ++i) workers_.emplace_back([] {});
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(std::uint32_t count, Task task, void* context) {
    for (std::uint32_t i = count; i > 0; --i) task(context, i - 1);
}

}  // namespace orrery::server
