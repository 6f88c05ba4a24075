#include "protocol/scene/joint_fields.h"

#include <algorithm>

#include "protocol/scene/convert.h"

namespace orrery::protocol::scene {

namespace {

constexpr double kPerpendicular = 1e-3;  // the cosine up to which directions written by hand are taken as perpendicular

std::string_view limit_name(float speed) {
    return speed == sim::kMaxAngularSpeed_radps ? "kMaxAngularSpeed_radps" : "kMaxLinearSpeed_mps";
}

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

// "`a`, `b` and `c`"
std::string listed(const std::vector<std::string_view>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + quoted(names[i]);
    return text;
}

}  // namespace

const SchemaField* JointFields::find(std::string_view name, std::string_view type) {
    const SchemaField* const field = schema_.find(name);
    const bool fits =
        field && (type == "float" ? field->type == reflection::Float : field->table && field->table->name == type);
    if (fits) return field;
    reader_.fail(where_ / name, "is no " + std::string(type) + " of table " + std::string(schema_.name) +
                                    " in scene.fbs; its constraint has it");
    return nullptr;
}

// ---- points

// An error where `at` and the anchors say it twice, or not at all, or one anchor alone.
bool JointFields::place_is_clear() {
    const SchemaField* const at = find("at", "Vec3");
    const int anchors = (given<Vec3>("anchor_a", "Vec3") != nullptr) + (given<Vec3>("anchor_b", "Vec3") != nullptr);
    if (!at) return false;
    const bool here = given<Vec3>(at) != nullptr;
    if (here ? anchors == 0 : anchors == 2 || (anchors == 0 && at->centre_of_b)) return true;
    reader_.fail(where_,
                 std::string(here ? "has two places" : "has no place") +
                     "; give the place once: either `at` (in the scene's frame), or `anchor_a` and `anchor_b` (local)");
    return false;
}

void JointFields::point(sim::Side side, const char* name, sim::Vec3& to) {
    const SchemaField* const local = find(name, "Vec3");
    if (!local) return;
    const Path here = where_ / local->name;
    const SchemaField* const at = schema_.find("at");
    if (at && !place_is_clear()) return;
    D3 in_scene;
    if (const Vec3* own = given<Vec3>(local)) {
        const D3 read = reader_.vector(*own, here, kMaxLength_m, "kMaxCoordinate_m");
        to = narrowed(read);
        in_scene = frame(side).to_scene(widened(to));
    } else if (at) {
        const Vec3* const place = given<Vec3>(at);
        in_scene = place ? reader_.vector(*place, where_ / "at", kMaxLength_m, "kMaxCoordinate_m") : ends_.b.position;
        to = narrowed(frame(side).to_local(in_scene));
    } else if (one_body_ && side == sim::Side::a) {
        to = narrowed(point_of_b_);
    } else {
        to = {};
        in_scene = frame(side).to_scene({});
    }
    if (side == sim::Side::b) point_of_b_ = in_scene;
}

void JointFields::world_point(const char* name, sim::Vec3& to) {
    const Vec3* const own = given<Vec3>(name, "Vec3");
    if (own)
        to = narrowed(reader_.vector(*own, where_ / name, kMaxLength_m, "kMaxCoordinate_m"));
    else
        reader_.fail(where_ / name, "is missing; give the point in the scene's frame");
}

// ---- directions

void JointFields::direction(sim::Side side, const char* name, sim::Vec3& to) {
    const SchemaField* const local = find(name, "Vec3");
    if (!local) return;
    std::string_view in_scene = local->in_scene;
    if (in_scene.empty()) {
        in_scene = name;
        if (in_scene.ends_with("_a") || in_scene.ends_with("_b")) in_scene.remove_suffix(2);
    }
    directions_.push_back({name, side, &to, local, schema_.find(in_scene), {}});
}

void JointFields::perpendicular(const char* name, const sim::Vec3&, const char* to_name, const sim::Vec3&) {
    perpendicular_.push_back({name, to_name});
}

JointFields::Direction* JointFields::direction(std::string_view name) {
    const auto at = std::ranges::find(directions_, name, &Direction::name);
    return at == directions_.end() ? nullptr : &*at;
}

std::string JointFields::ways() const {
    std::vector<std::string_view> scene, local;
    for (const Direction& one : directions_) {
        local.push_back(one.local->name);
        if (one.in_scene && std::ranges::find(scene, one.in_scene->name) == scene.end())
            scene.push_back(one.in_scene->name);
    }
    return "give the axes once: either " + listed(scene) + " (in the scene's frame), or " + listed(local) + " (local)";
}

// Whether all are given so; an error where they are in neither way, or in both.
bool JointFields::directions_in_scene() {
    bool scene_all = true, scene_any = false, local_all = true, local_any = false;
    for (const Direction& one : directions_) {
        const bool local = given<Vec3>(one.local) != nullptr;
        local_all = local_all && local, local_any = local_any || local;
        if (!one.in_scene) continue;
        const bool scene = given<Vec3>(one.in_scene) != nullptr;
        scene_all = scene_all && scene, scene_any = scene_any || scene;
    }
    if (scene_any ? scene_all && !local_any : local_all) return scene_any;
    const bool none = !scene_any && !local_any;
    reader_.fail(where_, std::string(none                     ? "has no axis; "
                                     : scene_any && local_any ? "has its axes twice; "
                                                              : "does not have all axes; ") +
                             ways());
    return scene_any;
}

void JointFields::finish() {
    if (directions_.empty()) return;
    const bool in_scene = directions_in_scene();
    if (!reader_.ok()) return;
    const auto read = [&](const SchemaField* field) {
        return reader_.direction(*given<Vec3>(field), where_ / field->name);
    };
    const auto first = std::ranges::find_if(directions_, [](const Direction& one) { return one.in_scene != nullptr; });
    for (Direction& one : directions_) {
        if (!in_scene)
            one.source = read(one.local);
        else if (one.in_scene)
            one.source = read(one.in_scene);
        else
            one.source = any_perpendicular(read(first->in_scene));
    }
    for (const Relation& relation : perpendicular_) {
        Direction* const one = direction(relation.name);
        const Direction* const other = direction(relation.to_name);
        if (!one || !other || (in_scene && !one->in_scene)) continue;
        const double along = dot(other->source, one->source);
        const auto name = [&](const Direction& of) { return (in_scene ? of.in_scene : of.local)->name; };
        if (std::fabs(along) > kPerpendicular)
            reader_.fail(where_ / name(*one),
                         "is not perpendicular to " + quoted(name(*other)) + "; make it perpendicular");
        const D3 across = one->source - along * other->source;
        one->source = (1.0 / length(across)) * across;
    }
    for (const Direction& one : directions_)
        *one.to = narrowed(in_scene ? frame(one.side).axis_to_local(one.source) : one.source);
}

void JointFields::velocity(sim::Side, const char* name, sim::Vec3& to, float limit) {
    if (const Vec3* own = given<Vec3>(name, "Vec3"))
        to = narrowed(reader_.vector(*own, where_ / name, limit, limit_name(limit)));
}

void JointFields::turn(const char* name, sim::Quat& to) {
    if (const Quat* own = given<Quat>(name, "Quat"))
        to = narrowed(reader_.orientation(*own, where_ / name));
    else
        to = narrowed(one_body_ ? ends_.b.orientation
                                : normalized(conjugate(ends_.a.orientation) * ends_.b.orientation));
}

// ---- numbers

void JointFields::read_number(const char* name, float& to, double low, double high, std::string_view limit) {
    std::string own = name;
    const bool angle = own.ends_with("_rad");
    if (angle) own.replace(own.size() - 3, 3, "deg");
    const SchemaField* const field = find(own, "float");
    if (!field) return;
    const bool given = from_.CheckField(field->offset);
    if (given || !field->optional) {
        const float read = from_.GetField(field->offset, static_cast<float>(field->default_real));
        if (angle) {
            const double degrees =
                reader_.number(static_cast<double>(read), where_ / field->name, std::round(low / kRadiansADegree),
                               std::round(high / kRadiansADegree));
            to = static_cast<float>(degrees * kRadiansADegree);
        } else {
            to = reader_.number(read, where_ / field->name, low, high, limit);
        }
        numbers_.push_back({name, field, static_cast<double>(read), given});
        return;
    }
    if (at_start_) to = static_cast<float>(at_start_());
    numbers_.push_back(
        {name, field, angle ? static_cast<double>(to) / kRadiansADegree : static_cast<double>(to), false});
}

void JointFields::number(const char* name, float& to, float low, float high) {
    const bool wide = static_cast<double>(high) > kMaxForce;
    read_number(name, to, std::max(static_cast<double>(low), -kMaxForce),
                std::min(static_cast<double>(high), kMaxForce), wide ? "kMaxForce" : "");
}
void JointFields::speed(const char* name, float& to, float limit) {
    read_number(name, to, -limit, limit, limit_name(limit));
}
void JointFields::amount(const char* name, float& to) { read_number(name, to, 0.0, kMaxForce, "kMaxForce"); }

const JointFields::Number* JointFields::number(std::string_view name) const {
    const auto at = std::ranges::find(numbers_, name, &Number::name);
    return at == numbers_.end() ? nullptr : &*at;
}

void JointFields::ordered(const char* low_name, float, const char* high_name, float) {
    const Number* const low = number(low_name);
    const Number* const high = number(high_name);
    if (!low || !high) return;
    if (flag_ && low->field->optional && high->field->optional) {
        *flag_ = low->given && high->given;
        if (low->given != high->given)
            reader_.fail(where_, "has only one end of its limit; give both " + quoted(low->field->name) + " and " +
                                     quoted(high->field->name) + ", or neither");
        if (!*flag_) return;
    }
    if (low->written > high->written) {
        const bool at_start = high->field->optional && !high->given;
        reader_.fail(where_ / low->field->name, "is " + spell_number(low->written) + ", above " +
                                                    quoted(high->field->name) + ", which is " +
                                                    spell_number(high->written) + (at_start ? " at the start" : "") +
                                                    "; lower it, or raise the other one");
    }
}

// ---- settings

void JointFields::spring(const char* name, sim::Spring& to) {
    const Spring* const own = given<Spring>(name, "Spring");
    if (!own) return;
    SpringT settings;
    own->UnPackTo(&settings);
    to = convert_spring(reader_, &settings, to, where_ / name);
}

void JointFields::servo(const char* name, sim::Servo& to) {
    const Servo* const own = given<Servo>(name, "Servo");
    if (!own) return;
    const Path here = where_ / name;
    to.max_speed = limit_or_none(reader_, own->max_speed(), here / "max_speed");
    to.base_speed = reader_.number(own->base_speed(), here / "base_speed", 0.0, sim::kMaxLinearSpeed_mps);
    to.max_force = limit_or_none(reader_, own->max_force(), here / "max_force");
}

void JointFields::motor(const char* name, sim::Motor& to) {
    const Motor* const own = given<Motor>(name, "Motor");
    if (!own) return;
    const Path here = where_ / name;
    to.max_force = limit_or_none(reader_, own->max_force(), here / "max_force");
    to.damping = reader_.number(own->damping(), here / "damping", 0.0, kMaxForce, "kMaxForce");
}

}  // namespace orrery::protocol::scene
