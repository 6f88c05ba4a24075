// The scenes of a folder, by name, loaded once for all rooms that use them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/scene/scene.h"

namespace orrery::server {

inline constexpr std::size_t kMaxShelvedScenes = 32;  // the one that was used longest ago makes room

class SceneShelf {
  public:
    SceneShelf(std::string folder, std::uint64_t max_bodies) : folder_(std::move(folder)), max_bodies_(max_bodies) {}

    // `name` is that of a file of the folder itself, whose ending .json may be left out. A file that has changed since
    // is loaded again. Errors: not_found, and those of the scene.
    Result<protocol::SharedScene> take(const std::string& name, std::optional<float> tick_rate_hz);
    std::vector<std::string> names() const;  // that take() knows, in order

  private:
    struct Entry {
        std::string path;
        std::optional<float> tick_rate_hz;
        std::filesystem::file_time_type changed;
        std::uintmax_t bytes = 0;
        protocol::SharedScene scene;
    };

    const std::string folder_;
    const std::uint64_t max_bodies_;
    std::mutex mutex_;          // guards all below; a scene that is loaded holds up others
    std::list<Entry> entries_;  // the one that was used last first
};

}  // namespace orrery::server
