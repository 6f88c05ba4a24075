// Contract: the subcommands run, bench and doctor print the documented fields and end with the documented exit codes;
// run of a scene file and bench of the same scene give one hash.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/connect_token.h"
#include "protocol/session/key_frame.h"
#include "protocol/session/token_role.h"
#include "server/base/json_line.h"
#include "server/cli/bench.h"
#include "server/cli/bench_scenes.h"
#include "server/cli/doctor.h"
#include "server/cli/run.h"
#include "server/cli/serve.h"
#include "server/cli/simulate.h"
#include "server/cli/token.h"
#include "server/cli/verify.h"
#include "tests/support/captured_output.h"
#include "tests/support/rig_module_path.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using test::Printed;

namespace {

using Command = int (*)(const std::vector<std::string>&);

Printed call(Command command, const std::vector<std::string>& arguments) {
    return test::printed_by([&] { return command(arguments); });
}

std::string scene_path(const std::string& name) {
    return std::string(ORRERY_SOURCE_DIR "/deploy/scenes/") + name + ".json";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The value of a text field of the last JSON line that has it.
std::string field(const std::string& json, const std::string& name) {
    const std::string key = "\"" + name + "\": ";
    const std::size_t at = json.rfind(key);
    if (at == std::string::npos) return "(none)";
    const std::size_t begin = at + key.size();
    return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

std::string write_file(const test::TempFolder& folder, const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
}

std::size_t count_lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("run of a scene file and bench of the same scene give one hash, on any target and thread count") {
    for (const auto& [file, name] :
         {std::pair{"chains", "S1_1k"}, {"pyramid", "S2_40"}, {"rain", "S3_1000"}, {"ragdolls", "S4_100"}}) {
        const Printed run = call(server::run_command, {scene_path(file), "--ticks", "40", "--json"});
        REQUIRE_MESSAGE(run.code == 0, run.err);
        CHECK(field(run.out, "hash").size() == 18);
        const std::string target(sim::target_name(sim::available_targets().front()));
        const Printed bench =
            call(server::bench_command, {name, "--ticks", "40", "--json", "--target", target, "--threads", "2"});
        REQUIRE_MESSAGE(bench.code == 0, bench.err);
        CHECK(field(bench.out, "hash") == field(run.out, "hash"));
        CHECK(field(bench.out, "scene") == server::JsonLine::quote(name));
        CHECK(field(run.out, "scene") == server::JsonLine::quote(file));
    }
}

TEST_CASE("run prints every documented field, and hashes as asked") {
    const test::TempFolder folder;
    const Printed run =
        call(server::run_command, {scene_path("chains"), "--ticks", "10", "--json", "--hash-every", "5", "--hash-tree",
                                   folder / "tree", "--profile", "--substeps", "2", "--tick-rate", "30"});
    REQUIRE_MESSAGE(run.code == 0, run.err);
    for (const char* name : {"scene",
                             "bodies",
                             "joints",
                             "contacts",
                             "ticks",
                             "threads",
                             "target",
                             "jacobi",
                             "solver",
                             "substeps",
                             "engine_version",
                             "cpu",
                             "ms_median",
                             "ms_p99",
                             "hash",
                             "quality",
                             "profile",
                             "max_separation_m",
                             "mean_separation_m",
                             "hash_ms",
                             "save_ms",
                             "narrow_phase"}) {
        CHECK_MESSAGE(has(run.out, "\"" + std::string(name) + "\": "), name);
    }
    CHECK(field(run.out, "bodies") == "1000");
    CHECK(field(run.out, "joints") == "1000");
    CHECK(field(run.out, "substeps") == "2");
    CHECK(count_lines(run.out) == 3);
    const std::string last = field(run.out, "hash");
    CHECK(has(run.out.substr(0, run.out.rfind("scene")), "{\"tick\": 10, \"hash\": " + last + "}"));
    const std::vector<std::uint8_t> bytes = test::read_file(folder / "tree");
    const std::string tree(bytes.begin(), bytes.end());
    CHECK(count_lines(tree) == 10);
    CHECK(field(tree, "root") == last);
    for (std::size_t i = 0; i < sim::kSubsystemCount; ++i) {
        CHECK(field(tree, std::string(sim::subsystem_name(static_cast<sim::Subsystem>(i)))).size() == 18);
    }
    const Printed text = call(server::run_command, {scene_path("chains"), "--ticks", "10"});
    CHECK(text.code == 0);
    CHECK(has(text.out, "median"));
    CHECK(has(text.out, "hash"));
}

TEST_CASE("run prints where bodies are that are named") {
    const Printed run = call(server::run_command, {scene_path("yard"), "--ticks", "10", "--bodies",
                                                   "wrecking_ball,ground", "--bodies-every", "5", "--json"});
    REQUIRE_MESSAGE(run.code == 0, run.err);
    CHECK(count_lines(run.out) == 5);
    CHECK(has(run.out, "{\"tick\": 5, \"body\": \"wrecking_ball\", \"position\": ["));
    CHECK(has(run.out, "{\"tick\": 10, \"body\": \"ground\", \"position\": ["));
    CHECK(has(run.out, "\"angular_velocity\": [0, 0, 0]}"));
    const Printed text = call(server::run_command, {scene_path("yard"), "--ticks", "1", "--bodies", "wrecking_ball"});
    CHECK(has(text.out, "tick 1 body wrecking_ball at "));
    const Printed wrong = call(server::run_command, {scene_path("yard"), "--ticks", "1", "--bodies", "wrecking_bull"});
    CHECK(wrong.code == 2);
    CHECK(has(wrong.err, "--bodies: no body of the scene is called \"wrecking_bull\""));
}

TEST_CASE("a recorded run with commands verifies, and the commands matter") {
    const test::TempFolder folder;
    const std::string script = write_file(folder, "drive.json", R"({"commands": [
        {"tick": 1, "kind": "join", "slot": "player_1"},
        {"tick": 3, "kind": "control", "slot": "player_1", "channels": [1, 0.5]},
        {"tick": 5, "kind": "impulse", "body": "wrecking_ball", "linear": [100, 0, 0]},
        {"tick": 20, "kind": "leave", "slot": "0"}]})");
    const Printed run = call(server::run_command, {scene_path("yard"), "--ticks", "30", "--commands", script,
                                                   "--record", folder.path(), "--json"});
    REQUIRE_MESSAGE(run.code == 0, run.err);
    std::string replay = field(run.out, "replay");
    REQUIRE(replay.size() > 2);
    replay = replay.substr(1, replay.size() - 2);
    const Printed verify = call(server::verify_command, {replay, "--require-complete", "--json"});
    CHECK_MESSAGE(verify.code == 0, verify.out << verify.err);
    CHECK(field(verify.out, "ticks") == "30");
    const Printed plain = call(server::run_command, {scene_path("yard"), "--ticks", "30", "--json"});
    CHECK(field(plain.out, "hash") != field(run.out, "hash"));

    const Printed wrong =
        call(server::run_command,
             {scene_path("yard"), "--ticks", "3", "--commands",
              write_file(folder, "wrong.json", "{\"commands\": [\n{\"tick\": 1, \"slot\": \"player_9\"}]}")});
    CHECK(wrong.code == 2);
    CHECK_MESSAGE(has(wrong.err, "wrong.json:2: commands[0].slot: no slot is called \"player_9\"; did you mean"),
                  wrong.err);
}

TEST_CASE("run tells which commands were rejected and which bodies quarantined, and why") {
    const test::TempFolder folder;
    const std::string scene = write_file(folder, "s.json", R"({"scene_version": 1,
        "shapes": [{"name": "ball", "sphere": {}}], "bodies": [{"name": "ball", "shape": "ball"}, {"name": "post", "shape": "ball", "position": [5, 0, 0]},
            {"name": "edge", "shape": "ball", "position": [4095, 0, 0], "linear_velocity": [900, 0, 0]}],
        "joints": [{"name": "arm", "b": "post", "ball_socket": {"at": [5, 1, 0]}}],
        "templates": [{"name": "egg", "bodies": [{"shape": "ball"}]}]})");
    const std::string script = write_file(folder, "c.json", R"({"commands": [
        {"tick": 4, "kind": "remove_joint", "joint": "arm"},
        {"tick": 1, "kind": "impulse", "body": "ball", "linear": [0, 6e5, 0]},
        {"tick": 2, "kind": "motor_target", "joint": "arm", "value": 3},
        {"tick": 2, "kind": "impulse", "body": "ball", "linear": [0, 1, 0]},
        {"tick": 3, "kind": "remove_joint", "joint": "arm"},
        {"tick": 3, "kind": "spawn", "template": "egg", "position": [4096, 0, 0], "name": "far"},
        {"tick": 3, "kind": "spawn", "template": "egg", "position": [4096, 9, 0], "linear": [1000, 0, 0], "name": "off"},
        {"tick": 5, "kind": "despawn", "body": "far"}]})");
    const Printed run = call(server::run_command, {scene, "--ticks", "5", "--commands", script});
    CHECK(run.code == 0);
    CHECK_MESSAGE(count_lines(run.err) == 5, run.err);
    CHECK_MESSAGE(
        has(run.err, "s.json: tick 1: body \"edge\" is quarantined: it left what is within 4096 m (kMaxCoordinate_m)"),
        run.err);
    CHECK_MESSAGE(has(run.err, "s.json: tick 3: body \"off\" is quarantined: "), run.err);
    CHECK_MESSAGE(has(run.err,
                      "c.json: commands[1]: tick 1: impulse (body \"ball\") is rejected: a body would move faster than "
                      "1000 m/s (kMaxLinearSpeed_mps)"),
                  run.err);
    CHECK_MESSAGE(
        has(run.err, "c.json: commands[2]: tick 2: motor_target (joint \"arm\") is rejected: the joint has no target"),
        run.err);
    CHECK_MESSAGE(
        has(run.err, "c.json: commands[0]: tick 4: remove_joint (joint \"arm\") is rejected: what it names is gone"),
        run.err);
    CHECK_MESSAGE(has(run.out, "3 commands were rejected"), run.out);

    std::string many = "{\"commands\": [";
    for (int i = 0; i < 25; ++i) many += R"({"tick": 1, "kind": "motor_target", "joint": "arm", "value": 3},)";
    const Printed json = call(server::run_command, {scene, "--ticks", "1", "--json", "--commands",
                                                    write_file(folder, "many.json", many + "]}")});
    CHECK(json.code == 0);
    CHECK(field(json.out, "rejected_commands") == "25");
    CHECK_MESSAGE(count_lines(json.err) == 12, json.err);
    CHECK_MESSAGE(has(json.err, "many.json: commands[9]: tick 1: motor_target"), json.err);
    CHECK_MESSAGE(has(json.err, "many.json: 15 more commands were rejected"), json.err);
    const Printed quiet = call(server::run_command, {scene_path("yard"), "--ticks", "1", "--json"});
    CHECK(field(quiet.out, "rejected_commands") == "0");
    CHECK(quiet.err.empty());
}

