// Layers of settings: what has the say, where a value comes from, and what is said of a file that is wrong.
#include "server/cli/settings.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "server/base/exit_code.h"
#include "server/base/near_name.h"
#include "server/cli/serve.h"
#include "server/cli/settings_file.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using server::parse_settings_file;
using test::Printed;

namespace {

// A variable of the process for as long as this lives.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

struct File {
    explicit File(const std::string& text, const char* name = "a.toml") : path(folder / name) {
        std::ofstream(path, std::ios::binary) << text;
    }
    test::TempFolder folder;
    std::string path;
};

Printed printed_settings(std::vector<std::string> arguments) {
    arguments.emplace_back("--print-config");
    return test::printed_by([&] { return server::serve_command(arguments); });
}

std::string line_of(const std::string& text, const std::string& key) {
    const std::size_t at = text.find("\n" + key + " = ");
    if (at == std::string::npos) return "";
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

// What is printed, without sources.
std::string values_of(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        out += line.substr(0, line.rfind("  # ")) + '\n';
        at = end + 1;
    }
    return out;
}

std::string error_of(const std::string& text) {
    const auto file = parse_settings_file(text, "a.toml");
    return file ? "" : file.error().to_string();
}

}  // namespace

TEST_CASE("a flag comes before the environment, that before the file, and that before the default") {
    const File file("port = 1\nmax_clients = 2\nthreads = 3\nhands = true\nno_http = true\nallow_mirror = true\n");
    const Variable port("ORRERY_PORT", "11"), clients("ORRERY_MAX_CLIENTS", "12"), mirror("ORRERY_ALLOW_MIRROR", "0");
    const Printed printed = printed_settings({"--config", file.path, "--port", "21"});
    CHECK(printed.code == server::kExitGood);
    CHECK(printed.err.empty());
    CHECK(line_of(printed.out, "port") == "port = 21  # flag");
    CHECK(line_of(printed.out, "max_clients") == "max_clients = 12  # env ORRERY_MAX_CLIENTS");
    CHECK(line_of(printed.out, "threads") == "threads = 3  # " + file.path + ":3");
    CHECK(line_of(printed.out, "hands") == "hands = true  # " + file.path + ":4");
    CHECK(line_of(printed.out, "no_http") == "no_http = true  # " + file.path + ":5");
    CHECK(line_of(printed.out, "allow_mirror") == "allow_mirror = false  # env ORRERY_ALLOW_MIRROR");
    CHECK(line_of(printed.out, "insecure") == "insecure = false  # default");
    CHECK(line_of(printed.out, "bind") == "bind = \"127.0.0.1\"  # default");
}

TEST_CASE("what is printed as settings is a file with the same settings") {
    const File file(
        "scene = \"a \\\"b\\\\\\u007f.json\"\npublic = [\"1.2.3.4:5\", \"[::1]:9\"]\ntick_rate = 30.5\nevents = "
        "[\"hits\", \"joints\"]\n[[rooms]]\nname = \"a\"\nscene = \"yard\"\ntick_rate = 20\nmax_clients = 3\n"
        "allow_mirror = true\nrecord = false\nend_when_empty_s = 1.5\n[[rooms]]\nscene = \"rain.json\"\n");
    const Printed first = printed_settings({"--config", file.path, "--no-http", "--max-clients=0x10"});
    REQUIRE(first.code == server::kExitGood);
    CHECK(line_of(first.out, "max_clients") == "max_clients = 16  # flag");
    CHECK(line_of(first.out, "public") == "public = [\"1.2.3.4:5\", \"[::1]:9\"]  # " + file.path + ":2");
    const File again(first.out, "b.toml");
    const Printed second = printed_settings({"--config", again.path});
    CHECK(second.code == server::kExitGood);
    CHECK(values_of(second.out) == values_of(first.out));
    CHECK(second.out.find("[[rooms]]  # " + again.path) != std::string::npos);
}

TEST_CASE("printed settings that have no effect, as they are by default, are read again") {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"yard.json"}, {"--rooms"}, {"--rooms", "--max-rooms", "5"}}) {
        CAPTURE(arguments.size());
        const Printed first = printed_settings(arguments);
        REQUIRE(first.code == server::kExitGood);
        const File file(first.out);
        const Printed second = printed_settings({"--config", file.path});
        CHECK(second.err.empty());
        CHECK(second.code == server::kExitGood);
        const File again(second.out, "b.toml");
        CHECK(values_of(second.out) == values_of(first.out));
        CHECK(values_of(printed_settings({"--config", again.path}).out) == values_of(first.out));
    }
    const File hexadecimal("scene = \"a.json\"\nmax_rooms = 0x40\n");  // 64
    CHECK(printed_settings({"--config", hexadecimal.path}).code == server::kExitGood);
}

