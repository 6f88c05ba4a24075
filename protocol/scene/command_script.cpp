#include "protocol/scene/command_script.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

#include "protocol/scene/command_script_generated.h"
#include "protocol/scene/convert.h"
#include "protocol/scene/json.h"
#include "protocol/scene/json_text.h"
#include "protocol/scene/schema_text.h"

namespace orrery::protocol {

namespace {

using scene::Path;
using scene::Reader;
using Field = ScriptMade::Field;

constexpr std::uint64_t kOwnTags = std::uint64_t{1}
                                   << 63;  // and the command's place: the tag of one that has a name and no tag

sim::Pose compose(const sim::Pose& frame, const sim::Pose& local) {
    const scene::DQuat turn = scene::widened(frame.orientation);
    return {scene::narrowed(scene::widened(frame.position) + scene::rotate(turn, scene::widened(local.position))),
            scene::narrowed(turn * scene::widened(local.orientation))};
}

// What a kind of command takes, beside tick, kind, tag and name.
std::vector<std::string_view> fields_of(script::Kind kind) {
    switch (kind) {
        case script::Kind::join:
        case script::Kind::leave:
        case script::Kind::occupy:
        case script::Kind::vacate:
            return {"slot"};
        case script::Kind::control:
        case script::Kind::drive:
            return {"slot", "channels"};
        case script::Kind::respawn:
            return {"slot", "position", "orientation", "rotation_deg"};
        case script::Kind::spawn:
            return {"template", "position", "orientation", "rotation_deg", "linear", "angular"};
        case script::Kind::despawn:
        case script::Kind::wake:
            return {"body"};
        case script::Kind::set_filter:
            return {"body", "category", "mask"};
        case script::Kind::set_body_type:
            return {"body", "type"};
        case script::Kind::set_gravity_scale:
            return {"body", "value"};
        case script::Kind::set_material:
            return {"body", "material"};
        case script::Kind::set_damping:
            return {"body", "linear_damping", "angular_damping"};
        case script::Kind::impulse:
        case script::Kind::force:
            return {"body", "position", "linear", "angular"};
        case script::Kind::kinematic_target:
            return {"body", "position", "orientation", "rotation_deg"};
        case script::Kind::teleport:
        case script::Kind::teleport_group:
            return {"body", "position", "orientation", "rotation_deg", "linear", "angular"};
        case script::Kind::motor_target:
            return {"joint", "value"};
        case script::Kind::grab:
            return {"body", "position", "linear", "value"};
        case script::Kind::move_grab:
            return {"joint", "linear"};
        case script::Kind::remove_joint:
            return {"joint"};
        case script::Kind::create_joint:
            return {"order"};
        case script::Kind::set_joint:
            return {"joint", "order"};
    }
    return {};
}

// Finds what a script names, in the definition of a world and in what the script makes. First all commands are
// declared, then each is resolved: they may stand in any order.
class Resolver {
  public:
    Resolver(Reader& reader, const sim::World& world) : reader_(reader), def_(world.definition()) {
        const Path nowhere;
        for (std::size_t i = 0; i < def_.slots.size(); ++i)
            slots_.add(reader_, def_.slots[i].name, static_cast<std::uint32_t>(i), nowhere);
        for (std::size_t i = 0; i < def_.prefabs.size(); ++i)
            templates_.add(reader_, def_.prefabs[i].name, static_cast<std::uint32_t>(i), nowhere);
        for (std::size_t i = 0; i < def_.materials.size(); ++i)
            materials_.add(reader_, def_.materials[i].name, static_cast<std::uint32_t>(i), nowhere);
        bodies_ = def_.bodies;
        scope_.bodies = &bodies_;
        scope_.joints = &ordered_;
        for (std::size_t i = 0; i < def_.bodies.size(); ++i)
            scope_.body_names.add(reader_, def_.bodies[i].name, static_cast<std::uint32_t>(i), nowhere);
        for (std::size_t i = 0; i < def_.joints.size(); ++i)
            scope_.joint_names.add(reader_, def_.joints[i].name, static_cast<std::uint32_t>(i), nowhere);
    }

