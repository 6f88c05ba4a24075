// A client of the control API, for tools of this program: which rooms there are, and tokens for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr double kControlClientWait_s = 5.0;  // for an answer

class ControlClient {
  public:
    // `keys` is a file of keys (control_keys.h), of which the first that may operate is used. Errors are those
    // of ControlKeys::read, and invalid_argument: none may operate.
    static Result<std::unique_ptr<ControlClient>> open(const protocol::Address& server, const std::string& keys);
    ~ControlClient();

    // Ids of the rooms that clients may join, in order of creation. Errors have the code io.
    Result<std::vector<std::string>> open_rooms();
    Result<protocol::PublicTokenBytes> mint(const std::string& room, std::uint64_t client_id);

  private:
    struct State;
    explicit ControlClient(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