TEST_CASE("what serve needs or does not take is told before it begins, and the option that was meant") {
    const auto error_of_serve = [](const std::vector<std::string>& arguments) {
        const Printed printed = test::printed_by([&] { return server::serve_command(arguments); });
        CHECK(printed.code == server::kExitUsage);
        return printed.err;
    };
    CHECK(error_of_serve({"--port", "0"}).find("name a scene file, --resume FILE or --rooms") != std::string::npos);
    CHECK(error_of_serve({"--rooms", "--scenes", ".", "yard.json"}).find("use --room NAME=SCENE") != std::string::npos);
    CHECK(error_of_serve({"--rooms"}).find("name it by --scenes") != std::string::npos);
    CHECK(error_of_serve({"yard.json", "--prot=7"}).find("--prot=7; did you mean --port (") != std::string::npos);
    CHECK(error_of_serve({"yard.json", "--wheelbarrow"}).find("did you mean") == std::string::npos);
}

TEST_CASE("settings that exclude each other: the higher layer has the say, within one layer it is an error") {
    const File file("key_file = \"k\"\nscene = \"x.json\"\n");
    Printed printed = printed_settings({"--config", file.path, "--insecure", "--resume", "a.orr"});
    CHECK(printed.code == server::kExitGood);
    CHECK(printed.out.find("\n# key_file =") != std::string::npos);
    CHECK(printed.out.find("\n# scene =") != std::string::npos);
    {
        const Variable insecure("ORRERY_INSECURE", "true");
        printed = printed_settings({"--config", file.path});
        CHECK(line_of(printed.out, "insecure") == "insecure = true  # env ORRERY_INSECURE");
        CHECK(printed.out.find("\n# key_file =") != std::string::npos);
    }
    const File both("key_file = \"k\"\ninsecure = true\n");
    printed = printed_settings({"--config", both.path});
    CHECK(printed.code == server::kExitInput);
    CHECK(printed.err == "orrery serve: " + both.path + ":2:1: insecure and key_file (" + both.path +
                             ":1) exclude each other: leave one of them out\n");
    const File off("key_file = \"k\"\ninsecure = false\n");
    CHECK(printed_settings({"--config", off.path}).code == server::kExitGood);
}

TEST_CASE("the environment: what is empty is not set, a list has commas, the file may be named, mistakes are told") {
    const File file("max_clients = 7\n");
    const Variable config("ORRERY_CONFIG", file.path), empty("ORRERY_PORT", ""), list("ORRERY_EVENTS", "hits,joints");
    Printed printed = printed_settings({"a.json", "--threads", "2"});
    CHECK(printed.code == server::kExitGood);
    CHECK(line_of(printed.out, "scene") == "scene = \"a.json\"  # flag");
    CHECK(line_of(printed.out, "max_clients") == "max_clients = 7  # " + file.path + ":1");
    CHECK(line_of(printed.out, "port") == "port = 7770  # default");
    CHECK(line_of(printed.out, "events") == "events = [\"hits\", \"joints\"]  # env ORRERY_EVENTS");
    {
        const Variable wrong("ORRERY_THREADS", "many");
        printed = printed_settings({});
        CHECK(printed.code == server::kExitUsage);
        CHECK(printed.err.starts_with("orrery serve: ORRERY_THREADS: \"many\" is not a whole number"));
    }
    {
        const Variable wrong("ORRERY_HANDS", "perhaps");
        printed = printed_settings({});
        CHECK(printed.code == server::kExitUsage);
        CHECK(printed.err == "orrery serve: ORRERY_HANDS: \"perhaps\" is not true or false\n");
    }
    {
        const Variable near("ORRERY_HTTP_PROT", "1"), far("ORRERY_WRITE_GOLDEN", "1"),
            link("ORRERY_HTTP_PORT", "tcp://10.0.0.1:7780");
        printed = printed_settings({});
        CHECK(printed.code == server::kExitGood);
        CHECK(printed.err.find("ORRERY_HTTP_PROT is no setting") != std::string::npos);
        CHECK(printed.err.find("did you mean ORRERY_HTTP_PORT\n") != std::string::npos);
        CHECK(printed.err.find("ORRERY_HTTP_PORT=tcp://10.0.0.1:7780 is Kubernetes'") != std::string::npos);
        CHECK(printed.err.find("GOLDEN") == std::string::npos);
        CHECK(printed.out.find("\n# http_port =") != std::string::npos);
    }
}

