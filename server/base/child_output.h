// The standard output of another program, read while that runs. Its standard error is that of this program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace orrery::server {

class ChildOutput {
  public:
    // Runs the program of this path, without a shell. Errors have the code io.
    static Result<std::unique_ptr<ChildOutput>> start(const std::string& program,
                                                      const std::vector<std::string>& arguments);
    ~ChildOutput();  // ends the program
    ChildOutput(const ChildOutput&) = delete;
    ChildOutput& operator=(const ChildOutput&) = delete;

    std::optional<std::string> read_line();  // without its end; nothing: the program prints no more
    std::vector<std::uint8_t> read_rest();
    // Waits until the program has ended. Gives its exit code, or 128 and the signal that ended it.
    int wait();

  private:
    ChildOutput(int file, int process) : file_(file), process_(process) {}
    bool fill();  // false: end of the output

    int file_;
    int process_;
    std::string buffer_;
    std::size_t begin_ = 0;  // of what was not taken from the buffer
};

}  // namespace orrery::server
