#include "server/control/problem.h"

#include <charconv>

#include "server/base/json_line.h"

namespace orrery::server {

namespace {

constexpr const char* kMediaType = "application/problem+json";
constexpr std::string_view kTypes = "urn:orrery:problem:";

struct Kind {
    int status;
    std::string_view type, title;
    std::string_view detail;  // if nothing else is known
};
// The first of a status is what stands for it alone.
constexpr Kind kKinds[] = {
    {400, "malformed-request", "The request is malformed", "The request is not one of HTTP/1.1."},
    {401, "no-key", "A key is needed", "Send the field Authorization: Bearer KEY with a key of the server's file."},
    {401, "wrong-key", "The key is not known", "The key is none of the server's file."},
    {403, "level-too-low", "The key's level is too low", "Use a key of a higher level."},
    {403, "host-refused", "The host is unknown", "The field Host names no host of this server."},
    {403, "origin-refused", "The origin is refused", "Only this server's own page may send requests."},
    {404, "not-found", "There is no such thing", "Nothing is found at this path."},
    {405, "method-not-allowed", "The method is not allowed", "The field Allow lists the methods of this path."},
    {408, "request-timeout", "The request came too slowly", "Send the whole request at once."},
    {409, "conflict", "The state of the server does not allow it", "The state of the server does not allow it."},
    {409, "limit-reached", "A limit is reached", "A limit is reached."},
    {413, "body-too-large", "The body is too large", "Send a body of at most 65,536 bytes."},
    {414, "path-too-long", "The path is too long", "Send a path of at most 8,192 bytes."},
    {415, "not-json", "The body is not JSON", "Send Content-Type: application/json, without a Content-Encoding."},
    {416, "range-not-satisfiable", "The range is outside the file", "Send one range of bytes inside the file."},
    {422, "invalid-value", "A value is invalid", "A value is outside its range."},
    {429, "too-many-failures", "Too many wrong keys", "Wait for the seconds of Retry-After."},
    {431, "head-too-large", "The fields are too large", "Send fields of at most 32,768 bytes in all."},
    {500, "internal-error", "The server has a fault", "The server could not answer; its log may tell why."},
    {503, "unavailable", "The server cannot do it now", "Try again later."},
};

const Kind& kind_of_type(std::string_view type) {
    for (const Kind& kind : kKinds)
        if (kind.type == type) return kind;
    return kKinds[std::size(kKinds) - 2];
}

// "body:3: bodies[1].name" has a line and a field; other places are fields.
void read_place(const std::string& place, Problem& to) {
    constexpr std::string_view kBody = "body:";
    if (!place.starts_with(kBody)) {
        to.field = place;
        return;
    }
    const char* const end = place.data() + place.size();
    const char* const stop = std::from_chars(place.data() + kBody.size(), end, to.line).ptr;
    if (end - stop > 2) to.field.assign(stop + 2, end);
}

}  // namespace

Problem problem_of_status(int status) {
    for (const Kind& kind : kKinds)
        if (kind.status == status) return {status, kind.type, std::string(kind.detail), {}, 0};
    const Kind& other = status < 500 ? kKinds[0] : kind_of_type("internal-error");
    return {other.status, other.type, std::string(other.detail), {}, 0};
}

Problem problem_of(const Error& error, std::string_view field_of_name) {
    Problem out;
    const auto is = [&](std::string_view type) {
        out.status = kind_of_type(type).status;
        out.type = type;
        out.detail = error.message;
    };
    switch (error.code) {
        case ErrorCode::invalid_argument:
            is("invalid-value");
            out.field = error.place;
            out.detail = error.place + " " + error.message;
            break;
        case ErrorCode::parse:
            if (error.place.starts_with("body:")) {
                is("malformed-request");
                read_place(error.place, out);
                break;
            }
            [[fallthrough]];
        case ErrorCode::corrupt:
        case ErrorCode::version_mismatch:
            is("invalid-value");  // what is named is there, and is faulty
            out.field = field_of_name;
            out.detail = error.to_string();
            break;
        case ErrorCode::not_found:
            is(field_of_name.empty() ? "not-found" : "invalid-value");
            out.field = field_of_name;
            out.detail = error.to_string();
            break;
        case ErrorCode::limit_reached:
            is("limit-reached");
            break;
        case ErrorCode::unsupported_target:
            is("conflict");
            break;
        case ErrorCode::io:
            is("unavailable");
            out.detail = error.message;
            break;
    }
    return out;
}

std::string problem_text(const Problem& problem) {
    const Kind& kind = kind_of_type(problem.type);
    JsonLine json;
    json.text("type", std::string(kTypes).append(kind.type))
        .text("title", kind.title)
        .number("status", problem.status)
        .text("detail", problem.detail);
    if (!problem.field.empty()) json.text("field", problem.field);
    if (problem.line > 0) json.number("line", problem.line);
    return json.str();
}

void answer_problem(const Problem& problem, httplib::Response& answer) {
    answer.status = problem.status;
    answer.set_content(problem_text(problem), kMediaType);
    if (problem.status == 401) answer.set_header("WWW-Authenticate", "Bearer realm=\"orrery\"");
    if (problem.status == 429 || problem.status == 503) answer.set_header("Retry-After", "1");
}

}  // namespace orrery::server
