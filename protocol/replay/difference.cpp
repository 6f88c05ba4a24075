#include "protocol/replay/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::protocol::replay {

namespace {

using sim::FieldType;
using sim::StateField;

std::size_t size_of(FieldType type) {
    constexpr std::size_t kBytes[] = {1, 2, 4, 8, 4};
    return kBytes[static_cast<std::size_t>(type)];
}

class SizeOfFields final : public sim::StateFieldVisitor {
  public:
    std::size_t bytes = 0;
    void field(const StateField& field) override { bytes += field.bytes.size(); }
};

bool names_body(std::string_view field) {
    for (const std::string_view name : {"body", "a", "b", "c", "d", "sensor", "visitor"})
        if (field == name) return true;
    return false;
}

// Compares each field with the bytes at its place.
class Search final : public sim::StateFieldVisitor {
  public:
    std::optional<StateDifference> found;

    Search(std::span<const std::uint8_t> save, std::size_t place) : save_(save), place_(place) {}

    void field(const StateField& field) override {
        if (found) return;
        if (field.list != list_ || field.index != index_) bodies_.clear();
        list_ = field.list, index_ = field.index;
        if (names_body(field.name) && field.integer(0) != sim::kNone)
            bodies_.push_back(static_cast<std::uint32_t>(field.integer(0)));
        const auto left = save_.subspan(std::min(place_, save_.size()));
        const auto there = left.first(std::min(left.size(), field.bytes.size()));
        if (!std::equal(field.bytes.begin(), field.bytes.end(), there.begin(), there.end())) note(field, there);
        place_ += field.bytes.size();
    }

  private:
    void note(const StateField& field, std::span<const std::uint8_t> there) {
        const auto differs = std::mismatch(there.begin(), there.end(), field.bytes.begin()).first - there.begin();
        const std::size_t size = size_of(field.type);
        StateDifference& d = found.emplace();
        d.subsystem = field.subsystem, d.type = field.type, d.count = field.count;
        d.list = field.list, d.index = field.index, d.field = field.name;
        d.number = static_cast<std::uint32_t>(static_cast<std::size_t>(differs) / size);
        d.here = field.integer(d.number);
        if (there.size() == field.bytes.size()) {
            StateField other = field;
            other.bytes = there;
            d.there = other.integer(d.number);
        }
        d.bodies = field.list == "bodies" ? std::vector<std::uint32_t>{field.index} : bodies_;
    }

    std::span<const std::uint8_t> save_;
    std::size_t place_;
    std::string list_;
    std::uint32_t index_ = 0;
    std::vector<std::uint32_t> bodies_;  // that the fields of the element have named so far
};

// Of bytes that have the fields of the world: what differs before or behind them.
std::optional<StateDifference> difference_around(std::span<const std::uint8_t> own,
                                                 std::span<const std::uint8_t> save) {
    if (std::equal(own.begin(), own.end(), save.begin(), save.end())) return std::nullopt;
    const auto at = std::mismatch(own.begin(), own.end(), save.begin(), save.end()).first - own.begin();
    const auto place = static_cast<std::size_t>(at);
    StateDifference d;
    d.list = place < own.size() ? "header" : "end";
    d.index = static_cast<std::uint32_t>(place);
    d.field = "byte";
    d.here = place < own.size() ? own[place] : 0;
    if (place < save.size()) d.there = save[place];
    return d;
}

// Floats in their order as whole numbers: neighbours differ by 1, and -0 is 0.
std::int64_t ordered(std::uint64_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & 0x7fff'ffffu);
    return bits & 0x8000'0000u ? -magnitude : magnitude;
}
bool is_number(std::uint64_t bits) { return !std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits))); }

}  // namespace

std::optional<std::uint64_t> StateDifference::ulps() const {
    if (type != FieldType::f32 || !there || !is_number(here) || !is_number(*there)) return std::nullopt;
    const std::int64_t apart = ordered(here) - ordered(*there);
    return static_cast<std::uint64_t>(apart < 0 ? -apart : apart);
}

std::string StateDifference::name() const {
    if (count == 1) return field;
    if (type == FieldType::f32 && (count == 3 || count == 4) && number < 4) return field + "." + "xyzw"[number];
    return field + "[" + std::to_string(number) + "]";
}

std::optional<StateDifference> first_difference(const sim::World& world, std::span<const std::uint8_t> save) {
    std::vector<std::uint8_t> own;
    world.save(own);
    SizeOfFields fields;
    world.visit_fields(fields);
    Search search(save, own.size() - fields.bytes);
    world.visit_fields(search);
    return search.found ? search.found : difference_around(own, save);
}

}  // namespace orrery::protocol::replay
