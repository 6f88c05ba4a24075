#include "server/base/trust_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "server/base/hex.h"
#include "server/base/scene_file.h"

namespace orrery::server {

using protocol::replay::PublicKey;

namespace {

// What is left of a line without its comment, word by word.
std::vector<std::string_view> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (;;) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return words;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

std::optional<PublicKey> key_of(std::string_view digits) {
    const auto bytes = from_hex(digits);
    PublicKey key{};
    if (!bytes || bytes->size() != key.size()) return std::nullopt;
    std::copy(bytes->begin(), bytes->end(), key.begin());
    return key;
}

}  // namespace

const TrustedKey* TrustFile::find(const PublicKey& key) const {
    const auto found = std::ranges::find(keys_, key, &TrustedKey::key);
    return found == keys_.end() ? nullptr : &*found;
}

Result<TrustFile> TrustFile::read(const std::string& path) {
    const auto bytes = read_file(path, kMaxTrustBytes, "kMaxTrustBytes");
    if (!bytes) return bytes.error();
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    TrustFile trust;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::vector<std::string_view> words = words_of(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (words.empty()) continue;
        const auto wrong = [&](const std::string& message) {
            return Error{ErrorCode::parse, path + ":" + std::to_string(number), message};
        };
        const std::optional<PublicKey> key = words.size() <= 2 ? key_of(words.back()) : std::nullopt;
        if (!key)
            return wrong(
                "is not NAME KEY or KEY, where KEY has 64 hex digits (see orrery replay key); begin a comment "
                "with #");
        if (const TrustedKey* same = trust.find(*key))
            return wrong("has the key of " + same->name + " again; remove one of the lines");
        trust.keys_.push_back({std::string(words.front()), *key});
    }
    if (trust.keys_.empty())
        return Error{ErrorCode::parse, path, "has no key; add a line NAME KEY (see orrery replay key)"};
    return trust;
}

}  // namespace orrery::server
