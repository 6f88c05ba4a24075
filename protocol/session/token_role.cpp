#include "protocol/session/token_role.h"

#include <algorithm>
#include <array>

namespace orrery::protocol {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'O', 'R', 'R', 'Y', 'R', 'O', 'L', 'E'};
constexpr std::uint8_t kVersion = 1;
static_assert(kMagic.size() + 2 == kRoleHeaderBytes);

}  // namespace

std::optional<TokenIdentity> read_token_identity(const UserData& user_data) {
    const Bytes bytes(user_data);
    if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) return TokenIdentity{TokenRole::player, bytes};
    const std::uint8_t version = bytes[kMagic.size()], role = bytes[kMagic.size() + 1];
    if (version != kVersion || role >= kTokenRoles) return std::nullopt;
    return TokenIdentity{static_cast<TokenRole>(role), bytes.subspan(kRoleHeaderBytes)};
}

std::optional<UserData> write_token_identity(TokenRole role, Bytes game_data) {
    if (game_data.size() > kRoleGameBytes) return std::nullopt;
    UserData out{};
    auto at = std::copy(kMagic.begin(), kMagic.end(), out.begin());
    *at++ = kVersion;
    *at++ = static_cast<std::uint8_t>(role);
    std::copy(game_data.begin(), game_data.end(), at);
    return out;
}

}  // namespace orrery::protocol
