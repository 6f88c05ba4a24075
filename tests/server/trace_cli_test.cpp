// Contract: `orrery replay trace` prints where bodies were and what happened as `run` printed it, from any tick on, and
// ends with the documented exit codes.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "server/cli/replay.h"
#include "server/cli/run.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using test::Printed;

namespace {

constexpr const char* kYard = ORRERY_SOURCE_DIR "/deploy/scenes/yard.json";
constexpr const char* kCommands = R"({"commands": [
  {"tick": 2, "kind": "join", "slot": "player_1"},
  {"tick": 3, "kind": "control", "slot": "player_1", "channels": [1, 0.3]},
  {"tick": 4, "kind": "leave", "slot": "player_2"}
]})";

Printed trace(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "trace");
    return test::printed_by([&] { return server::replay_command(arguments); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The lines that begin with `head`.
std::vector<std::string> lines(const std::string& text, const std::string& head) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(head, 0) == 0) found.push_back(line);
    }
    return found;
}

struct Recording {
    std::string path;
    std::vector<std::string> body_lines;  // that `run` printed
};

Recording record_yard(const test::TempFolder& folder, const std::string& bodies) {
    std::ofstream(folder / "commands.json") << kCommands;
    const Printed ran = test::printed_by([&] {
        return server::run_command({kYard, "--ticks", "700", "--commands", folder / "commands.json", "--record",
                                    folder.path(), "--bodies", bodies});
    });
    REQUIRE(ran.code == 0);
    const std::vector<std::string> replay = lines(ran.out, "replay ");
    REQUIRE(replay.size() == 1);
    return {replay[0].substr(7), lines(ran.out, "tick ")};
}

}  // namespace

TEST_CASE("a trace shows the bodies of a recording as the run showed them, from the start or from a keyframe on") {
    const test::TempFolder folder;
    const Recording recording = record_yard(folder, "seesaw");
    REQUIRE(recording.body_lines.size() == 700);
    const Printed all = trace({recording.path, "--bodies", "seesaw"});
    CHECK(all.code == 0);
    CHECK(lines(all.out, "tick ") == recording.body_lines);

    // 10 s at 60 Hz after the start there is a keyframe.
    const Printed part = trace({recording.path, "--bodies", "seesaw", "--from", "650", "--to", "690", "--every", "20"});
    CHECK(part.code == 0);
    CHECK(lines(part.out, "tick ") ==
          std::vector<std::string>{recording.body_lines[649], recording.body_lines[669], recording.body_lines[689]});
}

TEST_CASE("a trace names a player's bodies by slot, and events with both bodies") {
    const test::TempFolder folder;
    const Recording recording = record_yard(folder, "seesaw");
    const Printed car = trace({recording.path, "--bodies", "player_1/chassis", "--json", "--to", "100"});
    CHECK(car.code == 0);
    const std::vector<std::string> chassis = lines(car.out, "{\"tick\"");
    CHECK(chassis.size() == 99);  // from the tick of the join on
    CHECK(has(chassis.at(0), "\"tick\": 2, \"body\": \"player_1/chassis\", \"position\": ["));
    CHECK(has(car.out, "\"result\": \"same\", \"complete\": true"));

    const Printed events = trace({recording.path, "--events", "--to", "100"});
    CHECK(events.code == 0);
    CHECK(has(events.out, "tick 2 spawned player_1/chassis"));
    CHECK(has(events.out, "tick 4 command_rejected leave: nobody has the slot"));
    const std::vector<std::string> begins = lines(events.out, "tick ");
    CHECK(std::any_of(begins.begin(), begins.end(), [](const std::string& line) {
        return has(line, "contact_begin") && has(line, "player_1/") && has(line, "normal");
    }));

    const Printed kinds = trace({recording.path, "--kinds", "spawned", "--json"});
    for (const std::string& line : lines(kinds.out, "{\"tick\"")) CHECK(has(line, "\"event\": \"spawned\""));
}

TEST_CASE("a trace that cannot be made says why") {
    const test::TempFolder folder;
    const Recording recording = record_yard(folder, "seesaw");
    const Printed unknown = trace({recording.path, "--bodies", "player_1/wing"});
    CHECK(unknown.code == 2);
    CHECK(has(unknown.err, "no body called \"player_1/wing\"; it can have "));
    CHECK(trace({recording.path}).code == 64);
    CHECK(trace({recording.path, "--kinds", "contact"}).code == 64);
    CHECK(trace({recording.path, "--events", "--from", "9", "--to", "8"}).code == 64);
    const Printed beyond = trace({recording.path, "--events", "--from", "900"});
    CHECK(beyond.code == 2);
    CHECK(has(beyond.err, "it ends at tick 700, before --from 900"));
    CHECK(trace({folder / "none.orr", "--events"}).code == 2);
    CHECK(test::printed_by([] { return server::replay_command({"fly"}); }).code == 64);
    CHECK(test::printed_by([] { return server::replay_command({"--help"}); }).code == 0);
}
