#include "server/net/http_request.h"

#include <algorithm>

namespace orrery::server {
namespace {

constexpr std::string_view kNewLine = "\r\n";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// RFC 9110, 5.6.2: what names of methods and fields are made of.
bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        const bool letter = lower(c) >= 'a' && lower(c) <= 'z', digit = c >= '0' && c <= '9';
        return letter || digit || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<HttpError> read_request_line(std::string_view line, HttpRequest& out) {
    const std::size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return HttpError{400, "the request line is not HTTP/1.1"};
    const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
    std::string_view target = line.substr(first + 1, last - first - 1);
    if (version != "HTTP/1.1") return HttpError{505, "this server speaks HTTP/1.1"};
    if (!is_token(method)) return HttpError{400, "the request line is not HTTP/1.1"};
    if (target.empty() || target[0] != '/' || !std::all_of(target.begin(), target.end(), is_visible))
        return HttpError{400, "the target of the request must be a path"};
    out.method = method;
    const std::size_t mark = std::min(target.find('?'), target.size());
    out.path = target.substr(0, mark);
    out.query = target.substr(std::min(mark + 1, target.size()));
    return std::nullopt;
}

std::optional<HttpError> read_field(std::string_view line, HttpRequest& out) {
    const std::size_t colon = line.find(':');
    const bool named = colon != std::string_view::npos && is_token(line.substr(0, colon));
    const std::string_view value = named ? trimmed(line.substr(colon + 1)) : std::string_view();
    const auto control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; };
    if (!named || std::any_of(value.begin(), value.end(), control))
        return HttpError{400, "a header field of the request is malformed"};
    if (out.fields.size() >= kMaxHttpFields) return HttpError{431, "the request has too many header fields"};
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), lower);
    out.fields.emplace_back(std::move(name), value);
    return std::nullopt;
}

std::optional<HttpError> check_fields(const HttpRequest& request) {
    const auto count = [&](std::string_view name) {
        return std::count_if(request.fields.begin(), request.fields.end(),
                             [&](const auto& field) { return field.first == name; });
    };
    if (count("host") != 1) return HttpError{400, "the request must have one Host"};
    if (count("origin") > 1) return HttpError{400, "the request has more than one Origin"};
    const std::string* const length = request.field("content-length");
    if (count("transfer-encoding") > 0 || (length && (*length != "0" || count("content-length") > 1)))
        return HttpError{413, "no request to this server has a body"};
    return std::nullopt;
}

}  // namespace

const std::string* HttpRequest::field(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    return found == fields.end() ? nullptr : &found->second;
}

bool HttpRequest::has_word(std::string_view name, std::string_view word) const {
    for (const auto& [field_name, value] : fields) {
        if (field_name != name) continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            if (same_word(trimmed(rest.substr(0, comma)), word)) return true;
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

std::optional<HttpError> read_http_request(std::string_view head, HttpRequest& out) {
    out = {};
    bool first = true;
    while (!head.empty()) {
        const std::size_t end = head.find(kNewLine);
        if (end == std::string_view::npos) return HttpError{400, "a line of the request does not end with CR LF"};
        const std::string_view line = head.substr(0, end);
        head.remove_prefix(end + kNewLine.size());
        if (line.empty()) break;
        if (auto error = first ? read_request_line(line, out) : read_field(line, out)) return error;
        first = false;
    }
    if (first) return HttpError{400, "the request line is not HTTP/1.1"};
    return check_fields(out);
}

std::string_view http_status_text(int status) {
    switch (status) {
        case 101:
            return "Switching Protocols";
        case 200:
            return "OK";
        case 304:
            return "Not Modified";
        case 400:
            return "Bad Request";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 413:
            return "Content Too Large";
        case 421:
            return "Misdirected Request";
        case 426:
            return "Upgrade Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 503:
            return "Service Unavailable";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Error";
    }
}

}  // namespace orrery::server
