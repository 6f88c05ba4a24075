// Requests to Agones' sidecar, one after the other. What is not answered, and what is refused, are told apart.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/control/agones.h"

namespace orrery::server {

class AgonesSidecar {
  public:
    explicit AgonesSidecar(const AgonesConfig& config);
    ~AgonesSidecar();

    struct Answer {
        int status = 0;    // of HTTP; 0: there was no answer
        std::string body;  // or why there was no answer
        bool came() const { return status != 0; }
        bool good() const { return status >= 200 && status < 300; }
    };
    enum class Verb { get, post, put, patch };

    Answer send(Verb verb, const std::string& path, const std::string& body = "{}");
    // Of counters and lists: `path` is the stable one. Where it answers 404, that of /v1beta1 is tried, and is the
    // first one to be tried once it has answered with success.
    Answer send_counted(Verb verb, const std::string& path, const std::string& body = "{}");

    // Reads lines from GET /watch/gameserver until the stream ends, is silent for `watch_silence_s`, or on_line returns
    // false.
    void watch(const std::function<bool(std::string_view line)>& on_line);

    // From another thread: what is being sent or read ends. What is begun afterwards does not.
    void interrupt();

  private:
    struct Clients;
    std::unique_ptr<Clients> clients_;
    bool beta_first_ = false;
};

}  // namespace orrery::server
