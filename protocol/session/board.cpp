#include "protocol/session/board.h"

#include <algorithm>

namespace orrery::protocol {

bool Board::is_key(std::string_view key) {
    return !key.empty() && key.size() <= kMaxBoardKeyBytes && key.find('\0') == std::string_view::npos;
}

BoardStatus Board::set(std::string_view key, Bytes value) {
    if (!is_key(key)) return BoardStatus::bad_key;
    auto at = values_.find(key);
    const bool known = at != values_.end();
    const std::size_t before = known ? key.size() + at->second.bytes.size() : 0;
    if (!known && values_.size() == kMaxBoardKeys) return BoardStatus::full;
    if (bytes_ - before + key.size() + value.size() > kMaxBoardBytes) return BoardStatus::full;
    if (known && std::equal(value.begin(), value.end(), at->second.bytes.begin(), at->second.bytes.end()))
        return BoardStatus::ok;
    if (!known) at = values_.emplace(std::string(key), Value{}).first;
    const auto tombstone = removed_.find(key);
    changed(key, tombstone == removed_.end() ? at->second.version : tombstone->second);
    if (tombstone != removed_.end()) removed_.erase(tombstone);
    at->second.bytes.assign(value.begin(), value.end());
    at->second.version = version_;
    bytes_ = bytes_ - before + key.size() + value.size();
    return BoardStatus::ok;
}

bool Board::remove(std::string_view key) {
    const auto at = values_.find(key);
    if (at == values_.end()) return false;
    if (removed_.size() == kMaxBoardKeys) forget_older_half();
    bytes_ -= key.size() + at->second.bytes.size();
    changed(key, at->second.version);
    values_.erase(at);
    removed_.emplace(std::string(changes_.at(version_)), version_);
    return true;
}

void Board::forget_older_half() {
    std::vector<std::uint64_t> versions;
    for (const auto& [name, version] : removed_) versions.push_back(version);
    const auto middle = versions.begin() + static_cast<std::ptrdiff_t>(versions.size() / 2);
    std::nth_element(versions.begin(), middle, versions.end());
    forgotten_ = *middle;
    std::erase_if(removed_, [&](const auto& removal) {
        if (removal.second > forgotten_) return false;
        changes_.erase(removal.second);
        return true;
    });
}

const Board::Value* Board::find(std::string_view key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : &at->second;
}

void Board::changed(std::string_view key, std::uint64_t old_version) {
    std::string name(key);  // `key` may view what is erased
    changes_.erase(old_version);
    changes_.emplace(++version_, std::move(name));
}

}  // namespace orrery::protocol
