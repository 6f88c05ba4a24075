#include "server/cli/replay_key.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "server/base/hex.h"
#include "server/base/key_file.h"
#include "server/base/signing_key.h"
#include "server/cli/command_line.h"

namespace orrery::server {

int key_command(const std::vector<std::string>& arguments) {
    std::string out, of, name;
    CLI::App app(
        "Makes a key that signs recordings. The secret key is written to a file of mode 0600, as 64 hex digits, and "
        "stays with the host that signs. The public key is printed: a line for the file of `orrery verify --trust`.",
        "orrery replay key");
    auto* file = app.add_option("--out", out, "the new file of the secret key; one that exists is not overwritten");
    app.add_option("--of", of, "print the public key of this secret key file, and make none")->excludes(file);
    app.add_option("--name", name, "name of the key, before its digits in the line; without spaces and #");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (out.empty() == of.empty()) return complain("name the new file of the key with --out", kExitUsage);
    if (name.find_first_of(" \t\r\n#") != std::string::npos)
        return complain("--name " + name + ": a name has no spaces and no #", kExitUsage);
    forbid_core_files();
    const auto key = of.empty() ? create_signing_key(out) : read_signing_key(of);
    if (!key) return complain(key.error(), kExitInput);
    std::printf("%s%s%s\n", name.c_str(), name.empty() ? "" : " ", to_hex(protocol::replay::public_key(*key)).c_str());
    return kExitGood;
}

}  // namespace orrery::server
