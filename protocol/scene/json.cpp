#include "protocol/scene/json.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "protocol/scene/reader.h"
#include "protocol/scene/scene.h"

namespace orrery::protocol::scene {

namespace {

std::string at_line(std::string_view file_name, std::size_t line) {
    return std::string(file_name) + ":" + std::to_string(line);
}

// The last character of the string or comment that begins at i; i itself where none does, npos where it does not end.
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

std::size_t lines_in(std::string_view text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

// What the parser should not meet: deep nesting, and calls such as sin(1), whose values differ from machine to machine.
Result<Ok> check_text(std::string_view text, std::string_view file_name) {
    std::size_t line = 1, depth = 0;
    const auto fail = [&](std::string message, ErrorCode code = ErrorCode::parse) {
        return Error{code, at_line(file_name, line), std::move(message)};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const std::size_t end = end_of_string_or_comment(text, i);
        if (end == std::string_view::npos)
            return fail(c == '/' ? "a comment does not end; close it with */" : "a string does not end on its line; close its quotes");
        line += lines_in(text.substr(i, end - i + 1));
        if (c == '\0') return fail("a zero byte in the text; scenes are JSON in UTF-8");
        if (end != i) {
            i = end;
        } else if (c == '(') {
            return fail("a function call; write the number itself");
        } else if (c == '{' || c == '[') {
            if (++depth > kMaxJsonDepth) {
                return fail("nesting deeper than " + std::to_string(kMaxJsonDepth) + " levels (kMaxJsonDepth)",
                            ErrorCode::limit_reached);
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return Ok{};
}

// Where a line and column of the parser's are; the end of the text where it has no such line.
std::size_t place_of(std::string_view text, std::size_t line, std::size_t column) {
    std::size_t begin = 0;
    for (std::size_t i = 1; i < line; ++i) {
        begin = text.find('\n', begin);
        if (begin == std::string_view::npos) return text.size();
        ++begin;
    }
    return std::min(begin + column, text.size());
}

// The parser finds a number out of range when its table ends: its place is then the end of its last appearance before.
std::size_t place_of_number(std::string_view text, std::size_t place, const std::string& message) {
    const std::string_view begin = "invalid number: \"";
    const std::size_t at = message.find(begin);
    if (at == std::string::npos) return place;
    const std::size_t first = at + begin.size();
    const std::string number = message.substr(first, message.find('"', first) - first);
    const std::size_t found = number.empty() ? std::string_view::npos : text.substr(0, text.find('\n', place)).rfind(number);
    return found == std::string_view::npos ? place : found + number.size();
}

// The line itself, or one shortly before it that is more than brackets; of a long one what is about the place. For the parser names
// neither the key nor the value.
std::string excerpt(std::string_view text, std::size_t place) {
    constexpr std::size_t kLongest = 120, kBehind = 20;
    std::size_t begin = text.substr(0, place).rfind('\n') + 1;  // of npos: 0
    std::size_t column = place - begin;
    std::string_view is = text.substr(begin, text.find('\n', begin) - begin);
    for (int back = 0; back < 3 && begin > 0 && is.find_first_not_of(" \t\r{}[],") == std::string_view::npos; ++back) {
        const std::size_t end = begin - 1;
        begin = text.substr(0, end).rfind('\n') + 1;
        is = text.substr(begin, end - begin);
        column = is.size();
    }
    if (is.size() > kLongest) {
        const std::size_t end = std::min(is.size(), column + kBehind);
        is = is.substr(0, end).substr(end - std::min(end, kLongest));
    }
    while (!is.empty() && (is.front() == ' ' || is.front() == '\t')) is.remove_prefix(1);
    while (!is.empty() && (is.back() == ' ' || is.back() == '\r')) is.remove_suffix(1);
    return is.empty() ? "" : ", in: " + std::string(is);
}

// What the parser was reading, as "bodies[3].position"; empty at the top. The text is one that check_text let pass.
std::string path_at(std::string_view text, std::size_t place) {
    struct Level {
        bool list;
        std::size_t index;
        std::string_view key;
    };
    std::vector<Level> levels;
    std::string_view word;  // the last, which is a key if a colon follows
    const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = 0; i < place; ++i) {
        const char c = text[i];
        if (i + 1 == place && std::string_view("{}[],").find(c) != std::string_view::npos) break;  // it reads one token ahead
        const std::size_t end = end_of_string_or_comment(text, i);
        if (end != i) {
            if (c != '/') word = text.substr(i + 1, end - i - 1);
            i = end;
        } else if (c == '{' || c == '[') {
            levels.push_back({c == '[', 0, {}});
        } else if (c == '}' || c == ']') {
            if (!levels.empty()) levels.pop_back();
        } else if (c == ',' && !levels.empty()) {
            ++levels.back().index;
        } else if (c == ':' && !levels.empty()) {
            levels.back().key = word;
        } else if (of_word(c)) {
            const std::size_t begin = i;
            while (i + 1 < text.size() && of_word(text[i + 1])) ++i;
            word = text.substr(begin, i - begin + 1);
        }
    }
    std::string path;
    for (const Level& level : levels) {
        if (level.list) path += "[" + std::to_string(level.index) + "]";
        else if (!level.key.empty()) path += (path.empty() ? "" : ".") + std::string(level.key);
    }
    constexpr std::size_t kLongest = 200;
    return path.size() <= kLongest ? path : "..." + path.substr(path.size() - kLongest);
}

// What the parser says of a value of another kind than the schema has there, in words.
std::string of_kinds(const std::string& message) {
    constexpr std::string_view kExpecting = "expecting: ", kGot = " instead got: ", kAssign = "Cannot assign token starting with '";
    if (message.starts_with(kAssign) && message.size() > kAssign.size())
        return std::string(message[kAssign.size()] == '[' ? "a list" : message[kAssign.size()] == '{' ? "an object" : "something else") +
               " stands where one value belongs; write a number, true or false, or a word of the schema";
    if (message.starts_with("wrong number of unnamed fields")) return message + "; write all of them, of a vector [x, y, z]";
    const std::size_t got = message.find(kGot);
    if (!message.starts_with(kExpecting) || got == std::string::npos) return message;
    const std::string wanted = message.substr(kExpecting.size(), got - kExpecting.size()), found = message.substr(got + kGot.size());
    return (found == "{" ? "an object" : found == "[" ? "a list" : found) + " where " + (wanted == "{" ? "an object belongs; write {...}, for a vector [x, y, z]"
                                 : wanted == "[" ? "a list belongs; write [...]" : wanted + " belongs");
}

// The parser says "FILE:LINE: COLUMN: error: MESSAGE"; no file was named to it. An unknown field gets the nearest
// known.
Error parser_error(const flatbuffers::Parser& parser, std::string_view file_name, std::string_view scene) {
    const std::string& text = parser.error_;
    std::size_t line = 0, at = text.find_first_of("0123456789");
    for (; at != std::string::npos && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        line = line * 10 + static_cast<std::size_t>(text[at] - '0');
    std::size_t column = 0;
    for (at = text.find_first_of("0123456789", at); at != std::string::npos && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        column = column * 10 + static_cast<std::size_t>(text[at] - '0');
    const std::size_t begin = text.find("error: ");
    std::string message = begin == std::string::npos ? text : text.substr(begin + 7);
    const std::size_t unknown = message.find("unknown field: ");
    if (unknown != std::string::npos) {
        std::string name = message.substr(unknown + 15);
        name = name.substr(0, name.find(','));
        std::vector<std::string_view> fields;
        for (const flatbuffers::StructDef* table : parser.structs_.vec)
            for (const flatbuffers::FieldDef* field : table->fields.vec) fields.push_back(field->name);
        const std::string near = nearest_name(name, fields);
        message = "unknown field \"" + name + "\"" +
                  (near.empty() || near == name ? " here; the schema (protocol/scene) lists the fields"
                                                : "; did you mean \"" + near + "\"?");
    }
    const std::size_t place = place_of_number(scene, place_of(scene, line, column), message);
    constexpr std::string_view kUnknownWord = "unknown enum value: ";
    if (message.starts_with(kUnknownWord)) {
        const std::string word = message.substr(kUnknownWord.size());
        std::vector<std::string_view> words;
        for (const flatbuffers::EnumDef* of : parser.enums_.vec) {
            for (const flatbuffers::EnumVal* value : of->Vals()) words.push_back(value->name);
        }
        const std::string near = nearest_name(word, words);
        message = "unknown word \"" + word + "\"" +
                  (near.empty() || near == word ? "; the schema (protocol/scene) lists the words" : "; did you mean \"" + near + "\"");
    } else if (message.starts_with("enum values need to be qualified")) {
        message = "a word stands where a number belongs";
    } else {
        message = of_kinds(message);
    }
    if (unknown == std::string::npos) message += excerpt(scene, place);
    const std::string path = path_at(scene, place);
    return Error{ErrorCode::parse, at_line(file_name, lines_in(scene.substr(0, place)) + 1) + (path.empty() ? "" : ": " + path), message};
}

}  // namespace

Result<Ok> parse_json_text(flatbuffers::Parser& parser, const char* schema, std::string_view text,
                           std::string_view file_name) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (const Result<Ok> checked = check_text(text, file_name); !checked) return checked.error();
    if (!parser.Parse(schema)) return Error{ErrorCode::parse, "schema", parser.error_};
    const std::string terminated(text);
    if (!parser.ParseJson(terminated.c_str())) return parser_error(parser, file_name, text);
    return Ok{};
}

}  // namespace orrery::protocol::scene
