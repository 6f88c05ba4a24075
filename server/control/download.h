// A file as the answer to a request, read while it is sent.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "server/control/problem.h"

namespace orrery::server {

// A part of a file. Offsets in bytes; the last is part of it.
struct ByteRange {
    std::uint64_t first = 0, last = 0;
};
enum class RangeKind : std::uint8_t { whole, part, outside };
// `field`: of Range, as it was sent. What is not one range of bytes is not a range, and the whole is the answer (RFC
// 9110).
RangeKind range_of(std::string_view field, std::uint64_t size, ByteRange& out);

// The bytes that the file has now, or the range that the request names; a file may grow meanwhile. `downloads` counts
// those that run: kMaxDownloads at most.
std::optional<Problem> answer_file(const std::string& path, const httplib::Request& request,
                                   const std::shared_ptr<std::atomic<int>>& downloads, httplib::Response& answer);

}  // namespace orrery::server
