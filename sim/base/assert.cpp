#include "sim/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace orrery::sim {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "orrery: %s:%d: the assertion '%s' does not hold; this is a fault of Orrery's: please report it with the scene and the commands\n",
                 file, line, condition);
    std::abort();
}

}  // namespace orrery::sim
