#include "server/net/web_origin.h"

#include <algorithm>

namespace orrery::server {
namespace {

constexpr std::string_view kHttp = "http://", kHttps = "https://";

std::string in_lower_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

// Host and port of a normal origin.
std::string_view authority_of(std::string_view origin) { return origin.substr(origin.find("://") + 3); }

}  // namespace

std::optional<std::string> normal_origin(std::string_view text) {
    std::string origin = in_lower_case(text);
    const bool plain = origin.starts_with(kHttp);
    if (!plain && !origin.starts_with(kHttps)) return std::nullopt;
    const std::string_view own_port = plain ? ":80" : ":443";
    if (origin.ends_with(own_port)) origin.resize(origin.size() - own_port.size());
    const std::string_view authority = authority_of(origin);
    const auto odd = [](char c) {
        const bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
        return !letter && !digit && std::string_view("-._:[]").find(c) == std::string_view::npos;
    };
    if (authority.empty() || std::any_of(authority.begin(), authority.end(), odd)) return std::nullopt;
    return origin;
}

bool origin_allowed(const HttpRequest& request, const std::vector<std::string>& allowed) {
    const std::string* const field = request.field("origin");
    if (!field) return true;
    const std::optional<std::string> origin = normal_origin(*field);
    if (!origin) return false;  // "null": a page without an origin
    if (std::find(allowed.begin(), allowed.end(), *origin) != allowed.end()) return true;
    const std::string* const host = request.field("host");
    const std::string_view scheme = origin->starts_with(kHttps) ? kHttps : kHttp;
    return host && normal_origin(std::string(scheme) + *host) == origin;
}

bool host_is_known(const HttpRequest& request, const std::vector<std::string>& origins) {
    const std::string* const host = request.field("host");
    if (!host) return false;
    for (const std::string_view scheme : {kHttp, kHttps}) {
        const std::optional<std::string> origin = normal_origin(std::string(scheme) + *host);
        if (origin && std::find(origins.begin(), origins.end(), *origin) != origins.end()) return true;
    }
    if (host->starts_with('[')) return true;
    const std::string name = in_lower_case(std::string_view(*host).substr(0, host->find(':')));
    return name == "localhost" || (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos);
}

bool host_is_loopback(const HttpRequest& request, std::uint16_t port) {
    const std::string* const host = request.field("host");
    if (!host) return false;
    const std::string with_port = ":" + std::to_string(port);
    std::string name = in_lower_case(*host);
    if (name.ends_with(with_port))
        name.resize(name.size() - with_port.size());
    else if (port != 80)
        return false;
    return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

}  // namespace orrery::server
