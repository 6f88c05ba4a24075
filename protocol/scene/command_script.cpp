#include "protocol/scene/command_script.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "protocol/scene/command_script_generated.h"
#include "protocol/scene/convert.h"
#include "protocol/scene/json.h"
#include "protocol/scene/schema_text.h"

namespace orrery::protocol {

namespace {

using scene::Path;
using scene::Reader;

// Finds what a script names in the definition of a world.
class Resolver {
  public:
    Resolver(Reader& reader, const sim::World& world) : reader_(reader), world_(world) {
        const sim::WorldDef& def = world.definition();
        const Path nowhere;
        for (std::size_t i = 0; i < def.slots.size(); ++i)
            slots_.add(reader_, def.slots[i].name, static_cast<std::uint32_t>(i), nowhere);
        for (std::size_t i = 0; i < def.prefabs.size(); ++i)
            templates_.add(reader_, def.prefabs[i].name, static_cast<std::uint32_t>(i), nowhere);
        bodies_ = def.bodies;
        scope_.bodies = &bodies_;
        scope_.joints = &made_;
        for (std::size_t i = 0; i < def.bodies.size(); ++i)
            scope_.body_names.add(reader_, def.bodies[i].name, static_cast<std::uint32_t>(i), nowhere);
    }

    sim::Command resolve(const script::CommandT& from, const Path& where) {
        sim::Command to;
        if (from.kind > script::Kind::MAX) reader_.fail(where / "kind", "is not a kind of command");
        to.kind = static_cast<sim::CommandKind>(from.kind);
        to.tag = from.tag;
        to.value = reader_.number(from.value, where / "value", -scene::kMaxForce, scene::kMaxForce);
        convert_frame(from, where, to);
        needs(from, where, to);
        return to;
    }

  private:
    void convert_frame(const script::CommandT& from, const Path& where, sim::Command& to) {
        const auto vec = [](const script::Vec3& v) { return scene::Vec3(v.x(), v.y(), v.z()); };
        if (from.position)
            to.pose.position =
                scene::to_float(reader_.vector(vec(*from.position), where / "position", scene::kMaxLength_m));
        if (from.orientation && from.rotation_deg)
            reader_.fail(where / "rotation_deg", "stands beside orientation; give one of the two");
        if (from.orientation) {
            const script::Quat& q = *from.orientation;
            to.pose.orientation =
                scene::to_float(reader_.orientation(scene::Quat(q.x(), q.y(), q.z(), q.w()), where / "orientation"));
        }
        if (from.rotation_deg) {
            to.pose.orientation = scene::to_float(
                scene::from_rotation_deg(reader_.vector(vec(*from.rotation_deg), where / "rotation_deg", 1e6)));
        }
        if (from.linear)
            to.linear = scene::to_float(reader_.vector(vec(*from.linear), where / "linear", scene::kMaxForce));
        if (from.angular)
            to.angular = scene::to_float(reader_.vector(vec(*from.angular), where / "angular", scene::kMaxForce));
        to.at_point = from.kind == script::Kind::impulse && from.position != nullptr;
        if (from.channels.size() > sim::kControlChannels) {
            reader_.fail(where / "channels",
                         "has more entries than the " + std::to_string(sim::kControlChannels) + " control channels");
        }
        for (std::size_t i = 0; i < from.channels.size() && i < sim::kControlChannels; ++i) {
            to.channels[i] = reader_.number(from.channels[i], where.element("channels", i), -1.0, 1.0);
        }
    }

    void needs(const script::CommandT& from, const Path& where, sim::Command& to) {
        switch (from.kind) {
            case script::Kind::join:
            case script::Kind::leave:
            case script::Kind::control:
                to.slot = slot(from.slot, where / "slot");
                break;
            case script::Kind::spawn:
                to.prefab = templates_.find(reader_, from.template_, where / "template");
                break;
            case script::Kind::despawn:
            case script::Kind::impulse:
            case script::Kind::teleport:
            case script::Kind::grab:
                to.body = body(from.body, where / "body");
                break;
            case script::Kind::motor_target:
            case script::Kind::move_grab:
            case script::Kind::remove_joint:
                to.joint = joint(from.joint, where / "joint");
                break;
            case script::Kind::set_joint:
                to.joint = joint(from.joint, where / "joint");
                to.order = order(from.order.get(), where / "order");
                break;
            case script::Kind::create_joint:
                to.order = order(from.order.get(), where / "order");
                break;
        }
    }

