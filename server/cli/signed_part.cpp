#include "server/cli/signed_part.h"

#include "server/base/hex.h"

namespace orrery::server {

std::optional<SignedPart> signed_part(const protocol::replay::VerifyReport& report, const TrustFile* trust) {
    for (auto place = report.signs.rbegin(); place != report.signs.rend(); ++place) {
        const TrustedKey* known = trust ? trust->find(place->record.key) : nullptr;
        if (trust && !known) continue;
        return SignedPart{.tick = place->record.tick,
                          .whole = place->whole,
                          .key = place->record.key,
                          .name = known ? known->name : to_hex(place->record.key)};
    }
    return std::nullopt;
}

}  // namespace orrery::server
