#include "server/control/control_server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/control/console_page.h"
#include "server/control/control_access.h"
#include "server/control/http_server.h"
#include "server/control/operations.h"
#include "server/control/requests.h"

namespace orrery::server {

namespace {

constexpr std::size_t kMaxIdBytes = 64;
constexpr std::string_view kPageMethods = "GET, HEAD";

protocol::TimeNs now_ns() {
    using std::chrono::steady_clock;
    return static_cast<protocol::TimeNs>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// Whether `path` is of the form of a route's; the part at {id} is written to `id`.
bool fits(std::string_view route, std::string_view path, std::string& id) {
    constexpr std::string_view kId = "{id}";
    const std::size_t at = route.find(kId);
    if (at == std::string_view::npos) return route == path;
    const std::string_view before = route.substr(0, at), behind = route.substr(at + kId.size());
    if (path.size() <= before.size() + behind.size() || !path.starts_with(before) || !path.ends_with(behind))
        return false;
    const std::string_view part = path.substr(before.size(), path.size() - before.size() - behind.size());
    const auto of_id = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (part.size() > kMaxIdBytes || !std::ranges::all_of(part, of_id)) return false;
    id = part;
    return true;
}

// What a request is sent to. No route: `methods` are those that its path has, if any.
struct Target {
    const Route* route = nullptr;
    std::string id, methods;
};

Target target_of(const httplib::Request& request) {
    Target out;
    const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
    for (const Route& route : routes()) {
        if (!fits(route.path, request.path, out.id)) continue;
        if (route.method == method) {
            out.route = &route;
            break;
        }
        out.methods.append(out.methods.empty() ? "" : ", ").append(route.method == "GET" ? kPageMethods : route.method);
    }
    return out;
}

bool has_body(const httplib::Request& request) {
    return request.has_header("Transfer-Encoding") ||
           (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0");
}

Problem malformed(std::string detail) {
    Problem problem = problem_of_status(400);
    problem.detail = std::move(detail);
    return problem;
}

// Nothing: the body may be read.
std::optional<Problem> check_body(const httplib::Request& request) {
    const std::string length = request.get_header_value("Content-Length");
    if (request.has_header("Transfer-Encoding")) {
        if (request.get_header_value("Transfer-Encoding") != "chunked" || request.has_header("Content-Length"))
            return malformed("The body has another Transfer-Encoding than chunked, or two lengths.");
    } else if (request.get_header_value_count("Content-Length") != 1 || length.empty() || length.size() > 18 ||
               length.find_first_not_of("0123456789") != std::string::npos) {
        return malformed("The field Content-Length is not one number.");
    } else if (std::stoull(length) > kMaxControlBodyBytes) {
        return problem_of_status(413);
    }
    const std::string type = request.get_header_value("Content-Type");
    const std::string media = type.substr(0, type.find_first_of("; "));
    const bool json = std::ranges::equal(media, std::string_view("application/json"), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
    });
    if (!json || request.has_header("Content-Encoding")) return problem_of_status(415);
    return std::nullopt;
}

}  // namespace

struct ControlServer::Parts final : HttpHandler {
    Parts(ControlConfig config, Rooms& to)
        : rooms(to),
          version(std::move(config.version)),
          commit(std::move(config.commit)),
          access(config.bind, std::move(config.keys), std::move(config.hosts)),
          policy(console_policy(console_page())) {}

    Rooms& rooms;
    const std::string version, commit;
    ControlAccess access;
    const std::string policy;
    const std::shared_ptr<std::atomic<int>> downloads = std::make_shared<std::atomic<int>>(0);
    std::unique_ptr<HttpServer> http;  // the first to end

    bool on_head(const httplib::Request& request, httplib::Response& answer) override {
        bool answered = true;
        if (const std::optional<Problem> problem = begin(request, answer, answered)) answer_problem(*problem, answer);
        return answered;
    }
    void on_body(const httplib::Request& request, httplib::Response& answer) override {
        // on_head() has let the request pass: its path and key are good.
        const auto holder = access.holder_of(request, now_ns());
        const std::optional<Problem> problem =
            run(target_of(request), std::get<ControlKeys::Holder>(holder), request, answer);
        if (problem) answer_problem(*problem, answer);
    }
    void on_fault(int status, httplib::Response& answer) override { answer_problem(problem_of_status(status), answer); }

