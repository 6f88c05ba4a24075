// Helpers for the conversion of a scene: places in the file, the first error, checked reading of values, and names.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/scene/geometry.h"
#include "protocol/scene/scene_generated.h"
#include "sim/base/result.h"

namespace orrery::protocol::scene {

// A place in a scene. It is built on the stack during the walk, and written as text only for an error.
struct Path {
    const Path* up = nullptr;
    std::string_view field;
    std::int64_t index = -1;

    Path operator/(std::string_view name) const { return {this, name, -1}; }
    Path element(std::string_view name, std::size_t i) const { return {this, name, static_cast<std::int64_t>(i)}; }
    std::string spell() const;
};

// Keeps the first error. After an error, readers continue with harmless values, and loops end early by `ok()`.
class Reader {
  public:
    explicit Reader(std::string_view file_name) : file_name_(file_name) {}

    bool ok() const { return !failed_; }
    const Error& error() const { return error_; }
    void fail(const Path& where, std::string message, ErrorCode code = ErrorCode::invalid_argument);

    // A number within [low, high], which excludes NaN; otherwise an error. `limit` is the name of the limit for
    // messages.
    template <std::floating_point T>
    T number(T value, const Path& where, double low, double high, std::string_view limit = {}) {
        return static_cast<T>(in_range(static_cast<double>(value), where, low, high, limit));
    }
    // False, with an error that names the limit, if a list has more than `most` entries.
    bool at_most(std::size_t entries, std::uint64_t most, std::string_view limit, const Path& where);
    // A vector whose components are finite and at most `most` in magnitude.
    D3 vector(const Vec3& value, const Path& where, double most, std::string_view limit = {});
    D3 vector(const Vec3d& value, const Path& where, double most, std::string_view limit = {});
    // Returns the vector with length 1. A vector of nearly zero length is an error.
    D3 direction(const Vec3& value, const Path& where);
    // Returns the quaternion with length 1. It must have length 1 within 1e-3.
    DQuat orientation(const Quat& value, const Path& where);

  private:
    double in_range(double value, const Path& where, double low, double high, std::string_view limit);

    std::string file_name_;
    bool failed_ = false;
    Error error_;
};

// Names of one kind of element, with their indices.
class Names {
  public:
    explicit Names(const char* kind) : kind_(kind) {}

    // An empty name is not added. A name that is used a second time is an error.
    void add(Reader& reader, std::string_view name, std::uint32_t index, const Path& where);
    // The index of a name. An unknown name is an error that lists the nearest names.
    std::uint32_t find(Reader& reader, std::string_view name, const Path& where) const;
    std::optional<std::uint32_t> get(std::string_view name) const;
    std::string nearest(std::string_view name) const;  // empty: no name is near

  private:
    std::vector<std::string_view> candidates() const;

    const char* kind_;
    std::map<std::string, std::uint32_t, std::less<>> index_;
};

// The shortest text that identifies the number; for a single-precision number, among single-precision numbers.
std::string spell_number(double value);

// The candidate nearest to `name` by edit distance, or empty if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace orrery::protocol::scene
