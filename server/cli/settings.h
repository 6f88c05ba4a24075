// Settings of a subcommand in layers: a flag of the command line, else an environment variable, else a TOML file, else
// the default. Every long option of the subcommand is a setting: --http-port is ORRERY_HTTP_PORT in the environment and
// http_port in the file. A file is checked whole, also where a flag has the say, and each error names its place. What
// is empty is not set. What excludes a setting of a higher layer has no effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/rooms.h"
#include "sim/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery::server {

inline constexpr std::uint64_t kMaxSettingsBytes = 1 << 20;  // of a file

// The environment: names and values.
using Environment = std::map<std::string, std::string>;
Environment environment_of_process();

// ORRERY_ and the name in upper case: "http-port" is ORRERY_HTTP_PORT.
std::string environment_name(std::string_view long_name);
// What the environment says of an option. Empty: nothing, or what Kubernetes says of a service: it gives each container
// ORRERY_PORT=tcp://10.0.0.1:7770 for a service with the name "orrery".
std::optional<std::string> setting_in(const Environment& environment, std::string_view long_name);

struct SettingsFile;

class Settings {
  public:
    // Adds --config and --print-config. `app` and the variables of its options outlive this; its other options may be
    // added before or after.
    explicit Settings(CLI::App& app, Environment environment = environment_of_process());

    // As parse_arguments() does, with all layers. Returns an exit code if the program ends: help or the settings were
    // printed, or something is wrong and a message was printed on stderr.
    std::optional<int> parse(const std::vector<std::string>& arguments);

    // The tables [[rooms]] of the file, checked against the ranges of RoomWish, and where each stands: "FILE:LINE".
    const std::vector<RoomWish>& rooms() const { return rooms_; }
    const std::vector<std::string>& room_places() const { return room_places_; }

    // Where the value of an option comes from: "flag", "env NAME", "FILE:LINE" or "default". For messages.
    std::string source_of(std::string_view long_name) const;

  private:
    struct Value {
        std::vector<std::string> texts;  // of a flag: "true" or "false"
        std::string source;
        int layer = 0;
    };

    std::vector<CLI::Option*> options() const;
    std::vector<std::string> keys() const;
    void take_flags();
    Result<Ok> take_environment();
    Result<Ok> take_file(const SettingsFile& file);
    Result<Ok> use(CLI::Option* option, Value value, const std::string& place);
    Result<Ok> check_needs();
    void warn_of_environment() const;
    std::vector<std::string> all_arguments(const std::vector<std::string>& arguments) const;
    void print() const;

    CLI::App& app_;
    Environment environment_;
    std::string file_;
    bool print_ = false;
    std::map<std::string, Value> used_;  // by key
    std::vector<RoomWish> rooms_;
    std::vector<std::string> room_places_;
};

}  // namespace orrery::server
