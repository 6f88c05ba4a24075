#include "server/cli/rig_backend.h"

#include <CLI/CLI.hpp>

#include "server/cli/command_line.h"
#include "sim/rigs/rigs.h"

namespace orrery::server {

void add_jacobi_option(CLI::App& app, std::string& name) {
    app.add_option("--jacobi", name,
                   "device that solves large rigs: auto (a CUDA device if there is one and it pays off), cpu or cuda "
                   "(no bit depends on it)")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
}

std::optional<RigBackend> pick_rig_backend(const std::string& name, int& exit, RigWarning warn) {
    if (name == "cpu") return RigBackend{nullptr, "CPU"};
    const RigModuleFound found = find_rig_module();
    if (found.module == nullptr) {
        if (name == "auto") return RigBackend{nullptr, "CPU (" + found.text + ")"};
        exit = complain("--jacobi cuda: " + found.text + "; --jacobi cpu gives the same bits", kExitMachine);
        return std::nullopt;
    }
    ModuleRigDevice::Settings settings;
    settings.always = name == "cuda";
    settings.on_lost = [warn = std::move(warn)](const std::string& why) {
        const std::string text =
            "the CUDA device was lost (" + why + "); the CPU goes on from the last tick, with the same bits";
        if (warn)
            warn(text);
        else
            complain(text, kExitMachine);
    };
    return RigBackend{std::make_unique<ModuleRigDevice>(*found.module, std::move(settings)), found.text};
}

std::optional<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, int& exit,
                                           RigWarning warn) {
    if (name == "auto" && !sim::may_have_rigs(def)) return RigBackend{nullptr, "none"};
    return pick_rig_backend(name, exit, std::move(warn));
}

}  // namespace orrery::server