TEST_CASE("a file that is wrong is refused with file, line and column, and the key that was meant") {
    struct Case {
        const char* text;
        const char* error;
    };
    for (const Case& each : {
             Case{"port = 0\nhttp_prt = 7\n", ":2:1: unknown key \"http_prt\"; did you mean \"http_port\"\n"},
             Case{"http-port = 7\n", ":1:1: unknown key \"http-port\"; did you mean \"http_port\"\n"},
             Case{"wheelbarrow = 7\n", ":1:1: unknown key \"wheelbarrow\"\n"},
             Case{"[serve]\nport = 7\n", ":1:2: unknown key \"serve\""},
             Case{"config = \"b.toml\"\n", ":1:1: unknown key \"config\""},
             Case{"port = \"7\"\n", ":1:8: port is a whole number, not a text in quotes\n"},
             Case{"port = 7.5\n", ":1:8: port is a whole number, not a number\n"},
             Case{"port = [7]\n", ":1:8: port is a whole number, not an array\n"},
             Case{"port = 2026-01-01\n", ":1:8: port is a whole number, not a table or a date\n"},
             Case{"bind = 7\n", ":1:8: bind is a text in quotes, not a whole number\n"},
             Case{"hands = 1\n", ":1:9: hands is true or false, not a whole number\n"},
             Case{"\n  port = 70000\n", ":2:10: port: \"70000\" is not a whole number from 0 to 65535\n"},
             Case{"port = -1\n", ":1:8: port: \"-1\" is not a whole number from 0 to 65535\n"},
             Case{"hold_seat_s = nan\n", ":1:15: hold_seat_s: \"nan\" is not a number\n"},
             Case{"hold_seat_s = 1e9\n", ":1:15: hold_seat_s: "},
             Case{"events = \"hits\"\n", ":1:10: events is an array: write [\"...\"]\n"},
             Case{"events = [\"hits\", 3]\n", ":1:19: events is a text in quotes, not a whole number\n"},
             Case{"events = [\"hits\",\n \"bumps\"]\n", ":2:2: events: bumps not in {hits,sensors,joints,spawns}\n"},
             Case{"fsync = \"never\"\n", ":1:9: fsync: never not in {none,interval,tick}\n"},
             Case{"scene = \"-x\"\n", ":1:9: scene: begins with a hyphen: write ./-x\n"},
             Case{"port = \n", ":1:8: not TOML: "},
             Case{"port = 1\nport = 2\n", ":2:8: not TOML: "},
         }) {
        CAPTURE(each.text);
        const File file(each.text);
        const Printed printed = printed_settings({"--config", file.path, "--port", "1"});
        CHECK(printed.code == server::kExitInput);
        CHECK(printed.out.empty());
        CHECK(printed.err.starts_with("orrery serve: " + file.path + each.error));
    }
    const Printed missing = printed_settings({"--config", "/nowhere/a.toml"});
    CHECK(missing.code == server::kExitInput);
    CHECK(missing.err.starts_with("orrery serve: /nowhere/a.toml: cannot be read: No such file"));
    const File large(std::string(server::kMaxSettingsBytes, '#') + "\n");
    CHECK(printed_settings({"--config", large.path}).err.find("larger than 1048576 bytes") != std::string::npos);
    CHECK(printed_settings({"--no-such-flag"}).code == server::kExitUsage);
}

