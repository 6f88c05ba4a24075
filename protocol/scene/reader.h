// What conversion of a scene shares: where it is in the file, the first error, checked reading of values, and names.
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

// A place inside a scene, made on the stack while walking down and spelled out only when an error needs it.
struct Path {
    const Path* up = nullptr;
    std::string_view field;
    std::int64_t index = -1;

    Path operator/(std::string_view name) const { return {this, name, -1}; }
    Path element(std::string_view name, std::size_t i) const { return {this, name, static_cast<std::int64_t>(i)}; }
    std::string spell() const;
};

// Keeps the first error. Readers go on with harmless values after one; loops stop early by `ok()`.
class Reader {
  public:
    explicit Reader(std::string_view file_name) : file_name_(file_name) {}

    bool ok() const { return !failed_; }
    const Error& error() const { return error_; }
    void fail(const Path& where, std::string message, ErrorCode code = ErrorCode::invalid_argument);

    // Within [low, high] (so never NaN), else an error. limit: what the bound is called, for messages.
    template <std::floating_point T>
    T number(T value, const Path& where, double low, double high, std::string_view limit = {}) {
        return static_cast<T>(in_range(static_cast<double>(value), where, low, high, limit));
    }
    // False, with an error that says so and the limit's name, if a list has more than `most` entries.
    bool at_most(std::size_t entries, std::uint64_t most, std::string_view limit, const Path& where);
    // Every component finite and at most `most` in magnitude.
    DVec vector(const Vec3& value, const Path& where, double most, std::string_view limit = {});
    DVec vector(const Vec3d& value, const Path& where, double most, std::string_view limit = {});
    // Of length 1 after this; an error if its length is next to nothing.
    DVec direction(const Vec3& value, const Path& where);
    // Of length 1 within 1e-3 as given, normalised after this.
    DQuat orientation(const Quat& value, const Path& where);

  private:
    double in_range(double value, const Path& where, double low, double high, std::string_view limit);

    std::string file_name_;
    bool failed_ = false;
    Error error_;
};

// Names of one kind of thing, to index.
class Names {
  public:
    explicit Names(const char* kind) : kind_(kind) {}

    // An empty name is no name. A second use of a name is an error.
    void add(Reader& reader, std::string_view name, std::uint32_t index, const Path& where);
    // The index of a name; an error that lists the nearest names if there is none.
    std::uint32_t find(Reader& reader, std::string_view name, const Path& where) const;
    std::optional<std::uint32_t> get(std::string_view name) const;
    std::string nearest(std::string_view name) const;  // empty: none is near

  private:
    std::vector<std::string_view> candidates() const;

    const char* kind_;
    std::map<std::string, std::uint32_t, std::less<>> index_;
};

// As short as tells it from its neighbours; of what is a single-precision number, from those.
std::string spell_number(double value);

// The candidate nearest to `name` by edit distance, or empty if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace orrery::protocol::scene