  private:
    // All that needs no body. `answered` is set to false if there is one to be read.
    std::optional<Problem> begin(const httplib::Request& request, httplib::Response& answer, bool& answered) {
        if (std::optional<Problem> problem = access.check_place(request)) return problem;
        if (request.target.find('?') != std::string::npos) return malformed("No path has a query; leave it out.");
        const bool reads = request.method == "GET" || request.method == "HEAD";
        if (request.path == "/") {
            if (reads) return show_page(answer);
            return not_allowed(std::string(kPageMethods), answer);
        }
        const Target target = target_of(request);
        if (!target.route) {
            if (target.methods.empty()) return problem_of_status(404);
            return not_allowed(target.methods, answer);
        }
        const auto holder = access.holder_of(request, now_ns());
        if (const auto* const problem = std::get_if<Problem>(&holder)) return *problem;
        const auto& who = std::get<ControlKeys::Holder>(holder);
        if (std::optional<Problem> problem = check_level(*target.route, who)) return problem;
        if (!has_body(request)) return run(target, who, request, answer);
        if (reads) return malformed("A GET has no body; leave it out.");
        if (std::optional<Problem> problem = check_body(request)) return problem;
        answered = false;
        return std::nullopt;
    }

    // `methods`: those of the path, with commas between.
    static Problem not_allowed(const std::string& methods, httplib::Response& answer) {
        answer.set_header("Allow", methods);
        Problem problem = problem_of_status(405);
        problem.detail = "This path allows " + methods + ".";
        return problem;
    }

    static std::optional<Problem> check_level(const Route& route, const ControlKeys::Holder& holder) {
        if (holder.level >= route.level) return std::nullopt;
        Problem problem = problem_of_status(403);
        problem.detail = "The key " + holder.name + " has the level " + std::string(name_of(holder.level)) +
                         "; this needs " + std::string(name_of(route.level)) + ".";
        return problem;
    }

    std::optional<Problem> show_page(httplib::Response& answer) const {
        const std::string_view page = console_page();
        answer.status = 200;
        answer.set_header("Content-Security-Policy", policy);
        answer.set_header("Referrer-Policy", "no-referrer");
        answer.set_header("X-Frame-Options", "DENY");
        answer.set_content(page.data(), page.size(), "text/html; charset=utf-8");
        return std::nullopt;
    }

    std::optional<Problem> run(const Target& target, const ControlKeys::Holder& holder, const httplib::Request& request,
                               httplib::Response& answer) {
        return target.route->run({rooms, version, commit, downloads, holder, request, target.id, answer});
    }
};

Result<std::unique_ptr<ControlServer>> ControlServer::start(ControlConfig config, Rooms& rooms) {
    if (!config.bind.valid())
        return Error{ErrorCode::invalid_argument, "bind", "is no address; write 127.0.0.1:7790 or [::1]:7790"};
    if (const Result<Ok> good = ControlAccess::check_hosts(config.hosts); !good) return good.error();
    HttpServerConfig http;
    http.bind = config.bind;
    http.option = "--control";
    http.max_body_bytes = kMaxControlBodyBytes;
    auto parts = std::make_unique<Parts>(std::move(config), rooms);
    Result<std::unique_ptr<HttpServer>> server = HttpServer::start(std::move(http), *parts);
    if (!server) return server.error();
    parts->http = std::move(server).value();
    return std::unique_ptr<ControlServer>(new ControlServer(std::move(parts)));
}

ControlServer::ControlServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ControlServer::~ControlServer() = default;

protocol::Address ControlServer::address() const { return parts_->http->address(); }

std::vector<std::string> control_routes() {
    std::vector<std::string> out{"GET /"};
    for (const Route& route : routes()) out.push_back(std::string(route.method) + " " + std::string(route.path));
    return out;
}

}  // namespace orrery::server
