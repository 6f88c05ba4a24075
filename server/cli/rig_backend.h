// The option --jacobi: the device that solves large rigs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/room/rig_module.h"

namespace CLI {
class App;
}

namespace orrery::server {

struct RigBackend {
    std::unique_ptr<sim::RigDevice> device;  // null: the CPU
    std::string text;                        // "NVIDIA H100, 81559 MiB", "CPU (why)"
};

// Gets the text when the device is lost. Any thread that steps may call it.
using RigWarning = std::function<void(const std::string&)>;

// Adds the option, which sets `name` to "auto", "cpu" or "cuda".
void add_jacobi_option(CLI::App& app, std::string& name);
// The device for `name` and a world of this definition. `auto`: a GPU if one answers and the world may have rigs,
// otherwise the CPU. `cuda`: the GPU for any number of bodies; if there is none, `exit` gets the exit code.
std::optional<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, int& exit,
                                           RigWarning warn = {});
// The same, before a scene is known.
std::optional<RigBackend> pick_rig_backend(const std::string& name, int& exit, RigWarning warn = {});

}  // namespace orrery::server
