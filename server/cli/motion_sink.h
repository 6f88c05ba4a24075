// What `orrery replay export` writes: it is given the world at each tick that is exported.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orrery/sim.hpp"
#include "server/base/new_file.h"
#include "sim/base/result.h"

namespace orrery::server {

class MotionSink {
  public:
    virtual ~MotionSink() = default;
    virtual Result<Ok> add(const sim::World& world) = 0;
    // After the last tick: writes what is left.
    virtual Result<Ok> end() = 0;
    virtual std::string summary() const = 0;  // what was written, for people
};

// A line for each body and tick: kCsvColumns. Null `file`: stdout. `only`: bodies of these names; empty: all.
inline constexpr const char* kCsvColumns = "tick,time_s,body,name,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz";
std::unique_ptr<MotionSink> make_csv(NewFile* file, std::vector<std::string> only);

// A field of CSV (RFC 4180): in quotes where it has commas, quotes or line ends.
std::string csv_field(const std::string& text);

// Binary glTF 2.0: the shapes of the scene as meshes, a node for each body, and an animation.
struct GltfSettings {
    double tolerance_m = 0.001;      // the largest error of a position between its keys
    double tolerance_rad = 0.00175;  // and of a rotation
};
std::unique_ptr<MotionSink> make_gltf(NewFile& file, const GltfSettings& settings);

}  // namespace orrery::server