TEST_CASE("run says why commands for games were rejected") {
    const test::TempFolder folder;
    const std::string scene = write_file(folder, "s.json", R"({"scene_version": 1,
        "shapes": [{"name": "ball", "sphere": {}}, {"name": "ground", "plane": {}}],
        "bodies": [{"name": "ball", "shape": "ball"}, {"name": "ground", "type": "static", "shape": "ground"}],
        "slots": [{"name": "seat"}]})");
    struct Case {
        const char *command, *says;
    };
    const Case cases[] = {
        {R"("kind": "set_body_type", "body": "ground", "type": "dynamic")",
         "set_body_type (body \"ground\") is rejected: the body is quarantined, or its shape"},
        {R"("kind": "set_gravity_scale", "body": "ball", "value": 2000)",
         "the scale is beyond 1000 (kMaxGravityScale)"},
        {R"("kind": "kinematic_target", "body": "ball", "position": [0, 0, 0])", "the body is not kinematic"},
        {R"("kind": "force", "body": "ground", "linear": [0, 1, 0])", "the body is not dynamic"},
        {R"("kind": "teleport_group", "body": "ball", "position": [0, 0, 0])", "is one of the scene and has no group"},
        {R"("kind": "respawn", "slot": "seat", "position": [0, 0, 0])", "the slot has no template"},
        {R"("kind": "drive", "slot": "seat")", "a player has the slot"},
        {R"("kind": "vacate", "slot": "seat")", "vacate (slot \"seat\") is rejected: a player has the slot"},
        {R"("kind": "occupy", "slot": "seat")", "the slot is taken"},
    };
    for (const Case& c : cases) {
        const std::string text =
            std::string(R"({"commands": [{"tick": 1, "kind": "join", "slot": "seat"}, {"tick": 2, )") + c.command +
            "}]}";
        const Printed run =
            call(server::run_command, {scene, "--ticks", "2", "--commands", write_file(folder, "c.json", text)});
        CHECK(run.code == 0);
        CHECK_MESSAGE(has(run.err, "c.json: commands[1]: tick 2: "), run.err);
        CHECK_MESSAGE(has(run.err, c.says), run.err);
    }
}

