#include "protocol/scene/field_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "protocol/scene/reader.h"
#include "protocol/scene/scene.h"

namespace orrery::protocol::scene {

namespace {

// Names of fields in other engines and formats. An entry applies to each table that has `field`, or to `table` alone.
struct OtherName {
    std::string_view name, field;
    std::string_view table = {};
    std::string_view note = {};
};
constexpr OtherName kOtherNames[] = {
    {"mass", "mass_kg"},
    {"density", "density_kgpm3"},
    {"size", "half_extents", {}, "give half of each edge"},
    {"extents", "half_extents"},
    {"dimensions", "half_extents", {}, "give half of each edge"},
    {"size", "radius"},
    {"diameter", "radius", {}, "give half of it"},
    {"height", "half_height", {}, "give half of it"},
    {"length", "half_height", {}, "give half of it"},
    {"size", "shape", "Body", "the size belongs to the shape that the body names"},
    {"radius", "shape", "Body", "the radius belongs to the shape that the body names"},
    {"half_extents", "shape", "Body", "the extents belong to the shape that the body names"},
    {"geometry", "shape"},
    {"collider", "shape"},
    {"mesh", "shape", "Body", "the mesh belongs to the shape that the body names"},
    {"file", "vertices", {}, "write the points in the scene; a scene does not name other files"},
    {"file", "mesh", "Shape", "write its points in the scene; a scene does not name other files"},
    {"file", "shape", "Body", "a mesh belongs to the shape that the body names; write its points in the scene"},
    {"filename", "vertices", {}, "write the points in the scene; a scene does not name other files"},
    {"faces", "indices"},
    {"triangles", "indices"},
    {"friction", "material", {}, "friction belongs to the material that is named here"},
    {"restitution", "material", {}, "restitution belongs to the material that is named here"},
    {"density", "material", {}, "the density belongs to the material that is named here"},
    {"density_kgpm3", "material", {}, "the density belongs to the material that is named here"},
    {"bounciness", "restitution"},
    {"elasticity", "restitution"},
    {"position", "origin"},
    {"location", "position"},
    {"translation", "position"},
    {"pos", "position"},
    {"rotation", "rotation_deg"},
    {"euler", "rotation_deg"},
    {"angles", "rotation_deg"},
    {"quaternion", "orientation"},
    {"velocity", "linear_velocity"},
    {"spin", "angular_velocity"},
    {"damping", "linear_damping"},
    {"damping", "damping_ratio"},
    {"stiffness", "frequency_hz", {}, "give stiffness as a frequency, Hz"},
    {"hertz", "frequency_hz"},
    {"fixed", "type", "Body", "a body that never moves has \"type\": \"static\""},
    {"static", "type", "Body", "a body that never moves has \"type\": \"static\""},
    {"kinematic", "type", "Body", "write \"type\": \"kinematic\""},
    {"dynamic", "type", "Body", "write \"type\": \"dynamic\", or leave it out"},
    {"trigger", "sensor"},
    {"ccd", "collision_mode"},
    {"gravity", "gravity_scale"},
    {"group", "category"},
    {"layer", "category"},
    {"parent", "a", "Joint"},
    {"child", "b", "Joint"},
    {"pivot", "at"},
    {"anchor", "at"},
    {"anchor", "anchor_b"},
    {"min", "min_angle_deg"},
    {"max", "max_angle_deg"},
    {"force", "max_force"},
    {"torque", "max_force"},
    {"speed", "target_radps"},
    {"speed", "target_mps"},
    {"timestep", "tick_rate_hz", {}, "give ticks for each second"},
    {"dt", "tick_rate_hz", {}, "give ticks for each second"},
    {"fps", "tick_rate_hz"},
    {"version", "scene_version"},
    {"objects", "bodies"},
    {"constraints", "joints"},
    {"players", "slots"},
    {"prefabs", "templates"},
};

// "half_extents" for "halfExtents" and "half-extents".
std::string snake_case(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isupper(byte) != 0 && !text.empty() && text.back() != '_') text += '_';
        text += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(byte));
    }
    return text;
}

struct Suggestion {
    std::string field;
    std::string_view note = {};
};

// In this order: another spelling of a field, another name of a field, the beginning of a field ("min_angle"), a field
// of a small edit distance.
Suggestion suggest(std::string_view table, std::string_view name, const std::vector<std::string_view>& fields) {
    const std::string spelled = snake_case(name);
    const auto has = [&](std::string_view field) {
        return std::find(fields.begin(), fields.end(), field) != fields.end();
    };
    if (has(spelled)) return {spelled};
    for (const OtherName& other : kOtherNames) {
        if (other.name == spelled && has(other.field) && (other.table.empty() || other.table == table))
            return {std::string(other.field), other.note};
    }
    for (const std::string_view field : fields) {
        if (field.starts_with(spelled + "_")) return {std::string(field)};
    }
    return {nearest_name(spelled, fields)};
}

std::string list(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

}  // namespace

bool is_removed(const flatbuffers::FieldDef& field) { return field.attributes.Lookup("removed") != nullptr; }

std::string unknown_field(const flatbuffers::StructDef& table, std::string_view name) {
    std::vector<std::string_view> fields;
    for (const flatbuffers::FieldDef* field : table.fields.vec) {
        if (!is_removed(*field)) fields.push_back(field->name);
    }
    std::string text = "unknown field \"" + std::string(name.substr(0, kMaxNameBytes)) + "\"";
    const Suggestion meant = suggest(table.name, name, fields);
    if (!meant.field.empty()) text += "; did you mean \"" + meant.field + "\"?";
    if (!meant.note.empty()) text.append(" (").append(meant.note).append(")");
    return text + (meant.field.empty() ? "; " : " ") + table.name +
           (fields.empty() ? " has no fields" : " has the fields " + list(fields));
}

std::string unknown_word(const flatbuffers::EnumDef& words, std::string_view word) {
    std::vector<std::string_view> known;
    for (const flatbuffers::EnumVal* value : words.Vals()) known.push_back(value->name);
    const std::string near = nearest_name(word, known);
    return "unknown word \"" + std::string(word.substr(0, kMaxNameBytes)) + "\"" +
           (near.empty() ? "; " : "; did you mean \"" + near + "\"? ") + words.name + " has the words " + list(known);
}

}  // namespace orrery::protocol::scene
