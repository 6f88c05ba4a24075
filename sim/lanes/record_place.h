// Where the record of a body lies among others of eight floats, in units of eight bytes: an index that x86 and ARM add
// to the array's address as it is, where a row would be shifted first, for each lane of each pass.
#pragma once

#include <cstdint>

namespace orrery::sim {

inline constexpr std::uint32_t kPlacesPerRecord = 4;

inline constexpr std::uint32_t kMaxRecordRow = 0xffffffffu / kPlacesPerRecord;

enum class RecordPlace : std::uint32_t {};  // of rows up to kMaxRecordRow

constexpr RecordPlace place_of(std::uint32_t row) { return RecordPlace{row * kPlacesPerRecord}; }
constexpr std::uint32_t row_at(RecordPlace place) { return static_cast<std::uint32_t>(place) / kPlacesPerRecord; }

}  // namespace orrery::sim