TEST_CASE("exit codes: usage, input and machine") {
    const test::TempFolder folder;
    const std::string bad = write_file(folder, "bad.json", "{\n\"scene_version\": 1,\n\"bodis\": []}");
    const std::string lame =
        write_file(folder, "lame.json", R"({"scene_version": 1, "shapes": [{"name": "s", "sphere": {}}],
        "bodies": [{"name": "b", "shape": "s"}], "slots": [{"name": "p"}], "actuators": [{"slot": "p", "walk": {"body": "b"}}]})");
    struct Case {
        Command command;
        std::vector<std::string> arguments;
        int code;
        const char* says;
    };
    const std::vector<Case> cases = {
        {server::run_command, {"--help"}, 0, ""},
        {server::run_command, {}, 64, "SCENE"},
        {server::run_command, {scene_path("chains")}, 64, "--ticks"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--frobnicate"}, 64, "--frobnicate"},
        {server::run_command, {scene_path("chains"), "--ticks", "-1"}, 64, "--ticks"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--threads", "0"}, 64, "--threads"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--target", "mmx"}, 64, "mmx"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--target", "wasm"}, 3, "wasm"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--jacobi", "cuda"}, 3, "cuda"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--record", "/proc/nowhere"}, 3, "/proc/nowhere"},
        {server::run_command, {folder / "none.json", "--ticks", "1"}, 2, "none.json"},
        {server::run_command, {bad, "--ticks", "1"}, 2, "bad.json:3: bodis: unknown field \"bodis\""},
        {server::run_command, {lame, "--ticks", "1"}, 2, "lame.json:2: actuators[0].body: is not a character"},
        {server::serve_command,
         {lame, "--port", "0", "--record", folder / "lame"},
         2,
         "lame.json:2: actuators[0].body: is not a character"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--max-bodies", "999"}, 2, "generators[0]"},
        {server::run_command, {scene_path("chains"), "--ticks", "1", "--max-bodies", "-1"}, 64, "--max-bodies"},
        {server::run_command, {scene_path("chains"), "--ticks", "-18446744073709551615"}, 64, "--ticks"},
        {server::run_command,
         {scene_path("chains"), "--ticks", "1", "--threads", "18446744073709551617"},
         64,
         "--threads"},
        {server::run_command, {scene_path("chains"), "--ticks", "1x"}, 64, "--ticks"},
        {server::verify_command, {"none.orr", "--max-bodies", "-1"}, 64, "--max-bodies"},
        {server::serve_command, {scene_path("chains"), "--max-bodies", "-1"}, 64, "--max-bodies"},
        {server::serve_command, {scene_path("chains"), "--port", "-1"}, 64, "--port"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "-1"},
         64,
         "--client-id"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "18446744073709551616"},
         64,
         "--client-id"},
        {server::token_command, {"--key-file", "none", "--server", "127.0.0.1:0", "--client-id", "1"}, 64, "--server"},
        {server::token_command,
         {"--key-file", folder / "none", "--server", "127.0.0.1:7770", "--client-id", "18446744073709551615"},
         2,
         "none"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--role", "king"},
         64,
         "--role"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", "abc"},
         64,
         "even number of hex digits"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", "0g"},
         64,
         "even number of hex digits"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", "-1"},
         64,
         "--user-data"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", "@" + folder / "none"},
         2,
         "none"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", std::string(514, '0')},
         64,
         "has 257 bytes"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data", std::string(494, '0'),
          "--role", "player"},
         64,
         "has 247 bytes; there is room for 246 beside the role"},
        {server::token_command,
         {"--key-file", "none", "--server", "127.0.0.1:7770", "--client-id", "1", "--user-data",
          "4f525259524f4c450900"},
         64,
         "see --role"},
        {server::run_command,
         {scene_path("yard"), "--ticks", "8", "--commands",
          write_file(folder, "late.json", R"({"commands": [{"tick": 12, "kind": "join", "slot": "player_1"},
              {"tick": 9, "kind": "join", "slot": "player_2"}]})")},
         2,
         "late.json: has a command at tick 9, but --ticks is 8"},
        {server::bench_command, {"S9"}, 64, "S9"},
        {server::run_command, {scene_path("yard"), "--ticks", "1", "--jacobi", "cuda"}, 3, "no CUDA module: "},
        {server::bench_command, {"S1_1k", "--solver", "magic"}, 64, "magic"},
        {server::bench_command, {"S1_1k", "--repeat", "0"}, 64, "--repeat"},
        {server::doctor_command, {"--loud"}, 64, "--loud"},
        {server::doctor_command, {"--help"}, 0, ""},
        {server::bench_command, {"--help"}, 0, ""},
    };
    const test::RigModulePath nowhere("/nowhere/module.so");
    for (const Case& one : cases) {
        const Printed printed = call(one.command, one.arguments);
        const std::string shown =
            (one.arguments.empty() ? "" : one.arguments.back()) + ": " + printed.out + printed.err;
        CHECK_MESSAGE(printed.code == one.code, shown);
        CHECK_MESSAGE(has(printed.err, one.says), shown);
        if (one.code == 0) CHECK_MESSAGE(has(printed.out, "Exit codes"), shown);
    }
}

