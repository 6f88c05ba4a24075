// What the commands of a script make while a world runs, with names by which the script refers to it. The ids are known
// after the command was carried out, by the tag of the answering events. From then on they are set in the commands that
// use the name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::protocol {

class ScriptMade {
  public:
    // One command that makes something: a join or a spawn, whose bodies are answered by `spawned`, or a grab or
    // create_joint of one joint, answered by `joint_created`. No two commands of a tick share an answer and a tag.
    struct Maker {
        std::uint64_t tick = 0, tag = 0;
        sim::EventKind answer = sim::EventKind::spawned;
        std::uint32_t sequence = 0;                // of the command
        std::uint32_t first_body = 0, bodies = 0;  // in the order of the template
        std::uint32_t first_joint = 0, joints = 0;
    };
    enum class Field : std::uint8_t { body, joint, a, b, c, d };  // a field of a command; a to d are those of its order
    struct Use {
        std::uint32_t thing = 0;    // index of a body, or of a joint if `field` is joint, counted over all makers
        std::uint32_t command = 0;  // sequence of the command; after finish() its place
        Field field = Field::body;
    };

    // Sets first_body and first_joint of `maker`. Each body has a name for messages.
    const Maker& add(Maker maker, std::vector<std::string> body_names);
    const Maker& maker_of_body(std::uint32_t thing) const;  // before finish()
    const Maker& maker_of_joint(std::uint32_t thing) const;
    void add(const Use& use);
    bool empty() const { return makers_.empty(); }
    // Call it after all was added. `place` gives the place of the command of a sequence.
    void finish(std::span<const std::uint32_t> place);

    // Call it after each step, with all commands of the script.
    void note(const sim::World& world, std::span<sim::Command> commands);
    std::string_view name_of(sim::BodyId id) const;  // empty: not one of these

    // A name of a body in scripts, and the body's id: before it is made, an id that never lives. Nothing: no such name.
    void add_body_name(std::string name, std::uint32_t thing) { body_names_.emplace(std::move(name), thing); }
    std::optional<sim::BodyId> body_named(std::string_view name) const;

  private:
    // names a body that never lives; an invalid id in an order would name the world
    static constexpr sim::BodyId kNever{sim::kNone - 1, 0};
    struct Body {
        std::string name;
        sim::BodyId id = kNever;
    };
    void note_template_joints(const sim::World& world, std::span<const Maker> makers);
    bool used(std::uint32_t first_joint, std::uint32_t joints) const;

    std::vector<Maker> makers_;  // in the order added; after finish() by (tick, answer, tag)
    std::vector<Body> bodies_;
    std::vector<sim::JointId> joints_;
    std::vector<Use> body_uses_, joint_uses_;  // after finish() by thing
    std::map<std::string, std::uint32_t, std::less<>> body_names_;
};

}  // namespace orrery::protocol