    void declare(const script::CommandT& from, std::uint32_t sequence, const Path& where) {
        const bool spawns = takes_slot(from.kind) || from.kind == script::Kind::spawn,
                   joins = from.kind == script::Kind::grab || from.kind == script::Kind::create_joint;
        if (!from.name.empty() && from.kind == script::Kind::create_joint)
            return reader_.fail(where / "name", "is not used by create_joint; write the name inside `order`");
        if (!from.name.empty() && !spawns && !joins)
            return reader_.fail(
                where / "name",
                "is the name of what a command makes, but this command makes nothing; use body, joint or slot");
        if (!spawns && !joins) return;
        const bool ordered = from.kind == script::Kind::create_joint && from.order;
        const std::string& name = ordered ? from.order->name : from.name;
        ScriptMade::Maker maker{.tick = from.tick, .tag = tag(from, sequence), .sequence = sequence};
        maker.answer = spawns ? sim::EventKind::spawned : sim::EventKind::joint_created;
        answers_alone(maker, !name.empty(), where / "tag");
        if (name.empty() || !reader_.ok()) return;
        if (spawns) return declare_group(from, maker, where);
        maker.joints = 1;
        scope_.joint_names.add(reader_, name, joint_thing(made_.add(maker, {}).first_joint),
                               ordered ? where / "order" : where);
    }

    // `joint`: the order of `from`, as the script's buffer has it; null: none.
    sim::Command resolve(const script::CommandT& from, const scene::Joint* joint, std::uint32_t sequence,
                         const Path& where) {
        sequence_ = sequence;
        tick_ = from.tick;
        sim::Command to;
        if (from.kind > script::Kind::MAX)
            reader_.fail(where / "kind", "is not a kind of command; see Kind in protocol/scene/command_script.fbs");
        check_fields(from, where);
        to.kind = static_cast<sim::CommandKind>(from.kind);
        to.sequence = sequence;
        to.tag = tag(from, sequence);
        to.value = reader_.number(from.value, where / "value", -scene::kMaxForce, scene::kMaxForce, "kMaxForce");
        convert_frame(from, where, to);
        needs(from, joint, where, to);
        return to;
    }

    // What a command names, for messages.
    static std::string subject(const script::CommandT& from) {
        const auto quoted = [](const char* kind, const std::string& name) { return kind + (" \"" + name + "\""); };
        switch (from.kind) {
            case script::Kind::join:
            case script::Kind::leave:
            case script::Kind::control:
            case script::Kind::respawn:
            case script::Kind::occupy:
            case script::Kind::drive:
            case script::Kind::vacate:
                return quoted("slot", from.slot);
            case script::Kind::spawn:
                return quoted("template", from.template_) + (from.name.empty() ? "" : " as \"" + from.name + "\"");
            case script::Kind::despawn:
            case script::Kind::impulse:
            case script::Kind::teleport:
            case script::Kind::grab:
            case script::Kind::wake:
            case script::Kind::set_filter:
            case script::Kind::set_body_type:
            case script::Kind::set_gravity_scale:
            case script::Kind::set_material:
            case script::Kind::set_damping:
            case script::Kind::force:
            case script::Kind::kinematic_target:
            case script::Kind::teleport_group:
                return quoted("body", from.body);
            case script::Kind::motor_target:
            case script::Kind::move_grab:
            case script::Kind::remove_joint:
            case script::Kind::set_joint:
                return quoted("joint", from.joint);
            case script::Kind::create_joint:
                if (!from.order->name.empty()) return quoted("joint", from.order->name);
                return quoted("body", from.order->b) + (from.order->a.empty() ? "" : " to \"" + from.order->a + "\"");
        }
        return {};
    }

