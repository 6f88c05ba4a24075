#include "server/base/hex.h"

#include <charconv>

namespace orrery::server {

std::string to_hex(std::span<const std::uint8_t> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
    return text;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
    std::vector<std::uint8_t> out;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        std::uint8_t byte = 0;
        const char* const end = text.data() + i + 2;
        if (std::from_chars(text.data() + i, end, byte, 16).ptr != end) return std::nullopt;
        out.push_back(byte);
    }
    return out;
}

}  // namespace orrery::server
