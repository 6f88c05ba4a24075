#include <charconv>
#include <string>

#include "protocol/scene/convert.h"
#include "protocol/scene/hash.h"
#include "protocol/scene/json_text.h"
#include "protocol/scene/parse.h"
#include "protocol/scene/scene.h"

namespace orrery::protocol {

namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

// A scene's name becomes part of file names.
Result<Ok> check_name(const std::string& name, std::string_view file_name) {
    if (name.find_first_not_of(kNameCharacters) == std::string::npos && !name.starts_with('.')) return Ok{};
    return Error{
        ErrorCode::invalid_argument, std::string(file_name) + ": name",
        "\"" + name +
            "\" cannot be part of a file name; use letters, digits, '_', '-' and '.', and do not begin with '.'"};
}

std::string stem(std::string_view file_name) {
    const std::size_t slash = file_name.find_last_of("/\\");
    if (slash != std::string_view::npos) file_name.remove_prefix(slash + 1);
    const std::size_t dot = file_name.find_last_of('.');
    std::string name(dot == 0 || dot == std::string_view::npos ? file_name : file_name.substr(0, dot));
    for (char& c : name) {
        if (kNameCharacters.find(c) == std::string_view::npos) c = '_';
    }
    if (name.starts_with('.')) name[0] = '_';
    return name.empty() ? "scene" : name.substr(0, kMaxNameBytes);
}

void apply(const SceneOverrides& overrides, scene::SceneT& tree) {
    if (overrides.tick_rate_hz) tree.tick_rate_hz = *overrides.tick_rate_hz;
    if (overrides.substeps) tree.substeps = *overrides.substeps;
    if (overrides.seed) tree.seed = *overrides.seed;
    if (overrides.rig_solver) {
        const auto solver = static_cast<scene::RigSolver>(*overrides.rig_solver);
        if (!tree.solver) tree.solver = std::make_unique<scene::SolverSettingsT>();
        tree.solver->rig_solver = solver;
        for (const auto& rig : tree.rigs) rig->solver = solver;
    }
}

std::vector<std::uint8_t> to_binary(const scene::SceneT& tree) {
    flatbuffers::FlatBufferBuilder builder;
    scene::FinishSceneBuffer(builder, scene::Scene::Pack(builder, &tree));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<std::unique_ptr<scene::SceneT>> parse(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                             const SceneCaps& caps) {
    if (bytes.size() > caps.max_bytes) {
        return Error{ErrorCode::limit_reached, std::string(file_name),
                     "is " + std::to_string(bytes.size()) + " bytes long; at most " + std::to_string(caps.max_bytes) +
                         " are accepted: use generators, or raise the limit (max_bytes)"};
    }
    if (scene::is_binary(bytes)) return scene::parse_binary(bytes, file_name, caps);
    return scene::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file_name, caps);
}

Result<LoadedScene> load(std::span<const std::uint8_t> bytes, std::string_view file_name,
                         const SceneOverrides& overrides, const SceneCaps& caps) {
    Result<std::unique_ptr<scene::SceneT>> parsed = parse(bytes, file_name, caps);
    if (!parsed) return parsed.error();
    scene::SceneT& tree = **parsed;
    if (const Result<Ok> named = check_name(tree.name, file_name); !named) return named.error();
    apply(overrides, tree);
    LoadedScene loaded;
    loaded.binary = to_binary(tree);
    const scene::Scene& flat = *scene::GetScene(loaded.binary.data());
    Result<sim::WorldDef> world = scene::convert_scene(tree, flat, file_name, caps, loaded.bounds, loaded.generated);
    if (!world) return world.error();
    loaded.name = tree.name.empty() ? stem(file_name) : tree.name;
    loaded.scene_hash = scene::hash_scene(flat);
    loaded.world = std::move(*world);
    return loaded;
}

}  // namespace

Result<LoadedScene> load_scene(std::span<const std::uint8_t> bytes, std::string_view file_name,
                               const SceneOverrides& overrides, const SceneCaps& caps) {
    Result<LoadedScene> loaded = load(bytes, file_name, overrides, caps);
    return loaded ? std::move(loaded) : with_scene_line(loaded.error(), bytes, file_name);
}

Error with_scene_line(Error error, std::span<const std::uint8_t> bytes, std::string_view file_name) {
    if (scene::is_binary(bytes)) return error;
    return scene::with_line(std::move(error), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file_name);
}

std::string scene_path(std::string_view path, std::span<const GeneratedRange> generated) {
    const std::size_t bracket = path.find('['), end = path.find(']');
    const std::string_view list = path.substr(0, bracket);
    if (list == "prefabs") return "templates" + std::string(path.substr(list.size()));
    std::uint32_t index = 0;
    if (end == std::string_view::npos || (list != "bodies" && list != "joints") ||
        std::from_chars(path.data() + bracket + 1, path.data() + end, index).ec != std::errc())
        return std::string(path);
    std::uint32_t made = 0;  // before it: generators follow the listed bodies, and precede the listed joints
    for (std::size_t i = 0; i < generated.size(); ++i) {
        const GeneratedRange& range = generated[i];
        const std::uint32_t first = list == "bodies" ? range.first : range.first_joint,
                            count = list == "bodies" ? range.count : range.joints;
        if (index >= first && index - first < count) return "generators[" + std::to_string(i) + "]";
        made += index >= first ? count : 0;
    }
    return std::string(list) + "[" + std::to_string(index - made) + std::string(path.substr(end));
}

Result<SharedScene> share_scene(LoadedScene scene) {
    auto definition = sim::Definition::create(std::move(scene.world));
    if (!definition) {
        Error error = definition.error();
        error.place = scene_path(error.place, scene.generated);
        return error;
    }
    return SharedScene{std::move(scene.name), std::move(scene.binary), scene.scene_hash, std::move(definition).value(),
                       std::move(scene.bounds)};
}

}  // namespace orrery::protocol
