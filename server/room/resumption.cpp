#include "server/room/resumption.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "protocol/replay/sign.h"

namespace orrery::server {

using namespace orrery::protocol;

namespace {

constexpr std::size_t kPageBytes = 4096;

std::uint64_t last_write(const std::string& path) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    if (error) return 0;
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

}  // namespace

Result<std::unique_ptr<Resumption>> Resumption::open(RecordFiles& files, const std::string& path) {
    std::unique_ptr<Resumption> made(new Resumption);
    made->path_ = path;
    made->last_write_unix_ms_ = last_write(path);
    if (const int code = files.open(path, made->file_); code != 0) {
        return Error{ErrorCode::io, path,
                     code == EWOULDBLOCK ? std::string("another process records to it: end that first")
                                         : std::string(std::strerror(code)) + ": name a recording that can be written"};
    }
    auto source = ReplaySource::open(path);
    if (!source) return source.error();
    made->source_ = std::move(source).value();
    replay::Survey& seen = made->seen_;
    seen = replay::survey(*made->source_, [&](const replay::AncillaryRecord& record) { made->note(record); });
    if (seen.has_header && seen.status == replay::ReadStatus::corrupt && !seen.marks.empty() && made->lost_a_page())
        seen.status = replay::ReadStatus::torn;
    if (!seen.usable()) return Error{seen.error.code, path + ": " + seen.error.place, seen.error.message};
    if (seen.format != replay::kFormatVersion)
        return Error{ErrorCode::version_mismatch, path,
                     "is of format " + std::to_string(seen.format) + ", which is read and no longer written"};
    if (!made->check_signs())
        return Error{ErrorCode::corrupt, path, "a signature in it does not hold; use an undamaged copy"};
    seen.ticks = std::max(seen.ticks, seen.header.first_tick);
    return made;
}

void Resumption::note(const replay::AncillaryRecord& record) {
    if (const auto* host = std::get_if<replay::HostRecord>(&record)) host_tick_ = host->tick;
    const auto* player = std::get_if<replay::PlayerRecord>(&record);
    if (!player) return;
    if (player->change == replay::PlayerChange::left)
        seats_.erase(player->slot);
    else
        seats_[player->slot] = *player;
}

bool Resumption::lost_a_page() const {
    // The chunk that does not hold; if its header does not, as much as that takes.
    replay::ChunkReader chunk(*source_, seen_.end);
    replay::ChunkHeader header;
    const bool read = chunk.skip(header) == replay::ReadStatus::chunk;
    const std::uint64_t begin = seen_.end.offset,
                        end = read ? chunk.position().offset : std::min(begin + kPageBytes, source_->size());
    std::array<std::uint8_t, kPageBytes> page{};
    for (std::uint64_t at = (begin + kPageBytes - 1) / kPageBytes * kPageBytes; at < end; at += kPageBytes) {
        const std::span<std::uint8_t> part(
            page.data(), static_cast<std::size_t>(std::min<std::uint64_t>(kPageBytes, source_->size() - at)));
        if (!source_->read(at, part)) return false;
        if (std::all_of(part.begin(), part.end(), [](std::uint8_t byte) { return byte == 0; })) return true;
    }
    return false;
}

// Whether all hold. One of the whole at the end is cut off: the recording goes on behind it.
bool Resumption::check_signs() {
    for (const replay::SignedPlace& place : seen_.signs) {
        const auto extent = replay::signed_extent(place.record, seen_.header.run, place.before);
        if (!extent) return false;
        const bool last = place.position.sequence + 1 == seen_.record_end.sequence;
        if (extent == replay::SignedExtent::whole && last && !ended()) seen_.record_end = place.position;
    }
    return true;
}

replay::Mark Resumption::start(bool with_director) const {
    const replay::Mark* start = &seen_.marks.front();
    if (with_director && !host_tick_) return *start;
    for (const replay::Mark& mark : seen_.marks) {
        if (!host_tick_ || mark.tick <= *host_tick_) start = &mark;
    }
    return *start;
}

}  // namespace orrery::server
