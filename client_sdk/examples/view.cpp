#include "client_sdk/examples/view.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery::drive {

namespace {

using Vec = std::array<double, 3>;

constexpr double kMetresPerColumn = 0.5;  // a character is about twice as high as wide
constexpr double kMetresPerRow = 1.0;
constexpr double kSample_m = 0.5;  // distance of the points at which bodies are looked for, in both directions
constexpr double kGroundHalf_m = 20.0;
constexpr double kGroundTop_m = 0.02;
constexpr std::string_view kAscii =
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

std::string_view mark_of(char c) {
    return c >= ' ' && c <= '~' ? kAscii.substr(static_cast<std::size_t>(c - ' '), 1) : "?";
}

// A vector of the world in the body's frame.
Vec into_body(const std::array<float, 4>& q, const Vec& v) {
    const double x = -q[0], y = -q[1], z = -q[2], w = q[3];
    const Vec t = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
    return {v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]};
}

// Of a box about the body's origin that contains the shape.
Vec half_extents(const orrery_shape& shape) {
    switch (shape.type) {
        case ORRERY_SHAPE_SPHERE:
            return {shape.radius, shape.radius, shape.radius};
        case ORRERY_SHAPE_CAPSULE:
            return {shape.radius, shape.radius + shape.half_height, shape.radius};
        case ORRERY_SHAPE_CYLINDER:
            return {shape.radius, shape.half_height, shape.radius};
        default:
            return {shape.half_extents[0], shape.half_extents[1], shape.half_extents[2]};
    }
}

// The highest point of the body above a point of the ground, relative to the body's origin; x and z, too. A body counts
// as at least kSample_m wide, so that none is missed.
std::optional<double> top_above(const orrery_shape& shape, const Pose& pose, double x, double z) {
    const Vec half = half_extents(shape);
    if (shape.type == ORRERY_SHAPE_SPHERE) {
        const double radius = std::max(half[0], kSample_m * std::sqrt(0.5));
        const double square = radius * radius - x * x - z * z;
        if (square < 0.0) return std::nullopt;
        return std::min(std::sqrt(square), half[0]);
    }
    const Vec from = into_body(pose.orientation, {x, 0.0, z}), up = into_body(pose.orientation, {0.0, 1.0, 0.0});
    double low = -1e9, high = 1e9, reach = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
        const double wide = std::max(half[i], kSample_m / 2);
        reach += std::abs(up[i]) * half[i];
        if (std::abs(up[i]) < 1e-6) {
            if (std::abs(from[i]) > wide) return std::nullopt;
            continue;
        }
        const double a = (-wide - from[i]) / up[i], b = (wide - from[i]) / up[i];
        low = std::max(low, std::min(a, b));
        high = std::min(high, std::max(a, b));
    }
    if (low > high) return std::nullopt;
    return std::min(high, reach);
}

int whole(double cells) { return static_cast<int>(std::clamp(cells, -1e8, 1e8)); }
int world_column(double x) { return whole(std::floor(x / kMetresPerColumn)); }
int world_row(double z) { return whole(std::round(z / kMetresPerRow)); }

}  // namespace

int slot_style(std::uint32_t slot) {
    constexpr int colours[] = {39, 203, 46, 201, 51, 226, 141, 231};
    return kPaper + colours[slot % std::size(colours)];
}

char slot_digit(std::uint32_t slot) { return static_cast<char>('0' + slot % 10); }

Vec front_of(const Pose& pose) {
    const std::array<float, 4>& q = pose.orientation;
    return into_body({-q[0], -q[1], -q[2], q[3]}, {0.0, 0.0, -1.0});
}

View::View(int width, int height, int text_rows, double x, double z)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      room_rows_(std::max(height_ - text_rows, 0)),
      left_(world_column(x) - width_ / 2),
      top_(world_row(z) - room_rows_ / 2),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

int View::column_of(double x) const { return world_column(x) - left_; }
int View::row_of(double z) const { return world_row(z) - top_; }

View::Cell* View::at(int row, int column) {
    if (row < 0 || column < 0 || row >= height_ || column >= width_) return nullptr;
    return &cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(column)];
}

