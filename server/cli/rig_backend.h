// --jacobi: who solves large rigs.
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

// As it is said when the device is lost, on whichever thread steps.
using RigWarning = std::function<void(const std::string&)>;

// "auto", "cpu" or "cuda" into `name`.
void add_jacobi_option(CLI::App& app, std::string& name);
// What `name` asks for, for a world of this definition: with `auto` a GPU where one answers and there may be rigs, else the CPU.
// `cuda` takes it for any number of beads. `exit` is set to what to end with where `cuda` is not to be had.
std::optional<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, int& exit, RigWarning warn = {});
// The same before a scene is known.
std::optional<RigBackend> pick_rig_backend(const std::string& name, int& exit, RigWarning warn = {});

}  // namespace orrery::server
