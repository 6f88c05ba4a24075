// The choice of the device that solves large rigs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/room/rig_module.h"
#include "sim/base/result.h"

namespace orrery::server {

struct RigBackend {
    std::unique_ptr<sim::RigDevice> device;  // null: the CPU
    std::string text;                        // "NVIDIA H100, 81559 MiB", "CPU (why)"
};

// Gets the text when the device is lost. Any thread that steps may call it.
using RigWarning = std::function<void(const std::string&)>;

// The device for `name` and a world of this definition. `auto`: a GPU if one answers and the world may have rigs,
// otherwise the CPU. `cpu`: the CPU. `cuda`: the GPU for any number of bodies; if there is none, the error has the code
// unsupported_target. Without `warn` the loss of the device is told on stderr.
Result<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, RigWarning warn = {});
// The same, before a scene is known.
Result<RigBackend> pick_rig_backend(const std::string& name, RigWarning warn = {});

}  // namespace orrery::server
