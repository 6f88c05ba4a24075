#include "protocol/scene/reader.h"

#include <algorithm>
#include <charconv>
#ifdef ORRERY_SMALL
#include <cstdio>
#endif

#include "protocol/scene/scene.h"

namespace orrery::protocol::scene {

namespace {

constexpr std::size_t kMaxCandidates = 2000;  // beyond it a suggestion is not worth the time
constexpr std::size_t kMaxListedNames = 6;    // that an error spells out
constexpr double kMinDirection = 1e-6;        // shorter vectors do not point anywhere
constexpr double kUnitTolerance = 1e-3;       // of a quaternion's length as written by hand

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string spell_number(double value) {
    char text[40];
    const auto single = static_cast<float>(value);
    if (static_cast<double>(single) == value)
        return std::string(text, std::to_chars(text, text + sizeof text, single).ptr);
#ifdef ORRERY_SMALL  // the tables of std::to_chars for double have 115 KB that hardly compress
    return std::string(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.15g", value)));
#else
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
#endif
}

std::string Path::spell() const {
    std::string text = up ? up->spell() : std::string();
    if (field.empty()) return text;
    if (!text.empty()) text += '.';
    text += field;
    if (index >= 0) text.append("[").append(std::to_string(index)).append("]");
    return text;
}

void Reader::fail(const Path& where, std::string message, ErrorCode code) {
    if (failed_) return;
    failed_ = true;
    const std::string path = where.spell();
    error_ = Error{code, path.empty() ? file_name_ : file_name_ + ": " + path, std::move(message)};
}

bool Reader::at_most(std::size_t entries, std::uint64_t most, std::string_view limit, const Path& where) {
    if (entries <= most) return true;
    fail(where,
         "has " + std::to_string(entries) + " entries; at most " + std::to_string(most) + " are accepted (" +
             std::string(limit) + ")",
         ErrorCode::limit_reached);
    return false;
}

double Reader::in_range(double value, const Path& where, double low, double high, std::string_view limit) {
    if (value >= low && value <= high) return value;
    fail(where, "is " + spell_number(value) + "; give a number from " + spell_number(low) + " to " +
                    spell_number(high) + (limit.empty() ? "" : " (" + std::string(limit) + ")"));
    return low;
}

D3 Reader::vector(const Vec3& value, const Path& where, double most, std::string_view limit) {
    return {number(value.x(), where / "x", -most, most, limit), number(value.y(), where / "y", -most, most, limit),
            number(value.z(), where / "z", -most, most, limit)};
}

D3 Reader::vector(const Vec3d& value, const Path& where, double most, std::string_view limit) {
    return {number(value.x(), where / "x", -most, most, limit), number(value.y(), where / "y", -most, most, limit),
            number(value.z(), where / "z", -most, most, limit)};
}

D3 Reader::direction(const Vec3& value, const Path& where) {
    const D3 v = vector(value, where, 1e6);
    const double size = length(v);
    if (!(size > kMinDirection)) {
        fail(where, "is zero or too short; give a vector with a direction");
        return {0.0, 1.0, 0.0};
    }
    return (1.0 / size) * v;
}

DQuat Reader::orientation(const Quat& value, const Path& where) {
    const DQuat q{number(value.x(), where / "x", -2.0, 2.0), number(value.y(), where / "y", -2.0, 2.0),
                  number(value.z(), where / "z", -2.0, 2.0), number(value.w(), where / "w", -2.0, 2.0)};
    const double size = std::sqrt(norm_squared(q));
    if (std::fabs(size - 1.0) > kUnitTolerance) {
        fail(where, "is a quaternion of length " + spell_number(size) +
                        "; give a unit quaternion x, y, z, w, or rotation_deg instead");
        return {};
    }
    return normalized(q);
}

void Names::add(Reader& reader, std::string_view name, std::uint32_t index, const Path& where) {
    if (name.empty()) return;
    if (name.size() > kMaxNameBytes) {
        reader.fail(where / "name",
                    "has " + std::to_string(name.size()) + " bytes; at most " + std::to_string(kMaxNameBytes) +
                        " are accepted (kMaxNameBytes)",
                    ErrorCode::limit_reached);
        return;
    }
    const auto [entry, added] = index_.emplace(std::string(name), index);
    if (!added) {
        reader.fail(where / "name", "a second " + std::string(kind_) + " is called \"" + std::string(name) +
                                        "\"; give each its own name");
    }
}

std::uint32_t Names::find(Reader& reader, std::string_view name, const Path& where) const {
    if (const std::optional<std::uint32_t> index = get(name)) return *index;
    std::string message = "no " + std::string(kind_) + " is called \"" + std::string(name) + "\"";
    const std::vector<std::string_view> candidates = this->candidates();
    const std::string near = nearest_name(name, candidates);
    if (!near.empty()) {
        message.append("; did you mean \"").append(near).append("\"?");
    } else if (candidates.empty()) {
        message += "; the scene has none with a name";
    } else {
        message += "; there are";
        for (std::size_t i = 0; i < candidates.size() && i < kMaxListedNames; ++i) {
            message.append(i ? ", \"" : " \"").append(candidates[i]).append("\"");
        }
        if (candidates.size() > kMaxListedNames) message += ", ...";
    }
    reader.fail(where, message, ErrorCode::not_found);
    return 0;
}

std::optional<std::uint32_t> Names::get(std::string_view name) const {
    const auto entry = index_.find(name);
    return entry == index_.end() ? std::nullopt : std::optional(entry->second);
}

std::string Names::nearest(std::string_view name) const { return nearest_name(name, candidates()); }

std::vector<std::string_view> Names::candidates() const {
    std::vector<std::string_view> names;
    for (const auto& [known, index] : index_) {
        if (names.size() == kMaxCandidates) break;
        names.push_back(known);
    }
    return names;
}

std::string nearest_name(std::string_view name, const std::vector<std::string_view>& candidates) {
    if (name.size() > kMaxNameBytes) return {};
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance) best_distance = distance, best = std::string(candidate);
    }
    return best;
}

}  // namespace orrery::protocol::scene
