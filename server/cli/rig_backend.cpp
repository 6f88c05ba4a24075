#include "server/cli/rig_backend.h"

#include <CLI/CLI.hpp>

#include "server/cli/command_line.h"
#include "sim/jacobi/rigs.h"

namespace orrery::server {

std::vector<std::string> rig_fault_texts(const sim::RigFaults& faults, const sim::WorldDef& def) {
    std::vector<std::string> texts;
    if (faults.beyond_limits > 0)
        texts.push_back("rigs beyond " + std::string(faults.limit) + ": " + std::to_string(faults.beyond_limits) +
                        ", solved in colours and less exactly; divide them");
    const auto named = [&](std::uint32_t first, std::uint32_t count, const char* one, const char* more) {
        return "rigs[" + std::to_string(first) + "] '" + def.rigs[first].name + "'" + (count > 1 ? " and " + std::to_string(count - 1) + " more " + more : std::string(" ") + one);
    };
    if (faults.unheeded > 0)
        texts.push_back(named(faults.first_unheeded, faults.unheeded, "is", "are") +
                        " not heeded: an entry before it names bodies of the same rig with other settings; leave one of them");
    if (faults.looped > 0)
        texts.push_back(named(faults.first_looped, faults.looped, "has", "have") +
                        " loops, which `direct` does not solve: solved in colours and less exactly; `auto` or `jacobi` iterate over all joints at once");
    if (faults.idle > 0)
        texts.push_back(named(faults.first_idle, faults.idle, "holds", "hold") +
                        " nothing: no ball socket or rod is on the bodies named; if none broke or was removed, name a body of the rope, tree or net");
    return texts;
}

void add_jacobi_option(CLI::App& app, std::string& name) {
    app.add_option("--jacobi", name,
                   "who solves large rigs: auto (a CUDA device where one answers and it pays), cpu or cuda (no bit depends on it)")
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
        const std::string text = "the CUDA device is lost (" + why + "); the CPU goes on from the last tick, with the same bits";
        if (warn) warn(text);
        else complain(text, kExitMachine);
    };
    return RigBackend{std::make_unique<ModuleRigDevice>(*found.module, std::move(settings)), found.text};
}

std::optional<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, int& exit, RigWarning warn) {
    if (name == "auto" && !sim::may_have_rigs(def)) return RigBackend{nullptr, "none"};
    return pick_rig_backend(name, exit, std::move(warn));
}

}  // namespace orrery::server
