// Agones' sidecar in this process: a GameServer object that is changed by the same requests, a stream of its states,
// and a record of what was asked. Counters and lists lie on the stable paths, below /v1beta1, or are not there.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/base/json_line.h"

namespace orrery::test {

class FakeAgones {
  public:
    enum class Counted { stable, beta, none };

    explicit FakeAgones(Counted counted = Counted::stable, bool has_stream = true)
        : counted_(counted), has_stream_(has_stream) {}
    ~FakeAgones() { stop(); }

    // Port 0: a free one.
    int start(int port = 0) {
        const std::lock_guard lock(mutex_);
        stopping_ = false;
        server_ = std::make_unique<httplib::Server>();
        set_up(*server_);
        if (port == 0)
            port = server_->bind_to_any_port("127.0.0.1");
        else if (!server_->bind_to_port("127.0.0.1", port))
            return -1;
        thread_ = std::thread([server = server_.get()] { server->listen_after_bind(); });
        return port;
    }
    void stop() {
        if (!server_) return;
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            ++revision_;
        }
        changed_.notify_all();
        while (!server_->is_running())
            std::this_thread::yield();  // stop() of a server that does not run yet does nothing
        server_->stop();
        thread_.join();
        server_.reset();
    }

    // What a cluster does beside the process.
    void set_state(const std::string& state) {
        change([&] { state_ = state; });
    }
    void allocate(const std::string& time) {
        change([&] {
            state_ = "Allocated";
            annotations_["agones.dev/last-allocated"] = time;
        });
    }
    void annotate(const std::string& key, const std::string& value) {
        change([&] { annotations_[key] = value; });
    }
    void place(const std::string& address) {
        change([&] { address_ = address; });
    }
    void remove() {
        change([&] { deleted_ = true; });
    }
    void put_players(std::vector<std::string> ids) {
        change([&] { values_ = std::move(ids); });
    }

