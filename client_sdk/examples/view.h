// The room from above in characters: x to the right, -z up (the way that the yard's vehicles face).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/client.hpp"

namespace orrery::drive {

// Styles of text: kPlain, a number of the 256 ANSI colours as the colour of the character, or kPaper + number as the
// colour behind it.
inline constexpr int kPlain = -1;
inline constexpr int kPaper = 256;

// Height above y = 0: kHeights[i] is i m, rounded; the last one is everything above, too.
inline constexpr std::string_view kHeights = "-=+*#%@";
inline constexpr int kFixedColours[] = {241, 243, 245, 247, 250, 253, 255};
inline constexpr int kMovableColours[] = {94, 130, 136, 172, 178, 214, 220};
inline constexpr int kGroundColour = 239;
inline constexpr int kColumnsPerDot = 8, kRowsPerDot = 4;  // both are 4 m

// Of a player's slot. The digit tells slots apart where colours are off.
int slot_style(std::uint32_t slot);
char slot_digit(std::uint32_t slot);

struct Pose {
    std::array<float, 3> position;
    std::array<float, 4> orientation;  // body to world
};
// The body's -z axis in the world.
std::array<double, 3> front_of(const Pose& pose);

class View {
  public:
    // A screen of characters. `x`, `z`: what stands in the middle, rounded to a character, so that bodies at rest keep
    // their shape while the view moves. The lowest `text_rows` are kept free of the room.
    View(int width, int height, int text_rows, double x, double z);

    // Dots that are fixed in the world.
    void ground();
    // The highest body is seen. Planes, height fields and all that is wider than 40 m both ways are ground.
    void body(const orrery_shape& shape, const Pose& pose, bool fixed);
    // Above all bodies that are not a player's.
    void player(const orrery_shape& shape, const Pose& pose, std::uint32_t slot);
    // An arrow half a metre in front of a player's body. `front`: a direction in the world; its y is left out.
    void arrow(const orrery_shape& shape, const Pose& pose, const std::array<double, 3>& front, std::uint32_t slot,
               bool utf8);
    // Returns the column after the text. What is beyond the screen is cut off.
    int write(int row, int column, std::string_view text, int style = kPlain);

    // Rows with line ends between them.
    std::string text(bool colours) const;

  private:
    struct Cell {
        std::string_view mark = " ";
        int style = kPlain;
        double top_m = -1e9;
    };
    template <class Mark>
    void cover(const orrery_shape& shape, const Pose& pose, Mark mark);
    int column_of(double x) const;
    int row_of(double z) const;
    Cell* at(int row, int column);

    int width_, height_, room_rows_;
    int left_ = 0, top_ = 0;  // the character of the world in the top left corner
    std::vector<Cell> cells_;
};

}  // namespace orrery::drive
