#include "server/base/child_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace orrery::server {

Result<std::unique_ptr<ChildOutput>> ChildOutput::start(const std::string& program,
                                                        const std::vector<std::string>& arguments) {
    const auto failed = [&](int code) {
        return Error{ErrorCode::io, program, std::string("the program cannot be run: ") + std::strerror(code)};
    };
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
    std::vector<char*> argv;
    argv.push_back(const_cast<char*>(program.c_str()));
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t process = -1;
    const int code = ::posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (code == 0) return std::unique_ptr<ChildOutput>(new ChildOutput(ends[0], process));
    ::close(ends[0]);
    return failed(code);
}

ChildOutput::~ChildOutput() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        wait();
    }
    ::close(file_);
}

bool ChildOutput::fill() {
    constexpr std::size_t kPart = 64 << 10;
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kPart);
    ssize_t got = 0;
    do {
        got = ::read(file_, buffer_.data() + before, kPart);
    } while (got < 0 && errno == EINTR);
    buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    return got > 0;
}

std::optional<std::string> ChildOutput::read_line() {
    std::size_t end = buffer_.find('\n', begin_);
    while (end == std::string::npos) {
        if (!fill()) return std::nullopt;
        end = buffer_.find('\n', begin_);
    }
    std::string line = buffer_.substr(begin_, end - begin_);
    begin_ = end + 1;
    return line;
}

std::vector<std::uint8_t> ChildOutput::read_rest() {
    std::vector<std::uint8_t> bytes;
    do {
        bytes.insert(bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.end());
        begin_ = buffer_.size();
    } while (fill());
    return bytes;
}

int ChildOutput::wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace orrery::server
