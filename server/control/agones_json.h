// What Agones' sidecar says, as values. Its texts are JSON in which a 64-bit number is a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::server {

// Of a GameServer object, what matters to the process that it is about. Absent fields are empty.
struct AgonesObject {
    std::string state;           // "Scheduled", "Ready", "Allocated", "Shutdown", ...
    bool deleted = false;        // Kubernetes removes the object
    std::string drain;           // of the annotation kAgonesDrainKey, or of the label
    std::string last_allocated;  // a time; it changes with every GameServerAllocation
};

// `text` is the object, or a line of the stream of GET /watch/gameserver: {"result": OBJECT}. Nothing: it is neither.
std::optional<AgonesObject> read_agones_object(std::string_view text);

// Where the ports of a GameServer are reached. `addresses` are in the order in which they are to be tried: "1.2.3.4".
struct AgonesPlace {
    std::vector<std::string> addresses;
    std::vector<std::pair<std::string, std::uint16_t>> ports;  // by name; of the node
};
std::optional<AgonesPlace> read_agones_place(std::string_view text);

// The values of a list. Nothing: `text` is no list.
std::optional<std::vector<std::string>> read_agones_list(std::string_view text);

}  // namespace orrery::server
