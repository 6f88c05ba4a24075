// How much of a recording is signed, and by whom.
#pragma once

#include <optional>
#include <string>

#include "protocol/replay/verify.h"
#include "server/base/trust_file.h"

namespace orrery::server {

struct SignedPart {
    std::uint64_t tick = 0;  // the last that is signed
    bool whole = false;      // directly before END: nothing was cut off or added
    protocol::replay::PublicKey key{};
    std::string name;  // of the key in the trust file; the digits without one
};

// By the last signature of a recording; with `trust` by the last of one of its keys. Nothing: there is none. It counts
// only of a recording whose bytes were found good.
std::optional<SignedPart> signed_part(const protocol::replay::VerifyReport& report, const TrustFile* trust = nullptr);

}  // namespace orrery::server
