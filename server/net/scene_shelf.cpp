#include "server/net/scene_shelf.h"

#include <algorithm>

#include "server/base/scene_file.h"

namespace orrery::server {

namespace fs = std::filesystem;

namespace {

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= 128 && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    });
}

}  // namespace

Result<protocol::SharedScene> SceneShelf::take(const std::string& name, std::optional<float> tick_rate_hz) {
    if (!is_name(name))
        return Error{ErrorCode::invalid_argument, "scene",
                     "is the name of a file in the folder of scenes, of a-z A-Z 0-9 _ - and ."};
    fs::path path = fs::path(folder_) / name;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) path = fs::path(folder_) / (name + ".json");
    const auto changed = fs::last_write_time(path, error);
    const std::uintmax_t bytes = error ? 0 : fs::file_size(path, error);
    if (error || !fs::is_regular_file(path, error))
        return Error{ErrorCode::not_found, "scene",
                     "there is no scene \"" + name + "\" in the folder of scenes, " + folder_};
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.path == path && entry.tick_rate_hz == tick_rate_hz;
    });
    if (found != entries_.end() && found->changed == changed && found->bytes == bytes) {
        entries_.splice(entries_.begin(), entries_, found);
        return found->scene;
    }
    protocol::SceneOverrides overrides;
    overrides.tick_rate_hz = tick_rate_hz;
    protocol::SceneCaps caps;
    caps.max_bodies = max_bodies_;
    Result<protocol::LoadedScene> loaded = load_scene_file(path.string(), overrides, caps);
    if (!loaded) return loaded.error();
    Result<protocol::SharedScene> shared = share_scene_file(std::move(loaded).value(), path.string());
    if (!shared) return shared.error();
    if (found != entries_.end()) entries_.erase(found);
    entries_.push_front({path.string(), tick_rate_hz, changed, bytes, *shared});
    if (entries_.size() > kMaxShelvedScenes) entries_.pop_back();
    return shared;
}

std::vector<std::string> SceneShelf::names() const {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder_, error); !error && at != fs::directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        const bool json = at->path().extension() == ".json";
        const std::string name = (json ? at->path().stem() : at->path().filename()).string();
        if (at->is_regular_file(ignored) && is_name(name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace orrery::server
