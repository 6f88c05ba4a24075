#include "server/room/record_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <limits>

namespace orrery::server {

namespace {

constexpr mode_t kFileMode = 0644;

class SystemFile final : public RecordFile {
  public:
    explicit SystemFile(int file) : file_(file) {}
    SystemFile(const SystemFile&) = delete;
    SystemFile& operator=(const SystemFile&) = delete;
    ~SystemFile() override { ::close(file_); }

    int write(std::span<const std::uint8_t> bytes, std::size_t& written) override {
        ssize_t count = 0;
        do {
            count = ::write(file_, bytes.data(), bytes.size());
        } while (count < 0 && errno == EINTR);
        if (count <= 0) return count < 0 ? errno : ENOSPC;
        written = static_cast<std::size_t>(count);
        return 0;
    }
    int sync() override { return ::fdatasync(file_) == 0 ? 0 : errno; }
    int truncate(std::uint64_t size) override {
        const auto length = static_cast<off_t>(size);
        if (::ftruncate(file_, length) != 0) return errno;
        return ::lseek(file_, length, SEEK_SET) == length ? 0 : errno;
    }
    int reserve(std::uint64_t offset, std::uint64_t bytes) override {
        const int mode = FALLOC_FL_KEEP_SIZE;
        return ::fallocate(file_, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    }
    bool has_name() const override {
        struct stat status {};
        return ::fstat(file_, &status) != 0 || status.st_nlink > 0;
    }

  private:
    int file_;
};

class SystemFiles final : public RecordFiles {
  public:
    int make_folder(const std::string& path) override {
        std::error_code made;
        std::filesystem::create_directories(path, made);
        return made.value();
    }
    int create(const std::string& path, std::unique_ptr<RecordFile>& file) override {
        return open_locked(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file);
    }
    int open(const std::string& path, std::unique_ptr<RecordFile>& file) override {
        return open_locked(path, O_WRONLY | O_CLOEXEC, file);
    }
    int remove(const std::string& path) override { return ::unlink(path.c_str()) == 0 ? 0 : errno; }
    int sync_folder(const std::string& path) override {
        const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) return errno;
        const int code = ::fsync(folder) == 0 ? 0 : errno;
        ::close(folder);
        return code;
    }
    std::uint64_t free_bytes(const std::string& folder) override {
        struct statvfs status {};
        if (::statvfs(folder.c_str(), &status) != 0) return std::numeric_limits<std::uint64_t>::max();
        return std::uint64_t{status.f_bavail} * status.f_frsize;
    }

  private:
    static int open_locked(const std::string& path, int flags, std::unique_ptr<RecordFile>& file) {
        const int handle = ::open(path.c_str(), flags, kFileMode);
        if (handle < 0) return errno;
        file = std::make_unique<SystemFile>(handle);
        return ::flock(handle, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    }
};

}  // namespace

RecordFiles& system_files() {
    static SystemFiles files;
    return files;
}

}  // namespace orrery::server
