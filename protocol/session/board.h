// The board of a room: values by name that every client of the room sees. It holds what stands and not what happens:
// scores, the phase of a match, doors. A client that joins gets the whole board, and later the keys that change.
//
// Versions number the changes. Who knows the board at a version is brought up to date by `changes()` after it, with the
// present value of each key. So a reader that is slow skips values, and its backlog is bounded by the board's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

inline constexpr std::size_t kMaxBoardKeyBytes = 64;      // of one key
inline constexpr std::size_t kMaxBoardKeys = 1024;        // keys at one time
inline constexpr std::size_t kMaxBoardBytes = 64u << 10;  // of all keys and values together

// The result of Board::set.
enum class BoardStatus : std::uint8_t {
    ok,       // the key has the value
    bad_key,  // not is_key()
    full,     // kMaxBoardKeys or kMaxBoardBytes
};

// The board as the server has it.
class Board {
  public:
    // The present value of a key.
    struct Value {
        std::vector<std::uint8_t> bytes;  // the game gives them their meaning
        std::uint64_t version = 0;        // of the change that set it
    };

    // 1 to kMaxBoardKeyBytes bytes, none of them zero.
    static bool is_key(std::string_view key);

    // A value equal to the present one is no change. After a status other than `ok` the board is as it was.
    BoardStatus set(std::string_view key, Bytes value);
    bool remove(std::string_view key);              // false: there is no such key
    const Value* find(std::string_view key) const;  // valid until the next change; null: there is no such key
    const std::map<std::string, Value, std::less<>>& values() const { return values_; }  // by key
    std::size_t bytes() const { return bytes_; }  // of all keys and values together

    std::uint64_t version() const { return version_; }  // of the last change; 0: never changed
    // By version: the last change of each key. A key without a value was removed.
    const std::map<std::uint64_t, std::string>& changes() const { return changes_; }
    // Removals up to this version are no longer in changes(): who knows only an older board needs the whole.
    std::uint64_t forgotten() const { return forgotten_; }

  private:
    void forget_older_half();  // of the removals
    void changed(std::string_view key, std::uint64_t old_version);

    std::map<std::string, Value, std::less<>> values_;
    std::map<std::string, std::uint64_t, std::less<>> removed_;  // at most kMaxBoardKeys
    std::map<std::uint64_t, std::string> changes_;
    std::size_t bytes_ = 0;
    std::uint64_t version_ = 0, forgotten_ = 0;
};

}  // namespace orrery::protocol