    // When all are resolved: what a joint is set to is said of the bodies that it holds.
    void check_resets() {
        const Path root;
        for (const Reset& reset : resets_) {
            const auto made = held_by_.find(reset.joint);
            JointBodies held{};
            if (reset.joint < def_.joints.size()) {
                const sim::JointDef& joint = def_.joints[reset.joint];
                held = {joint.body_a, joint.body_b, joint.body_c, joint.body_d};
            } else if (made != held_by_.end()) {
                held = made->second;
            } else {
                continue;  // a grab's
            }
            const Path where = root.element("commands", reset.sequence), order = where / "order";
            constexpr std::string_view kEnds[] = {"a", "b", "c", "d"};
            for (std::size_t k = 0; k < held.size(); ++k) {
                if (reset.named[k] == held[k]) continue;
                return reader_.fail(
                    order / kEnds[k],
                    "is " + called(reset.named[k]) + ", but the joint holds " + called(held[k]) +
                        "; a joint keeps its bodies: name the same bodies, or remove the joint and create another one");
            }
        }
    }

    ScriptMade take_made() { return std::move(made_); }

  private:
    static bool takes_slot(script::Kind kind) { return kind == script::Kind::join || kind == script::Kind::occupy; }
    using JointBodies = std::array<std::uint32_t, 4>;  // counted as body_thing does; kNone: the world, or none
    struct Reset {
        std::uint32_t joint = 0;
        JointBodies named{};
        std::uint32_t sequence = 0;
    };

    std::uint64_t tag(const script::CommandT& from, std::uint32_t sequence) const {
        const bool named =
            !from.name.empty() || (from.kind == script::Kind::create_joint && from.order && !from.order->name.empty());
        return from.tag == 0 && named ? kOwnTags | sequence : from.tag;
    }

