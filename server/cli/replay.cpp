#include "server/cli/replay.h"

#include <cstdio>

#include "server/cli/command_line.h"
#include "server/cli/replay_cut.h"
#include "server/cli/replay_export.h"
#include "server/cli/replay_hashes.h"
#include "server/cli/replay_info.h"
#include "server/cli/replay_key.h"
#include "server/cli/replay_seek.h"
#include "server/cli/replay_state.h"
#include "server/cli/trace.h"

namespace orrery::server {

namespace {

constexpr char kHelp[] =
    "usage: orrery replay WHAT REPLAY [options]\n\n"
    "  info     print what a recording is: scene, engine version, ticks, players, notes, sizes\n"
    "  trace    simulate a recording again, and print where bodies were and what happened\n"
    "  state    print every field of its world after a tick\n"
    "  hashes   simulate it, and print the hashes of every tick\n"
    "  cut      write a part of it as a recording of its own\n"
    "  export   write how its bodies move, as CSV or as an animation (glTF 2.0)\n"
    "  seek     go to ticks in any order, and measure how long that takes\n"
    "  key      make a key that signs recordings\n\n"
    "`orrery replay WHAT --help` lists the options.\n";

}  // namespace

int replay_command(const std::vector<std::string>& arguments) {
    if (!arguments.empty()) {
        const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
        if (arguments[0] == "info") return info_command(rest);
        if (arguments[0] == "trace") return trace_command(rest);
        if (arguments[0] == "state") return state_command(rest);
        if (arguments[0] == "hashes") return hashes_command(rest);
        if (arguments[0] == "cut") return cut_command(rest);
        if (arguments[0] == "export") return export_command(rest);
        if (arguments[0] == "seek") return seek_command(rest);
        if (arguments[0] == "key") return key_command(rest);
    }
    const bool asked = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
    if (!asked && !arguments.empty())
        static_cast<void>(complain("there is no \"replay " + arguments[0] + "\"", kExitUsage));
    std::fputs(kHelp, asked ? stdout : stderr);
    return asked ? kExitGood : kExitUsage;
}

}  // namespace orrery::server
