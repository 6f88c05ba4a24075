// Golden files: what an engine version has once computed, kept as tests/golden/<kEngineVersion>/<name>.txt.
//
// ORRERY_WRITE_GOLDEN=1 writes files that the current version lacks; a file that is there is never overwritten.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "orrery/sim.hpp"

namespace orrery::test {

// By C's functions: WebAssembly's standard library has no streams of files.
inline std::optional<std::string> read_text(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return std::nullopt;
    std::string text;
    char part[4096];
    while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
    std::fclose(file);
    return text;
}

inline void check_golden(const std::string& name, const std::string& text) {
    const std::string folder = ORRERY_SOURCE_DIR "/tests/golden/" + std::to_string(sim::kEngineVersion), path = folder + "/" + name + ".txt";
    const char* write = std::getenv("ORRERY_WRITE_GOLDEN");
    std::optional<std::string> golden = read_text(path);
    if (!golden && write && std::string_view(write) == "1") {
        ::mkdir(folder.c_str(), 0777);
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        REQUIRE(file != nullptr);
        const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        REQUIRE((std::fclose(file) == 0 && written));
        golden = text;
    }
    REQUIRE_MESSAGE(golden.has_value(), "there is no " << path << ": run this test with ORRERY_WRITE_GOLDEN=1 and commit the file");
    CHECK_MESSAGE(golden.value_or("") == text, path << " differs: the simulation's bits have changed. If that was meant, raise kEngineVersion in "
                                                       "sim/include/orrery/sim.hpp, run this test with ORRERY_WRITE_GOLDEN=1 and commit the "
                                                       "new files; else find the change. Now:\n" << text);
}

}  // namespace orrery::test
