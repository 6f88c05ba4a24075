#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "server/base/near_name.h"

namespace orrery::server {

namespace {

// "; did you mean --port", of the first argument that is no option and near to one; else empty.
std::string meant_option(const CLI::App& app) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& argument : app.remaining()) {
        if (!argument.starts_with("--")) continue;
        const std::string near = nearest_name(argument.substr(0, argument.find('=')), known);
        if (!near.empty()) return "; did you mean " + near;
    }
    return {};
}

}  // namespace

const char* exit_code_help() {
    return "Exit codes: 0 success; 1 a check failed; 2 the input is unreadable, corrupt or of another engine "
           "version;\n"
           "3 this machine or build cannot do it; 64 wrong usage; 70 internal error.\n";
}

std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments) {
    const std::string own = app.get_footer();
    app.footer((own.empty() ? own : own + "\n\n") + exit_code_help());
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& help) {
        app.exit(help, std::cout, std::cerr);
        return kExitGood;
    } catch (const CLI::ParseError& error) {
        const bool unknown = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
        std::fprintf(stderr, "%s: %s%s (see %s --help)\n", app.get_name().c_str(), error.what(),
                     unknown ? meant_option(app).c_str() : "", app.get_name().c_str());
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

void add_jacobi_option(CLI::App& app, std::string& name) {
    app.add_option("--jacobi", name,
                   "device that solves large rigs: auto (a CUDA device if there is one and it pays off), cpu or cuda "
                   "(no bit depends on it)")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
}

void add_max_bodies_option(CLI::App& app, std::uint64_t& max_bodies) {
    app.add_option("--max-bodies", max_bodies, "largest number of bodies of the scene")
        ->check(whole_number(1, sim::kMaxBodies))
        ->capture_default_str();
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

std::string hex16(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

}  // namespace orrery::server
