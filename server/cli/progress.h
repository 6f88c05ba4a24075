// How far long work is, on stderr.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace orrery::server {

// Prints a line now and then, from a thread of its own, while it lives: every 10 s, or on a terminal twice a second one
// line that is written over. Short work (2 s on a terminal, 10 s elsewhere) prints nothing.
class Progress {
  public:
    // `text` is called by the other thread.
    explicit Progress(std::function<std::string()> text);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Calls `print`, which writes whole lines to stdout or stderr, while no line of this stands there.
    void print(const std::function<void()>& print);

  private:
    void work();
    void erase();

    const std::function<std::string()> text_;
    const bool terminal_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ends_ = false;
    std::size_t width_ = 0;  // of the line on the terminal
    std::thread thread_;
};

// "about 2 min 5 s left", of work of which this share (0 to 1) took so long; empty while that says nothing.
std::string time_left(std::chrono::steady_clock::duration took, double share);

}  // namespace orrery::server
