// A binary glTF 2.0 file: its numbers, by accessors, and its parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "server/base/json_line.h"
#include "server/base/new_file.h"

namespace orrery::server {

class GltfFile {
  public:
    using Accessor = std::size_t;
    // Numbers of a mesh. The bounds of positions are written, too, as glTF asks for them.
    Accessor indices(std::span<const std::uint32_t> values);
    Accessor vertices(std::span<const sim::Vec3> values, bool with_bounds);
    // Numbers of animations: times are written with their bounds.
    Accessor times(std::span<const float> values);
    Accessor values(std::span<const float> values, std::size_t components);

    // `parts`: the other properties of the file, without accessors, views and buffers. Error: it has 4 GiB or more.
    Result<Ok> write(NewFile& file, JsonLine parts) const;

  private:
    enum View : std::uint8_t { kIndices, kVertices, kAnimation, kViews };
    Accessor add(View view, std::span<const std::uint8_t> bytes, std::size_t count, int component, const char* type,
                 std::span<const float> low = {}, std::span<const float> high = {});

    std::vector<std::uint8_t> bytes_[kViews];
    std::vector<JsonLine> accessors_;
};

}  // namespace orrery::server
