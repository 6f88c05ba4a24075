// Which GPU module programs find, for as long as this lives.
#pragma once

#include <cstdlib>

namespace orrery::test {

class RigModulePath {
  public:
    explicit RigModulePath(const char* path) { setenv("ORRERY_JACOBI_MODULE", path, 1); }
    ~RigModulePath() { unsetenv("ORRERY_JACOBI_MODULE"); }
    RigModulePath(const RigModulePath&) = delete;
    RigModulePath& operator=(const RigModulePath&) = delete;
};

}  // namespace orrery::test
