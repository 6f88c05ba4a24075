// The GPU as a world sees it: a module that is loaded at run time, so that one program runs with and without one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/rigs/cuda/module.h"
#include "sim/base/result.h"

namespace orrery::server {

// By a module's table, which must outlive it. Sessions may be used from different threads.
class ModuleRigDevice final : public sim::RigDevice {
  public:
    struct Settings {
        bool always = false;  // else where rig_costs say that it pays
        std::function<void(const std::string& why)> on_lost;   // may be empty; called from the thread that steps
    };
    ModuleRigDevice(const sim::RigModule& module, Settings settings) : module_(module), settings_(std::move(settings)) {}
    std::unique_ptr<sim::RigSession> open() override;

  private:
    class Session;
    void lose(const char* why);

    const sim::RigModule& module_;
    Settings settings_;
    std::atomic<bool> lost_{false};
};

struct RigModuleFound {
    const sim::RigModule* module = nullptr;  // null: none can be used
    std::string text;                        // the device's name; or why there is none
};

// The module at ORRERY_JACOBI_MODULE, else liborrery_jacobi_cuda.so beside the program, in ../lib beside that, or where the
// loader looks; it stays loaded. Where it finds none, or one of another build, or no device answers, or its bits are not the
// CPU's in a trial of some ticks, says so.
RigModuleFound find_rig_module();

}  // namespace orrery::server
