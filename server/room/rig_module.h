// The GPU as a sim::RigDevice: a module that is loaded at run time, so that one program runs with and without a GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/base/result.h"
#include "sim/rigs/cuda/module.h"

namespace orrery::server {

// A device that calls a module's table of functions. The table must outlive the device. Different threads may use the
// sessions.
class ModuleRigDevice final : public sim::RigDevice {
  public:
    struct Settings {
        bool always = false;  // true: always; false: only if rig_costs() says that it pays off
        std::function<void(const std::string& why)> on_lost;  // may be empty; called from the thread that steps
    };
    ModuleRigDevice(const sim::RigModule& module, Settings settings)
        : module_(module), settings_(std::move(settings)) {}
    std::unique_ptr<sim::RigSession> open() override;

  private:
    class Session;
    void lose(const char* why);

    const sim::RigModule& module_;
    Settings settings_;
    std::atomic<bool> lost_{false};
};

struct RigModuleFound {
    const sim::RigModule* module = nullptr;  // null: no module can be used
    std::string text;                        // the name of the device, or the reason why there is none
};

// Finds the module at ORRERY_JACOBI_MODULE, else liborrery_jacobi_cuda.so beside the program, in ../lib beside that, or
// on the loader's path. It stays loaded. No module is used if none is found, if it is of another build, if no device
// answers, or if its bits differ from the CPU's in a trial of some ticks; `text` says which.
RigModuleFound find_rig_module();

}  // namespace orrery::server
