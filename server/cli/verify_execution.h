// How a verification runs: its options, which `orrery verify` and `--segment` share, and what they mean.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/cli/verify.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"

namespace CLI {
class App;
}

namespace orrery::server {

// The options --target, --threads, --parallel, --jacobi and --max-bodies. It has the device that the settings name.
class ExecutionOptions {
  public:
    void add_to(CLI::App& app, VerifySettings& settings);
    // After the arguments were parsed. An exit code: this machine lacks something, and it was told.
    std::optional<int> apply(VerifySettings& settings);

  private:
    std::string target_ = "auto", jacobi_ = "auto";
    RigBackend backend_;
};

// What protocol/replay gets of the settings, which outlive it.
struct VerifyRun {
    explicit VerifyRun(const VerifySettings& settings);
    std::unique_ptr<ThreadPool> pool;  // null: one thread
    protocol::replay::VerifyOptions options;
};

}  // namespace orrery::server
