#include "server/room/recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

namespace {

constexpr mode_t kFileMode = 0644;

std::string utc_stamp(std::uint64_t unix_s) {
    const auto time = static_cast<std::time_t>(unix_s);
    std::tm utc{};
    gmtime_r(&time, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
    return text;
}

Error io_error(const std::string& place, const char* call, int code, const char* mend) {
    return Error{ErrorCode::io, place, std::string(call) + ": " + std::strerror(code) + mend};
}

// Creates a file that did not exist; on success `path` is its path.
Result<int> create_new(const std::string& stem, std::string& path) {
    for (int n = 1; n <= kMaxRecordingsOfOneName; ++n) {
        path = stem + (n == 1 ? std::string() : "-" + std::to_string(n)) + ".orr";
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
        if (file >= 0) return file;
        if (errno != EEXIST) return io_error(path, "open", errno, ": name a folder that can be written");
    }
    return Error{ErrorCode::limit_reached, path,
                 "too many recordings of this name (kMaxRecordingsOfOneName): give the room another name"};
}

}  // namespace

std::string file_name_part(std::string_view name) {
    std::string part(name.substr(0, kMaxFileNamePart));
    for (char& c : part) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!plain) c = '_';
    }
    return part.empty() ? "_" : part;
}

Result<std::unique_ptr<Recorder>> Recorder::open(const RecorderSettings& settings, const RecordedScene& scene) {
    std::error_code made;
    std::filesystem::create_directories(settings.directory, made);
    if (made) return Error{ErrorCode::io, settings.directory, made.message() + ": name a folder that can be made"};

    protocol::replay::FileHeader header;
    header.start_unix_s =
        settings.start_unix_s ? settings.start_unix_s : static_cast<std::uint64_t>(std::time(nullptr));
    header.scene_hash = scene.hash;
    header.tick_rate_hz = scene.tick_rate_hz;
    header.scene_name = scene.name;
    header.room = settings.room;
    protocol::SystemRandom().fill(header.run);
    header.about = settings.about;
    protocol::replay::sort_pairs(header.about);
    header.scene.assign(scene.binary.begin(), scene.binary.end());

    const std::string stem =
        (std::filesystem::path(settings.directory) /
         (file_name_part(scene.name) + "-" + utc_stamp(header.start_unix_s) + "-" + file_name_part(settings.room)))
            .string();
    std::string path;
    auto file = create_new(stem, path);
    if (!file) return file.error();
    const double ticks = std::ceil(settings.keyframe_interval_s * static_cast<double>(scene.tick_rate_hz));
    const auto keyframe_ticks = static_cast<std::uint64_t>(std::clamp(ticks, 1.0, 1e15));
    std::unique_ptr<Recorder> recorder(new Recorder(*file, path, keyframe_ticks));
    if (auto begun = recorder->write(recorder->writer_.begin(header)); !begun) {
        ::unlink(path.c_str());  // nothing was recorded
        return begun.error();
    }
    return recorder;
}

Recorder::Recorder(int file, std::string path, std::uint64_t keyframe_ticks)
    : file_(file), path_(std::move(path)), keyframe_ticks_(keyframe_ticks), next_keyframe_(keyframe_ticks) {}

Recorder::~Recorder() {
    if (file_ >= 0) ::close(file_);
}

Error Recorder::fail(const char* call, int code) {
    failed_ = true;
    failure_ = io_error(path_, call, code, ": the recording ends at tick ");
    failure_.message += std::to_string(last_tick_written_) + "; make room and start a new recording";
    // A torn last record would do no harm; without it the file is whole up to here.
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) failure_.message += " (its last record is torn)";
    return failure_;
}

Result<Ok> Recorder::write(const Result<protocol::replay::ReplayWriter::Bytes>& bytes) {
    if (!bytes) return bytes.error();
    for (auto left = *bytes; !left.empty();) {
        const ssize_t written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return fail("write", written < 0 ? errno : ENOSPC);
        left = left.subspan(static_cast<std::size_t>(written));
    }
    size_ += bytes->size();
    return Ok{};
}

Result<Ok> Recorder::append_tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                                 std::uint64_t slip_ns) {
    if (failed_) return failure_;
    auto done = write(writer_.tick(tick, commands, hash, slip_ns));
    if (done) last_tick_written_ = tick;
    return done;
}

Result<Ok> Recorder::check_name() {
    struct stat status {};
    if (::fstat(file_, &status) != 0 || status.st_nlink > 0) return Ok{};
    failed_ = true;
    failure_ = Error{ErrorCode::io, path_,
                     "the file was deleted: the recording of " + std::to_string(last_tick_written_) +
                         " ticks is lost; start the room anew to record again"};
    return failure_;
}

Result<Ok> Recorder::append_keyframe(std::span<const std::uint8_t> state) {
    if (failed_) return failure_;
    if (auto named = check_name(); !named) return named;
    next_keyframe_ = writer_.ticks() - writer_.ticks() % keyframe_ticks_ + keyframe_ticks_;
    return write(writer_.keyframe(state));
}

Result<Ok> Recorder::close() {
    if (failed_) return failure_;
    if (file_ < 0) return Ok{};
    if (auto named = check_name(); !named) return named;
    if (auto done = write(writer_.end()); !done) return done;
    if (::fsync(file_) != 0) return fail("fsync", errno);
    const int file = file_;
    file_ = -1;
    if (::close(file) != 0) return io_error(path_, "close", errno, ": the end of the recording may be lost; verify it");
    return Ok{};
}

}  // namespace orrery::server
