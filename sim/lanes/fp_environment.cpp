#include "sim/lanes/fp_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace orrery::sim {

#if defined(__x86_64__)

// MXCSR: all exceptions masked (bits 7 to 12), round to nearest, neither flush-to-zero nor denormals-are-zero. Bits 0
// to 5 say what happened and change nothing. As good as always it is so already, and writing it waits for all that is
// under way.
constexpr std::uint64_t kControl = 0xffc0u, kOurs = 0x1f80u;
FpEnvironment::FpEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & kControl) != kOurs) _mm_setcsr(static_cast<unsigned>(kOurs));
}
FpEnvironment::~FpEnvironment() {
    if ((saved_ & kControl) != kOurs) _mm_setcsr(static_cast<unsigned>(saved_));
}

#elif defined(__aarch64__)

// FPCR: zero is round to nearest, no flush to zero, no default NaN, no traps.
FpEnvironment::FpEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
}
FpEnvironment::~FpEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

#elif defined(__wasm__)

// WebAssembly has one environment, and it is ours.
FpEnvironment::FpEnvironment() = default;
FpEnvironment::~FpEnvironment() = default;

#else
#error "this CPU's floating-point control register is not known: Orrery runs on x86-64, aarch64 and WebAssembly"
#endif

}  // namespace orrery::sim
