#include "server/base/build_info.h"

#include <fstream>

namespace orrery::server {

namespace {

std::string& build_commit() {
    static std::string commit;
    return commit;
}

constexpr const char* kCompiler =
#ifdef __clang__
    "Clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

}  // namespace

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

std::string_view build_version() { return ORRERY_VERSION; }

void set_build_commit(std::string_view commit) { build_commit() = commit; }

std::vector<protocol::replay::KeyValue> about_build(sim::Target target) {
    const sim::Target used = target == sim::Target::automatic ? sim::best_target() : target;
    std::vector<protocol::replay::KeyValue> pairs = {{"build", "orrery " ORRERY_VERSION},
                                                     {"compiler", kCompiler},
                                                     {"cpu", cpu_name()},
                                                     {"target", std::string(sim::target_name(used))}};
    if (!build_commit().empty()) pairs.push_back({"commit", build_commit()});
    return pairs;
}

}  // namespace orrery::server
