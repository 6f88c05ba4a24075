#include "server/base/key_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

struct File {
    int descriptor = -1;
    ~File() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

}  // namespace

SecretText::~SecretText() { sodium_memzero(text.data(), text.size()); }

Result<Ok> read_secret_file(const std::string& path, std::size_t most, SecretText& out) {
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    const auto failed = [&] { return Error{ErrorCode::io, path, std::strerror(errno)}; };
    if (file.descriptor < 0) return failed();
    struct stat status {};
    if (::fstat(file.descriptor, &status) != 0) return failed();
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::io, path, "is not a regular file"};
    if ((status.st_mode & 0077) != 0)
        return Error{ErrorCode::invalid_argument, path, "other users may read this key; run chmod 600 on the file"};
    out.text.resize(most + 1);
    std::size_t size = 0;
    while (size < out.text.size()) {
        const ssize_t now = ::read(file.descriptor, out.text.data() + size, out.text.size() - size);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return failed();
        if (now == 0) break;
        size += static_cast<std::size_t>(now);
    }
    if (size > most) return Error{ErrorCode::limit_reached, path, "has more than " + std::to_string(most) + " bytes"};
    out.text.resize(size);
    return Ok{};
}

Result<Key> read_key_file(const std::string& path) {
    SecretText secret;
    // The digits, and a line end of one or two bytes.
    Result<Ok> good = read_secret_file(path, 2 * protocol::kKeyBytes + 2, secret);
    if (!good && good.error().code == ErrorCode::io) return Error{ErrorCode::io, path, good.error().message + kMend};
    if (!good && good.error().code == ErrorCode::invalid_argument) return good.error();
    std::string_view text = secret.text;
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    Key key{};
    if (!good || !key_of_digits(text, key))
        return Error{ErrorCode::parse, path,
                     std::string("is not a key, which has 64 hex digits and nothing else") + kMend};
    return key;
}

bool key_of_digits(std::string_view digits, Key& key) {
    std::size_t bytes = 0;
    return digits.size() == 2 * key.size() &&
           sodium_hex2bin(key.data(), key.size(), digits.data(), digits.size(), nullptr, &bytes, nullptr) == 0 &&
           bytes == key.size();
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
