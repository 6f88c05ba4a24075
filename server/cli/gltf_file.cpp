#include "server/cli/gltf_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace orrery::server {

namespace {

static_assert(std::endian::native == std::endian::little, "glTF is little endian, and numbers are copied as they are");
static_assert(sizeof(sim::Vec3) == 3 * sizeof(float));

constexpr int kFloat = 5126, kUnsignedInt = 5125, kArrayBuffer = 34962, kElementArrayBuffer = 34963;
constexpr std::uint64_t kMaxBytes = UINT32_MAX;  // a file states its length in 32 bits

template <class T>
std::span<const std::uint8_t> raw(std::span<const T> values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

std::array<std::uint8_t, 4> u32(std::uint64_t value) {
    std::array<std::uint8_t, 4> out{};
    for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
    return out;
}

}  // namespace

GltfFile::Accessor GltfFile::add(View view, std::span<const std::uint8_t> bytes, std::size_t count, int component,
                                 const char* type, std::span<const float> low, std::span<const float> high) {
    JsonLine line;
    line.number("bufferView", static_cast<int>(view)).number("byteOffset", bytes_[view].size());
    line.number("componentType", component).number("count", count).text("type", type);
    if (!low.empty()) line.numbers("min", low).numbers("max", high);
    bytes_[view].insert(bytes_[view].end(), bytes.begin(), bytes.end());
    accessors_.push_back(line);
    return accessors_.size() - 1;
}

GltfFile::Accessor GltfFile::indices(std::span<const std::uint32_t> values) {
    return add(kIndices, raw(values), values.size(), kUnsignedInt, "SCALAR");
}

GltfFile::Accessor GltfFile::vertices(std::span<const sim::Vec3> values, bool with_bounds) {
    if (!with_bounds) return add(kVertices, raw(values), values.size(), kFloat, "VEC3");
    sim::Vec3 low = values[0], high = values[0];
    for (const sim::Vec3& v : values) {
        low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
        high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
    }
    return add(kVertices, raw(values), values.size(), kFloat, "VEC3", std::array{low.x, low.y, low.z},
               std::array{high.x, high.y, high.z});
}

GltfFile::Accessor GltfFile::times(std::span<const float> values) {
    return add(kAnimation, raw(values), values.size(), kFloat, "SCALAR", values.first(1), values.last(1));
}

GltfFile::Accessor GltfFile::values(std::span<const float> values, std::size_t components) {
    return add(kAnimation, raw(values), values.size() / components, kFloat, components == 3 ? "VEC3" : "VEC4");
}

Result<Ok> GltfFile::write(NewFile& file, JsonLine parts) const {
    std::vector<JsonLine> views;
    std::uint64_t length = 0;
    for (std::size_t view = 0; view < kViews; ++view) {
        JsonLine line;
        // A view without bytes is not allowed: four that no accessor has stand in for it.
        const std::uint64_t bytes = std::max<std::uint64_t>(bytes_[view].size(), 4);
        line.number("buffer", 0).number("byteOffset", length).number("byteLength", bytes);
        if (view == kVertices) line.number("byteStride", sizeof(sim::Vec3)).number("target", kArrayBuffer);
        if (view == kIndices) line.number("target", kElementArrayBuffer);
        views.push_back(line);
        length += bytes;
    }
    parts.objects("accessors", accessors_).objects("bufferViews", views);
    parts.objects("buffers", {JsonLine().number("byteLength", length)});
    std::string json = parts.str();
    json.resize((json.size() + 3) / 4 * 4, ' ');
    const std::uint64_t all = 12 + 8 + json.size() + 8 + length;
    if (all > kMaxBytes)
        return Error{ErrorCode::limit_reached, "glTF",
                     "the file would have 4 GiB or more; export fewer ticks (--from, --to), or with larger tolerances"};
    const auto head = [&](std::uint64_t bytes, const char* kind) {
        auto done = file.append(u32(bytes));
        return done ? file.append(std::string_view(kind, 4)) : done;
    };
    Result<Ok> done = file.append(std::string_view("glTF", 4));
    if (done) done = file.append(u32(2));
    if (done) done = file.append(u32(all));
    if (done) done = head(json.size(), "JSON");
    if (done) done = file.append(json);
    if (done) done = head(length, "BIN\0");
    for (std::size_t view = 0; view < kViews && done; ++view) {
        done = file.append(bytes_[view]);
        if (done && bytes_[view].empty()) done = file.append(u32(0));
    }
    return done;
}

}  // namespace orrery::server
