#include "server/room/rig_faults.h"

namespace orrery::server {

std::vector<std::string> rig_fault_texts(const sim::RigFaults& faults, const sim::WorldDef& def) {
    std::vector<std::string> texts;
    if (faults.beyond_limits > 0)
        texts.push_back("rigs beyond " + std::string(faults.limit) + ": " + std::to_string(faults.beyond_limits) +
                        ", solved by the coloured solver, less exactly; divide them");
    const auto named = [&](std::uint32_t first, std::uint32_t count, const char* one, const char* more) {
        return "rigs[" + std::to_string(first) + "] '" + def.rigs[first].name + "'" +
               (count > 1 ? " and " + std::to_string(count - 1) + " more " + more : std::string(" ") + one);
    };
    if (faults.unheeded > 0)
        texts.push_back(
            named(faults.first_unheeded, faults.unheeded, "is", "are") +
            " ignored: an earlier entry names bodies of the same rig with other settings; remove one of the entries");
    if (faults.looped > 0)
        texts.push_back(named(faults.first_looped, faults.looped, "has", "have") +
                        " loops, which `direct` does not solve: solved by the coloured solver, less exactly; use "
                        "`auto` or `jacobi`");
    if (faults.idle > 0)
        texts.push_back(named(faults.first_idle, faults.idle, "holds", "hold") +
                        " nothing: its bodies have no ball socket or rod; if none broke or was removed, name a body of "
                        "the rope, tree or net");
    return texts;
}

}  // namespace orrery::server