    sim::JointOrder order(const scene::JointT* from, const Path& where) {
        sim::JointOrder to;
        if (!from) {
            reader_.fail(where, "is missing; give the joint as a scene does");
            return to;
        }
        made_.clear();
        scene::convert_joint(reader_, *from, where, scope_);
        if (!reader_.ok() || made_.empty()) return to;
        const sim::JointDef& joint = made_.front();
        const auto id = [](std::uint32_t index) { return index == sim::kNone ? sim::BodyId{} : sim::BodyId{index + 1, 0}; };
        to.a = id(joint.body_a);
        to.b = id(joint.body_b);
        to.c = id(joint.body_c);
        to.d = id(joint.body_d);
        to.constraint = joint.constraint;
        to.collide_connected = joint.collide_connected;
        to.break_force_n = joint.break_force_n;
        to.break_torque_nm = joint.break_torque_nm;
        to.break_removes = joint.break_removes;
        return to;
    }

    // By name, or by number for slots without one.
    std::uint16_t slot(const std::string& name, const Path& where) {
        const bool digits =
            !name.empty() && name.size() <= 3 && name.find_first_not_of("0123456789") == std::string::npos;
        if (!digits) return static_cast<std::uint16_t>(slots_.find(reader_, name, where));
        const int index = std::atoi(name.c_str());
        if (index >= static_cast<int>(world_.definition().slots.size()))
            reader_.fail(where, "the scene has no slot " + name);
        return static_cast<std::uint16_t>(index);
    }
    sim::BodyId body(const std::string& name, const Path& where) {
        const sim::BodyId id = name.empty() ? sim::BodyId{} : world_.find_body(name);
        if (!id.valid()) unknown("body", name, world_.definition().bodies, where);
        return id;
    }
    sim::JointId joint(const std::string& name, const Path& where) {
        const sim::JointId id = name.empty() ? sim::JointId{} : world_.find_joint(name);
        if (!id.valid()) unknown("joint", name, world_.definition().joints, where);
        return id;
    }

    template <class Definition>
    void unknown(const std::string& what, const std::string& name, const std::vector<Definition>& all, const Path& where) {
        std::vector<std::string_view> names;
        for (const Definition& one : all) names.push_back(one.name);
        const std::string near = scene::nearest_name(name, names);
        if (name.empty()) reader_.fail(where, "is missing; name a " + what + " of the scene", ErrorCode::not_found);
        else reader_.fail(where, "no " + what + " of the scene is called \"" + name + "\"" + (near.empty() ? "" : "; did you mean \"" + near + "\"?"), ErrorCode::not_found);
    }

    Reader& reader_;
    const sim::World& world_;
    scene::Names slots_{"slot"}, templates_{"template"};
    std::vector<sim::BodyDef> bodies_;  // as they stand at the start
    std::vector<sim::JointDef> made_;
    scene::Scope scope_;
};

}  // namespace

Result<CommandScript> CommandScript::load(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                          const sim::World& world) {
    if (bytes.size() > kMaxScriptBytes) {
        return Error{ErrorCode::limit_reached, std::string(file_name),
                     "is longer than the " + std::to_string(kMaxScriptBytes) + " bytes accepted"};
    }
    flatbuffers::Parser parser;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const Result<Ok> parsed = scene::parse_json_text(parser, scene::script_schema_text(), text, file_name); !parsed)
        return parsed.error();
    const std::unique_ptr<script::ScriptT> tree(script::GetScript(parser.builder_.GetBufferPointer())->UnPack());

    Reader reader(file_name);
    Resolver resolver(reader, world);
    const Path root;
    std::vector<std::pair<std::uint64_t, sim::Command>> entries;
    for (std::size_t i = 0; i < tree->commands.size() && reader.ok(); ++i) {
        const Path where = root.element("commands", i);
        const script::CommandT& from = *tree->commands[i];
        if (from.tick == 0) reader.fail(where / "tick", "is missing or 0; the first tick is 1");
        sim::Command command = resolver.resolve(from, where);
        command.sequence = static_cast<std::uint32_t>(i);
        entries.emplace_back(from.tick, command);
    }
    if (!reader.ok()) return reader.error();
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    CommandScript made;
    for (auto& [tick, command] : entries) {
        made.ticks_.push_back(tick);
        made.commands_.push_back(command);
    }
    return made;
}

std::span<const sim::Command> CommandScript::at(std::uint64_t tick) const {
    const auto [first, last] = std::equal_range(ticks_.begin(), ticks_.end(), tick);
    const auto begin = static_cast<std::size_t>(first - ticks_.begin());
    return std::span(commands_).subspan(begin, static_cast<std::size_t>(last - first));
}

std::optional<std::uint64_t> CommandScript::first_after(std::uint64_t tick) const {
    const auto found = std::upper_bound(ticks_.begin(), ticks_.end(), tick);
    return found == ticks_.end() ? std::nullopt : std::optional(*found);
}

}  // namespace orrery::protocol
