#include "server/cli/doctor.h"

#include <flatbuffers/base.h>
#include <hwy/highway.h>
#include <sodium/version.h>
#include <spdlog/version.h>
#include <xxhash.h>
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>
#include <asio/version.hpp>
#include <cstdio>
#include <thread>

#include "protocol/session/key_frame.h"
#include "server/base/build_info.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/room/rig_module.h"

namespace orrery::server {

namespace {

std::string version(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

struct LibraryVersion {
    const char* name;
    std::string version;
};

// Of the headers that this program was built with.
std::vector<LibraryVersion> library_versions() {
    return {
        {"asio", version(ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100)},
        {"cli11", CLI11_VERSION},
        {"flatbuffers", version(FLATBUFFERS_VERSION_MAJOR, FLATBUFFERS_VERSION_MINOR, FLATBUFFERS_VERSION_REVISION)},
        {"highway", version(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
        {"libsodium", SODIUM_VERSION_STRING},
        {"spdlog", version(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
        {"xxhash", version(XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE)},
        {"zstd", ZSTD_VERSION_STRING}};
}

// An empty answer: a UDP socket can be bound on loopback; else why not.
std::string loopback_problem() {
    asio::io_context context;
    asio::error_code error;
    asio::ip::udp::socket socket(context);
    socket.open(asio::ip::udp::v4(), error);
    if (!error) socket.bind({asio::ip::address_v4::loopback(), 0}, error);
    return error ? error.message() : "";
}

struct Limit {
    const char* name;
    double value;
};

std::vector<Limit> limits() {
    return {{"bodies_max", sim::kMaxBodies},
            {"joints_max", sim::kMaxJoints},
            {"scene_bodies_max", static_cast<double>(protocol::kDefaultMaxSceneBodies)},
            {"slots_max", sim::kMaxSlots},
            {"control_channels", sim::kControlChannels},
            {"substeps_max", sim::kMaxSubsteps},
            {"commands_per_tick_max", sim::kMaxCommandsPerTick},
            {"pairs_per_tick_max", sim::kMaxPairs},
            {"hull_vertices_max", sim::kMaxHullVertices},
            {"hull_points_max", sim::kMaxHullPoints},
            {"mesh_vertices_max", sim::kMaxMeshVertices},
            {"mesh_triangles_max", sim::kMaxMeshTriangles},
            {"compound_children_max", sim::kMaxCompoundChildren},
            {"history_ticks_max", sim::kMaxHistoryTicks},
            {"rig_iterations_max", sim::kMaxRigIterations},
            {"coupling_iterations_max", sim::kMaxCouplingIterations},
            {"key_frame_max_bytes", static_cast<double>(protocol::kMaxKeyFrameBytes)},
            {"coordinate_max_m", static_cast<double>(sim::kMaxCoordinate_m)},
            {"linear_speed_max_mps", static_cast<double>(sim::kMaxLinearSpeed_mps)},
            {"angular_speed_max_radps", static_cast<double>(sim::kMaxAngularSpeed_radps)},
            {"hardware_threads", static_cast<double>(std::thread::hardware_concurrency())}};
}

void print_json(const std::vector<std::string>& targets, const std::string& problem, const RigModuleFound& gpu) {
    JsonLine limit_line, version_line, socket_line;
    for (const Limit& limit : limits()) limit_line.number(limit.name, limit.value);
    for (const LibraryVersion& library : library_versions()) version_line.text(library.name, library.version);
    socket_line.boolean("udp_loopback", problem.empty());
    if (!problem.empty()) socket_line.text("problem", problem);
    const std::string line = JsonLine()
                                 .number("engine_version", sim::kEngineVersion)
                                 .text("cpu", cpu_name())
                                 .texts("targets", targets)
                                 .text("best_target", sim::target_name(sim::best_target()))
                                 .text("gpu", gpu.module != nullptr ? gpu.text : "none: " + gpu.text)
                                 .object("limits", limit_line)
                                 .object("sockets", socket_line)
                                 .object("versions", version_line)
                                 .str();
    std::printf("%s\n", line.c_str());
}

void print_text(const std::vector<std::string>& targets, const std::string& problem, const RigModuleFound& gpu) {
    std::printf("engine_version  %u\ncpu             %s\ntargets        ", sim::kEngineVersion, cpu_name().c_str());
    for (const std::string& target : targets) std::printf(" %s", target.c_str());
    std::printf(" (auto: %s)\ngpu             %s\n", std::string(sim::target_name(sim::best_target())).c_str(),
                gpu.module != nullptr ? gpu.text.c_str() : ("none: " + gpu.text).c_str());
    std::printf("sockets         %s\n", problem.empty() ? "a UDP socket can be bound on loopback"
                                                        : ("no UDP socket on loopback: " + problem).c_str());
    std::printf("limits\n");
    for (const Limit& limit : limits()) std::printf("  %-26s %.0f\n", limit.name, limit.value);
    std::printf("versions\n");
    for (const LibraryVersion& library : library_versions())
        std::printf("  %-26s %s\n", library.name, library.version.c_str());
}

}  // namespace

int doctor_command(const std::vector<std::string>& arguments) {
    CLI::App app(
        "Prints what this build and this machine can do: SIMD targets, GPU, limits, sockets, library versions.",
        "orrery doctor");
    bool json = false;
    app.add_flag("--json", json, "print one JSON object instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    std::vector<std::string> targets;
    for (const sim::Target target : sim::available_targets()) targets.emplace_back(sim::target_name(target));
    const std::string problem = loopback_problem();
    const RigModuleFound gpu = find_rig_module();
    if (json)
        print_json(targets, problem, gpu);
    else
        print_text(targets, problem, gpu);
    return kExitGood;
}

}  // namespace orrery::server
