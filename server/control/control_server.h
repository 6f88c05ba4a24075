// The control API: HTTP/1.1 with JSON, by which an operator's programs see and steer the rooms of the process, and a
// page at / that does so by the same API. server/README.md says how it is used, deploy/openapi.yaml what it answers.
//
// It has threads of its own, and a request waits for no tick. A connection carries one request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/address.h"
#include "server/control/control_keys.h"
#include "server/control/rooms.h"

namespace orrery::server {

struct ControlConfig {
    protocol::Address bind;  // port 0: a free one
    ControlKeys keys;
    // Names by which requests reach the server beside localhost and the address it is bound to, as the field Host has
    // them, without a port: "ops.example.com". A server that is bound to all addresses answers to each address.
    std::vector<std::string> hosts;
    std::string version;  // of the program
    std::string commit;   // empty: not known
};

class ControlServer {
  public:
    // `rooms` outlives the server. Error io: the port is not available; its place is --control-port.
    // invalid_argument: `hosts` has what is not a name, or the address is none.
    static Result<std::unique_ptr<ControlServer>> start(ControlConfig config, Rooms& rooms);
    // Ends requests in progress; takes at most about a second unless a call of `rooms` takes longer.
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    protocol::Address address() const;  // with the port that was taken

  private:
    struct Parts;
    explicit ControlServer(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

// What the server answers to, as "GET /v1/rooms/{id}", in the order of deploy/openapi.yaml.
std::vector<std::string> control_routes();

}  // namespace orrery::server
