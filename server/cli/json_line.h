// One JSON object on one line, written field by field.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdio>
#include <optional>
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
    JsonLine& texts(std::string_view name, const std::vector<std::string>& values) {
        std::string list = "[";
        for (const std::string& value : values) list.append(list.size() > 1 ? ", " : "").append(quote(value));
        return raw(name, list.append("]"));
    }
    std::string str() const { return "{" + fields_ + "}"; }

    static std::string quote(std::string_view value) {
        std::string out = "\"";
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
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
    JsonLine& raw(std::string_view name, std::string_view value) {
        fields_.append(fields_.empty() ? "" : ", ").append(quote(name)).append(": ").append(value);
        return *this;
    }
    std::string fields_;
};

}  // namespace orrery::server
