#include "server/room/rig_backend.h"

#include <cstdio>

#include "sim/rigs/rigs.h"

namespace orrery::server {

Result<RigBackend> pick_rig_backend(const std::string& name, RigWarning warn) {
    if (name == "cpu") return RigBackend{nullptr, "CPU"};
    const RigModuleFound found = find_rig_module();
    if (found.module == nullptr) {
        if (name == "auto") return RigBackend{nullptr, "CPU (" + found.text + ")"};
        return Error{ErrorCode::unsupported_target, "--jacobi cuda", found.text + "; --jacobi cpu gives the same bits"};
    }
    ModuleRigDevice::Settings settings;
    settings.always = name == "cuda";
    settings.on_lost = [warn = std::move(warn)](const std::string& why) {
        const std::string text =
            "the CUDA device was lost (" + why + "); the CPU goes on from the last tick, with the same bits";
        if (warn)
            warn(text);
        else
            std::fprintf(stderr, "orrery: %s\n", text.c_str());
    };
    return RigBackend{std::make_unique<ModuleRigDevice>(*found.module, std::move(settings)), found.text};
}

Result<RigBackend> pick_rig_backend(const std::string& name, const sim::WorldDef& def, RigWarning warn) {
    if (name == "auto" && !sim::may_have_rigs(def)) return RigBackend{nullptr, "none"};
    return pick_rig_backend(name, std::move(warn));
}

}  // namespace orrery::server
