// What a thread does between two looks at what it waits for.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orrery::sim {

inline void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace orrery::sim
