// Equal to so many parts of the value itself. (doctest's Approx(x).epsilon(e) allows e (1 + |x|): of what is small,
// anything.)
#pragma once

#include <doctest/doctest.h>

namespace orrery::test {

inline doctest::Approx about(double value, double relative) {
    return doctest::Approx(value).scale(0.0).epsilon(relative);
}

}  // namespace orrery::test
