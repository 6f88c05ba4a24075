#include "protocol/scene/json_text.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace orrery::protocol::scene {

namespace {

constexpr std::string_view kBlank = " \t\r\n\f\v", kAfterWord = " \t\r\n\f\v,:[]{}()\"'/";
constexpr std::string_view kComponents = "xyzw";  // of a vector or quaternion that is written as a list

// Moves to the value of a key, or to an entry of a list. False: there is no such key or entry.
bool go_to_key(JsonCursor& cursor, std::string_view name, std::size_t& place) {
    if (!cursor.take('{')) return false;
    while (true) {
        const JsonCursor::Word key = cursor.word();
        if (key.empty() || !cursor.take(':')) return false;
        if (key.text == name) {
            place = key.at;
            return true;
        }
        if (!cursor.skip_value()) return false;
        cursor.take(',');
    }
}

bool go_to_entry(JsonCursor& cursor, std::size_t index, std::size_t& place) {
    if (!cursor.take('[')) return false;
    for (std::size_t i = 0; i < index; ++i) {
        if (!cursor.skip_value()) return false;
        cursor.take(',');
    }
    if (cursor.peek() == ']' || cursor.peek() == '\0') return false;
    place = cursor.at();
    return true;
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::size_t end_of_string_or_comment(std::string_view text, std::size_t i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
        for (++i; i < text.size() && text[i] != c && text[i] != '\n'; ++i) i += text[i] == '\\' ? 1 : 0;
        return i < text.size() && text[i] == c ? i : std::string_view::npos;
    }
    if (text.substr(i, 2) == "//") return std::min(text.find('\n', i), text.size()) - 1;
    if (text.substr(i, 2) != "/*") return i;
    const std::size_t end = text.find("*/", i + 2);
    return end == std::string_view::npos ? end : end + 1;
}

std::size_t JsonCursor::at() {
    while (i_ < text_.size()) {
        if (kBlank.find(text_[i_]) != std::string_view::npos) {
            ++i_;
            continue;
        }
        if (text_[i_] != '/') break;
        const std::size_t end = end_of_string_or_comment(text_, i_);
        if (end == i_ || end == std::string_view::npos) break;
        i_ = end + 1;
    }
    return i_;
}

char JsonCursor::peek() { return at() < text_.size() ? text_[i_] : '\0'; }

bool JsonCursor::take(char c) {
    if (peek() != c) return false;
    ++i_;
    return true;
}

JsonCursor::Word JsonCursor::word() {
    const std::size_t begin = at();
    if (begin == text_.size()) return {};
    if (text_[begin] == '"' || text_[begin] == '\'') {
        const std::size_t end = end_of_string_or_comment(text_, begin);
        if (end == std::string_view::npos) return {};
        i_ = end + 1;
        return {text_.substr(begin + 1, end - begin - 1), begin, true};
    }
    i_ = std::min(text_.find_first_of(kAfterWord, begin), text_.size());
    return {text_.substr(begin, i_ - begin), begin, false};
}

bool JsonCursor::skip_value() {
    std::size_t depth = 0;
    do {
        const char c = peek();
        if (c == '{' || c == '[') {
            ++depth, ++i_;
        } else if (depth > 0 && (c == '}' || c == ']')) {
            --depth, ++i_;
        } else if (depth > 0 && (c == ',' || c == ':')) {
            ++i_;
        } else if (word().empty()) {
            return false;
        }
    } while (depth > 0);
    return true;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

std::size_t line_of_path(std::string_view text, std::string_view path) {
    JsonCursor cursor(text);
    std::size_t place = cursor.at();
    if (place == text.size()) return 0;
    for (bool found = true; found && !path.empty();) {
        const bool entry = path.front() == '[';
        if (entry || path.front() == '.') path.remove_prefix(1);
        const std::size_t end = entry ? path.find(']') : path.find_first_of(".[");
        const std::string_view step = path.substr(0, end);
        path.remove_prefix(std::min(path.size(), step.size() + (entry ? 1 : 0)));
        std::size_t index = 0;
        if (entry) {
            const std::from_chars_result read = std::from_chars(step.data(), step.data() + step.size(), index);
            found = read.ec == std::errc() && go_to_entry(cursor, index, place);
        } else if (cursor.peek() == '[') {
            index = step.size() == 1 ? kComponents.find(step) : std::string_view::npos;
            found = index != std::string_view::npos && go_to_entry(cursor, index, place);
        } else {
            found = go_to_key(cursor, step, place);
        }
    }
    return line_at(text, place);
}

Error with_line(Error error, std::string_view text, std::string_view file_name) {
    constexpr std::string_view kBehindFile = ": ";
    const std::string_view place = error.place;
    if (!place.starts_with(file_name) || !place.substr(file_name.size()).starts_with(kBehindFile)) return error;
    const std::size_t line =
        line_of_path(without_byte_order_mark(text), place.substr(file_name.size() + kBehindFile.size()));
    if (line > 0) error.place.insert(file_name.size(), ":" + std::to_string(line));
    return error;
}

}  // namespace orrery::protocol::scene
