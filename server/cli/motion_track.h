// Motion as few keys: those between which linear interpolation stays within a tolerance of every sample.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::server {

using D3 = std::array<double, 3>;

// Which slopes from a point keep within the tolerance of all samples since.
class SlopeCone {
  public:
    explicit SlopeCone(double tolerance);  // of a distance
    void reset();
    bool contains(const D3& offset, double dt) const;  // the slope to this sample
    void narrow(const D3& offset, double dt);          // by this sample

  private:
    double tolerance_;  // of each coordinate
    D3 low_{}, high_{};
};

// A key is a sample, so that its own error is that of single precision.
template <class Value>
struct MotionKey {
    double time_s = 0.0;
    Value value;
};

// Keys of positions, or of rotations: between two of these a player takes the shortest way at a constant speed.
template <class Value>
class MotionTrack {
  public:
    explicit MotionTrack(double tolerance) : cone_(tolerance) {}
    void add(double time_s, const Value& value);  // in order of time
    void end();                                   // after the last one
    const std::vector<MotionKey<Value>>& keys() const { return keys_; }
    bool moves() const;  // between its keys

  private:
    SlopeCone cone_;
    std::vector<MotionKey<Value>> keys_;
    MotionKey<Value> last_;
    bool has_last_ = false;  // behind the last key
};

extern template class MotionTrack<sim::Vec3>;
extern template class MotionTrack<sim::Quat>;

}  // namespace orrery::server