    void check_fields(const script::CommandT& from, const Path& where) {
        const std::vector<std::string_view> taken = fields_of(from.kind);
        const auto field = [&](std::string_view name, bool given) {
            if (!given || std::find(taken.begin(), taken.end(), name) != taken.end()) return;
            std::string list;
            for (const std::string_view one : taken) list.append(list.empty() ? "" : ", ").append(one);
            reader_.fail(where / name, "does not belong to a command of kind " + std::string(EnumNameKind(from.kind)) +
                                           ", which takes " + list + "; leave it out");
        };
        field("slot", !from.slot.empty());
        field("body", !from.body.empty());
        field("joint", !from.joint.empty());
        field("template", !from.template_.empty());
        field("position", from.position != nullptr);
        field("orientation", from.orientation != nullptr);
        field("rotation_deg", from.rotation_deg != nullptr);
        field("linear", from.linear != nullptr);
        field("angular", from.angular != nullptr);
        field("value", from.value != 0.0f);
        field("channels", !from.channels.empty());
        field("order", from.order != nullptr);
        field("category", from.category != 1);
        field("mask", from.mask != 0xffff'ffffu);
        field("type", from.type.has_value());
        field("material", !from.material.empty());
        field("linear_damping", from.linear_damping != 0.0f);
        field("angular_damping", from.angular_damping != 0.0f);
    }

    // The answer to a command with a name must be told from others.
    void answers_alone(const ScriptMade::Maker& maker, bool named, const Path& where) {
        const auto [at, first] = answers_.try_emplace({maker.tick, maker.answer, maker.tag}, maker.sequence, named);
        if (first || (!named && !at->second.second)) return;
        reader_.fail(
            where, "is also that of commands[" + std::to_string(at->second.first) +
                       "], which makes something in the same tick; give a command with a name its own tag, or no tag");
    }

    // A template's bodies, made as `cart`, are cart[i] and, where they have names in it, cart.wheel; an only one is
    // `cart`, too. Its joints likewise.
    void declare_group(const script::CommandT& from, ScriptMade::Maker maker, const Path& where) {
        sim::Command placed;
        std::uint32_t prefab = sim::kNone;
        if (takes_slot(from.kind)) {
            const std::uint16_t seat = slot(from.slot, where / "slot");
            if (!reader_.ok()) return;
            prefab = def_.slots[seat].prefab;
            placed.pose = def_.slots[seat].pose;
            if (prefab == sim::kNone)
                return reader_.fail(
                    where / "name",
                    "is the name of what a command makes, but the slot has no template; leave out the name");
        } else {
            prefab = templates_.find(reader_, from.template_, where / "template");
            convert_frame(from, where, placed);
            if (!reader_.ok()) return;
        }
        const sim::PrefabDef& group = def_.prefabs[prefab];
        const std::size_t named = bodies_.size() - def_.bodies.size() + group.bodies.size();
        if (named > kMaxNamedBodies) {
            return reader_.fail(where / "name", "is the name of named body " + std::to_string(named) +
                                                    " that commands make; at most " + std::to_string(kMaxNamedBodies) +
                                                    " are accepted (kMaxNamedBodies)");
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < group.bodies.size(); ++i) {
            names.push_back(group.bodies.size() == 1       ? from.name
                            : group.bodies[i].name.empty() ? from.name + "[" + std::to_string(i) + "]"
                                                           : from.name + "." + group.bodies[i].name);
        }
        maker.bodies = static_cast<std::uint32_t>(group.bodies.size());
        maker.joints = static_cast<std::uint32_t>(group.joints.size());
        const ScriptMade::Maker& made = made_.add(maker, names);
        const auto no_more = [](const std::string&, std::uint32_t) {};
        name_group(
            scope_.body_names, group.bodies, from.name, body_thing(made.first_body), where,
            [&](const std::string& name, std::uint32_t thing) { made_.add_body_name(name, thing - body_thing(0)); });
        name_group(scope_.joint_names, group.joints, from.name, joint_thing(made.first_joint), where, no_more);
        for (std::uint32_t i = 0; i < group.joints.size(); ++i) {
            const sim::JointDef& joint = group.joints[i];
            JointBodies held{joint.body_a, joint.body_b, joint.body_c, joint.body_d};
            for (std::uint32_t& part : held) part = part == sim::kNone ? part : body_thing(made.first_body) + part;
            held_by_[joint_thing(made.first_joint) + i] = held;
        }
        for (std::size_t i = 0; i < group.bodies.size(); ++i) {
            sim::BodyDef& body = bodies_.emplace_back(group.bodies[i]);
            body.name = names[i];
            body.pose = compose(placed.pose, body.pose);
        }
    }

    template <class Definition, class Note>
    void name_group(scene::Names& names, const std::vector<Definition>& parts, const std::string& name,
                    std::uint32_t first, const Path& where, const Note& note) {
        const auto add = [&](const std::string& one, std::uint32_t thing) {
            names.add(reader_, one, thing, where);
            note(one, thing);
        };
        for (std::uint32_t i = 0; i < parts.size() && reader_.ok(); ++i) {
            add(name + "[" + std::to_string(i) + "]", first + i);
            if (!parts[i].name.empty()) add(name + "." + parts[i].name, first + i);
            if (parts.size() == 1) add(name, first + i);
        }
    }

    // Bodies and joints that are made are counted after those of the definition.
    std::uint32_t body_thing(std::uint32_t made) const { return static_cast<std::uint32_t>(def_.bodies.size()) + made; }
    std::uint32_t joint_thing(std::uint32_t made) const {
        return static_cast<std::uint32_t>(def_.joints.size()) + made;
    }

    void convert_frame(const script::CommandT& from, const Path& where, sim::Command& to) {
        const auto vec = [](const script::Vec3& v) { return scene::Vec3(v.x(), v.y(), v.z()); };
        if (from.position)
            to.pose.position = scene::narrowed(
                reader_.vector(vec(*from.position), where / "position", scene::kMaxLength_m, "kMaxCoordinate_m"));
        if (from.orientation && from.rotation_deg)
            reader_.fail(where / "rotation_deg", "is given together with `orientation`; give one of the two");
        if (from.orientation) {
            const script::Quat& q = *from.orientation;
            to.pose.orientation =
                scene::narrowed(reader_.orientation(scene::Quat(q.x(), q.y(), q.z(), q.w()), where / "orientation"));
        }
        if (from.rotation_deg) {
            to.pose.orientation = scene::narrowed(
                scene::from_rotation_deg(reader_.vector(vec(*from.rotation_deg), where / "rotation_deg", 1e6)));
        }
        if (from.linear)
            to.linear =
                scene::narrowed(reader_.vector(vec(*from.linear), where / "linear", scene::kMaxForce, "kMaxForce"));
        if (from.angular)
            to.angular =
                scene::narrowed(reader_.vector(vec(*from.angular), where / "angular", scene::kMaxForce, "kMaxForce"));
        to.at_point = (from.kind == script::Kind::impulse || from.kind == script::Kind::force) && from.position;
        if (from.channels.size() > sim::kControlChannels) {
            reader_.fail(where / "channels", "has more entries than the " + std::to_string(sim::kControlChannels) +
                                                 " control channels (kControlChannels)");
        }
        for (std::size_t i = 0; i < from.channels.size() && i < sim::kControlChannels; ++i) {
            to.channels[i] = reader_.number(from.channels[i], where.element("channels", i), -1.0, 1.0);
        }
    }

    void needs(const script::CommandT& from, const scene::Joint* ordered, const Path& where, sim::Command& to) {
        switch (from.kind) {
            case script::Kind::join:
            case script::Kind::leave:
            case script::Kind::control:
            case script::Kind::occupy:
            case script::Kind::drive:
            case script::Kind::vacate:
                to.slot = slot(from.slot, where / "slot");
                break;
            case script::Kind::respawn:
                to.slot = slot(from.slot, where / "slot");
                if (!from.position) reader_.fail(where / "position", "is missing; give the place of the template");
                break;
            case script::Kind::spawn:
                to.prefab = templates_.find(reader_, from.template_, where / "template");
                break;
            case script::Kind::impulse:
            case script::Kind::force:
                to.body = body(from.body, where / "body");
                if (!from.linear && !from.angular)
                    reader_.fail(where / "linear", "is missing, and so is `angular`; give one of them or both");
                break;
            case script::Kind::teleport:
            case script::Kind::kinematic_target:
            case script::Kind::teleport_group:
                to.body = body(from.body, where / "body");
                if (!from.position) reader_.fail(where / "position", "is missing; give the new position of the body");
                break;
            case script::Kind::grab:
                to.body = body(from.body, where / "body");
                if (!from.linear)
                    reader_.fail(where / "linear",
                                 "is missing; give the point of the world that the body is pulled to");
                break;
            case script::Kind::despawn:
            case script::Kind::wake:
            case script::Kind::set_gravity_scale:
                to.body = body(from.body, where / "body");
                break;
            case script::Kind::set_filter:
                to.body = body(from.body, where / "body");
                to.category = from.category;
                to.mask = from.mask;
                break;
            case script::Kind::set_body_type:
                to.body = body(from.body, where / "body");
                if (from.type && *from.type <= scene::BodyType::MAX)
                    to.type = scene::convert_type(*from.type);
                else
                    reader_.fail(where / "type", "is missing or unknown; give dynamic, kinematic or static");
                break;
            case script::Kind::set_material:
                to.body = body(from.body, where / "body");
                to.material = materials_.find(reader_, from.material, where / "material");
                break;
            case script::Kind::set_damping:
                to.body = body(from.body, where / "body");
                to.linear_damping = reader_.number(from.linear_damping, where / "linear_damping", 0.0,
                                                   static_cast<double>(sim::kMaxDamping_hz), "kMaxDamping_hz");
                to.angular_damping = reader_.number(from.angular_damping, where / "angular_damping", 0.0,
                                                    static_cast<double>(sim::kMaxDamping_hz), "kMaxDamping_hz");
                break;
            case script::Kind::move_grab:
                to.joint = joint(from.joint, where / "joint");
                if (!from.linear)
                    reader_.fail(where / "linear",
                                 "is missing; give the point of the world that the body is pulled to");
                break;
            case script::Kind::motor_target:
            case script::Kind::remove_joint:
                to.joint = joint(from.joint, where / "joint");
                break;
            case script::Kind::set_joint:
                to.joint = joint(from.joint, where / "joint");
                to.order = order(ordered, where / "order");
                if (reader_.ok()) resets_.push_back({*scope_.joint_names.get(from.joint), ordered_bodies(), sequence_});
                break;
            case script::Kind::create_joint:
                to.order = order(ordered, where / "order");
                if (reader_.ok() && !from.order->name.empty())
                    held_by_[*scope_.joint_names.get(from.order->name)] = ordered_bodies();
                break;
        }
    }

    JointBodies ordered_bodies() const {
        const sim::JointDef& joint = ordered_.front();
        return {joint.body_a, joint.body_b, joint.body_c, joint.body_d};
    }
    std::string called(std::uint32_t thing) const {
        if (thing == sim::kNone) return "the world";
        return bodies_[thing].name.empty() ? "bodies[" + std::to_string(thing) + "]"
                                           : "\"" + bodies_[thing].name + "\"";
    }

    sim::JointOrder order(const scene::Joint* from, const Path& where) {
        sim::JointOrder to;
        if (!from) {
            reader_.fail(where, "is missing; give a joint, written as in a scene");
            return to;
        }
        ordered_.clear();
        scene::convert_joint(reader_, *from, where, scope_);
        if (!reader_.ok() || ordered_.empty()) return to;
        const sim::JointDef& joint = ordered_.front();
        to.a = body_id(joint.body_a, scene::view_of(from->a()), Field::a, where / "a");
        to.b = body_id(joint.body_b, scene::view_of(from->b()), Field::b, where / "b");
        to.c = body_id(joint.body_c, scene::view_of(from->c()), Field::c, where / "c");
        to.d = body_id(joint.body_d, scene::view_of(from->d()), Field::d, where / "d");
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
        if (index >= static_cast<int>(def_.slots.size())) reader_.fail(where, "the scene has no slot " + name);
        return static_cast<std::uint16_t>(index);
    }
    sim::BodyId body(const std::string& name, const Path& where) {
        const std::optional<std::uint32_t> thing = known("body", scope_.body_names, name, where);
        return thing ? body_id(*thing, name, Field::body, where) : sim::BodyId{};
    }
    // Of what is made later the id comes later, too.
    sim::BodyId body_id(std::uint32_t thing, std::string_view name, Field field, const Path& where) {
        if (thing == sim::kNone) return {};
        if (thing < def_.bodies.size()) return {thing + 1, 0};
        const std::uint32_t made = thing - body_thing(0);
        use(made_.maker_of_body(made), {.thing = made, .command = sequence_, .field = field}, name, where);
        return {};
    }
    sim::JointId joint(const std::string& name, const Path& where) {
        const std::optional<std::uint32_t> thing = known("joint", scope_.joint_names, name, where);
        if (!thing) return {};
        if (*thing < def_.joints.size()) return {*thing, 0};
        const std::uint32_t made = *thing - joint_thing(0);
        use(made_.maker_of_joint(made), {.thing = made, .command = sequence_, .field = Field::joint}, name, where);
        return {};
    }
    void use(const ScriptMade::Maker& maker, const ScriptMade::Use& use, std::string_view name, const Path& where) {
        if (tick_ <= maker.tick) {
            reader_.fail(where, "\"" + std::string(name) + "\" is made by commands[" + std::to_string(maker.sequence) +
                                    "] in tick " + std::to_string(maker.tick) + "; name it from tick " +
                                    std::to_string(maker.tick + 1) + " on");
        }
        made_.add(use);
    }

    std::optional<std::uint32_t> known(const std::string& kind, const scene::Names& names, const std::string& name,
                                       const Path& where) {
        const std::optional<std::uint32_t> thing = name.empty() ? std::nullopt : names.get(name);
        if (thing) return thing;
        const std::string near = names.nearest(name);
        if (name.empty()) {
            reader_.fail(where, "is missing; name a " + kind + " of the scene", ErrorCode::not_found);
        } else {
            reader_.fail(where,
                         "no " + kind + " of the scene is called \"" + name + "\"" +
                             (made_.empty() ? "" : ", and no command makes one") +
                             (near.empty() ? "" : "; did you mean \"" + near + "\"?"),
                         ErrorCode::not_found);
        }
        return std::nullopt;
    }

    Reader& reader_;
    const sim::WorldDef& def_;
    scene::Names slots_{"slot"}, templates_{"template"}, materials_{"material"};
    std::vector<sim::BodyDef> bodies_;    // as they stand at the start, and as they are made
    std::vector<sim::JointDef> ordered_;  // by the command at hand
    scene::Scope scope_;
    ScriptMade made_;
    std::map<std::tuple<std::uint64_t, sim::EventKind, std::uint64_t>, std::pair<std::uint32_t, bool>>
        answers_;                                   // to which command; named?
    std::map<std::uint32_t, JointBodies> held_by_;  // joints that commands make
    std::vector<Reset> resets_;
    std::uint32_t sequence_ = 0;  // of the command at hand
    std::uint64_t tick_ = 0;
};

}  // namespace

Result<CommandScript> CommandScript::load(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                          const sim::World& world) {
    if (bytes.size() > kMaxScriptBytes) {
        return Error{ErrorCode::limit_reached, std::string(file_name),
                     "is longer than the " + std::to_string(kMaxScriptBytes) + " bytes accepted (kMaxScriptBytes)"};
    }
    flatbuffers::Parser parser;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const Result<Ok> parsed = scene::parse_json_text(parser, scene::script_schema_text(), text, file_name); !parsed)
        return parsed.error();
    const script::Script& flat = *script::GetScript(parser.builder_.GetBufferPointer());
    const std::unique_ptr<script::ScriptT> tree(flat.UnPack());

