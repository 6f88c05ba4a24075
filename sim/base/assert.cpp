#include "sim/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace orrery::sim {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr,
                 "orrery: %s:%d: the assertion '%s' failed; this is a bug in Orrery: please report it with the scene "
                 "and the commands\n",
                 file, line, condition);
    std::abort();
}

}  // namespace orrery::sim
