// A line of names and values for stdout: "word name=value ...", or one JSON object.
#pragma once

#include <concepts>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "server/base/json_line.h"

namespace orrery::server {

class FactLine {
  public:
    FactLine(std::string_view word, bool json) : text_(word), is_json_(json) {}

    FactLine& text(std::string_view name, std::string_view value) {
        json_.text(name, value);
        return add(name, value);
    }
    FactLine& number(std::string_view name, std::integral auto value) {
        json_.number(name, value);
        return add(name, std::to_string(value));
    }
    // With so many decimals in the text, or as few as the value needs.
    FactLine& number(std::string_view name, double value, std::optional<int> decimals = {}) {
        json_.number(name, std::optional(value));
        char digits[40];
        std::snprintf(digits, sizeof digits, decimals ? "%.*f" : "%.*g", decimals.value_or(6), value);
        return add(name, digits);
    }
    std::string str() const { return (is_json_ ? json_.str() : text_) + "\n"; }

  private:
    FactLine& add(std::string_view name, std::string_view value) {
        text_.append(" ").append(name).append("=").append(value);
        return *this;
    }

    JsonLine json_;
    std::string text_;
    bool is_json_;
};

}  // namespace orrery::server
