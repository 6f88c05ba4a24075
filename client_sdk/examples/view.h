// The world from above in characters: x to the right, -z up (the way that the yard's vehicles face), the own vehicle in
// the middle.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "orrery/client.hpp"

namespace orrery::drive {

inline constexpr double kMetresPerColumn = 0.5;  // a character is about twice as high as wide
inline constexpr double kMetresPerRow = 1.0;

class View {
  public:
    View(int width, int height)
        : width_(width),
          height_(height),
          rows_(static_cast<std::size_t>(std::max(height, 0)),
                std::string(static_cast<std::size_t>(std::max(width, 0)), ' ')) {}

    // Marks what a body covers on the ground; its height is left out.
    void draw(double x, double z, double radius, char mark) {
        const int column = column_of(x), row = row_of(z);
        const int half_columns = std::min(width_, static_cast<int>(radius / kMetresPerColumn));
        const int half_rows = std::min(height_, static_cast<int>(radius / kMetresPerRow));
        for (int r = row - half_rows; r <= row + half_rows; ++r) {
            for (int c = column - half_columns; c <= column + half_columns; ++c) put(r, c, mark);
        }
    }
    void centre(double x, double z) {
        x_ = x;
        z_ = z;
    }
    std::string text() const {
        std::string out;
        for (const std::string& row : rows_) out += row + "\x1b[K\n";
        return out;
    }
    void put_at(double x, double z, char mark) { put(row_of(z), column_of(x), mark); }

  private:
    int column_of(double x) const {
        return width_ / 2 + static_cast<int>(std::lround(std::clamp((x - x_) / kMetresPerColumn, -1e6, 1e6)));
    }
    int row_of(double z) const {
        return height_ / 2 + static_cast<int>(std::lround(std::clamp((z - z_) / kMetresPerRow, -1e6, 1e6)));
    }
    void put(int row, int column, char mark) {
        if (row < 0 || column < 0 || row >= height_ || column >= width_) return;
        rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
    }

    int width_, height_;
    double x_ = 0.0, z_ = 0.0;
    std::vector<std::string> rows_;
};

// How far a shape reaches on the ground.
inline double reach_m(const orrery_shape& shape) {
    switch (shape.type) {
        case ORRERY_SHAPE_SPHERE:
            return shape.radius;
        case ORRERY_SHAPE_CAPSULE:
        case ORRERY_SHAPE_CYLINDER:
            return shape.radius + shape.half_height;
        case ORRERY_SHAPE_BOX:
        case ORRERY_SHAPE_HULL:
        case ORRERY_SHAPE_MESH:
        case ORRERY_SHAPE_HEIGHT_FIELD:
        case ORRERY_SHAPE_COMPOUND:
            return std::max(shape.half_extents[0], shape.half_extents[2]);
        default:
            return 0.0;
    }
}

}  // namespace orrery::drive
