// Assertions: invariants that a function relies on and that only a bug of the engine can break. Input from outside is
// checked where it enters, and is never asserted.
//
//   ORRERY_ASSERT(condition)        kept in release: where it costs little beside the work around it
//   ORRERY_DEBUG_ASSERT(condition)  debug and sanitizer builds alone: whole lists, and what runs for each lane
//
// A failed assertion prints its place on stderr and aborts, so that a wrong state is not saved, sent or recorded.
#pragma once

namespace orrery::sim {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace orrery::sim

#define ORRERY_ASSERT(condition) \
    (__builtin_expect(!!(condition), 1) ? void() : ::orrery::sim::assertion_failed(#condition, __FILE__, __LINE__))
#if defined(NDEBUG) && !defined(ORRERY_DEBUG_ASSERTIONS)
#define ORRERY_DEBUG_ASSERT(condition) (void)sizeof((condition))
#else
#define ORRERY_DEBUG_ASSERT(condition) ORRERY_ASSERT(condition)
#endif