TEST_CASE("a minted token has the role and the game's bytes that the options say") {
    using namespace orrery::protocol;
    const test::TempFolder folder;
    write_file(folder, "key", std::string(64, '7'));
    std::filesystem::permissions(folder / "key", std::filesystem::perms::owner_read);
    test::write_file(folder / "data", {1, 2, 254});
    Key key;
    key.fill(0x77);
    struct Case {
        std::vector<std::string> options;
        TokenRole role;
        std::vector<std::uint8_t> begins;
        std::size_t game_bytes;
    };
    const Case cases[] = {
        {{}, TokenRole::player, {0, 0}, 256},
        {{"--user-data", "00fFa1"}, TokenRole::player, {0x00, 0xff, 0xa1, 0}, 256},
        {{"--role", "player", "--user-data", "ff"}, TokenRole::player, {0xff, 0}, 246},
        {{"--role", "spectator", "--user-data", "@" + folder / "data"}, TokenRole::spectator, {1, 2, 254, 0}, 246},
        {{"--user-data", std::string(492, 'e'), "--role", "director"}, TokenRole::director, {0xee}, 246},
    };
    for (const Case& one : cases) {
        std::vector<std::string> arguments = {
            "--key-file", folder / "key", "--server", "127.0.0.1:7770", "--client-id", "5", "--out", folder / "token"};
        arguments.insert(arguments.end(), one.options.begin(), one.options.end());
        const Printed printed = call(server::token_command, arguments);
        REQUIRE_MESSAGE(printed.code == 0, printed.err);
        const auto token = read_connect_token(test::read_file(folder / "token"));
        REQUIRE(token);
        PrivateToken secret;
        REQUIRE(open_private_token(token->private_part, token->protocol_id, token->expire_timestamp, token->nonce, key,
                                   secret));
        CHECK(secret.client_id == 5);
        const auto identity = read_token_identity(secret.user_data);
        REQUIRE(identity);
        CHECK(identity->role == one.role);
        REQUIRE(identity->game_data.size() == one.game_bytes);
        CHECK(std::equal(one.begins.begin(), one.begins.end(), identity->game_data.begin()));
    }
}

