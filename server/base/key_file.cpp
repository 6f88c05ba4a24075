#include "server/base/key_file.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_SANITIZED
#endif
#endif

namespace orrery::server {

using protocol::Key;

namespace {

constexpr const char* kMend = "; make one: (umask 077; head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \\n' > FILE)";

int hex_digit(std::uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

struct File {
    int descriptor = -1;
    ~File() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

}  // namespace

Result<Key> read_key_file(const std::string& path) {
    File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.descriptor < 0) return Error{ErrorCode::io, path, std::string(std::strerror(errno)) + kMend};
    struct stat status {};
    if (::fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        return Error{ErrorCode::io, path, std::string("is not a regular file") + kMend};
    }
    if ((status.st_mode & 0077) != 0) {
        return Error{ErrorCode::invalid_argument, path, "other users may read this key; run chmod 600 on the file"};
    }
    std::array<std::uint8_t, 2 * protocol::kKeyBytes + 2> text;  // the digits, and a line end of one or two bytes
    ssize_t size = ::read(file.descriptor, text.data(), text.size());
    while (size > 0 &&
           (text[static_cast<std::size_t>(size) - 1] == '\n' || text[static_cast<std::size_t>(size) - 1] == '\r'))
        --size;
    Key key{};
    bool good = size == 2 * static_cast<ssize_t>(protocol::kKeyBytes);
    for (std::size_t i = 0; good && i < key.size(); ++i) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        key[i] = static_cast<std::uint8_t>((high << 4) | (low & 15));
    }
    protocol::wipe(text);
    if (!good)
        return Error{ErrorCode::parse, path,
                     std::string("is not a key, which has 64 hex digits and nothing else") + kMend};
    return key;
}

Result<Ok> write_secret_file(const std::string& path, protocol::Bytes bytes) {
    const std::string part = path + ".part";
    ::unlink(part.c_str());
    const auto failed = [&](const char* call) -> Result<Ok> {
        const Error error{ErrorCode::io, part, std::string(call) + ": " + std::strerror(errno)};
        ::unlink(part.c_str());
        return error;
    };
    File file{::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (file.descriptor < 0) return failed("open");
    std::size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t now = ::write(file.descriptor, bytes.data() + written, bytes.size() - written);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return failed("write");
        written += static_cast<std::size_t>(now);
    }
    if (::rename(part.c_str(), path.c_str()) != 0) return failed("rename");
    return Ok{};
}

void forbid_core_files() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
#ifndef ORRERY_SANITIZED  // the leak checker attaches to its own process
    ::prctl(PR_SET_DUMPABLE, 0);
#endif
}

}  // namespace orrery::server
