// Golden files: what this engine version computes, kept as tests/golden/<name>.txt. Its first line names the engine
// version, its second the file or folder that its scene is made of. Such a file changes with one of the two alone:
// tests/house/goldens.py.
//
// ORRERY_WRITE_GOLDEN=1 writes the files anew.
#pragma once

#include <doctest/doctest.h>

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

// `made_of`: from the root of the source tree; a folder ends in a slash.
inline void check_golden(const std::string& name, const std::string& made_of, const std::string& hashes) {
    const std::string path = std::string(ORRERY_SOURCE_DIR) + "/tests/golden/" + name + ".txt";
    const std::string text =
        "engine version " + std::to_string(sim::kEngineVersion) + "\nmade of " + made_of + '\n' + hashes;
    const char* write = std::getenv("ORRERY_WRITE_GOLDEN");
    if (write && std::string_view(write) == "1") {
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        REQUIRE(file != nullptr);
        const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        REQUIRE((std::fclose(file) == 0 && written));
    }
    const std::optional<std::string> golden = read_text(path);
    REQUIRE_MESSAGE(golden.has_value(),
                    "there is no " << path << ": run this test with ORRERY_WRITE_GOLDEN=1 and commit the file");
    CHECK_MESSAGE(
        golden.value_or("") == text,
        path << " differs: the bits of the simulation have changed. If the change was meant, raise kEngineVersion in "
                "sim/include/orrery/types.hpp, run this test with ORRERY_WRITE_GOLDEN=1 and commit the "
                "files; else find the change. Now:\n"
             << text);
}

}  // namespace orrery::test
