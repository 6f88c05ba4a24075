// The operations of the control API: what each path does.
#pragma once

#include <httplib.h>

#include <atomic>
#include <span>
#include <string>
#include <string_view>

#include "server/control/control_keys.h"
#include "server/control/problem.h"
#include "server/control/rooms.h"

namespace orrery::server {

inline constexpr int kMaxDownloads = 4;  // at once; each has a thread of the server's

// What an operation works on.
struct Call {
    Rooms& rooms;
    const std::string& version;
    const std::string& commit;
    std::shared_ptr<std::atomic<int>> downloads;  // that run
    const ControlKeys::Holder& holder;
    const httplib::Request& request;
    const std::string& id;  // of the path; empty: it has none
    httplib::Response& answer;
};

struct Route {
    std::string_view method;
    std::string_view path;  // with {id} for one part
    ControlLevel level;
    // Fills the answer, or says why not.
    std::optional<Problem> (*run)(const Call& call);
};

// In the order of deploy/openapi.yaml.
std::span<const Route> routes();

}  // namespace orrery::server
