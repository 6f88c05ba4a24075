#include "protocol/scene/json_schema.h"

#include <flatbuffers/idl.h>

#include <map>
#include <string_view>

#include "protocol/scene/field_names.h"
#include "protocol/scene/schema_text.h"

namespace orrery::protocol {

namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r,");
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(" \t\r,") - begin + 1);
}

// The comments of scene.fbs by declaration: "Body", "Body.mass_kg". FlatBuffers' parser drops them. A comment stands
// above its declaration or behind it; a blank line ends a comment without a declaration.
class Comments {
  public:
    explicit Comments(std::string_view schema) {
        for (std::size_t begin = 0; begin < schema.size();) {
            const std::size_t end = std::min(schema.find('\n', begin), schema.size());
            read_line(trimmed(schema.substr(begin, end - begin)));
            begin = end + 1;
        }
    }

    std::string of(const std::string& name) const {
        const auto found = comments_.find(name);
        return found == comments_.end() ? "" : found->second;
    }

  private:
    static void append(std::string& text, std::string_view more, std::string_view between) {
        if (!more.empty()) text.append(text.empty() ? "" : between).append(more);
    }

    void read_line(std::string_view line) {
        if (line.starts_with("//")) {
            const bool rule = line.starts_with("// ---");
            if (rule)
                above_.clear();
            else
                append(above_, trimmed(line.substr(2)), " ");
            return;
        }
        const std::size_t slashes = line.find("//");
        const std::string_view behind = slashes == std::string_view::npos ? "" : trimmed(line.substr(slashes + 2));
        const std::string_view code = trimmed(line.substr(0, slashes));
        for (const std::string_view kind : {"table ", "struct ", "enum "}) {
            if (!code.starts_with(kind)) continue;
            const std::string_view rest = trimmed(code.substr(kind.size()));
            table_ = rest.substr(0, rest.find_first_of(" :{"));
            enum_ = kind == "enum ";
            comments_[table_] = above_;
            above_.clear();
            if (code.ends_with('}')) table_.clear();
            return;
        }
        if (code.empty() || code[0] == '}') {
            if (!code.empty()) table_.clear();
        } else if (!table_.empty() && enum_) {
            std::string& comment = comments_[table_];
            if (!behind.empty())
                append(comment, std::string(code) + ": " + std::string(behind), comment.ends_with('.') ? " " : "; ");
        } else if (!table_.empty()) {
            append(above_, behind, " ");
            constexpr std::string_view kElsewhere = "see above";  // of fields that many generators have
            if (!above_.ends_with(kElsewhere))
                comments_[table_ + "." + std::string(code.substr(0, code.find(':')))] = above_;
        }
        above_.clear();
    }

    std::map<std::string, std::string> comments_;
    std::string table_, above_;
    bool enum_ = false;
};

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string reference(const std::string& name) { return "\"$ref\": " + quote("#/definitions/" + name); }

// True for a comment such as "a body's name; required".
bool required(std::string_view comment) {
    for (std::size_t begin = 0; begin < comment.size();) {
        const std::size_t end = std::min(comment.find(';', begin), comment.size());
        const std::string_view part = trimmed(comment.substr(begin, end - begin));
        if (part == "required" || part.starts_with("required,")) return true;
        begin = end + 1;
    }
    return false;
}

// The keywords for the type of a value.
std::string type_of(const flatbuffers::Type& type, bool optional) {
    if (type.base_type == flatbuffers::BASE_TYPE_VECTOR)
        return R"("type": "array", "items": {)" + type_of(type.VectorType(), false) + "}";
    if (type.base_type == flatbuffers::BASE_TYPE_STRING) return R"("type": "string")";
    if (type.base_type == flatbuffers::BASE_TYPE_STRUCT) return reference(type.struct_def->name);
    if (type.enum_def) return reference(type.enum_def->name);
    if (flatbuffers::IsBool(type.base_type)) return R"("type": "boolean")";
    if (flatbuffers::IsFloat(type.base_type)) return optional ? R"("type": ["number", "null"])" : R"("type": "number")";
    const bool wide = type.base_type == flatbuffers::BASE_TYPE_ULONG;
    return R"("type": "integer", "minimum": 0, "maximum": )" +
           std::string(wide ? "18446744073709551615" : "4294967295");
}

