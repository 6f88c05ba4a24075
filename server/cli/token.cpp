#include "server/cli/token.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"
#include "server/cli/command_line.h"
#include "server/net/key_file.h"

namespace orrery::server {

namespace {

struct TokenOptions {
    std::string key_file, server, out = "connect.token";
    std::uint64_t client_id = 0;
    std::uint32_t expires_s = 300;
};

}  // namespace

int token_command(const std::vector<std::string>& arguments) {
    TokenOptions options;
    CLI::App app("Makes one connect token for `orrery_drive --token FILE` or any client of netcode 1.02.",
                 "orrery token");
    app.add_option("--key-file", options.key_file, "file with the key of the server: 64 hex digits, mode 0600")
        ->required();
    app.add_option("--server", options.server, "address of the server for the client, for example 192.0.2.7:7770")
        ->required();
    app.add_option("--client-id", options.client_id, "number of the player, who can be connected once at a time")
        ->required()
        ->check(whole_number(0, UINT64_MAX));
    app.add_option("--expires-s", options.expires_s, "seconds in which the token may be used")
        ->check(whole_number(1, 86'400))
        ->capture_default_str();
    app.add_option("--out", options.out, "file to write (mode 0600), - for stdout")->capture_default_str();
    if (const auto exit = parse_arguments(app, arguments)) return *exit;

    const Result<protocol::Address> server = protocol::Address::parse(options.server);
    if (!server) return complain(server.error(), kExitUsage);
    if (server->port == 0)
        return complain("--server " + options.server + ": name the port that it listens on", kExitUsage);
    Result<protocol::Key> key = read_key_file(options.key_file);
    if (!key) return complain(key.error(), kExitInput);
    forbid_core_files();
    protocol::TokenRequest request;
    request.protocol_id = protocol::kNetcodeProtocolId;
    request.client_id = options.client_id;
    request.servers.add(*server);
    request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
    request.expires_in_seconds = options.expires_s;
    protocol::SystemRandom random;
    const Result<protocol::PublicTokenBytes> token = protocol::mint_connect_token(request, *key, random);
    protocol::wipe(*key);
    if (!token) return complain(token.error(), kExitInternal);
    if (options.out == "-") {
        const bool written =
            std::fwrite(token->data(), 1, token->size(), stdout) == token->size() && std::fflush(stdout) == 0;
        return written ? kExitGood
                       : complain("stdout did not take the token; make room for it, or name a file with --out",
                                  kExitMachine);
    }
    const Result<Ok> written = write_secret_file(options.out, *token);
    return written ? kExitGood : complain(written.error(), kExitMachine);
}

}  // namespace orrery::server
