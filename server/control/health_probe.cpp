#include "server/control/health_probe.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace orrery::server {

namespace {

constexpr auto kLimit =
    std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(kProbeLimit_s));
constexpr std::size_t kMaxAnswerBytes = 65'536;

std::string first_line(const std::string& text) {
    std::string line = text.substr(0, std::min(text.find_first_of("\r\n"), kMaxProbeReason));
    for (char& c : line)
        if (c < ' ' || c > '~') c = '?';
    return line;
}

// httplib limits each wait, not the sum of them: what sends byte by byte would be waited for without end.
class Watch {
  public:
    explicit Watch(httplib::Client& client) : thread_([this, &client] { run(client); }) {}
    ~Watch() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

  private:
    void run(httplib::Client& client) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, kLimit, [this] { return done_; })) client.stop();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::thread thread_;
};

}  // namespace

ProbeAnswer ask_health(const protocol::Address& server, const std::string& path) {
    std::string host = server.to_string();
    host.resize(host.rfind(':'));
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    httplib::Client client(host, server.port);
    client.set_connection_timeout(kLimit);
    client.set_read_timeout(kLimit);
    client.set_write_timeout(kLimit);
    client.set_keep_alive(false);
    std::string body;
    const auto take = [&](const char* bytes, std::size_t size) {
        body.append(bytes, std::min(size, kMaxAnswerBytes - std::min(body.size(), kMaxAnswerBytes)));
        return body.size() < kMaxAnswerBytes;
    };
    const Watch watch(client);
    int status = 0;
    const auto begun = [&](const httplib::Response& response) {
        status = response.status;
        return true;
    };
    const httplib::Result result = client.Get(path, httplib::Headers{}, begun, take);
    if (!result && body.size() < kMaxAnswerBytes) {
        switch (result.error()) {
            case httplib::Error::Connection:
                return {0, "nothing listens there"};
            case httplib::Error::ConnectionTimeout:
                return {0, "no connection within 2 s"};
            default:
                return {0, "no whole answer within 2 s"};
        }
    }
    return {status, first_line(body)};
}

}  // namespace orrery::server
