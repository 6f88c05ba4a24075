#include "server/cli/verify_execution.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "server/cli/command_line.h"

namespace orrery::server {

void ExecutionOptions::add_to(CLI::App& app, VerifySettings& settings) {
    app.add_option("--target", target_,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon, wasm (the bits are the same)");
    auto* threads = app.add_option("--threads", settings.threads, "threads inside a tick (no bit depends on it)")
                        ->check(whole_number(1, kMaxThreads))
                        ->capture_default_str();
    app.add_option("--parallel", settings.parallel, "number of parts between keyframes that are verified in parallel")
        ->check(whole_number(1, kMaxThreads))
        ->excludes(threads)
        ->capture_default_str();
    add_jacobi_option(app, jacobi_);
    add_max_bodies_option(app, settings.max_bodies);
}

std::optional<int> ExecutionOptions::apply(VerifySettings& settings) {
    int exit = kExitGood;
    const std::optional<sim::Target> found = parse_target(target_, exit);
    if (!found) return exit;
    settings.target = *found;
    Result<RigBackend> backend = pick_rig_backend(jacobi_);
    if (!backend) return complain(backend.error(), kExitMachine);
    backend_ = std::move(backend).value();
    settings.rig_device = backend_.device.get();
    return std::nullopt;
}

VerifyRun::VerifyRun(const VerifySettings& settings) {
    const std::uint32_t workers = std::max(settings.threads, settings.parallel);
    if (workers > 1) pool = std::make_unique<ThreadPool>(workers);
    options.target = settings.target;
    options.executor = settings.parallel > 1 ? nullptr : pool.get();
    options.stretches = settings.parallel > 1 ? pool.get() : nullptr;
    options.rig_device = settings.rig_device;
    options.progress = settings.progress;
    options.load_scene = [&settings](const protocol::replay::FileHeader& header) {
        return protocol::replay::load_recorded_scene(header, settings.max_bodies);
    };
}

}  // namespace orrery::server
