// Converts the object tree of a scene to a world definition. Internal to protocol/scene.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/reader.h"
#include "protocol/scene/scene.h"
#include "protocol/scene/scene_generated.h"

namespace orrery::protocol::scene {

// Limits of single values. They contain everything that single precision can simulate.
inline constexpr double kMaxLength_m = sim::kMaxCoordinate_m;
inline constexpr double kMinLength_m = 1e-4;
inline constexpr double kMaxForce = 1e15;
inline constexpr double kMaxMass_kg = 1e12;
inline constexpr float kMaxFriction = 100.0f;
inline constexpr double kMaxFrequency_hz = 1e4;
inline constexpr double kMaxRatio = 1e4;
inline constexpr std::size_t kMaxRainShapes = 16;  // shapes that a rain generator chooses from

// The bodies and joints that a joint or an actuator may name: those of the scene, or those of one template.
struct Scope {
    std::vector<sim::BodyDef>* bodies = nullptr;
    std::vector<sim::JointDef>* joints = nullptr;
    bool in_template = false;
    Names body_names{"body"};
    Names joint_names{"joint"};
    Names generator_names{"generator"};
    std::vector<GeneratedRange> generated;

    std::uint32_t find_body(Reader& reader, std::string_view name, const Path& where) const;
};

// Names that are valid in the whole scene.
struct Library {
    sim::WorldDef* world = nullptr;
    Names shapes{"shape"}, materials{"material"}, slots{"slot"}, templates{"template"};
};

// Number of bodies and joints that a generator makes, cut to 2^40. No limit comes near that.
struct Count {
    std::uint64_t bodies = 0, joints = 0;
};
Count count_generator(const GeneratorT& generator, const SceneT& scene);

sim::BodyType convert_type(BodyType type);
sim::Pose convert_pose(Reader& reader, const Vec3* position, const Quat* orientation, const Vec3* rotation_deg,
                       const Path& where);
sim::Spring convert_spring(Reader& reader, const SpringT* spring, sim::Spring absent, const Path& where);
std::uint32_t convert_material(Reader& reader, const std::string& name, const Library& library, const Path& where);
float limit_or_none(Reader& reader, const flatbuffers::Optional<float>& value, const Path& where);

// For a body, and for the bodies of a rig's generator, which has the same fields.
template <class From>
void convert_mass(Reader& reader, const From& from, const Path& where, sim::BodyDef& to) {
    to.mass_kg = reader.number(from.mass_kg, where / "mass_kg", 0.0f, static_cast<float>(kMaxMass_kg), "kMaxMass_kg");
    to.linear_damping = reader.number(from.linear_damping, where / "linear_damping", 0.0f, 1e6f);
    to.angular_damping = reader.number(from.angular_damping, where / "angular_damping", 0.0f, 1e6f);
}

// The text of a field. Empty: absent.
inline std::string_view view_of(const flatbuffers::String* text) {
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}
// The buffer must be verified.
void convert_joint(Reader& reader, const Joint& from, const Path& where, Scope& scope);
void convert_actuator(Reader& reader, const ActuatorT& from, const Path& where, const Scope& scope,
                      const Library& library, std::vector<sim::ActuatorDef>& out);
void expand_generator(Reader& reader, const GeneratorT& from, const Path& where, const Library& library, Scope& scope);

// `flat` is the same scene in packed form; its joints are read by their schema. The caller has checked the counts
// against the limits.
Result<sim::WorldDef> convert_scene(const SceneT& scene, const Scene& flat, std::string_view file_name,
                                    const SceneCaps& caps, std::vector<SceneBound>& bounds,
                                    std::vector<GeneratedRange>& generated);

}  // namespace orrery::protocol::scene