void View::ground() {
    for (int row = 0; row < room_rows_; ++row) {
        for (int column = 0; column < width_; ++column) {
            if ((row + top_) % kRowsPerDot != 0 || (column + left_) % kColumnsPerDot != 0) continue;
            Cell& cell = *at(row, column);
            cell.mark = ".";
            cell.style = kGroundColour;
        }
    }
}

// Calls mark(cell, height of the top in the world) for each character of the room that the body covers.
template <class Mark>
void View::cover(const orrery_shape& shape, const Pose& pose, Mark mark) {
    const Vec half = half_extents(shape);
    const double reach = std::hypot(half[0], half[1], half[2]) + kSample_m;
    const double x = pose.position[0], z = pose.position[2];
    const int last_row = std::min(room_rows_ - 1, row_of(z + reach));
    const int last_column = std::min(width_ - 1, column_of(x + reach));
    for (int row = std::max(0, row_of(z - reach)); row <= last_row; ++row) {
        for (int column = std::max(0, column_of(x - reach)); column <= last_column; ++column) {
            const double from_x = (column + left_ + 0.5) * kMetresPerColumn - x;
            const double from_z = (row + top_) * kMetresPerRow - z;
            for (const double aside : {-kSample_m / 2, kSample_m / 2}) {
                const std::optional<double> top = top_above(shape, pose, from_x, from_z + aside);
                if (top) mark(*at(row, column), pose.position[1] + *top);
            }
        }
    }
}

void View::body(const orrery_shape& shape, const Pose& pose, bool fixed) {
    if (shape.type == ORRERY_SHAPE_PLANE || shape.type == ORRERY_SHAPE_HEIGHT_FIELD) return;
    const Vec half = half_extents(shape);
    if (fixed && std::min(half[0], half[2]) > kGroundHalf_m) return;
    cover(shape, pose, [&](Cell& cell, double top_m) {
        if (top_m < cell.top_m || (fixed && top_m < kGroundTop_m)) return;
        const auto level = static_cast<std::size_t>(std::clamp(std::round(top_m), 0.0, kHeights.size() - 1.0));
        cell = {kHeights.substr(level, 1), (fixed ? kFixedColours : kMovableColours)[level], top_m};
    });
}

void View::player(const orrery_shape& shape, const Pose& pose, std::uint32_t slot) {
    const std::string_view digit = mark_of(slot_digit(slot));
    cover(shape, pose, [&](Cell& cell, double) { cell = {digit, slot_style(slot), 1e9}; });
}

void View::arrow(const orrery_shape& shape, const Pose& pose, const Vec& front, std::uint32_t slot, bool utf8) {
    static constexpr std::string_view utf8_arrows[] = {"\u2191", "\u2197", "\u2192", "\u2198",
                                                       "\u2193", "\u2199", "\u2190", "\u2196"};
    static constexpr std::string_view ascii_arrows[] = {"^", "/", ">", "\\", "v", "/", "<", "\\"};
    const double length = std::hypot(front[0], front[2]);
    if (length < 1e-3) return;
    const auto eighth =
        static_cast<std::size_t>(std::lround(std::atan2(front[0], -front[2]) * 4.0 / 3.14159265) + 8) % 8;
    const double ahead_m = (half_extents(shape)[2] + 0.5) / length;
    const int row = row_of(pose.position[2] + front[2] * ahead_m);
    Cell* cell = row < room_rows_ ? at(row, column_of(pose.position[0] + front[0] * ahead_m)) : nullptr;
    if (cell) *cell = {(utf8 ? utf8_arrows : ascii_arrows)[eighth], slot_style(slot) - kPaper, 1e9};
}

int View::write(int row, int column, std::string_view text, int style) {
    for (const char c : text) {
        if (Cell* cell = at(row, column++)) *cell = {mark_of(c), style, 1e9};
    }
    return column;
}

std::string View::text(bool colours) const {
    std::string out;
    int style = kPlain;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        if (i > 0 && i % static_cast<std::size_t>(width_) == 0) out += '\n';
        if (colours && cells_[i].style != style) {
            style = cells_[i].style;
            out += "\x1b[0m";
            if (style >= kPaper)
                out += "\x1b[30;48;5;" + std::to_string(style - kPaper) + "m";
            else if (style != kPlain)
                out += "\x1b[38;5;" + std::to_string(style) + "m";
        }
        out += cells_[i].mark;
    }
    return colours ? out + "\x1b[0m" : out;
}

}  // namespace orrery::drive
