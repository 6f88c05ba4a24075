// Plans and results of segments as JSON (plan_file.fbs).
#pragma once

#include <string>
#include <string_view>

#include "protocol/replay/plan.h"

namespace orrery::protocol::replay {

inline constexpr std::size_t kMaxPlanBytes = std::size_t{1} << 20;    // of the most segments, twice
inline constexpr std::size_t kMaxResultBytes = std::size_t{1} << 20;  // of signatures by some thousand keys

// Ends in a line end. An error: the name of the file is not UTF-8.
Result<std::string> plan_text(const Plan& plan);
std::string result_text(const SegmentResult& result);

// `file_name`: for messages.
Result<Plan> read_plan(std::string_view text, std::string_view file_name);
Result<SegmentResult> read_result(std::string_view text, std::string_view file_name);

// Of exactly as many bytes as `out` has, twice as many digits. False: something else.
bool from_hex(std::string_view digits, std::span<std::uint8_t> out);
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace orrery::protocol::replay
