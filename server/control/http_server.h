// An HTTP/1.1 server of few threads and bounded memory: the control API and the health port. cpp-httplib parses
// requests and writes answers; the sockets, the threads and the times are those of this class, since the library's own
// server has no limit on the size of a head, on connections that wait, or on how long a request takes that comes byte
// by byte.
//
// One thread accepts, and waits for all connections at once: for their heads, for clients that take their answers
// slowly, and for clients to close. A connection whose head is whole goes to one of a few workers, which answers and
// gives it back. So a slow client holds no worker, unless the handler wants a body from it or its answer is long.
//
// A connection carries one request and is closed behind its answer.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/netcode/address.h"
#include "sim/base/result.h"

namespace orrery::server {

// Connections without a worker, of which one makes room for one more: the oldest that has its answer, then the oldest
// whose head is not whole.
inline constexpr std::size_t kMaxHttpConnections = 128;
inline constexpr std::size_t kMaxHttpWaiting = 128;  // requests that no worker serves yet; more are answered with 503
inline constexpr std::size_t kMaxHttpBodyFrames = std::size_t{8} << 10;  // bytes beside those of a body in chunks
inline constexpr std::size_t kMaxHttpUnsent = std::size_t{64} << 10;     // of an answer that holds no worker
inline constexpr std::size_t kMaxHttpUnread = std::size_t{1} << 20;      // bytes behind an answered request, taken
inline constexpr std::chrono::milliseconds kHttpIdle{2'000};             // without a byte, of a body or of an answer
inline constexpr std::chrono::milliseconds kHttpBody{5'000};             // until a body is there
inline constexpr std::chrono::milliseconds kHttpCrowded{250};            // the same while other requests wait
inline constexpr std::chrono::milliseconds kHttpLinger{500};             // for the client to close, behind the answer

struct HttpServerConfig {
    protocol::Address bind;  // port 0: a free one
    std::string option;      // for errors: "--control", of --control-port and --control-bind
    // 0: the thread that waits for connections answers, too, for a handler that takes no bodies, waits for nothing and
    // has answers of less than kMaxHttpUnsent.
    std::size_t workers = 8;
    std::size_t max_head_bytes = std::size_t{32} << 10;  // the request line and all fields
    std::size_t max_body_bytes = 0;
    std::chrono::milliseconds head_within{5'000};  // from the begin of the connection
};

// What answers. Its functions are called by several threads at once. Each answer is sent with no-store and nosniff.
class HttpHandler {
  public:
    virtual ~HttpHandler() = default;
    // The head of a request was read. True: `answer` is whole; false: its body is to be read for on_body().
    virtual bool on_head(const httplib::Request& request, httplib::Response& answer) = 0;
    virtual void on_body(const httplib::Request& request, httplib::Response& answer) = 0;
    // The request is none or too many, or its answer threw an exception: gives the answer the status and a body.
    virtual void on_fault(int status, httplib::Response& answer) = 0;
};

class HttpServer final : private httplib::Server {
  public:
    // Error io: the port is not available. `handler` outlives the server.
    static Result<std::unique_ptr<HttpServer>> start(HttpServerConfig config, HttpHandler& handler);
    // Ends what is in progress; takes at most about a second unless the handler takes longer.
    ~HttpServer() override;

    protocol::Address address() const { return address_; }  // with the port that was taken

  private:
    class Connection;
    using Connections = std::list<Connection>;  // the oldest first
    using Clock = std::chrono::steady_clock;

    HttpServer(HttpServerConfig config, HttpHandler& handler);
    Result<Ok> listen();

    // The loop's thread.
    void loop();
    void accept_all();
    void advance(Connections::iterator one);
    void make_room();
    std::string fault_text(int status) const;

    // A worker's thread.
    void work();
    bool serve(Connection& connection);

    const HttpServerConfig config_;
    HttpHandler& handler_;
    protocol::Address address_;
    int listening_ = -1, wake_ = -1;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> crowded_{false};  // queue_ has requests

    Connections held_;  // of the loop
    std::mutex mutex_;
    std::condition_variable queued_;
    Connections queue_, answered_;  // for the workers; back from them
    std::vector<std::thread> threads_;
};

}  // namespace orrery::server
