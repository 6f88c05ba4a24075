#include "protocol/scene/json.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "protocol/scene/field_names.h"
#include "protocol/scene/json_text.h"
#include "protocol/scene/scene.h"

namespace orrery::protocol::scene {

namespace {

std::string at_line(std::string_view file_name, std::size_t line) {
    return std::string(file_name) + ":" + std::to_string(line);
}

std::size_t lines_in(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

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
            return fail(c == '/' ? "a comment does not end; close it with */"
                                 : "a string does not end on its line; close its quotes");
        line += lines_in(text.substr(i, end - i + 1));
        if (c == '\0') return fail("the text has a zero byte; write JSON in UTF-8");
        if (end != i) {
            i = end;
        } else if (c == '(') {
            return fail("the text has a function call; write the number itself");
        } else if (c == '{' || c == '[') {
            if (++depth > kMaxJsonDepth) {
                return fail("the nesting is deeper than " + std::to_string(kMaxJsonDepth) + " levels (kMaxJsonDepth)",
                            ErrorCode::limit_reached);
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return Ok{};
}

// Finds unknown fields, unknown words, and strings where numbers or booleans belong. FlatBuffers' parser accepts such
// strings, and does not know the table of an unknown field. The parser reports all other faults. check_text limits the
// recursion to kMaxJsonDepth.
class SchemaCheck {
  public:
    explicit SchemaCheck(std::string_view text) : cursor_(text) {}

    // The offset and the text of the first fault; npos: none.
    std::size_t run(const flatbuffers::StructDef& root, std::string& message) {
        static_cast<void>(
            value(flatbuffers::Type(flatbuffers::BASE_TYPE_STRUCT, const_cast<flatbuffers::StructDef*>(&root))));
        message = std::move(message_);
        return fault_;
    }

  private:
    using Type = flatbuffers::Type;

    // Each returns false at a fault and at malformed text.
    bool value(const Type& type) {
        const char c = cursor_.peek();
        const bool of_fields = type.base_type == flatbuffers::BASE_TYPE_STRUCT;
        if (c == '{') return of_fields ? table(*type.struct_def) : cursor_.skip_value();
        if (c == '[')
            return of_fields                                         ? unnamed(*type.struct_def)
                   : type.base_type == flatbuffers::BASE_TYPE_VECTOR ? list(type)
                                                                     : cursor_.skip_value();
        const JsonCursor::Word word = cursor_.word();
        return !word.empty() && scalar(type, word);
    }

    bool table(const flatbuffers::StructDef& def) {
        cursor_.take('{');
        while (!cursor_.take('}')) {
            const JsonCursor::Word key = cursor_.word();
            if (key.empty() || !cursor_.take(':')) return false;
            if (key.text == kSchemaKey) {
                if (!cursor_.skip_value()) return false;
            } else if (const flatbuffers::FieldDef* field = def.fields.Lookup(std::string(key.text)); !field) {
                return fault(cursor_.offset(), unknown_field(def, key.text));
            } else if (!value(field->value.type)) {
                return false;
            }
            if (!cursor_.take(',') && cursor_.peek() != '}') return false;
        }
        return true;
    }

    // A table as the list of its fields, such as [x, y, z].
    bool unnamed(const flatbuffers::StructDef& def) {
        cursor_.take('[');
        for (const flatbuffers::FieldDef* field : def.fields.vec) {
            if (cursor_.peek() == ']' || !value(field->value.type)) return false;
            cursor_.take(',');
        }
        return cursor_.take(']');
    }

    bool list(const Type& type) {
        cursor_.take('[');
        const Type element = type.VectorType();
        while (!cursor_.take(']')) {
            if (!value(element) || (!cursor_.take(',') && cursor_.peek() != ']')) return false;
        }
        return true;
    }

    bool scalar(const Type& type, const JsonCursor::Word& word) {
        if (!flatbuffers::IsScalar(type.base_type)) return true;
        const bool letters =
            !word.text.empty() && (std::isalpha(static_cast<unsigned char>(word.text[0])) != 0 || word.text[0] == '_');
        if (type.enum_def && letters && word.text != "null") return words(*type.enum_def, word);
        if (!word.quoted) return true;
        const std::string is = "is the string \"" + std::string(word.text.substr(0, kMaxNameBytes)) + "\"; write ";
        if (type.enum_def) return fault(word.at + 1, is + "a word of " + type.enum_def->name);
        return fault(word.at + 1,
                     is + (flatbuffers::IsBool(type.base_type) ? "true or false" : "a number") + ", without quotes");
    }

    // One, or of flags several with blanks between.
    bool words(const flatbuffers::EnumDef& of, const JsonCursor::Word& all) {
        for (std::size_t i = 0; i < all.text.size();) {
            const std::size_t end = std::min(all.text.find(' ', i), all.text.size());
            const std::string_view word = all.text.substr(i, end - i);
            if (!word.empty() && !of.Lookup(std::string(word))) return fault(all.at + 1, unknown_word(of, word));
            i = end + 1;
        }
        return true;
    }

    bool fault(std::size_t place, std::string message) {
        fault_ = place;
        message_ = std::move(message);
        return false;
    }

    static constexpr std::string_view kSchemaKey = "$schema";  // names a JSON Schema for editors; the parser skips it
    JsonCursor cursor_;
    std::size_t fault_ = std::string_view::npos;
    std::string message_;
};

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
    const std::size_t found =
        number.empty() ? std::string_view::npos : text.substr(0, text.find('\n', place)).rfind(number);
    return found == std::string_view::npos ? place : found + number.size();
}

// The line itself, or one shortly before it that is more than brackets; of a long one what is about the place. For the
// parser names neither the key nor the value.
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
        if (i + 1 == place && std::string_view("{}[],").find(c) != std::string_view::npos)
            break;  // it reads one token ahead
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
        if (level.list)
            path += "[" + std::to_string(level.index) + "]";
        else if (!level.key.empty())
            path += (path.empty() ? "" : ".") + std::string(level.key);
    }
    constexpr std::size_t kLongest = 200;
    return path.size() <= kLongest ? path : "..." + path.substr(path.size() - kLongest);
}

// What the parser says of a value of another kind than the schema has there, in words.
std::string of_kinds(const std::string& message) {
    constexpr std::string_view kExpecting = "expecting: ", kGot = " instead got: ",
                               kAssign = "Cannot assign token starting with '";
    if (message.starts_with(kAssign) && message.size() > kAssign.size())
        return std::string(message[kAssign.size()] == '['   ? "a list"
                           : message[kAssign.size()] == '{' ? "an object"
                                                            : "something else") +
               " is written where one value belongs; write a number, true or false, or a word of the schema";
    if (message.starts_with("wrong number of unnamed fields"))
        return message + "; write all of them, for a vector [x, y, z]";
    const std::size_t got = message.find(kGot);
    if (!message.starts_with(kExpecting) || got == std::string::npos) return message;
    const std::string wanted = message.substr(kExpecting.size(), got - kExpecting.size()),
                      found = message.substr(got + kGot.size());
    return (found == "{"   ? "an object"
            : found == "[" ? "a list"
                           : found) +
           " where " +
           (wanted == "{"   ? "an object belongs; write {...}, for a vector [x, y, z]"
            : wanted == "[" ? "a list belongs; write [...]"
                            : wanted + " belongs");
}

Error error_at(std::string_view text, std::string_view file_name, std::size_t place, std::string message) {
    const std::string path = path_at(text, place);
    return Error{ErrorCode::parse, at_line(file_name, line_at(text, place)) + (path.empty() ? "" : ": " + path),
                 std::move(message)};
}

// The parser says "FILE:LINE: COLUMN: error: MESSAGE"; no file was named to it.
Error parser_error(const flatbuffers::Parser& parser, std::string_view file_name, std::string_view scene) {
    const std::string& text = parser.error_;
    std::size_t line = 0, at = text.find_first_of("0123456789");
    for (; at != std::string::npos && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        line = line * 10 + static_cast<std::size_t>(text[at] - '0');
    std::size_t column = 0;
    for (at = text.find_first_of("0123456789", at);
         at != std::string::npos && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        column = column * 10 + static_cast<std::size_t>(text[at] - '0');
    const std::size_t begin = text.find("error: ");
    std::string message = begin == std::string::npos ? text : text.substr(begin + 7);
    const std::size_t place = place_of_number(scene, place_of(scene, line, column), message);
    message = message.starts_with("enum values need to be qualified") ? "a word is written where a number belongs"
                                                                      : of_kinds(message);
    return error_at(scene, file_name, place, message + excerpt(scene, place));
}

}  // namespace

Result<Ok> parse_json_text(flatbuffers::Parser& parser, const char* schema, std::string_view text,
                           std::string_view file_name) {
    text = without_byte_order_mark(text);
    if (const Result<Ok> checked = check_text(text, file_name); !checked) return checked.error();
    if (!parser.Parse(schema)) return Error{ErrorCode::parse, "schema", parser.error_};
    std::string message;
    if (const std::size_t fault = SchemaCheck(text).run(*parser.root_struct_def_, message);
        fault != std::string_view::npos)
        return error_at(text, file_name, fault, std::move(message));
    const std::string terminated(text);
    if (!parser.ParseJson(terminated.c_str())) return parser_error(parser, file_name, text);
    return Ok{};
}

}  // namespace orrery::protocol::scene