TEST_CASE("JSON text is UTF-8 whatever bytes a name has") {
    const auto quote = [](const std::string& text) { return server::JsonLine::quote(text); };
    const std::string mark = "\xef\xbf\xbd";
    // U+00E9, U+20AC, U+10FFFF stand as they are.
    const std::string good = "a\xc3\xa9\xe2\x82\xac\xf4\x8f\xbf\xbf z";
    CHECK(quote(good) == "\"" + good + "\"");
    CHECK(quote("\n\"\\") == "\"\\u000a\\\"\\\\\"");
    CHECK(quote("a\xff.json") == "\"a" + mark + ".json\"");
    CHECK(quote("\xc3") == "\"" + mark + "\"");                                   // cut off
    CHECK(quote("\xc3(") == "\"" + mark + "(\"");                                 // not followed by its second byte
    CHECK(quote("\xc0\xaf") == "\"" + mark + mark + "\"");                        // overlong
    CHECK(quote("\xed\xa0\x80") == "\"" + mark + mark + mark + "\"");             // a surrogate
    CHECK(quote("\xf4\x90\x80\x80") == "\"" + mark + mark + mark + mark + "\"");  // above U+10FFFF
}

TEST_CASE("bench finds scenes by name and prefix") {
    std::string unknown;
    const auto names = [&](const std::vector<std::string>& asked) {
        std::string found;
        for (const server::BenchScene* scene : server::select_bench_scenes(asked, unknown))
            found += std::string(scene->name) + " ";
        return found;
    };
    CHECK(names({"S1"}) == "S1_1k S1_10k S1_100k ");
    CHECK(names({"S1_1k"}) == "S1_1k ");
    CHECK(names({"S3_1000", "S2"}) == "S2_20 S2_40 S2_60 S3_1000 ");
    CHECK(names({}) ==
          "S1_1k S1_10k S1_100k S2_20 S2_40 S2_60 S3_1000 S3_4000 S3_10000 S4_100 S4_400 S5_ball S5_dist joint_grid "
          "hulls_1000 compounds_1000 cylinders_1000 terrain_1000 rig_chain rig_tip rig_star rig_tree rig_ring rig_net "
          "yard ");
    CHECK(names({"asleep", "rope"}) == "asleep_10k asleep_50k rope_4000 ");  // which no name does not ask for
    CHECK(names({"S1", "x"}).empty());
    CHECK(unknown == "x");
}