TEST_CASE("tables of rooms are read with their places, and each field is held to its range") {
    const auto file = parse_settings_file(
        "port = 1\n\n[[rooms]]\nname = \"north\"\nscene = \"yard\"\ntick_rate = 30\nmax_clients = 8\nallow_mirror = "
        "true\nrecord = false\nend_when_empty_s = 60\n\n[[rooms]]\nscene = \"rain.json\"\n",
        "a.toml");
    REQUIRE(file);
    REQUIRE(file->rooms.size() == 2);
    const server::RoomWish& wish = file->rooms[0];
    CHECK(wish.name == "north");
    CHECK(wish.scene == "yard");
    CHECK(wish.tick_rate_hz == 30.0f);
    CHECK(wish.max_clients == 8u);
    CHECK(wish.allow_mirror == true);
    CHECK(wish.record == false);
    CHECK(wish.end_when_empty_s == 60.0);
    CHECK(file->rooms[1].scene == "rain.json");
    CHECK_FALSE(file->rooms[1].record.has_value());
    CHECK(file->room_places == std::vector<std::string>{"a.toml:3", "a.toml:12"});
    CHECK(file->settings.size() == 1);

    const std::string room = "[[rooms]]\nscene = \"yard\"\n";
    CHECK(error_of(room + "tick_rte = 5\n") ==
          "a.toml:3:1: unknown key \"tick_rte\" in [[rooms]]; did you mean \"tick_rate\"");
    CHECK(error_of(room + "tick_rate = 5000\n") == "a.toml:3:13: tick_rate is not from 1 to 1000 Hz (kMaxTickRate_hz)");
    CHECK(error_of(room + "tick_rate = nan\n").starts_with("a.toml:3:13: tick_rate is not from 1"));
    CHECK(error_of(room + "tick_rate = \"60\"\n") == "a.toml:3:13: tick_rate is not a number");
    CHECK(error_of(room + "max_clients = 0\n").starts_with("a.toml:3:15: max_clients is not from 1"));
    CHECK(error_of(room + "max_clients = 4294967297\n").starts_with("a.toml:3:15: max_clients is not from 1"));
    CHECK(error_of(room + "max_clients = 1.0\n") == "a.toml:3:15: max_clients is not a whole number");
    CHECK(error_of(room + "record = 1\n") == "a.toml:3:10: record is not true or false");
    CHECK(error_of(room + "end_when_empty_s = -1\n").starts_with("a.toml:3:20: end_when_empty_s is not from 0"));
    CHECK(error_of(room + "name = \"a b\"\n").starts_with("a.toml:3:8: name is not at most 64"));
    CHECK(error_of("[[rooms]]\nscene = \"../yard\"\n").starts_with("a.toml:2:9: scene is a path"));
    CHECK(error_of("[[rooms]]\nname = \"a\"\n").starts_with("a.toml:1:1: a room whose scene is missing"));
    CHECK(error_of("rooms = true\n").empty());  // the setting
    CHECK(error_of("[rooms]\nname = \"a\"\n").find("rooms are tables: write [[rooms]]") != std::string::npos);
    std::string many;
    for (std::uint32_t i = 0; i <= server::kMaxRooms; ++i) many += room;
    CHECK(error_of(many) == "a.toml:2049:1: too many rooms: at most 1024");
}

TEST_CASE("tables of rooms imply many rooms, unless a higher layer says otherwise") {
    const File file("port = 0\nmax_rooms = 5\n[[rooms]]\nscene = \"yard\"\n");
    Printed printed = printed_settings({"--config", file.path, "--room", "rain"});
    CHECK(printed.code == server::kExitGood);
    CHECK(printed.out.find("\n# rooms = true  # " + file.path + ":3\n") != std::string::npos);
    CHECK(printed.out.find("\n[[rooms]]  # " + file.path + ":3\nscene = \"yard\"\n") != std::string::npos);
    CHECK(line_of(printed.out, "room") == "room = [\"rain\"]  # flag");
    const Variable off("ORRERY_ROOMS", "0");
    printed = printed_settings({"--config", file.path});
    CHECK(printed.code == server::kExitUsage);
    CHECK(printed.err ==
          "orrery serve: " + file.path + ":2: max_rooms has no effect without rooms: set both or neither\n");
    const File only_rooms("[[rooms]]\nscene = \"yard\"\n");
    printed = printed_settings({"--config", only_rooms.path});
    CHECK(line_of(printed.out, "rooms") == "rooms = false  # env ORRERY_ROOMS");
    CHECK(printed.out.find("[[rooms]]") == std::string::npos);
    const File setting("rooms = true\nmax_rooms = 5\n");
    ::unsetenv("ORRERY_ROOMS");
    CHECK(line_of(printed_settings({"--config", setting.path}).out, "rooms") ==
          "rooms = true  # " + setting.path + ":1");
}

TEST_CASE("the nearest name is the one with the fewest letters to change") {
    CHECK(server::edit_distance("port", "port") == 0);
    CHECK(server::edit_distance("prot", "port") == 1);  // two that changed places
    CHECK(server::edit_distance("", "port") == 4);
    CHECK(server::edit_distance("kitten", "sitting") == 3);
    CHECK(server::nearest_name("http_prt", {"port", "http_port", "no_http"}) == "http_port");
    CHECK(server::nearest_name("wheelbarrow", {"port", "http_port", "no_http"}).empty());
}
