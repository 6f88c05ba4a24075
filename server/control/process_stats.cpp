#include "server/control/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace orrery::server {

namespace {

// The time at which the system started, s since 1970.
std::optional<double> boot_unix_s() {
    std::ifstream stat("/proc/stat");
    for (std::string line; std::getline(stat, line);)
        if (line.starts_with("btime ")) return std::stod(line.substr(6));
    return std::nullopt;
}

void read_stat(ProcessStats& stats) {
    std::ifstream file("/proc/self/stat");
    std::string text;
    if (!std::getline(file, text)) return;
    const std::size_t name_end = text.rfind(')');  // the name may hold blanks and parentheses
    const long ticks = ::sysconf(_SC_CLK_TCK), page = ::sysconf(_SC_PAGESIZE);
    if (name_end == std::string::npos || ticks <= 0 || page <= 0) return;
    // proc(5): field 3 follows the name.
    constexpr int kFirst = 3, kUser = 14, kSystem = 15, kThreads = 20, kStart = 22, kVirtual = 23, kResident = 24;
    std::istringstream in(text.substr(name_end + 1));
    double value[kResident + 1] = {};
    std::string state;
    in >> state;
    for (int field = kFirst + 1; field <= kResident; ++field) in >> value[field];
    if (!in) return;
    const double per_s = static_cast<double>(ticks);
    stats.cpu_seconds = (value[kUser] + value[kSystem]) / per_s;
    stats.threads = value[kThreads];
    stats.virtual_bytes = value[kVirtual];
    stats.resident_bytes = value[kResident] * static_cast<double>(page);
    if (const auto boot = boot_unix_s()) stats.start_unix_s = *boot + value[kStart] / per_s;
}

}  // namespace

ProcessStats process_stats() {
    ProcessStats stats;
    read_stat(stats);
    std::error_code error;
    std::filesystem::directory_iterator files("/proc/self/fd", error);
    double open = 0.0;
    for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) ++open;
    if (!error) stats.open_fds = open - 1.0;  // the one that lists them
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        stats.max_fds = static_cast<double>(limit.rlim_cur);
    return stats;
}

}  // namespace orrery::server
