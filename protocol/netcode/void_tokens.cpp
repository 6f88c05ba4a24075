#include "protocol/netcode/void_tokens.h"

#include <algorithm>

namespace orrery::protocol {

void VoidTokens::add(std::uint64_t client_id, std::uint64_t until_unix_s) {
    std::uint64_t& until = until_by_id_[client_id];
    until = std::max(until, until_unix_s);
    if (until_by_id_.size() <= kMaxVoidIds) return;
    until_by_id_.erase(std::min_element(until_by_id_.begin(), until_by_id_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; }));
}

bool VoidTokens::contains(std::uint64_t client_id, std::uint64_t expire_timestamp) const {
    if (expire_timestamp <= until_of_all_) return true;
    const auto found = until_by_id_.find(client_id);
    return found != until_by_id_.end() && expire_timestamp <= found->second;
}

}  // namespace orrery::protocol