std::string default_of(const flatbuffers::FieldDef& field) {
    const flatbuffers::Type& type = field.value.type;
    if (!flatbuffers::IsScalar(type.base_type) || field.IsScalarOptional()) return "";
    if (flatbuffers::IsBool(type.base_type)) return field.value.constant == "0" ? "false" : "true";
    if (!type.enum_def) return field.value.constant;
    if (type.enum_def->attributes.Lookup("bit_flags")) return "";
    const flatbuffers::EnumVal* word = type.enum_def->FindByValue(field.value.constant);
    return word ? quote(word->name) : "";
}

std::string of_field(const flatbuffers::FieldDef& field, const std::string& comment, bool of_vector) {
    std::string text = type_of(field.value.type, field.IsScalarOptional());
    // Draft 07 ignores keywords beside a reference.
    if (text.starts_with("\"$ref\"")) text = "\"allOf\": [{" + text + "}]";
    if (!comment.empty()) text = "\"description\": " + quote(comment) + ", " + text;
    const std::string value = default_of(field);
    if (!value.empty() && !of_vector) text += ", \"default\": " + value;
    return "{" + text + "}";
}

std::string of_table(const flatbuffers::StructDef& table, const Comments& comments, bool root) {
    std::string fields, needed;
    if (root) fields = "\n      \"$schema\": {\"type\": \"string\"}";
    for (const flatbuffers::FieldDef* field : table.fields.vec) {
        if (scene::is_removed(*field)) continue;
        const std::string comment = comments.of(table.name + "." + field->name);
        fields += (fields.empty() ? "\n      " : ",\n      ") + quote(field->name) + ": " +
                  of_field(*field, comment, table.fixed);
        if (table.fixed || required(comment)) needed += (needed.empty() ? "" : ", ") + quote(field->name);
    }
    return "\"type\": \"object\", \"additionalProperties\": false, \"required\": [" + needed + "], \"properties\": {" +
           fields + "}";
}

// A vector, as a list or by its components.
std::string of_struct(const flatbuffers::StructDef& vector, const Comments& comments) {
    const std::string count = std::to_string(vector.fields.vec.size());
    return R"("anyOf": [{"type": "array", "items": {"type": "number"}, "minItems": )" + count +
           ", \"maxItems\": " + count + "}, {" + of_table(vector, comments, false) + "}]";
}

std::string of_enum(const flatbuffers::EnumDef& words) {
    const bool flags = words.attributes.Lookup("bit_flags") != nullptr;
    std::string list;
    for (const flatbuffers::EnumVal* word : words.Vals())
        list += (list.empty() ? "" : flags ? "|" : ", ") + (flags ? word->name : quote(word->name));
    return flags ? R"("type": "string", "pattern": )" + quote("^(" + list + ")( (" + list + "))*$")
                 : "\"enum\": [" + list + "]";
}

}  // namespace

Result<std::string> scene_json_schema() {
    flatbuffers::Parser parser;
    if (!parser.Parse(scene::scene_schema_text())) return Error{ErrorCode::parse, "schema", parser.error_};
    const Comments comments(scene::scene_schema_text());
    std::string definitions;
    const auto add = [&](const std::string& name, const std::string& keywords) {
        const std::string comment = comments.of(name);
        definitions += (definitions.empty() ? "\n    " : ",\n    ") + quote(name) + ": {" +
                       (comment.empty() ? "" : "\"description\": " + quote(comment) + ", ") + keywords + "}";
    };
    for (const flatbuffers::EnumDef* words : parser.enums_.vec) add(words->name, of_enum(*words));
    for (const flatbuffers::StructDef* table : parser.structs_.vec)
        add(table->name,
            table->fixed ? of_struct(*table, comments) : of_table(*table, comments, table == parser.root_struct_def_));
    return "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \"Orrery scene\",\n"
           "  \"allowComments\": true,\n  \"allowTrailingCommas\": true,\n  \"allOf\": [{" +
           reference(parser.root_struct_def_->name) + "}],\n  \"definitions\": {" + definitions + "\n  }\n}\n";
}

}  // namespace orrery::protocol
