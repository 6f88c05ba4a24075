#include "server/base/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace orrery::server {

namespace {

constexpr std::uint64_t kSlice_ns = 100'000;  // the shortest that Linux gives
constexpr int kNice = 10;

struct SchedulerAttributes {  // of sched_setattr(2), its first version
    std::uint32_t size = sizeof(SchedulerAttributes);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
};

}  // namespace

void ask_for_short_waits() {
    SchedulerAttributes wanted;
    errno = 0;
    wanted.nice = ::getpriority(PRIO_PROCESS, 0);
    if (errno != 0 || ::sched_getscheduler(0) != SCHED_OTHER) return;
    wanted.runtime = kSlice_ns;
    (void)::syscall(SYS_sched_setattr, 0, &wanted, 0u);
}

void give_way() { (void)::setpriority(PRIO_PROCESS, 0, kNice); }  // of the calling thread alone

}  // namespace orrery::server
