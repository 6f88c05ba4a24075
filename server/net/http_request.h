// The head of an HTTP/1.1 request, read from text of bounded size. What is not plainly right is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::server {

inline constexpr std::size_t kMaxHttpHeadBytes = 8u << 10;  // a browser's heads have 1 to 2 KiB
inline constexpr std::size_t kMaxHttpFields = 64;

struct HttpRequest {
    std::string method, path, query;  // as they were sent, nothing is decoded; the query without its question mark
    std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

    // Null: there is none. The first, where there are several.
    const std::string* field(std::string_view name) const;
    // Whether a field that is a list with commas has this word, whatever its case.
    bool has_word(std::string_view name, std::string_view word) const;
};

// Why a request is not served: the status, and a sentence for who sent it.
struct HttpError {
    int status = 400;
    std::string text;
};

// `head` ends with the empty line. Nothing: it was read. A request with a body, without a Host or with two of them is
// refused, too.
std::optional<HttpError> read_http_request(std::string_view head, HttpRequest& out);

std::string_view http_status_text(int status);  // "Not Found"

}  // namespace orrery::server
