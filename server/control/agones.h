// The client of Agones' sidecar (its REST interface on loopback): tells a Kubernetes fleet what this process is, and
// drains the rooms when the fleet wants the process to end. Source: Agones' sdk.swagger.json and beta.swagger.json.
//
// One thread owns every change of state, label, counter and list: they are sent one after the other, in one order. A
// second one reads the stream of GET /watch/gameserver alone and leaves the newest object to the first. The sidecar may
// start late, or restart: attempts go on for ever, with a growing pause; what was sent is sent again. So it is whenever
// the stream ends, since the sidecar may then be another one.
//
// What is sent, and when:
//   POST  /ready                the rooms are open, and the fleet has not yet counted this server as ready; and again
//                               after `idle_ready_s` without a room where rooms are made by the control API
//   POST  /health               every `health_every_s` while ticks advance; a room that hangs is so reported by silence
//   POST  /allocate             the fleet counts this server as ready, but it is in use: a room was created without
//                               a GameServerAllocation, or a client is connected. The fleet must not remove it then
//   PATCH /counters/rooms       capacity, then count: the rooms that have not ended, of at most max_rooms. While all is
//                               drained, capacity is the count: no room is to be had
//   POST  /lists/players:...    client ids, 16 hex digits; at most kMaxAgonesList values
//   PUT   /metadata/label       `engine-version`, `draining` (Agones' prefix: agones.dev/sdk-)
//   POST  /shutdown             shut_down()
// Counters and lists: on the stable path; where that answers 404, below /v1beta1.
//
// Rooms::drain_all is called once for each wish to end: the state is Shutdown, the object is being deleted, or the
// annotation or label `orrery.dev/drain` is "true" or a number of seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "protocol/netcode/address.h"
#include "server/control/rooms.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::uint16_t kAgonesPort = 9358;                  // where AGONES_SDK_HTTP_PORT says nothing
inline constexpr std::size_t kMaxAgonesList = 1000;                 // values of a list: Agones' own limit
inline constexpr const char* kAgonesDrainKey = "orrery.dev/drain";  // of an annotation or a label

struct AgonesConfig {
    std::string host = "127.0.0.1";
    std::uint16_t port = kAgonesPort;
    double health_every_s = 2.0;
    double update_every_s = 1.0;  // counters, lists, labels: from one look at the rooms to the next
    double stalled_s = 5.0;       // HostView::stalled_s from which on no health is sent
    double request_s = 2.0;       // the longest wait for one answer
    double retry_first_s = 0.25, retry_longest_s = 10.0;  // pauses between attempts to reach the sidecar
    double watch_silence_s = 60.0;                        // of the stream, after which it is opened anew
    double idle_ready_s = 60.0;  // without rooms, after which an allocated server is ready again; 0: it stays allocated
    double drain_s = 60.0;       // the grace time of a drain that the fleet asks for
    double shutdown_s = 3.0;     // the longest that shut_down() waits
    std::string rooms_counter = "rooms";  // empty: none
    std::string players_list = "players";
};

// The port that AGONES_SDK_HTTP_PORT names. Error: it is set and is no port.
Result<AgonesConfig> agones_config_from_environment();

// Where players reach this server, as the fleet says: an address of the node, and the port of it that leads to the
// container's port that the Fleet calls `port_name`: 203.0.113.7:7012. Tokens name it and the server must know it
// (--public), for the fleet chooses the port. Waits for the sidecar and for the address, at most `within_s`, or until
// go_on() is false. Errors: not_found (the port's name; no address is an IP), io (no sidecar, or no address in time).
Result<protocol::Address> agones_public_address(const AgonesConfig& config, const std::string& port_name,
                                                double within_s, const std::function<bool()>& go_on = nullptr);

class AgonesAgent {
  public:
    // `rooms` must live longer than the agent. Returns at once: the sidecar need not be there.
    static std::unique_ptr<AgonesAgent> start(AgonesConfig config, Rooms& rooms);
    AgonesAgent(const AgonesAgent&) = delete;
    AgonesAgent& operator=(const AgonesAgent&) = delete;
    ~AgonesAgent();  // ends without a word to the fleet

    // The last act of a drain: what the rooms are at last, then POST /shutdown, after which nothing more is sent. Waits
    // for the answer, at most `shutdown_s`. False: there was none; Kubernetes then removes the server when the process
    // has ended.
    bool shut_down();

  private:
    class Impl;
    explicit AgonesAgent(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::server
