#include "server/base/signing_key.h"

#include <string>

#include "server/base/hex.h"
#include "server/base/key_file.h"
#include "server/base/new_file.h"

namespace orrery::server {

using protocol::replay::SigningKey;

Result<SigningKey> read_signing_key(const std::string& path) {
    Result<protocol::Key> seed = read_key_file(path);
    if (!seed) return seed.error();
    const SigningKey key = protocol::replay::make_signing_key(*seed);
    protocol::wipe(*seed);
    return key;
}

Result<SigningKey> create_signing_key(const std::string& path) {
    protocol::SystemRandom random;
    protocol::Key seed = random.next_key();
    std::string text = to_hex(seed) + "\n";
    NewFile file(path, 0600);
    Result<Ok> done = file.is_open() ? Result<Ok>(Ok{}) : file.error("open");
    if (done) done = file.append(text);
    if (done) done = file.keep();
    const SigningKey key = protocol::replay::make_signing_key(seed);
    protocol::wipe({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    protocol::wipe(seed);
    if (!done) return done.error();
    return key;
}

}  // namespace orrery::server