TEST_CASE("bench scenes have the bodies and joints of the benchmarks' definition") {
    struct Size {
        const char* name;
        const char *bodies, *joints;
    };
    for (const Size& size : {Size{"S1_10k", "10000", "10000"},
                             {"S2_60", "1831", "0"},
                             {"S3_4000", "4005", "0"},
                             {"S4_100", "1105", "2200"},
                             {"S4_400", "4405", "8800"},
                             {"joint_grid", "10000", "19800"},
                             {"fixed_50k", "51001", "0"},
                             {"vehicles", "501", "400"},
                             {"rope_4000", "4000", "4000"},
                             {"S5_ball", "10000", "19802"},
                             {"S5_dist", "10000", "19802"}}) {
        const Printed bench = call(server::bench_command, {size.name, "--ticks", "1", "--json"});
        REQUIRE_MESSAGE(bench.code == 0, bench.err);
        CHECK(field(bench.out, "bodies") == size.bodies);
        CHECK(field(bench.out, "joints") == size.joints);
    }
}

TEST_CASE("bench runs repeat to one hash, and --check says what it holds them to") {
    const Printed bench = call(server::bench_command, {"S1_1k", "S2_20", "--ticks", "8", "--repeat", "3", "--check"});
    CHECK(bench.code == 0);
    CHECK(has(bench.err, "check S1_1k: all runs have the same hash"));
    CHECK(has(bench.err, "leave out --ticks"));
    const Printed met = call(server::bench_command, {"S2_20", "--check"});
    CHECK(met.code == 0);
    CHECK(has(met.err, "check S2_20: top box displaced, m: "));
    CHECK(has(met.err, "target at most 0.031: met"));
}

