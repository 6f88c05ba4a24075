#include "server/room/replay_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace orrery::server {

Result<std::unique_ptr<ReplaySource>> ReplaySource::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return Error{ErrorCode::io, path, std::string(std::strerror(errno)) + ": name a replay that can be read"};
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(file);
        return Error{ErrorCode::io, path, "not a regular file: name a replay, a file that ends in .orr"};
    }
    return std::unique_ptr<ReplaySource>(new ReplaySource(file, static_cast<std::uint64_t>(status.st_size)));
}

ReplaySource::~ReplaySource() { ::close(file_); }

bool ReplaySource::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
    while (!out.empty()) {
        const ssize_t got = ::pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        offset += static_cast<std::uint64_t>(got);
        out = out.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

}  // namespace orrery::server