    Reader reader(file_name);
    Resolver resolver(reader, world);
    const Path root;
    CommandScript made;
    const auto each = [&](const auto& work) {
        for (std::uint32_t i = 0; i < tree->commands.size() && reader.ok(); ++i)
            work(i, *tree->commands[i], root.element("commands", i));
    };
    each([&](std::uint32_t i, const script::CommandT& from, const Path& where) {
        if (from.tick == 0) reader.fail(where / "tick", "is missing or 0; give a tick from 1 on");
        resolver.declare(from, i, where);
    });
    std::vector<std::pair<std::uint64_t, sim::Command>> entries;
    each([&](std::uint32_t i, const script::CommandT& from, const Path& where) {
        entries.emplace_back(from.tick, resolver.resolve(from, flat.commands()->Get(i)->order(), i, where));
        if (reader.ok()) made.subjects_.push_back(Resolver::subject(from));
    });
    if (reader.ok()) resolver.check_resets();
    if (!reader.ok()) return scene::with_line(reader.error(), text, file_name);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> place(entries.size());
    for (auto& [tick, command] : entries) {
        place[command.sequence] = static_cast<std::uint32_t>(made.commands_.size());
        made.ticks_.push_back(tick);
        made.commands_.push_back(command);
    }
    made.made_ = resolver.take_made();
    made.made_.finish(place);
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
