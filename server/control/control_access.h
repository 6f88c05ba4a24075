// Who may use the control API: the names by which a request may reach it, the pages that may send one, and its key.
#pragma once

#include <httplib.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/token_bucket.h"
#include "server/control/control_keys.h"
#include "server/control/problem.h"

namespace orrery::server {

// Of requests with a wrong key. A request with a good one is always served.
inline constexpr protocol::BucketRate kWrongKeys{1.0, 20.0};

class ControlAccess {
  public:
    // Error invalid_argument: `hosts` has what is not a name.
    static Result<Ok> check_hosts(const std::vector<std::string>& hosts);

    ControlAccess(const protocol::Address& bind, ControlKeys keys, std::vector<std::string> hosts);

    // Nothing: the request may come from where it does. Otherwise a DNS name of somebody else's leads to this machine,
    // or a page of somebody else's sends requests.
    std::optional<Problem> check_place(const httplib::Request& request) const;
    // The holder of the request's key, or why there is none.
    std::variant<ControlKeys::Holder, Problem> holder_of(const httplib::Request& request, protocol::TimeNs now);

  private:
    bool knows_host(std::string_view host) const;

    protocol::Address bind_;
    ControlKeys keys_;
    std::vector<std::string> hosts_;  // in lower case
    std::mutex mutex_;
    protocol::TokenBucket wrong_keys_;
};

}  // namespace orrery::server
