// The exit codes of the programs.
#pragma once

namespace orrery::server {

// `orrery --help` lists these; every subcommand uses them.
enum ExitCode : int {
    kExitGood = 0,
    kExitFalse = 1,    // a check failed
    kExitInput = 2,    // the input is unreadable, corrupt, or of another engine version
    kExitMachine = 3,  // this machine or build cannot do it, or the output cannot be written
    kExitUsage = 64,
    kExitInternal = 70,
};

}  // namespace orrery::server
