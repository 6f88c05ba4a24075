#include "server/net/room_list.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>

#include "protocol/replay/reader.h"
#include "server/base/hex.h"
#include "server/net/line_output.h"
#include "server/room/replay_source.h"

namespace orrery::server {

namespace {

std::uint64_t in_ms(double seconds) {
    return NetworkThread::unix_ms() + static_cast<std::uint64_t>(std::clamp(seconds, 0.0, kMaxDrain_s) * 1e3);
}

Error no_such_room(const std::string& id) {
    return Error{ErrorCode::not_found, "id", "there is no room " + id + ": it has ended, or never was"};
}

// Calls `see(path, header)` for each recording of the folder that this program can read.
template <class See>
void for_each_recording(const std::string& folder, See see) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (folder.empty()) return;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() != ".orr" || !at->is_regular_file(ignored)) continue;
        const auto source = ReplaySource::open(at->path().string());
        if (!source) continue;
        protocol::replay::ReplayReader reader(**source);
        const auto header = reader.begin();
        if (header && !see(*at, *header)) return;
    }
}

}  // namespace

std::vector<std::string> unfinished_recordings(const std::string& folder) {
    struct Seen {
        std::uint64_t start_unix_s = 0;
        std::string path;
        protocol::replay::RunId run{};
    };
    std::vector<Seen> unfinished;
    std::vector<protocol::replay::RunId> continued;
    for_each_recording(folder, [&](const auto& entry, const protocol::replay::FileHeader& header) {
        continued.push_back(header.parent.run);
        const std::string path = entry.path().string();
        const auto source = ReplaySource::open(path);
        if (source && protocol::replay::survey(**source).status != protocol::replay::ReadStatus::closed)
            unfinished.push_back({header.start_unix_s, path, header.run});
        return true;
    });
    std::erase_if(unfinished, [&](const Seen& seen) {
        return std::find(continued.begin(), continued.end(), seen.run) != continued.end();
    });
    std::sort(unfinished.begin(), unfinished.end(), [](const Seen& a, const Seen& b) {
        return std::tie(a.start_unix_s, a.path) < std::tie(b.start_unix_s, b.path);
    });
    std::vector<std::string> paths;
    for (const Seen& seen : unfinished) paths.push_back(seen.path);
    return paths;
}

RoomList::RoomList(RoomListSettings settings)
    : settings_(std::move(settings)), started_unix_ms_(NetworkThread::unix_ms()) {}

void RoomList::add(std::shared_ptr<HostedRoom> room) {
    const std::lock_guard lock(mutex_);
    if (drain_ends_unix_ms_) room->host().drain(*drain_ends_unix_ms_, drain_reason_);
    rooms_.push_back(std::move(room));
    ++ended_.rooms_created;
}

void RoomList::remove(const HostedRoom& room) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(rooms_.begin(), rooms_.end(), [&](const auto& one) { return one.get() == &room; });
    if (found == rooms_.end()) return;
    (*found)->host().publish_to(ended_);
    ++ended_.rooms_ended;
    rooms_.erase(found);
}

std::vector<std::shared_ptr<HostedRoom>> RoomList::rooms() const {
    const std::lock_guard lock(mutex_);
    return rooms_;
}

bool RoomList::empty() const {
    const std::lock_guard lock(mutex_);
    return rooms_.empty() && being_made_ == 0;
}

bool RoomList::draining() const {
    const std::lock_guard lock(mutex_);
    return drain_ends_unix_ms_.has_value();
}

std::uint64_t RoomList::drain_ends_unix_ms() const {
    const std::lock_guard lock(mutex_);
    return drain_ends_unix_ms_.value_or(UINT64_MAX);
}

std::shared_ptr<HostedRoom> RoomList::room(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(rooms_.begin(), rooms_.end(), [&](const auto& one) { return one->id() == id; });
    return found == rooms_.end() ? nullptr : *found;
}

Result<RoomView> RoomList::create(const RoomWish& wish) {
    if (!settings_.make)
        return Error{ErrorCode::unsupported_target, "rooms",
                     "this server has the one room that it was started with: start it by orrery serve --rooms"};
    return create_by([&] { return settings_.make(wish); });
}

Result<RoomView> RoomList::create_by(const std::function<Result<std::shared_ptr<HostedRoom>>()>& make) {
    {
        const std::lock_guard lock(mutex_);
        if (drain_ends_unix_ms_)
            return Error{ErrorCode::unsupported_target, "rooms", "the server is being drained: it makes no more rooms"};
        if (rooms_.size() + being_made_ >= settings_.max_rooms)
            return Error{ErrorCode::limit_reached, "rooms",
                         "there are " + std::to_string(settings_.max_rooms) +
                             " rooms (max_rooms, --max-rooms): stop one, or use another server"};
        ++being_made_;
    }
    const Result<std::shared_ptr<HostedRoom>> made = make();
    const std::lock_guard lock(mutex_);
    --being_made_;
    if (!made) return made.error();
    return (*made)->view();
}

