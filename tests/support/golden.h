// Golden files: what an engine version has once computed, kept as tests/golden/<kEngineVersion>/<name>.txt.
//
// ORRERY_WRITE_GOLDEN=1 writes files that the current version lacks; a file that is there is never overwritten.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "orrery/sim.hpp"

namespace orrery::test {

inline void check_golden(const std::string& name, const std::string& text) {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(ORRERY_SOURCE_DIR) / "tests" / "golden" / std::to_string(sim::kEngineVersion) / (name + ".txt");
    const char* write = std::getenv("ORRERY_WRITE_GOLDEN");
    if (!fs::exists(path) && write && std::string_view(write) == "1") {
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    REQUIRE_MESSAGE(fs::exists(path), "there is no " << path.string() << ": run this test with ORRERY_WRITE_GOLDEN=1 and commit the file");
    std::ifstream file(path);
    const std::string golden{std::istreambuf_iterator<char>(file), {}};
    CHECK_MESSAGE(golden == text, path.string() << " differs: the simulation's bits have changed. If that was meant, raise kEngineVersion in "
                                                   "sim/include/orrery/sim.hpp, run this test with ORRERY_WRITE_GOLDEN=1 and commit the new "
                                                   "files; else find the change. Now:\n" << text);
}

}  // namespace orrery::test
