// A slow disk, as a library for LD_PRELOAD: what a process does to files whose path begins with ORRERY_SLOW_DISK takes
// up to ORRERY_SLOW_DISK_MS longer, and a write may take a part of its bytes alone. The first call
// that is delayed makes the file ORRERY_SLOW_DISK.delayed.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#define EXPORT __attribute__((visibility("default")))

namespace {

const char* const folder = std::getenv("ORRERY_SLOW_DISK");
const char* const most = std::getenv("ORRERY_SLOW_DISK_MS");

bool is_slow(int file) {
    if (!folder || !most) return false;
    std::array<char, 64> link;
    std::array<char, 4096> path;
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
    const ssize_t size = ::readlink(link.data(), path.data(), path.size());
    const std::size_t length = std::strlen(folder);
    return size >= static_cast<ssize_t>(length) && std::memcmp(path.data(), folder, length) == 0;
}

int random_up_to(int last) {
    static thread_local std::minstd_rand random(std::random_device{}());
    return std::uniform_int_distribution<int>(0, last)(random);
}

void wait() {
    static const bool told = [] {
        std::array<char, 4096> path;
        std::snprintf(path.data(), path.size(), "%s.delayed", folder);
        return ::close(::open(path.data(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0;
    }();
    if (!told) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(random_up_to(std::atoi(most))));
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" EXPORT ssize_t write(int file, const void* bytes, size_t size) {
    static const auto call = real<ssize_t(int, const void*, size_t)>("write");
    if (!is_slow(file)) return call(file, bytes, size);
    wait();
    return call(file, bytes, size > 1 && random_up_to(3) == 0 ? size / 2 : size);
}

extern "C" EXPORT int fdatasync(int file) {
    static const auto call = real<int(int)>("fdatasync");
    if (is_slow(file)) wait();
    return call(file);
}

extern "C" EXPORT int fsync(int file) {
    static const auto call = real<int(int)>("fsync");
    if (is_slow(file)) wait();
    return call(file);
}

extern "C" EXPORT int fallocate(int file, int mode, off_t offset, off_t size) {
    static const auto call = real<int(int, int, off_t, off_t)>("fallocate");
    if (is_slow(file)) wait();
    return call(file, mode, offset, size);
}