std::vector<RoomView> RoomList::list() const {
    std::vector<RoomView> views;
    for (const auto& room : rooms()) views.push_back(room->view());
    return views;
}

std::optional<RoomView> RoomList::find(const std::string& id) const {
    const std::shared_ptr<HostedRoom> found = room(id);
    if (!found) return std::nullopt;
    return found->view();
}

Result<Ok> RoomList::drain(const std::string& id, double within_s, const std::string& reason) {
    if (!(within_s >= 0.0 && within_s <= kMaxDrain_s))
        return Error{ErrorCode::invalid_argument, "within_s", "is not from 0 to 86400 s (kMaxDrain_s)"};
    const std::shared_ptr<HostedRoom> found = room(id);
    if (!found) return no_such_room(id);
    found->host().drain(in_ms(within_s), reason);
    return Ok{};
}

Result<Ok> RoomList::stop(const std::string& id, const std::string& reason) {
    const std::shared_ptr<HostedRoom> found = room(id);
    if (!found) return no_such_room(id);
    found->request_stop(reason);
    return Ok{};
}

Result<MintedToken> RoomList::mint(const std::string& id, const TokenWish& wish) {
    const std::shared_ptr<HostedRoom> found = room(id);
    if (!found) return no_such_room(id);
    return found->mint(wish);
}

Result<Ok> RoomList::kick(const std::string& id, std::uint64_t client_id, const std::string& reason) {
    const std::shared_ptr<HostedRoom> found = room(id);
    if (!found) return no_such_room(id);
    return found->host().ask([client_id, reason](Room& room) { room.kick(client_id, reason); });
}

std::vector<RecordingView> RoomList::recordings() const {
    std::vector<RecordingView> views;
    std::vector<std::string> open;
    for (const auto& room : rooms()) open.push_back(room->view().replay);
    for_each_recording(settings_.recordings, [&](const auto& entry, const protocol::replay::FileHeader& header) {
        RecordingView& view = views.emplace_back();
        view.run_id = to_hex(header.run);
        view.name = entry.path().filename().string();
        view.scene = header.scene_name;
        view.room = header.room;
        view.engine_version = header.engine_version;
        std::error_code ignored;
        view.bytes = entry.file_size(ignored);
        const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(ignored);
        view.modified_unix_ms =
            NetworkThread::unix_ms() - static_cast<std::uint64_t>(std::max<std::int64_t>(
                                           0, std::chrono::duration_cast<std::chrono::milliseconds>(age).count()));
        view.open = std::find(open.begin(), open.end(), view.name) != open.end();
        return true;
    });
    std::sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return views;
}

std::optional<std::string> RoomList::recording_path(const std::string& run_id) const {
    std::optional<std::string> path;
    for_each_recording(settings_.recordings, [&](const auto& entry, const protocol::replay::FileHeader& header) {
        if (to_hex(header.run) == run_id) path = entry.path().string();
        return !path;
    });
    return path;
}

std::vector<std::string> RoomList::scenes() const {
    return settings_.scenes ? settings_.scenes() : std::vector<std::string>();
}

HostView RoomList::host() const {
    const protocol::TimeNs now = NetworkThread::now();
    HostView view;
    std::vector<std::shared_ptr<HostedRoom>> there;
    {
        // At one time: a room that ends between the two would be counted twice, or not at all.
        const std::lock_guard lock(mutex_);
        there = rooms_;
        view.totals = ended_;
        for (const auto& room : there) room->host().publish_to(view.totals);
        view.draining = drain_ends_unix_ms_.has_value();
        view.ends_unix_ms = drain_ends_unix_ms_;
    }
    if (settings_.network) {
        const NetworkStats network = settings_.network->stats();
        view.totals.ignored_datagrams += network.of_no_room + network.oversized;
    }
    view.totals.log_lines_dropped = log_lines_dropped();
    view.started_unix_ms = started_unix_ms_;
    view.rooms = static_cast<std::uint32_t>(there.size());
    view.max_rooms = settings_.max_rooms;
    view.max_clients = settings_.max_clients;
    view.may_create = settings_.make != nullptr;
    for (const auto& room : there) {
        const HostSummary room_now = room->host().summary(now);
        view.open_rooms += room_now.phase == RoomPhase::open ? 1 : 0;
        view.clients += room_now.clients;
        view.players += room_now.players;
        view.recordings_failing += room_now.recording_failing ? 1 : 0;
        view.recordings_late += room_now.recording_late ? 1 : 0;
        view.stalled_s = std::max(view.stalled_s, room_now.stalled_s);
    }
    return view;
}

void RoomList::drain_all(double within_s, const std::string& reason) {
    const std::uint64_t ends = in_ms(within_s);
    {
        const std::lock_guard lock(mutex_);
        if (drain_ends_unix_ms_ && *drain_ends_unix_ms_ <= ends) return;
        drain_ends_unix_ms_ = ends;
        drain_reason_ = reason;
        for (const auto& room : rooms_) room->host().drain(ends, reason);
    }
    if (settings_.on_drain) settings_.on_drain();
}

}  // namespace orrery::server
