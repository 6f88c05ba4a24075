// The public keys whose signatures a verifier trusts. A file has one a line: a name without spaces and 64 hex digits,
// or the digits alone. # begins a comment.
#pragma once

#include <string>
#include <vector>

#include "protocol/replay/ancillary.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::size_t kMaxTrustBytes = std::size_t{1} << 20;  // of a file

struct TrustedKey {
    std::string name;  // the digits, if the file has no name
    protocol::replay::PublicKey key{};
};

class TrustFile {
  public:
    // An error names file and line: a line of another form, a key that stands there twice, or no key at all.
    static Result<TrustFile> read(const std::string& path);

    const std::vector<TrustedKey>& keys() const { return keys_; }
    const TrustedKey* find(const protocol::replay::PublicKey& key) const;  // null: it is not trusted

  private:
    std::vector<TrustedKey> keys_;
};

}  // namespace orrery::server
