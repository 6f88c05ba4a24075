#include "server/cli/check.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "protocol/scene/json_schema.h"
#include "server/base/json_line.h"
#include "server/base/scene_file.h"
#include "server/cli/command_line.h"
#include "server/cli/scene_warnings.h"

namespace orrery::server {

namespace {

struct CheckOptions {
    std::vector<std::string> scenes;
    std::string json_schema;
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
    bool json = false, strict = false;
};

// A line of --json for an error or a warning. Its place is "FILE:LINE: PATH", or a part of that.
std::string finding_json(const char* severity, std::string_view kind, const std::string& file, const Error& found) {
    std::string_view place = found.place;
    std::uint64_t line = 0;
    if (place.starts_with(file)) place.remove_prefix(file.size());
    if (place.size() > 1 && place[0] == ':' && place[1] != ' ') {
        const auto read = std::from_chars(place.data() + 1, place.data() + place.size(), line);
        place.remove_prefix(static_cast<std::size_t>(read.ptr - place.data()));
    }
    if (place.starts_with(": ")) place.remove_prefix(2);
    JsonLine text;
    text.text("severity", severity).text("kind", kind).text("file", file);
    if (line > 0) text.number("line", line);
    return text.text("path", place).text("message", found.message).str();
}

int tell_error(const CheckOptions& options, const std::string& file, const Error& error) {
    if (!options.json) return complain(error, exit_code_of(error));
    std::printf("%s\n", finding_json("error", "error", file, error).c_str());
    return exit_code_of(error);
}

int check_scene(const CheckOptions& options, const std::string& file) {
    const Result<std::vector<std::uint8_t>> bytes = read_file(file, protocol::kMaxSceneBytes, "kMaxSceneBytes");
    if (!bytes) return tell_error(options, file, bytes.error());
    protocol::SceneCaps caps;
    caps.max_bodies = options.max_bodies;
    const Result<protocol::LoadedScene> loaded = protocol::load_scene(*bytes, file, {}, caps);
    if (!loaded) return tell_error(options, file, loaded.error());
    const Result<protocol::SharedScene> shared = share_scene_file(*loaded, file);
    if (!shared) return tell_error(options, file, shared.error());
    const Result<SceneWarnings> warnings = scene_warnings(*loaded, *shared->definition);
    if (!warnings)
        return tell_error(options, file,
                          {warnings.error().code, file + ": " + warnings.error().place, warnings.error().message});

    for (const SceneWarning& warning : warnings->told) {
        const Error placed = protocol::with_scene_line(
            {ErrorCode::invalid_argument, file + ": " + warning.path, warning.message}, *bytes, file);
        if (options.json) {
            std::printf("%s\n", finding_json("warning", warning_name(warning.kind), file, placed).c_str());
        } else {
            std::printf("%s: warning: %s\n", placed.place.c_str(), placed.message.c_str());
        }
    }
    const std::size_t bodies = loaded->world.bodies.size(), joints = loaded->world.joints.size();
    const std::uint64_t total = warnings->total();
    if (options.json) {
        JsonLine counts;
        for (std::size_t kind = 0; kind < kWarningKinds; ++kind)
            counts.number(warning_name(static_cast<WarningKind>(kind)), warnings->count[kind]);
        const std::string line = JsonLine()
                                     .text("scene", loaded->name)
                                     .text("file", file)
                                     .number("bodies", bodies)
                                     .number("joints", joints)
                                     .number("warnings", total)
                                     .object("kinds", counts)
                                     .str();
        std::printf("%s\n", line.c_str());
    } else {
        const std::string untold =
            total > warnings->told.size()
                ? ", of which " + std::to_string(total - warnings->told.size()) + " are not shown"
                : "";
        std::printf("%s: %zu bodies, %zu joints, %s%s\n", file.c_str(), bodies, joints,
                    total == 0   ? "no warnings"
                    : total == 1 ? "1 warning"
                                 : (std::to_string(total) + " warnings").c_str(),
                    untold.c_str());
    }
    return options.strict && total > 0 ? kExitFalse : kExitGood;
}

int write_schema(const std::string& path) {
    const Result<std::string> text = protocol::scene_json_schema();
    if (!text) return complain(text.error(), kExitInternal);
    if (path == "-") {
        std::fputs(text->c_str(), stdout);
        return kExitGood;
    }
    std::ofstream file(path, std::ios::binary);
    file << *text;
    file.close();
    return file ? kExitGood : complain(path + ": cannot be written; name a file in an existing folder", kExitMachine);
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
    CheckOptions options;
    CLI::App app(
        "Checks scenes. Errors are those of `run` and `serve`; they are printed on stderr, and the exit code is 2. "
        "Warnings are probable "
        "mistakes in a scene that loads: a mesh whose faces look down or inward, bodies that start deep inside others, "
        "two slots at one "
        "pose, a slot that steers nothing, a static body with a velocity, a joint without a dynamic body, mass ratios "
        "beyond 1,000 of "
        "bodies that touch or are jointed. Warnings are printed on stdout with file, line, place and mend; the exit "
        "code is 0, or 1 with "
        "--strict. A world of the scene is stepped for at most one second with every slot taken, to find the bodies "
        "that touch.",
        "orrery check");
    app.add_option("SCENE", options.scenes, "scene files, JSON or binary");
    add_max_bodies_option(app, options.max_bodies);
    app.add_flag("--strict", options.strict, "exit code 1 if there are warnings");
    app.add_flag("--json", options.json,
                 "print one JSON object for each line: errors and warnings with severity, kind, file, line, path and "
                 "message, and scenes that load");
    app.add_option(
        "--json-schema", options.json_schema,
        "write the JSON Schema of scenes to this file (- for stdout): editors complete and check scenes with it");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (options.scenes.empty() && options.json_schema.empty())
        return complain("check: name a SCENE to check (see orrery check --help)", kExitUsage);
    if (!options.json_schema.empty()) {
        if (const int code = write_schema(options.json_schema); code != kExitGood) return code;
    }
    int worst = kExitGood;
    for (const std::string& file : options.scenes) worst = std::max(worst, check_scene(options, file));
    return worst;
}

}  // namespace orrery::server
