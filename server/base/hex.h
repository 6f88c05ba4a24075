// Bytes as hex digits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::server {

// In lower case.
std::string to_hex(std::span<const std::uint8_t> bytes);
// Of an even number of digits in either case. Nothing: it is something else.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

}  // namespace orrery::server
