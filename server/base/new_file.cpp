#include "server/base/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace orrery::server {

NewFile::NewFile(const std::string& path, unsigned mode)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) {}

NewFile::~NewFile() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(path_.c_str());
}

Error NewFile::error(const char* call) const {
    const char* mend = errno == EEXIST ? ": name a new file" : "";
    return Error{ErrorCode::io, path_, std::string(call) + ": " + std::strerror(errno) + mend};
}

Result<Ok> NewFile::append(std::span<const std::uint8_t> bytes) {
    for (auto left = bytes; !left.empty();) {
        const ssize_t written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return error("write");
        left = left.subspan(static_cast<std::size_t>(written));
    }
    size_ += bytes.size();
    return Ok{};
}

Result<Ok> NewFile::keep() {
    if (::fsync(file_) != 0) return error("fsync");
    if (::close(std::exchange(file_, -1)) != 0) return error("close");
    return Ok{};
}

}  // namespace orrery::server
