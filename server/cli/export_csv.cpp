#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "server/cli/body_lines.h"
#include "server/cli/motion_sink.h"

namespace orrery::server {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;  // bytes that are written at once

class CsvSink final : public MotionSink {
  public:
    CsvSink(NewFile* file, std::vector<std::string> only) : file_(file), only_(only.begin(), only.end()) {
        text_.append(kCsvColumns).append("\n");
    }

    Result<Ok> add(const sim::World& world) override {
        world.read_bodies(bodies_);
        const std::string tick = std::to_string(world.tick());
        // The recorded rate, not dt_s(): a sum of rounded steps would drift.
        const double time = static_cast<double>(world.tick()) / static_cast<double>(world.definition().tick_rate_hz);
        for (const sim::BodyState& body : bodies_) {
            const std::string name = body_name(world.definition(), body);
            if (!only_.empty() && !only_.contains(name)) continue;
            text_.append(tick);
            number(time);
            text_.append(",").append(std::to_string(body.id.index)).append(":");
            text_.append(std::to_string(body.id.generation)).append(",").append(csv_field(name));
            const sim::Vec3 p = body.pose.position, v = body.linear_velocity, w = body.angular_velocity;
            const sim::Quat q = body.pose.orientation;
            for (const float value : {p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z})
                number(static_cast<double>(value));
            text_.append("\n");
            ++lines_;
            if (text_.size() < kBlock) continue;
            if (auto written = write(); !written) return written;
        }
        return Ok{};
    }
    Result<Ok> end() override { return write(); }
    std::string summary() const override { return std::to_string(lines_) + " lines"; }

  private:
    // So many digits tell one float from the next.
    void number(double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, ",%.9g", value);
        text_.append(digits);
    }
    Result<Ok> write() {
        const std::string text = std::exchange(text_, {});
        if (file_) return file_->append(text);
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return Ok{};
        return Error{ErrorCode::io, "stdout", "did not take all of the output; make room for it"};
    }

    NewFile* file_;
    const std::set<std::string> only_;
    std::string text_;
    std::vector<sim::BodyState> bodies_;
    std::uint64_t lines_ = 0;
};

}  // namespace

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out.append(c == '"' ? 2 : 1, c);
    return out + "\"";
}

std::unique_ptr<MotionSink> make_csv(NewFile* file, std::vector<std::string> only) {
    return std::make_unique<CsvSink>(file, std::move(only));
}

}  // namespace orrery::server
