// The terminal as a screen and a keyboard: raw mode while it lives, restored on every way out.
#pragma once

#include <string>

namespace orrery::drive {

class Terminal {
  public:
    // Takes the terminal over: raw keys, alternate screen, no cursor. SIGINT, SIGTERM, SIGHUP and SIGQUIT only set
    // stop_requested(), so that the destructor runs; a crash restores it, too.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    static bool available();  // stdin and stdout are a terminal
    static bool colours();    // stdout is a terminal, TERM is not dumb, and NO_COLOR is not set or empty
    static bool utf8();       // LC_ALL, LC_CTYPE or LANG, the first that is set, says so
    static bool stop_requested();
    static void watch_signals();  // of a program without a screen

    // The keys pressed since the last call, escape sequences of the arrow keys as w, a, s, d.
    std::string keys();
    int width() const;  // characters
    int height() const;
    void show(const std::string& text);  // a whole screen
};

}  // namespace orrery::drive
