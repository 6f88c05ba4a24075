// Lines to stdout and stderr from the thread that steps the room. That thread never waits for a reader.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::server {

// Writes `text` as one piece if `file` takes it at once. Otherwise the text is dropped and the result is false. Text
// beyond PIPE_BUF, which a ready pipe always takes, is cut off.
bool write_if_ready(int file, std::string_view text);

// text: as spdlog writes it by itself. json: an object a line, with "ts" (RFC 3339, UTC, ms), "level" and "msg"; a
// message that would not fit into PIPE_BUF is cut, so that the line stays one object.
enum class LogFormat : std::uint8_t { text, json };
// Of the log from now on, and of that which log_without_waiting() makes.
void set_log_format(LogFormat format);

// Makes the log (spdlog) write lines to stderr by write_if_ready.
void log_without_waiting();
std::uint64_t log_lines_dropped();

}  // namespace orrery::server
