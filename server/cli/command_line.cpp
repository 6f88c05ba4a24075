#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

namespace orrery::server {

const char* exit_code_help() {
    return "Exit codes: 0 success; 1 a check failed; 2 the input is unreadable, corrupt or of another engine "
           "version;\n"
           "3 this machine or build cannot do it; 64 wrong usage; 70 internal error.\n";
}

std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments) {
    app.footer(exit_code_help());
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& help) {
        app.exit(help, std::cout, std::cerr);
        return kExitGood;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "%s: %s (see %s --help)\n", app.get_name().c_str(), error.what(), app.get_name().c_str());
        return kExitUsage;
    }
    return std::nullopt;
}

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
    const std::string wanted = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    const auto check = [=](const std::string& text) {
        const bool starts_with_digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
        char* end = nullptr;
        errno = 0;
        const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
        const bool good = starts_with_digit && *end == '\0' && errno == 0 && value >= min && value <= max;
        return good ? std::string() : "\"" + text + "\" is not " + wanted;
    };
    return CLI::Validator(check, "in [" + std::to_string(min) + " - " + std::to_string(max) + "]");
}

int complain(std::string_view message, int code) {
    std::fprintf(stderr, "orrery: %.*s\n", static_cast<int>(message.size()), message.data());
    return code;
}

int complain(const Error& error, int code) { return complain(error.to_string(), code); }

int exit_code_of(const Error& error) { return error.code == ErrorCode::unsupported_target ? kExitMachine : kExitInput; }

std::optional<sim::Target> parse_target(const std::string& name, int& exit) {
    constexpr std::string_view known[] = {"auto", "scalar", "ssse3", "sse4", "avx2", "avx3", "neon", "wasm"};
    const Result<sim::Target> target = sim::target_from_name(name);
    if (target) return *target;
    exit = complain(target.error(),
                    std::find(std::begin(known), std::end(known), name) != std::end(known) ? kExitMachine : kExitUsage);
    return std::nullopt;
}

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t max_bytes, const char* limit) {
    const auto io = [&](const char* what) {
        return Error{ErrorCode::io, path, std::string(what) + ": " + std::strerror(errno)};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return io("cannot be opened");
    std::vector<std::uint8_t> bytes;
    std::uint8_t block[1 << 16];
    for (std::size_t got; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) {
        bytes.insert(bytes.end(), block, block + got);
        if (bytes.size() > max_bytes) {
            return Error{ErrorCode::limit_reached, path,
                         "is longer than the limit of " + std::to_string(max_bytes) + " bytes (" + limit + ")"};
        }
    }
    if (std::ferror(file.get())) return io("cannot be read");
    return bytes;
}

Result<protocol::LoadedScene> load_scene_file(const std::string& path, const protocol::SceneOverrides& overrides,
                                              const protocol::SceneCaps& caps) {
    const Result<std::vector<std::uint8_t>> bytes = read_file(path, caps.max_bytes, "max_bytes");
    if (!bytes) return bytes.error();
    return protocol::load_scene(*bytes, path, overrides, caps);
}

Result<protocol::SharedScene> share_scene_file(protocol::LoadedScene scene, const std::string& path) {
    Result<protocol::SharedScene> shared = protocol::share_scene(std::move(scene));
    if (shared) return shared;
    Error error = shared.error();
    error.place = path + ": " + error.place;
    const Result<std::vector<std::uint8_t>> bytes = read_file(path, protocol::kMaxSceneBytes, "kMaxSceneBytes");
    return bytes ? protocol::with_scene_line(std::move(error), *bytes, path) : error;
}

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

std::string hex16(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

}  // namespace orrery::server
