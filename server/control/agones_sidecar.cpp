#include "server/control/agones_sidecar.h"

#include <httplib.h>

#include <chrono>

namespace orrery::server {

namespace {

constexpr std::size_t kMaxAnswerBytes = 1 << 20;  // an object with 1,000 values of a list has 30 KB
constexpr std::size_t kMaxShownBytes = 200;       // of a refusal, in the log
constexpr int kNotFound = 404;
constexpr const char* kJson = "application/json";

void set_up(httplib::Client& client, double request_s, double silence_s) {
    const auto time = [](double seconds) {
        return std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
    };
    client.set_keep_alive(false);
    client.set_tcp_nodelay(true);
    client.set_connection_timeout(time(request_s));
    client.set_write_timeout(time(request_s));
    client.set_read_timeout(time(silence_s));
}

AgonesSidecar::Answer answer_of(const httplib::Result& result) {
    if (!result) return {0, httplib::to_string(result.error())};
    return {result->status, result->body};
}

}  // namespace

struct AgonesSidecar::Clients {
    explicit Clients(const AgonesConfig& config)
        : requests(config.host, config.port), stream(config.host, config.port) {
        set_up(requests, config.request_s, config.request_s);
        set_up(stream, config.request_s, config.watch_silence_s);
    }
    httplib::Client requests, stream;
};

AgonesSidecar::AgonesSidecar(const AgonesConfig& config) : clients_(std::make_unique<Clients>(config)) {}
AgonesSidecar::~AgonesSidecar() = default;

AgonesSidecar::Answer AgonesSidecar::send(Verb verb, const std::string& path, const std::string& body) {
    httplib::Client& client = clients_->requests;
    Answer answer;
    switch (verb) {
        case Verb::get: {
            std::string text;
            const auto take = [&](const char* data, std::size_t size) {
                if (text.size() + size > kMaxAnswerBytes) return false;
                text.append(data, size);
                return true;
            };
            answer = answer_of(client.Get(path, take));
            if (answer.came()) answer.body = std::move(text);
            break;
        }
        case Verb::post:
            answer = answer_of(client.Post(path, body, kJson));
            break;
        case Verb::put:
            answer = answer_of(client.Put(path, body, kJson));
            break;
        case Verb::patch:
            answer = answer_of(client.Patch(path, body, kJson));
            break;
    }
    if (!answer.good() && answer.body.size() > kMaxShownBytes) answer.body.resize(kMaxShownBytes);
    return answer;
}

AgonesSidecar::Answer AgonesSidecar::send_counted(Verb verb, const std::string& path, const std::string& body) {
    const std::string beta = "/v1beta1" + path;
    Answer answer = send(verb, beta_first_ ? beta : path, body);
    if (answer.status != kNotFound) return answer;
    answer = send(verb, beta_first_ ? path : beta, body);
    if (answer.good()) beta_first_ = !beta_first_;
    return answer;
}

void AgonesSidecar::watch(const std::function<bool(std::string_view line)>& on_line) {
    std::string part;
    const auto take = [&](const char* data, std::size_t size) {
        part.append(data, size);
        std::size_t begin = 0;
        for (std::size_t end = part.find('\n'); end != std::string::npos; end = part.find('\n', begin)) {
            if (end > begin && !on_line(std::string_view(part).substr(begin, end - begin))) return false;
            begin = end + 1;
        }
        part.erase(0, begin);
        return part.size() <= kMaxAnswerBytes;
    };
    clients_->stream.Get(
        "/watch/gameserver", [](const httplib::Response& response) { return response.status == 200; }, take);
}

void AgonesSidecar::interrupt() {
    clients_->requests.stop();
    clients_->stream.stop();
}

}  // namespace orrery::server
