// An HTTP/1.1 server of few threads and bounded memory. cpp-httplib reads requests and writes answers; the sockets, the
// threads and the times are those of this class, since the library's own server has no limit on the size of a head, on
// connections that wait, or on how long a request takes that comes byte by byte.
//
// A connection carries one request and is closed behind its answer. While others wait, a request that is still coming
// has kCrowded_ms, so that slow connections delay the others by little.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/netcode/address.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr int kHttpIdle_ms = 2'000;                           // without a byte, of a request or of an answer
inline constexpr int kHttpRequest_ms = 5'000;                        // until a request is there
inline constexpr int kHttpCrowded_ms = 250;                          // the same while other connections wait
inline constexpr int kHttpLinger_ms = 500;                           // for the client to close, behind the answer
inline constexpr std::size_t kMaxHttpHead = std::size_t{32} << 10;   // bytes of the request line and all fields
inline constexpr std::size_t kMaxHttpUnread = std::size_t{1} << 20;  // bytes behind a refused head that are taken
inline constexpr std::size_t kMaxHttpLingering = 64;                 // refused connections that wait for their client
inline constexpr std::size_t kMaxHttpBodyFrames = std::size_t{8} << 10;  // bytes beside those of a body in chunks

struct HttpServerConfig {
    protocol::Address bind;  // port 0: a free one
    std::string port_flag;   // for errors: "--control-port"
    std::size_t threads = 8;
    std::size_t max_waiting = 128;  // connections that no thread serves yet; more get busy_answer
    std::size_t max_body_bytes = std::size_t{64} << 10;
    std::string busy_answer;  // a whole answer with its head
};

// What answers. Its functions are called by several threads at once.
class HttpHandler {
  public:
    virtual ~HttpHandler() = default;
    // The head of a request was read. True: `answer` is whole; false: its body is to be read for on_body().
    virtual bool on_head(const httplib::Request& request, httplib::Response& answer) = 0;
    virtual void on_body(const httplib::Request& request, httplib::Response& answer) = 0;
    // The request is none, or its answer threw an exception: gives the answer the status and a body.
    virtual void on_fault(int status, httplib::Response& answer) = 0;
};

class HttpServer final : private httplib::Server {
  public:
    // Error io: the port is not available. `handler` outlives the server.
    static Result<std::unique_ptr<HttpServer>> start(HttpServerConfig config, HttpHandler& handler);
    ~HttpServer() override;

    protocol::Address address() const { return address_; }

  private:
    class Connection;
    friend class Connection;

    HttpServer(HttpServerConfig config, HttpHandler& handler);
    Result<Ok> listen();
    void accept_all();
    void work();
    void serve(int socket);
    void refuse(int socket);
    void close_lingering(bool all);

    HttpServerConfig config_;
    HttpHandler& handler_;
    protocol::Address address_;
    int listening_ = -1;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> waiting_{0};  // size of queue_

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<int> queue_;  // sockets

    struct Lingering {
        int socket;
        std::int64_t until_ms;
    };
    std::deque<Lingering> lingering_;  // of the accepting thread
    std::vector<std::thread> threads_;
};

}  // namespace orrery::server
