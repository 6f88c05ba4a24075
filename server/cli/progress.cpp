#include "server/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace orrery::server {

namespace {

constexpr auto kQuiet = std::chrono::seconds(2);
constexpr auto kEvery = std::chrono::seconds(10);
constexpr auto kEveryOnTerminal = std::chrono::milliseconds(500);
constexpr double kLeastShare = 0.01;  // that says how long the rest takes

}  // namespace

Progress::Progress(std::function<std::string()> text)
    : text_(std::move(text)), terminal_(::isatty(STDERR_FILENO) == 1), thread_([this] { work(); }) {}

Progress::~Progress() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
    erase();
}

void Progress::print(const std::function<void()>& print) {
    const std::lock_guard lock(mutex_);
    erase();
    print();
}

void Progress::work() {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, terminal_ ? kQuiet : kEvery, [this] { return ends_; })) return;
    do {
        const std::string text = text_();
        if (!terminal_) {
            std::fprintf(stderr, "%s\n", text.c_str());
            continue;
        }
        const std::size_t width = text.size();
        std::fprintf(stderr, "\r%s%s", text.c_str(), std::string(width_ > width ? width_ - width : 0, ' ').c_str());
        std::fflush(stderr);
        width_ = width;
    } while (!wake_.wait_for(lock, terminal_ ? std::chrono::milliseconds(kEveryOnTerminal) : kEvery,
                             [this] { return ends_; }));
}

void Progress::erase() {
    if (width_ == 0) return;
    std::fprintf(stderr, "\r%s\r", std::string(std::exchange(width_, 0), ' ').c_str());
    std::fflush(stderr);
}

std::string time_left(std::chrono::steady_clock::duration took, double share) {
    if (share < kLeastShare) return {};
    const double seconds = std::chrono::duration<double>(took).count() * (1.0 - std::min(share, 1.0)) / share;
    const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
    const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
    std::string text = "about ";
    if (hours > 0) text += std::to_string(hours) + " h ";
    if (hours > 0 || minutes > 0) text += std::to_string(minutes) + " min ";
    if (hours == 0) text += std::to_string(whole % 60) + " s ";
    return text + "left";
}

}  // namespace orrery::server
