// Places in JSON text. Comments, keys without quotes and trailing commas are allowed, as in FlatBuffers' parser.
// Internal to protocol/scene.
#pragma once

#include <cstddef>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::protocol::scene {

std::string_view without_byte_order_mark(std::string_view text);

// The offset of the last character of the string or comment at i; i: there is none, npos: it does not end.
std::size_t end_of_string_or_comment(std::string_view text, std::size_t i);

// Reads a text forward and skips blanks and comments. It does not move past malformed text.
class JsonCursor {
  public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    std::size_t at();  // the offset of the next character behind blanks and comments; at the end the text's length
    std::size_t offset() const { return i_; }  // the present offset, which may be before blanks
    char peek();                               // the next character behind blanks and comments; 0 at the end
    bool take(char c);                         // moves past the next character if it is c

    struct Word {
        std::string_view text;  // as written; without the quotes of a string
        std::size_t at = 0;     // the offset of its first character, which may be a quote
        bool quoted = false;
        bool empty() const { return text.empty() && !quoted; }
    };
    Word word();        // a string, a number, a key or another word; empty if none is next
    bool skip_value();  // moves past a value of any kind; false: there is none

  private:
    std::string_view text_;
    std::size_t i_ = 0;
};

// Counted from 1.
std::size_t line_at(std::string_view text, std::size_t offset);

// The line of the value at a path such as "bodies[3].position.y", or of the innermost part of the path in the text.
// 0: the text is empty.
std::size_t line_of_path(std::string_view text, std::string_view path);

// `error` with a line in its place: "FILE: bodies[3].shape" becomes "FILE:12: bodies[3].shape". `text` is the text of
// FILE. Places of another form stay as they are.
Error with_line(Error error, std::string_view text, std::string_view file_name);

}  // namespace orrery::protocol::scene
