#include "server/control/control_access.h"

#include <algorithm>

namespace orrery::server {

using protocol::Address;

namespace {

constexpr std::string_view kBearer = "bearer ";

std::string in_lower_case(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

bool is_host_name(std::string_view text) {
    return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    });
}

Problem refused(std::string_view type, std::string detail) {
    Problem problem = problem_of_status(403);
    problem.type = type;
    problem.detail = std::move(detail);
    return problem;
}

// A field that stands there once; empty: never, or several times.
std::string once(const httplib::Request& request, const std::string& name) {
    return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : std::string();
}

}  // namespace

Result<Ok> ControlAccess::check_hosts(const std::vector<std::string>& hosts) {
    for (std::size_t i = 0; i < hosts.size(); ++i)
        if (!is_host_name(in_lower_case(hosts[i])))
            return Error{ErrorCode::invalid_argument, "hosts[" + std::to_string(i) + "]",
                         "\"" + hosts[i] + "\" is not a host; write a name alone, such as ops.example.com"};
    return Ok{};
}

ControlAccess::ControlAccess(const Address& bind, ControlKeys keys, std::vector<std::string> hosts)
    : bind_(bind), keys_(std::move(keys)), hosts_(std::move(hosts)), wrong_keys_{kWrongKeys.burst, 0} {
    for (std::string& host : hosts_) host = in_lower_case(host);
}

// `host`: in lower case, with or without a port. The port is not looked at: a forwarded one is another.
bool ControlAccess::knows_host(std::string_view host) const {
    const std::size_t colon = host.rfind(':');
    const bool port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
    const std::string_view name = host.substr(0, port ? colon : host.size());
    if (name == "localhost" || std::ranges::find(hosts_, name) != hosts_.end()) return true;
    const Result<Address> address = Address::parse(std::string(name) + ":1");
    if (!address) return false;
    const Address any = bind_.family == Address::Family::ipv6 ? Address::ipv6({}, 0) : Address::ipv4(0, 0, 0, 0, 0);
    return address->is_loopback() || address->without_port() == bind_.without_port() ||
           bind_.without_port() == any.without_port();
}

std::optional<Problem> ControlAccess::check_place(const httplib::Request& request) const {
    const std::string host = in_lower_case(once(request, "Host"));
    if (host.empty()) {
        Problem problem = problem_of_status(400);
        problem.detail = "The request needs one field Host.";
        return problem;
    }
    if (!knows_host(host))
        return refused("host-refused",
                       "The field Host names no host of this server; use localhost or its address, or start the "
                       "server with --control-host NAME.");
    if (!request.has_header("Origin")) return std::nullopt;
    const std::string origin = in_lower_case(once(request, "Origin"));
    if (origin != "http://" + host && origin != "https://" + host)
        return refused("origin-refused", "Only this server's own page may send requests; programs send no Origin.");
    return std::nullopt;
}

std::variant<ControlKeys::Holder, Problem> ControlAccess::holder_of(const httplib::Request& request,
                                                                    protocol::TimeNs now) {
    if (!request.has_header("Authorization")) return problem_of_status(401);
    const std::string field = once(request, "Authorization");
    if (in_lower_case(std::string_view(field).substr(0, kBearer.size())) == kBearer) {
        std::string_view digits = std::string_view(field).substr(kBearer.size());
        digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
        if (const std::optional<ControlKeys::Holder> holder = keys_.find(digits)) return *holder;
    }
    const std::lock_guard lock(mutex_);
    if (!wrong_keys_.take(kWrongKeys, now)) return problem_of_status(429);
    Problem problem = problem_of_status(401);
    problem.type = "wrong-key";
    problem.detail = "The key is none of the server's file; send Authorization: Bearer KEY with 64 hex digits.";
    return problem;
}

}  // namespace orrery::server
