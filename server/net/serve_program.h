// The whole of a server program: check, create and run. Server is GameServer or RoomsServer.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "orrery/server.hpp"
#include "server/base/exit_code.h"
#include "server/net/game_config.h"
#include "server/net/line_output.h"

namespace orrery::server {

// `exit_code(end)` is that of a server that ran to its end.
template <class Server, class Config, class ExitCode>
int serve_program(const Config& config, const DirectorFactory& make_director, ExitCode exit_code) {
    const auto complain = [](const Error& error, int code) {
        std::fprintf(stderr, "orrery: %s\n", error.to_string().c_str());
        return code;
    };
    if (const Result<Ok> good = check(config); !good) return complain(good.error(), kExitUsage);
    prepare_process();
    const auto server = Server::create(config, make_director);
    if (!server) return complain(server.error(), GameServer::exit_code(server.error()));
    const auto end = (*server)->run();
    if (end) return exit_code(*end);
    write_if_ready(STDERR_FILENO, "orrery: " + end.error().to_string() + "\n");
    return GameServer::exit_code(end.error());
}

}  // namespace orrery::server
