#include "server/control/health_server.h"

#include <cstdio>
#include <utility>

#include "server/control/http_server.h"
#include "server/control/metrics.h"

namespace orrery::server {

namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kMetricsText = "text/plain; version=0.0.4; charset=utf-8";

std::string in_seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

}  // namespace

HealthVerdict live(const HostView& host, double stalled_after_s) {
    if (host.stalled_s < stalled_after_s) return {true, "live"};
    return {false,
            "stalled: a room had no tick for " + in_seconds(host.stalled_s) + ", limit " + in_seconds(stalled_after_s)};
}

HealthVerdict ready(const HostView& host, double stalled_after_s) {
    if (HealthVerdict verdict = live(host, stalled_after_s); !verdict.good) return verdict;
    if (host.draining) return {false, "draining: no new rooms and no joins"};
    if (host.open_rooms > 0 || (host.may_create && host.rooms < host.max_rooms)) return {true, "ready"};
    return {false, "no room is open, and none can be created"};
}

struct HealthServer::Pages final : HttpHandler {
    Pages(const Rooms& of, double limit_s) : rooms(of), stalled_after_s(limit_s) {}

    const Rooms& rooms;
    const double stalled_after_s;
    std::unique_ptr<HttpServer> http;  // the first to end

    bool on_head(const httplib::Request& request, httplib::Response& answer) override {
        const std::string length = request.get_header_value("Content-Length");
        if (request.method != "GET" && request.method != "HEAD") {
            answer.set_header("Allow", "GET, HEAD");
            tell(answer, 405, "only GET and HEAD");
        } else if ((!length.empty() && length != "0") || request.has_header("Transfer-Encoding")) {
            on_fault(413, answer);
        } else if (request.path == "/livez") {
            tell(answer, live(rooms.host(), stalled_after_s));
        } else if (request.path == "/readyz") {
            tell(answer, ready(rooms.host(), stalled_after_s));
        } else if (request.path == "/metrics") {
            answer.set_content(metrics_text(rooms, stalled_after_s), kMetricsText);
        } else {
            tell(answer, 404, "there are /livez, /readyz and /metrics");
        }
        return true;
    }
    void on_body(const httplib::Request&, httplib::Response& answer) override { on_fault(413, answer); }
    void on_fault(int status, httplib::Response& answer) override {
        tell(answer, status,
             status == 500   ? "the server has a fault"
             : status == 413 ? "a request has no body here"
             : status == 408 ? "the request came too slowly"
             : status == 400 ? "not a request of HTTP/1.1"
                             : "the head of the request is too long");
    }

  private:
    static void tell(httplib::Response& answer, int status, const std::string& line) {
        answer.status = status;
        answer.set_content(line + "\n", kPlainText);
    }
    static void tell(httplib::Response& answer, const HealthVerdict& verdict) {
        tell(answer, verdict.good ? 200 : 503, verdict.reason);
    }
};

Result<std::unique_ptr<HealthServer>> HealthServer::start(const HealthConfig& config, const Rooms& rooms) {
    if (!(config.stalled_after_s > 0.0 && config.stalled_after_s <= kMaxStalledAfter_s))
        return Error{ErrorCode::invalid_argument, "stalled_after_s",
                     "the time without a tick must be above 0 and at most 3600 s"};
    if (!config.bind.valid()) return Error{ErrorCode::invalid_argument, "bind", "the health port needs an IP address"};
    HttpServerConfig http;
    http.bind = config.bind;
    http.option = "--health";
    http.workers = 0;
    http.max_head_bytes = kMaxHealthHeadBytes;
    http.head_within = kHealthHeadWithin;
    auto pages = std::make_unique<Pages>(rooms, config.stalled_after_s);
    Result<std::unique_ptr<HttpServer>> server = HttpServer::start(std::move(http), *pages);
    if (!server) return server.error();
    pages->http = std::move(server).value();
    return std::unique_ptr<HealthServer>(new HealthServer(std::move(pages)));
}

HealthServer::HealthServer(std::unique_ptr<Pages> pages) : pages_(std::move(pages)) {}
HealthServer::~HealthServer() = default;

protocol::Address HealthServer::address() const { return pages_->http->address(); }

}  // namespace orrery::server
