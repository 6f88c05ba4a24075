#include "server/room/resumption.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

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
    if (seen.has_header && seen.status == replay::ReadStatus::corrupt && !seen.marks.empty() && made->lost_pages())
        seen.status = replay::ReadStatus::torn;
    if (!seen.usable()) return Error{seen.error.code, path + ": " + seen.error.place, seen.error.message};
    if (seen.format != replay::kFormatVersion)
        return Error{ErrorCode::version_mismatch, path,
                     "is of format " + std::to_string(seen.format) + ", which is read and no longer written"};
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

bool Resumption::lost_pages() const {
    std::array<std::uint8_t, kPageBytes> page{};
    for (std::uint64_t at = seen_.record_end.offset; at < source_->size(); at += kPageBytes - at % kPageBytes) {
        const std::uint64_t size = std::min<std::uint64_t>(kPageBytes - at % kPageBytes, source_->size() - at);
        const std::span<std::uint8_t> part(page.data(), static_cast<std::size_t>(size));
        if (!source_->read(at, part)) return false;
        if (std::all_of(part.begin(), part.end(), [](std::uint8_t byte) { return byte == 0; })) return true;
    }
    return false;
}

replay::Mark Resumption::start() const {
    const replay::Mark* start = &seen_.marks.front();
    for (const replay::Mark& mark : seen_.marks) {
        if (!host_tick_ || mark.tick <= *host_tick_) start = &mark;
    }
    return *start;
}

}  // namespace orrery::server
