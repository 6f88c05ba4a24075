// One JSON object on one line, written field by field.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::server {

class JsonLine {
  public:
    JsonLine& text(std::string_view name, std::string_view value) { return raw(name, quote(value)); }
    JsonLine& boolean(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
    JsonLine& number(std::string_view name, std::integral auto value) { return raw(name, std::to_string(value)); }
    // Absent and not finite values become null.
    JsonLine& number(std::string_view name, std::optional<double> value) {
        if (!value || !std::isfinite(*value)) return raw(name, "null");
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.9g", *value);
        return raw(name, digits);
    }
    JsonLine& object(std::string_view name, const JsonLine& value) { return raw(name, value.str()); }
    // As many digits as tell one float from the next; what is not finite becomes null.
    JsonLine& numbers(std::string_view name, std::span<const float> values) {
        std::string list = "[";
        for (const float value : values) {
            char digits[40] = "null";
            if (std::isfinite(value)) std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(value));
            list.append(list.size() > 1 ? ", " : "").append(digits);
        }
        return raw(name, list.append("]"));
    }
    JsonLine& texts(std::string_view name, const std::vector<std::string>& values) {
        std::string list = "[";
        for (const std::string& value : values) list.append(list.size() > 1 ? ", " : "").append(quote(value));
        return raw(name, list.append("]"));
    }
    JsonLine& integers(std::string_view name, std::span<const std::size_t> values) {
        std::string list = "[";
        for (const std::size_t value : values) list.append(list.size() > 1 ? ", " : "").append(std::to_string(value));
        return raw(name, list.append("]"));
    }
    JsonLine& objects(std::string_view name, const std::vector<JsonLine>& values) {
        std::string list = "[";
        for (const JsonLine& value : values) list.append(list.size() > 1 ? ", " : "").append(value.str());
        return raw(name, list.append("]"));
    }
    std::string str() const { return "{" + fields_ + "}"; }

    // Bytes that are not UTF-8 (a file's name may have any) become U+FFFD each.
    static std::string quote(std::string_view value) {
        std::string out = "\"";
        for (std::size_t i = 0; i < value.size(); ++i) {
            const char c = value[i];
            const auto byte = static_cast<unsigned char>(c);
            if (byte >= 0x80) {
                const std::size_t length = utf8_length(value.substr(i));
                out.append(length > 0 ? value.substr(i, length) : "\xef\xbf\xbd");
                i += length > 0 ? length - 1 : 0;
                continue;
            }
            if (byte < 0x20) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", byte);
                out += escape;
                continue;
            }
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
        return out += '"';
    }

  private:
    // Of the character of several bytes that `text` begins with; 0: none (RFC 3629: no overlong forms, no surrogates,
    // nothing above U+10FFFF).
    static std::size_t utf8_length(std::string_view text) {
        const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
        const unsigned lead = at(0);
        const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                                   : lead >= 0xe0 && lead < 0xf0 ? 3
                                   : lead >= 0xf0 && lead < 0xf5 ? 4
                                                                 : 0;
        if (length > text.size()) return 0;
        std::uint32_t code = lead & (0x7fu >> length);
        for (std::size_t i = 1; i < length; ++i) {
            if ((at(i) & 0xc0u) != 0x80u) return 0;
            code = code << 6 | (at(i) & 0x3fu);
        }
        const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
        const bool outside = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
        return overlong || outside ? 0 : length;
    }

    JsonLine& raw(std::string_view name, std::string_view value) {
        fields_.append(fields_.empty() ? "" : ", ").append(quote(name)).append(": ").append(value);
        return *this;
    }
    std::string fields_;
};

}  // namespace orrery::server
