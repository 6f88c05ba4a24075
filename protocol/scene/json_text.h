// Places in JSON text of the kind that FlatBuffers' parser accepts: with comments, keys without quotes and trailing
// commas. Internal to protocol/scene.
#pragma once

#include <cstddef>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::protocol::scene {

std::string_view without_byte_order_mark(std::string_view text);

// The last character of the string or comment that begins at i. i itself if none begins there; npos if it does not end.
std::size_t end_of_string_or_comment(std::string_view text, std::size_t i);

// Moves forward over a text, past blanks and comments. It stops at text that it does not understand.
class JsonCursor {
  public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    std::size_t at();  // the offset of the next character that is neither blank nor comment; the length at the end
    std::size_t offset() const { return i_; }  // the present offset, which may be before blanks
    char peek();             // that character; 0 at the end
    bool take(char c);       // moves past the next character if it is c

    struct Word {
        std::string_view text;  // of a string, the text between its quotes, as written
        std::size_t at = 0;     // offset of its first character, which may be a quote
        bool quoted = false;
        bool empty() const { return text.empty() && !quoted; }
    };
    Word word();             // a string, a number, a key or another word; empty if there is none
    bool skip_value();       // moves past a value of any kind; false if there is none

  private:
    std::string_view text_;
    std::size_t i_ = 0;
};

// Counted from 1.
std::size_t line_at(std::string_view text, std::size_t offset);

// The line of the value that a path such as "bodies[3].position.y" names, or of the innermost part of the path that the
// text has. 0: the text has no part of it.
std::size_t line_of_path(std::string_view text, std::string_view path);

// Adds the line to an error: the place "FILE: bodies[3].shape" becomes "FILE:12: bodies[3].shape", where `text` is the
// content of the file. Other places stay.
Error with_line(Error error, std::string_view text, std::string_view file_name);

}  // namespace orrery::protocol::scene
