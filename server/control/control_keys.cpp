#include "server/control/control_keys.h"

#include <sodium.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/base/hex.h"
#include "server/base/key_file.h"

namespace orrery::server {

using protocol::Key;

namespace {

constexpr const char* kForm =
    "is not NAME LEVEL KEY, where LEVEL is read, operate or admin and KEY has 64 hex digits; make one: head -c 32 "
    "/dev/urandom | od -An -tx1 | tr -d ' \\n'";

std::vector<std::string_view> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    while (words.size() < 4) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

std::optional<ControlLevel> level_of(std::string_view word) {
    for (const ControlLevel level : {ControlLevel::read, ControlLevel::operate, ControlLevel::admin})
        if (word == name_of(level)) return level;
    return std::nullopt;
}

bool is_name(std::string_view word) {
    return word.size() <= kMaxControlKeyNameBytes && std::ranges::all_of(word, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-' || c == '.';
           });
}

}  // namespace

std::string_view name_of(ControlLevel level) {
    switch (level) {
        case ControlLevel::read:
            return "read";
        case ControlLevel::operate:
            return "operate";
        case ControlLevel::admin:
            break;
    }
    return "admin";
}

ControlKeys::~ControlKeys() {
    for (Entry& entry : keys_) protocol::wipe(entry.key);
}

ControlKeys& ControlKeys::operator=(ControlKeys&& other) noexcept {
    std::swap(keys_, other.keys_);
    return *this;
}

Result<ControlKeys> ControlKeys::read(const std::string& path) {
    SecretText secret;
    if (const Result<Ok> good = read_secret_file(path, kMaxControlKeysBytes, secret); !good) return good.error();
    std::string_view text = secret.text;
    ControlKeys keys;
    keys.keys_.reserve(kMaxControlKeys);  // no copy of a key is left behind
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::vector<std::string_view> words = words_of(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (words.empty()) continue;
        const auto wrong = [&](const std::string& message, ErrorCode code = ErrorCode::parse) {
            return Error{code, path + ":" + std::to_string(number), message};
        };
        if (keys.keys_.size() == kMaxControlKeys)
            return wrong("is one key more than " + std::to_string(kMaxControlKeys) + " (kMaxControlKeys); remove keys",
                         ErrorCode::limit_reached);
        Entry& entry = keys.keys_.emplace_back();
        const std::optional<ControlLevel> level = words.size() == 3 ? level_of(words[1]) : std::nullopt;
        if (!level || !key_of_digits(words[2], entry.key)) return wrong(kForm);
        if (!is_name(words[0]))
            return wrong("has a name of other characters than a-z A-Z 0-9 _ . -, or of more than " +
                         std::to_string(kMaxControlKeyNameBytes) + " (kMaxControlKeyNameBytes); give the key another");
        entry.holder = {std::string(words[0]), *level};
        for (std::size_t i = 0; i + 1 < keys.keys_.size(); ++i) {
            if (keys.keys_[i].holder.name == entry.holder.name)
                return wrong("has the name " + entry.holder.name + " again; give each key a name of its own");
            if (sodium_memcmp(keys.keys_[i].key.data(), entry.key.data(), entry.key.size()) == 0)
                return wrong("has the key of " + keys.keys_[i].holder.name + " again; remove one of the lines");
        }
    }
    if (keys.keys_.empty()) return Error{ErrorCode::parse, path, std::string("has no key; each line ") + kForm};
    return keys;
}

Result<ControlKeys> ControlKeys::read_or_make(const std::string& path, protocol::RandomSource& random) {
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
        Result<ControlKeys> kept = read(path);
        if (kept) return kept;
        return Error{kept.error().code, kept.error().place,
                     kept.error().message + "; or remove the file for a new one"};
    }
    ControlKeys keys;
    Entry& entry = keys.keys_.emplace_back();
    entry.holder = {"admin", ControlLevel::admin};
    random.fill(entry.key);
    SecretText secret;
    secret.text.reserve(128);
    secret.text = "admin admin ";
    std::array<char, 2 * protocol::kKeyBytes + 1> digits;
    sodium_bin2hex(digits.data(), digits.size(), entry.key.data(), entry.key.size());
    secret.text.append(digits.data()).append("\n");
    sodium_memzero(digits.data(), digits.size());
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(secret.text.data());
    if (const Result<Ok> written = write_secret_file(path, {bytes, secret.text.size()}); !written)
        return written.error();
    return keys;
}

std::optional<std::string> ControlKeys::first_of(ControlLevel least) const {
    for (const Entry& entry : keys_)
        if (entry.holder.level >= least) return to_hex(entry.key);
    return std::nullopt;
}

std::optional<ControlKeys::Holder> ControlKeys::find(std::string_view digits) const {
    Key key{};
    if (!key_of_digits(digits, key)) return std::nullopt;
    const Entry* found = nullptr;
    for (const Entry& entry : keys_)  // all of them, whichever it is
        if (sodium_memcmp(entry.key.data(), key.data(), key.size()) == 0) found = &entry;
    protocol::wipe(key);
    return found ? std::optional(found->holder) : std::nullopt;
}

}  // namespace orrery::server
