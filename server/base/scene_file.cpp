#include "server/base/scene_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace orrery::server {

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t max_bytes, const char* limit) {
    const auto io = [&](const char* what) {
        return Error{ErrorCode::io, path, std::string(what) + ": " + std::strerror(errno)};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return io("cannot be opened");
    std::vector<std::uint8_t> bytes;
    std::uint8_t block[1 << 16];
    for (std::size_t got; (got = std::fread(block, 1, sizeof block, file.get())) > 0;) {
        bytes.insert(bytes.end(), block, block + got);
        if (bytes.size() > max_bytes) {
            return Error{ErrorCode::limit_reached, path,
                         "is longer than the limit of " + std::to_string(max_bytes) + " bytes (" + limit + ")"};
        }
    }
    if (std::ferror(file.get())) return io("cannot be read");
    return bytes;
}

Result<protocol::LoadedScene> load_scene_file(const std::string& path, const protocol::SceneOverrides& overrides,
                                              const protocol::SceneCaps& caps) {
    const Result<std::vector<std::uint8_t>> bytes = read_file(path, caps.max_bytes, "max_bytes");
    if (!bytes) return bytes.error();
    return protocol::load_scene(*bytes, path, overrides, caps);
}

Result<protocol::SharedScene> share_scene_file(protocol::LoadedScene scene, const std::string& path) {
    Result<protocol::SharedScene> shared = protocol::share_scene(std::move(scene));
    if (shared) return shared;
    Error error = shared.error();
    error.place = path + ": " + error.place;
    const Result<std::vector<std::uint8_t>> bytes = read_file(path, protocol::kMaxSceneBytes, "kMaxSceneBytes");
    return bytes ? protocol::with_scene_line(std::move(error), *bytes, path) : error;
}

}  // namespace orrery::server
