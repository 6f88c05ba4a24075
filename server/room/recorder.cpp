#include "server/room/recorder.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "protocol/netcode/crypto.h"
#include "protocol/replay/reader.h"

namespace orrery::server {

namespace {

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
Result<std::unique_ptr<RecordFile>> create_new(RecordFiles& files, const std::string& stem, std::string& path) {
    for (int n = 1; n <= kMaxRecordingsOfOneName; ++n) {
        path = stem + (n == 1 ? std::string() : "-" + std::to_string(n)) + ".orr";
        std::unique_ptr<RecordFile> file;
        const int code = files.create(path, file);
        if (code == 0) return file;
        if (code != EEXIST) return io_error(path, "open", code, ": name a folder that can be written");
    }
    return Error{ErrorCode::limit_reached, path,
                 "too many recordings of this name (kMaxRecordingsOfOneName): give the room another name"};
}

RecordFiles& files_of(const RecorderSettings& settings) { return settings.files ? *settings.files : system_files(); }

std::uint64_t interval_ticks(const RecorderSettings& settings, double tick_rate_hz) {
    return static_cast<std::uint64_t>(std::clamp(std::ceil(settings.keyframe_interval_s * tick_rate_hz), 1.0, 1e15));
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

Result<std::unique_ptr<Recorder>> Recorder::open(const RecorderSettings& settings, const RecordedScene& scene,
                                                 const PartStart& start) {
    RecordFiles& files = files_of(settings);
    if (const int code = files.make_folder(settings.directory); code != 0)
        return io_error(settings.directory, "mkdir", code, ": name a folder that can be made");

    protocol::replay::FileHeader header;
    header.start_unix_s =
        settings.start_unix_s ? settings.start_unix_s : static_cast<std::uint64_t>(std::time(nullptr));
    header.scene_hash = scene.hash;
    header.tick_rate_hz = scene.tick_rate_hz;
    header.scene_name = scene.name;
    header.room = settings.room;
    protocol::SystemRandom().fill(header.run);
    header.first_tick = start.tick;
    header.parent = start.parent;
    header.about = settings.about;
    protocol::replay::sort_pairs(header.about);
    header.scene.assign(scene.binary.begin(), scene.binary.end());

    const std::string stem =
        (std::filesystem::path(settings.directory) /
         (file_name_part(scene.name) + "-" + utc_stamp(header.start_unix_s) + "-" + file_name_part(settings.room)))
            .string();
    std::string path;
    auto file = create_new(files, stem, path);
    if (!file) return file.error();
    std::unique_ptr<Recorder> recorder(
        new Recorder(settings, double{scene.tick_rate_hz}, path, std::move(file).value()));
    auto begun = recorder->write(recorder->writer_.begin(header));
    if (begun) {
        const int code = files.sync_folder(settings.directory);
        if (code != 0) begun = io_error(settings.directory, "fsync", code, ": name a folder on a sound disk");
    }
    if (!begun) {
        files.remove(path);  // nothing was recorded
        return begun.error();
    }
    recorder->last_tick_written_ = start.tick;
    recorder->next_keyframe_ = start.tick - start.tick % recorder->keyframe_ticks_ + recorder->keyframe_ticks_;
    return recorder;
}

Result<std::unique_ptr<Recorder>> Recorder::go_on(const RecorderSettings& settings, const std::string& path,
                                                  std::unique_ptr<RecordFile> file,
                                                  const protocol::replay::Survey& seen) {
    std::unique_ptr<Recorder> recorder(new Recorder(settings, double{seen.header.tick_rate_hz}, path, std::move(file)));
    if (auto begun = recorder->writer_.go_on(seen.header.run, seen.ticks, seen.record_end); !begun)
        return begun.error();
    recorder->size_ = recorder->reserved_ = seen.record_end.offset;
    recorder->last_tick_written_ = seen.ticks;
    recorder->next_keyframe_ = seen.ticks - seen.ticks % recorder->keyframe_ticks_ + recorder->keyframe_ticks_;
    recorder->as_parent_ = {seen.header.run, seen.record_end.chain};
    if (const int code = recorder->file_->truncate(seen.record_end.offset); code != 0)
        return io_error(path, "ftruncate", code, ": make the file one that can be written");
    if (auto synced = recorder->sync(); !synced) return synced.error();
    return recorder;
}

Recorder::Recorder(const RecorderSettings& settings, double tick_rate_hz, std::string path,
                   std::unique_ptr<RecordFile> file)
    : file_(std::move(file)),
      path_(std::move(path)),
      sign_key_(settings.sign_key),
      writer_(settings.ticks_per_chunk),
      keyframe_ticks_(interval_ticks(settings, tick_rate_hz)),
      next_keyframe_(keyframe_ticks_) {}

Error Recorder::fail(const char* call, int code) {
    failed_ = true;
    failure_ = io_error(path_, call, code, ": the recording ends at tick ");
    failure_.message += std::to_string(last_tick_written_) + "; make room on the disk";
    // A torn last record would do no harm; without it the file is whole up to here.
    if (file_->truncate(size_) != 0) failure_.message += " (its last record is torn)";
    return failure_;
}

Result<Ok> Recorder::write(const Result<protocol::replay::ReplayWriter::Bytes>& bytes) {
    if (!bytes) return bytes.error();
    if (bytes->empty()) return Ok{};
    if (size_ + bytes->size() > reserved_) {
        // A disk that cannot, or will not, is met by the write.
        file_->reserve(size_, std::max<std::uint64_t>(kReserveBytes, bytes->size()));
        reserved_ = size_ + std::max<std::uint64_t>(kReserveBytes, bytes->size());
    }
    for (auto left = *bytes; !left.empty();) {
        std::size_t written = 0;
        if (const int code = file_->write(left, written); code != 0) return fail("write", code);
        left = left.subspan(written);
    }
    size_ += bytes->size();
    last_tick_written_ = writer_.written_ticks();
    as_parent_ = {writer_.run(), writer_.head()};
    return Ok{};
}

Result<Ok> Recorder::append_tick(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash,
                                 std::uint64_t slip_ns) {
    if (failed_) return failure_;
    return write(writer_.tick(tick, commands, hash, slip_ns));
}

Result<Ok> Recorder::check_name() {
    if (file_->has_name()) return Ok{};
    failed_ = true;
    failure_ = Error{ErrorCode::io, path_,
                     "the file was deleted: the recording of " + std::to_string(last_tick_written_) +
                         " ticks is lost; leave the files of a room that runs"};
    return failure_;
}

Result<Ok> Recorder::append_keyframe(std::span<const std::uint8_t> state) {
    if (failed_) return failure_;
    if (auto named = check_name(); !named) return named;
    next_keyframe_ = writer_.ticks() - writer_.ticks() % keyframe_ticks_ + keyframe_ticks_;
    if (auto written = write(writer_.keyframe(state)); !written) return written;
    return sign(protocol::replay::SignedExtent::so_far);
}

Result<Ok> Recorder::sign(protocol::replay::SignedExtent extent) {
    return sign_key_ ? write(writer_.sign(*sign_key_, extent)) : Result<Ok>(Ok{});
}

Result<Ok> Recorder::sync() {
    if (failed_) return failure_;
    if (!file_) return Ok{};
    if (auto named = check_name(); !named) return named;
    if (auto written = write(writer_.flush()); !written) return written;
    if (durable_size_ == size_) return Ok{};
    if (const int code = file_->sync(); code != 0) {
        failed_ = sync_failed_ = true;
        failure_ = io_error(path_, "fdatasync", code, ": of its ticks those after ");
        failure_.message += std::to_string(last_tick_durable_) + " may be lost; verify it, and look at the disk";
        return failure_;
    }
    last_tick_durable_ = last_tick_written_;
    durable_size_ = size_;
    return Ok{};
}

bool Recorder::save_rest() {
    if (sync_failed_ || !file_ || !file_->has_name()) return false;
    if (durable_size_ < size_ && file_->sync() != 0) return false;
    last_tick_durable_ = last_tick_written_;
    durable_size_ = size_;
    return true;
}

Result<Ok> Recorder::close() {
    if (failed_) return failure_;
    if (!file_) return Ok{};
    if (auto named = check_name(); !named) return named;
    if (auto done = sign(protocol::replay::SignedExtent::whole); !done) return done;
    if (auto done = write(writer_.end()); !done) return done;
    file_->truncate(size_);  // gives back the room that was taken ahead
    if (auto done = sync(); !done) return done;
    file_.reset();
    return Ok{};
}

}  // namespace orrery::server
