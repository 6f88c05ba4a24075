#include "server/cli/replay.h"

#include <cstdio>

#include "server/cli/command_line.h"
#include "server/cli/trace.h"

namespace orrery::server {

namespace {

constexpr char kHelp[] =
    "usage: orrery replay WHAT REPLAY [options]\n\n"
    "  trace    simulate a recording again, and print where bodies were and what happened\n\n"
    "`orrery replay WHAT --help` lists the options.\n";

}  // namespace

int replay_command(const std::vector<std::string>& arguments) {
    if (!arguments.empty() && arguments[0] == "trace") return trace_command({arguments.begin() + 1, arguments.end()});
    const bool asked = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
    if (!asked && !arguments.empty())
        static_cast<void>(complain("there is no \"replay " + arguments[0] + "\"", kExitUsage));
    std::fputs(kHelp, asked ? stdout : stderr);
    return asked ? kExitGood : kExitUsage;
}

}  // namespace orrery::server
