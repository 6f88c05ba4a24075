// What the control API shows, as JSON. deploy/openapi.yaml describes it.
#pragma once

#include "server/base/json_line.h"
#include "server/control/control_keys.h"
#include "server/control/rooms.h"

namespace orrery::server {

JsonLine room_json(const RoomView& room, bool with_members);
JsonLine host_json(const HostView& host);
JsonLine recording_json(const RecordingView& recording);
JsonLine token_json(const MintedToken& token);
// `version` and `commit`: of the program. `holder`: of the key that asks.
JsonLine version_json(const std::string& version, const std::string& commit, const ControlKeys::Holder& holder,
                      const HostView& host, const std::vector<std::string>& scenes);

}  // namespace orrery::server
