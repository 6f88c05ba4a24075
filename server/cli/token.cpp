#include "server/cli/token.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"
#include "protocol/session/token_role.h"
#include "server/base/hex.h"
#include "server/base/key_file.h"
#include "server/base/scene_file.h"
#include "server/cli/command_line.h"

namespace orrery::server {

using namespace orrery::protocol;

namespace {

struct TokenOptions {
    std::string key_file, server, role, user_data, out = "connect.token";
    std::uint64_t client_id = 0;
    std::uint32_t expires_s = 300;
};

constexpr std::array<const char*, kTokenRoles> kRoleNames = {"player", "spectator", "director"};

// What the options say, as the token's user data. An error is the user's.
Result<UserData> user_data_of(const TokenOptions& options) {
    const std::string& text = options.user_data;
    std::vector<std::uint8_t> bytes;
    if (text.starts_with('@')) {
        Result<std::vector<std::uint8_t>> file = read_file(text.substr(1), kUserDataBytes, "kUserDataBytes");
        if (!file) return file.error();
        bytes = std::move(file).value();
    } else {
        std::optional<std::vector<std::uint8_t>> hex = from_hex(text);
        if (!hex) {
            return Error{ErrorCode::invalid_argument, "--user-data " + text.substr(0, 64),
                         "is not an even number of hex digits; name a file with @FILE"};
        }
        bytes = std::move(*hex);
    }
    const auto role = std::find(kRoleNames.begin(), kRoleNames.end(), options.role);
    const std::size_t room = role == kRoleNames.end() ? kUserDataBytes : kRoleGameBytes;
    if (bytes.size() > room) {
        return Error{ErrorCode::limit_reached, "--user-data",
                     "has " + std::to_string(bytes.size()) + " bytes; there is room for " + std::to_string(room) +
                         (room == kRoleGameBytes ? " beside the role" : "")};
    }
    if (role != kRoleNames.end())
        return *write_token_identity(static_cast<TokenRole>(role - kRoleNames.begin()), bytes);
    UserData out{};
    std::copy(bytes.begin(), bytes.end(), out.begin());
    if (read_token_identity(out)) return out;
    return Error{ErrorCode::invalid_argument, "--user-data",
                 "begins with ORRYROLE and has a version or role that no server knows; see --role"};
}

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
    app.add_option("--role", options.role, "what the server makes of the client; without it: a player")
        ->check(CLI::IsMember(std::vector<std::string>(kRoleNames.begin(), kRoleNames.end())));
    app.add_option("--user-data", options.user_data,
                   "bytes for the game on the server: hex digits, or @FILE; at most 256, with --role 246");
    app.add_option("--out", options.out, "file to write (mode 0600), - for stdout")->capture_default_str();
    if (const auto exit = parse_arguments(app, arguments)) return *exit;

    const Result<Address> server = Address::parse(options.server);
    if (!server) return complain(server.error(), kExitUsage);
    if (server->port == 0)
        return complain("--server " + options.server + ": name the port that it listens on", kExitUsage);
    const Result<UserData> user_data = user_data_of(options);
    if (!user_data)
        return complain(user_data.error(), user_data.error().code == ErrorCode::io ? kExitInput : kExitUsage);
    Result<Key> key = read_key_file(options.key_file);
    if (!key) return complain(key.error(), kExitInput);
    forbid_core_files();
    TokenRequest request;
    request.protocol_id = kNetcodeProtocolId;
    request.client_id = options.client_id;
    request.servers.add(*server);
    request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
    request.expires_in_seconds = options.expires_s;
    request.user_data = *user_data;
    SystemRandom random;
    const Result<PublicTokenBytes> token = mint_connect_token(request, *key, random);
    wipe(*key);
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