    std::vector<std::string> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    // How often exactly this was asked.
    std::size_t count(const std::string& request) const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::count(asked_.begin(), asked_.end(), request));
    }
    std::size_t at(const std::string& request) const {  // of the first; or the number of all
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::find(asked_.begin(), asked_.end(), request) - asked_.begin());
    }
    void forget() {
        const std::lock_guard lock(mutex_);
        asked_.clear();
    }
    std::string state() const {
        const std::lock_guard lock(mutex_);
        return state_;
    }
    std::vector<std::string> players() const {
        const std::lock_guard lock(mutex_);
        return values_;
    }
    std::map<std::string, std::string> numbers() const {  // count, capacity, list_capacity
        const std::lock_guard lock(mutex_);
        return numbers_;
    }
    std::map<std::string, std::string> labels() const {
        const std::lock_guard lock(mutex_);
        return labels_;
    }

  private:
    template <class Change>
    void change(const Change& what) {
        {
            const std::lock_guard lock(mutex_);
            what();
            ++revision_;
        }
        changed_.notify_all();
    }

    static server::JsonLine texts_of(const std::map<std::string, std::string>& texts) {
        server::JsonLine line;
        for (const auto& [key, value] : texts) line.text(key, value);
        return line;
    }
    std::string object() const {
        server::JsonLine meta, status, spec;
        meta.text("name", "fake").text("generation", "1").text("deletion_timestamp", deleted_ ? "1700000000" : "0");
        meta.object("annotations", texts_of(annotations_)).object("labels", texts_of(labels_));
        status.text("state", state_);
        if (!address_.empty()) {
            using server::JsonLine;
            status.text("address", address_);
            status.objects("addresses", {JsonLine().text("type", "Hostname").text("address", "node.example"),
                                         JsonLine().text("type", "InternalIP").text("address", "10.0.0.7"),
                                         JsonLine().text("type", "ExternalIP").text("address", "203.0.113.7")});
            status.objects("ports", {JsonLine().text("name", "http").number("port", 7013),
                                     JsonLine().text("name", "udp").number("port", 7012)});
        }
        return server::JsonLine().object("object_meta", meta).object("spec", spec).object("status", status).str();
    }

    // A text field of a body.
    static std::string field(const std::string& body, const std::string& name) {
        const std::string key = "\"" + name + "\": \"";
        const std::size_t at = body.find(key);
        if (at == std::string::npos) return "";
        return body.substr(at + key.size(), body.find('"', at + key.size()) - at - key.size());
    }

    void set_up(httplib::Server& server) {
        using httplib::Request, httplib::Response;
        const auto noted = [this](auto handler) {
            return [this, handler](const Request& request, Response& response) {
                change([&] {
                    asked_.push_back(request.method + " " + request.path +
                                     (request.body == "{}" ? "" : " " + request.body));
                    response.set_content("{}", "application/json");
                    handler(request, response);
                });
            };
        };
        const auto becomes = [&](const char* state) {
            return noted([this, state](const Request&, Response&) { state_ = state; });
        };
        server.Post("/ready", becomes("Ready"));
        server.Post("/allocate", becomes("Allocated"));
        server.Post("/shutdown", becomes("Shutdown"));
        server.Post("/health", noted([](const Request&, Response&) {}));
        server.Put("/metadata/label", noted([this](const Request& request, Response&) {
                       labels_["agones.dev/sdk-" + field(request.body, "key")] = field(request.body, "value");
                   }));
        server.Get("/gameserver", [this](const Request&, Response& response) {
            const std::lock_guard lock(mutex_);
            response.set_content(object(), "application/json");
        });
        if (has_stream_)
            server.Get("/watch/gameserver", [this](const Request&, Response& response) {
                response.set_chunked_content_provider(
                    "application/json", [this, shown = std::size_t{0}](std::size_t, httplib::DataSink& sink) mutable {
                        std::unique_lock lock(mutex_);
                        changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return revision_ != shown; });
                        if (stopping_) return false;
                        if (revision_ == shown) return true;
                        shown = revision_;
                        const std::string line = "{\"result\": " + object() + "}\n";
                        lock.unlock();
                        return sink.write(line.data(), line.size());
                    });
            });
        if (counted_ == Counted::none) return;
        const std::string below = counted_ == Counted::beta ? "/v1beta1" : "";
        server.Patch(below + "/counters/rooms", noted([this](const Request& request, Response& response) {
                         const std::string count = field(request.body, "count"),
                                           capacity = field(request.body, "capacity");
                         const bool one = count.empty() != capacity.empty();  // as Agones demands
                         if (!one || (!count.empty() && std::stoi(count) > std::stoi(numbers_["capacity"]))) {
                             response.status = 400;
                             return;
                         }
                         if (!count.empty()) numbers_["count"] = count;
                         if (!capacity.empty()) numbers_["capacity"] = capacity;
                     }));
        server.Get(below + "/lists/players", [this](const Request&, Response& response) {
            const std::lock_guard lock(mutex_);
            response.set_content(
                server::JsonLine().text("name", "players").text("capacity", "10").texts("values", values_).str(),
                "application/json");
        });
        server.Patch(below + "/lists/players", noted([this](const Request& request, Response&) {
                         numbers_["list_capacity"] = field(request.body, "capacity");
                     }));
        server.Post(below + "/lists/players:addValue", noted([this](const Request& request, Response& response) {
                        const std::string value = field(request.body, "value");
                        if (std::find(values_.begin(), values_.end(), value) != values_.end())
                            response.status = 409;
                        else
                            values_.push_back(value);
                    }));
        server.Post(below + "/lists/players:removeValue", noted([this](const Request& request, Response& response) {
                        const auto at = std::find(values_.begin(), values_.end(), field(request.body, "value"));
                        if (at == values_.end())
                            response.status = 404;
                        else
                            values_.erase(at);
                    }));
    }

    const Counted counted_;
    const bool has_stream_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<httplib::Server> server_;
    std::thread thread_;
    bool stopping_ = false, deleted_ = false;
    std::size_t revision_ = 1;
    std::string state_ = "Scheduled", address_;
    std::map<std::string, std::string> annotations_, labels_, numbers_;
    std::vector<std::string> values_, asked_;
};

}  // namespace orrery::test