TEST_CASE("bench tells what a world takes apart from the definition that worlds of a scene share") {
    const Printed bench = call(server::bench_command, {"S3_1000", "S3_4000", "--ticks", "2", "--profile", "--json"});
    REQUIRE_MESSAGE(bench.code == 0, bench.err);
    const std::string first = bench.out.substr(0, bench.out.find('\n')), second = bench.out.substr(first.size());
    const auto of_body = [](const std::string& line, const char* name) {
        return std::stod(field(line, name)) / std::stod(field(line, "bodies"));
    };
    if (server::heap_bytes() == 0) return;             // a sanitizer's heap does not tell
    for (const std::string& line : {first, second}) {  // all of the definition, and little beside its bodies
        CHECK(of_body(line, "definition_bytes") >= static_cast<double>(sizeof(sim::BodyDef)));
        CHECK(of_body(line, "definition_bytes") < static_cast<double>(sizeof(sim::BodyDef)) + 32.0);
        CHECK(of_body(line, "world_bytes") > 100.0);
    }
    CHECK(has(call(server::bench_command, {"S3_1000", "--ticks", "1", "--profile"}).out,
              " bytes of the definition that worlds of a scene share"));
}

TEST_CASE("run and serve of a scene with too many pairs end with the limit's name, not by a signal") {
    const test::TempFolder folder;
    const std::string scene = write_file(folder, "heap.json", R"({"scene_version": 1, "name": "heap",
        "shapes": [{"name": "ball", "sphere": {"radius": 0.5}}],
        "generators": [{"grid": {"count_x": 10000, "pitch_x": 0, "shape": "ball"}}]})");
    const Printed serve = call(server::serve_command, {scene, "--port", "0", "--record", folder / "served"});
    CHECK(serve.code == 2);
    CHECK(has(serve.out, "listening udp="));
    CHECK(has(serve.err, "tick 1: has more than 4000000 pairs"));
    const Printed run = call(server::run_command, {scene, "--ticks", "3", "--record", folder / "replays"});
    CHECK(run.code == 2);
    CHECK_MESSAGE(has(run.err, "heap: tick 1: has more than 4000000 pairs"), run.err);
    CHECK(has(run.err, "kMaxPairs"));
}

TEST_CASE("doctor lists the targets and says what gpu there is") {
    const test::RigModulePath nowhere("/nowhere/module.so");
    const Printed doctor = call(server::doctor_command, {"--json"});
    CHECK(doctor.code == 0);
    CHECK(has(doctor.out, "\"gpu\": \"none: no CUDA module: "));
    CHECK(has(doctor.out, "\"udp_loopback\": "));
    CHECK(field(doctor.out, "pairs_per_tick_max") == std::to_string(sim::kMaxPairs));
    CHECK(field(doctor.out, "hull_vertices_max") == std::to_string(sim::kMaxHullVertices));
    CHECK(field(doctor.out, "mesh_triangles_max") == std::to_string(sim::kMaxMeshTriangles));
    CHECK(field(doctor.out, "history_ticks_max") == std::to_string(sim::kMaxHistoryTicks));
    CHECK(field(doctor.out, "key_frame_max_bytes") == std::to_string(protocol::kMaxKeyFrameBytes));
    CHECK(field(doctor.out, "engine_version") == std::to_string(sim::kEngineVersion));
    for (const sim::Target target : sim::available_targets()) {
        CHECK(has(doctor.out, "\"" + std::string(sim::target_name(target)) + "\""));
        CHECK(has(call(server::doctor_command, {}).out, std::string(sim::target_name(target))));
    }
}

TEST_CASE("run warns of triangles without an area, and counts them") {
    const test::TempFolder folder;
    const std::string scene = write_file(
        folder, "crack.json",
        R"({"scene_version": 1, "shapes": [{"name": "rock", "mesh": {"vertices": [[0, 0, 0], [0, 0, 2], [0, 0, 1],
                                         [-1, 0, 1]], "indices": [0, 3, 1, 0, 1, 2, 1, 1, 2]}}], "bodies": [{"type": "static", "shape": "rock"}]})");
    const Printed run = call(server::run_command, {scene, "--ticks", "1"});
    CHECK(run.code == 0);
    CHECK(has(run.err, "warning: shapes[0] 'rock': 2 triangles have no area and are left out, the first is number 1"));
}
