// The keys of the control API. A file has one a line: a name without spaces, a level, and 64 hex digits. # begins a
// comment. Only the file's owner may read it (mode 0600 or less).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/netcode/crypto.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::size_t kMaxControlKeys = 256;           // a request is compared with all of them
inline constexpr std::size_t kMaxControlKeyNameBytes = 64;    // of a-z A-Z 0-9 _ . -
inline constexpr std::size_t kMaxControlKeysBytes = 1 << 16;  // of a file

// Each may do what those before it may.
enum class ControlLevel : std::uint8_t { read, operate, admin };
std::string_view name_of(ControlLevel level);

class ControlKeys {
  public:
    // An error names file and line, and never a digit of a key: a line of another form, a name or a key that stands
    // there twice, too many keys, none at all, or a file that others may read.
    static Result<ControlKeys> read(const std::string& path);
    // The same, but where no file is: writes one with a random key, "admin", of level admin. So servers that record to
    // one folder, at a time or one after the other, have one key.
    static Result<ControlKeys> read_or_make(const std::string& path, protocol::RandomSource& random);

    ControlKeys() = default;  // no key fits
    ~ControlKeys();
    ControlKeys(ControlKeys&&) noexcept = default;
    ControlKeys& operator=(ControlKeys&& other) noexcept;

    struct Holder {
        std::string name;
        ControlLevel level = ControlLevel::read;
    };
    // Whose key the 64 hex digits are. It is compared with every key in constant time.
    std::optional<Holder> find(std::string_view digits) const;
    // The digits of the first key that may do this, for a client. Empty: none may.
    std::optional<std::string> first_of(ControlLevel least) const;
    std::size_t size() const { return keys_.size(); }

  private:
    struct Entry {
        Holder holder;
        protocol::Key key{};
    };
    std::vector<Entry> keys_;
};

}  // namespace orrery::server
