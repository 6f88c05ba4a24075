// Contract: the scene's hash is that of the canonical bytes which protocol/scene/hash.h describes. Every field of the
// schema counts, with its name and its value; what says the same gives one hash.
#include <doctest/doctest.h>
#include <flatbuffers/idl.h>
#include <xxhash.h>

#include <bit>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "protocol/scene/hash.h"
#include "protocol/scene/scene_generated.h"
#include "protocol/scene/schema.h"
#include "protocol/scene/schema_text.h"

using namespace orrery::protocol::scene;

namespace {

// Hashes scenes as they are written, whether they would load or not.
class Hasher {
  public:
    explicit Hasher(bool keep_defaults = false) : parser_(options(keep_defaults)) {
        REQUIRE(parser_.Parse(scene_schema_text()));
    }

    std::uint64_t operator()(const std::string& json) {
        REQUIRE_MESSAGE(parser_.Parse(json.c_str()), (json + ": " + parser_.error_));
        return hash_scene(*GetScene(parser_.builder_.GetBufferPointer()));
    }

  private:
    static flatbuffers::IDLOptions options(bool keep_defaults) {
        flatbuffers::IDLOptions options;
        options.force_defaults = keep_defaults;
        return options;
    }
    flatbuffers::Parser parser_;
};

template <class T>
std::string spelled(T value) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

bool is_real(reflection::BaseType type) { return type == reflection::Float || type == reflection::Double; }

std::string default_of(const SchemaField& field) {
    if (field.type == reflection::Float) return spelled(static_cast<float>(field.default_real));
    if (field.type == reflection::Double) return spelled(field.default_real);
    if (field.type == reflection::Bool) return field.default_integer != 0 ? "true" : "false";
    return spelled(field.default_integer);
}

std::string other_than_default(const SchemaField& field) {
    if (is_real(field.type)) return spelled(field.default_real + 1.5);
    if (field.type == reflection::Bool) return field.default_integer != 0 ? "false" : "true";
    return field.default_integer == 1 ? "2" : "1";
}

// A struct's JSON: all 0, and with each of its numbers as 1.5 in turn.
std::vector<std::string> structs(const SchemaTable& table) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k <= table.fields.size(); ++k) {
        std::string text;
        for (std::size_t i = 0; i < table.fields.size(); ++i)
            text += (i == 0 ? "{\"" : ", \"") + std::string(table.fields[i].name) + "\": " + (i + 1 == k ? "1.5" : "0");
        all.push_back(text + "}");
    }
    return all;
}

// One field of one table alone: what it is written as, and in what.
struct Leaf {
    const SchemaField* field;
    std::string open, close;  // of the tables around it
    bool hashed;
};

void each_field(const SchemaTable& table, const std::string& open, const std::string& close, bool hashed,
                const std::function<void(const Leaf&)>& use) {
    for (const SchemaField& field : table.fields) {
        const Leaf leaf{&field, open + "\"" + std::string(field.name) + "\": ", close, hashed && field.hashed};
        use(leaf);
        if (!field.table || field.table->is_struct) continue;
        const bool list = field.type == reflection::Vector;
        each_field(*field.table, leaf.open + (list ? "[{" : "{"), (list ? "}]" : "}") + close, leaf.hashed, use);
    }
}

std::vector<std::string> values_of(const SchemaField& field) {
    switch (field.type) {
        case reflection::String:
            return {"\"s\"", "\"t\""};
        case reflection::Obj:
            return field.table->is_struct ? structs(*field.table) : std::vector<std::string>{"{}"};
        case reflection::Vector: {
            if (field.element == reflection::String) return {"[\"s\"]", "[\"\", \"s\"]", "[\"s\", \"\"]"};
            if (field.element != reflection::Obj) return {"[0]", "[1]", "[1, 0]"};
            std::vector<std::string> lists;
            for (const std::string& one :
                 field.table->is_struct ? structs(*field.table) : std::vector<std::string>{"{}", "{}, {}"})
                lists.push_back("[" + one + "]");
            return lists;
        }
        default:
            if (field.optional) return {"0", "1.5"};
            return {other_than_default(field)};
    }
}

// What each_field(root) wraps a field in, without the field itself.
std::string around(const Leaf& leaf) {
    std::string open = leaf.open;
    open.resize(open.size() - leaf.field->name.size() - 4);  // "name":
    return open + leaf.close;
}

}  // namespace

TEST_CASE(
    "every field of the schema is in the scene's hash by itself, with its name and value, but for those marked "
    "not_hashed") {
    Hasher hash;
    std::map<std::uint64_t, std::string> seen{{hash("{}"), "{}"}};
    int without = 0;
    each_field(scene_schema(), "{", "}", true, [&](const Leaf& leaf) {
        for (const std::string& value : values_of(*leaf.field)) {
            const std::string json = leaf.open + value + leaf.close;
            const std::uint64_t is = hash(json);
            if (!leaf.hashed) {
                ++without;
                CHECK_MESSAGE(is == hash("{}"), json);
                continue;
            }
            const auto entry = seen.emplace(is, json);
            CHECK_MESSAGE(entry.second, json << " has the hash of " << entry.first->second);
        }
    });
    CHECK(seen.size() > 2000);
    CHECK(without > 10);
}

TEST_CASE("absent, explicitly default and empty are one in the scene's hash") {
    Hasher hash(true);
    int fields = 0;
    each_field(scene_schema(), "{", "}", true, [&](const Leaf& leaf) {
        const SchemaField& field = *leaf.field;
        const bool list = field.type == reflection::Vector, text = field.type == reflection::String;
        if (field.type == reflection::Obj || field.optional) return;
        const std::string json = leaf.open + (list ? "[]" : text ? "\"\"" : default_of(field)) + leaf.close;
        ++fields;
        CHECK_MESSAGE(hash(json) == hash(around(leaf)), json);
    });
    CHECK(fields > 400);
}

TEST_CASE("in the scene's hash -0 is 0 where the default is 0, and differs from 0 elsewhere") {
    Hasher hash(true);
    CHECK(hash(R"({"bodies": [{"linear_damping": -0.0}]})") == hash(R"({"bodies": [{}]})"));
    CHECK(hash(R"({"bodies": [{"gravity_scale": -0.0}]})") != hash(R"({"bodies": [{"gravity_scale": 0.0}]})"));
    CHECK(hash(R"({"bodies": [{"position": [-0.0, 0, 0]}]})") != hash(R"({"bodies": [{"position": [0, 0, 0]}]})"));
}

TEST_CASE("what stands side by side in a scene does not run together in its hash") {
    Hasher hash;
    const auto bodies = [&](const char* first, const char* second) {
        return hash(std::string(R"({"bodies": [{"name": ")") + first + R"("}, {"name": ")" + second + R"("}]})");
    };
    CHECK(bodies("ab", "c") != bodies("a", "bc"));
    CHECK(bodies("ab", "") != bodies("", "ab"));
    CHECK(hash(R"({"materials": [{}], "shapes": [{}, {}]})") != hash(R"({"materials": [{}, {}], "shapes": [{}]})"));
    CHECK(hash(R"({"joints": [{"a": "x", "b": "y"}]})") != hash(R"({"joints": [{"a": "y", "b": "x"}]})"));
    CHECK(hash(R"({"templates": [{"bodies": [{}]}, {}]})") != hash(R"({"templates": [{}, {"bodies": [{}]}]})"));
}

TEST_CASE("the scene's hash is that of the canonical bytes, on any machine") {
    std::string bytes;
    const auto number = [&](std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    };
    const auto real = [&](float value) { number(std::bit_cast<std::uint32_t>(value), 4); };
    const auto text = [&](std::string_view value) { number(value.size(), 4), bytes += value; };
    text("bodies"), number(2, 4);
    text("mass_kg"), real(2.5f), text("name"), text("one"), text("position"), real(1.0f), real(-2.0f), real(0.0f);
    text("type"), number(1, 1), text("user_data"), number(0x1234567890u, 8), text("");
    text("");
    text("generators"), number(1, 4);
    text("grid"), text("origin");
    for (const double value : {0.1, 0.0, 0.0}) number(std::bit_cast<std::uint64_t>(value), 8);
    text(""), text("");
    text("gravity"), real(0.0f), real(-1.0f), real(0.0f);
    text("joints"), number(1, 4);
    text("b"), text("one"), text("break_force_n"), real(0.0f), text("weld"), text("spring"), text("frequency_hz"),
        real(3.0f), text(""), text(""), text("");
    text("scene_version"), number(1, 4);
    text("shapes"), number(1, 4);
    text("mesh"), text("indices"), number(3, 4), number(0, 4), number(1, 4), number(70000, 4);
    text("vertices"), number(2, 4);
    for (const float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) real(value);
    text(""), text("");
    text("");
    const std::uint64_t wanted = XXH3_64bits(bytes.data(), bytes.size());
    CHECK(Hasher()(R"({"scene_version": 1, "gravity": [0, -1, 0],
        "shapes": [{"mesh": {"vertices": [[1, 2, 3], [4, 5, 6]], "indices": [0, 1, 70000]}}],
        "bodies": [{"name": "one", "type": "static", "mass_kg": 2.5, "position": [1, -2, 0], "user_data": 78187493520}, {}],
        "joints": [{"b": "one", "weld": {"spring": {"frequency_hz": 3}}, "break_force_n": 0}],
        "generators": [{"grid": {"origin": [0.1, 0, 0]}}], "bounds": [{"body": "one", "least": 3}]})") == wanted);
}

TEST_CASE("a long list and long names are hashed as short ones are") {
    Hasher hash;
    std::string heights;
    for (int i = 0; i < 5000; ++i) heights += (i == 0 ? "" : ", ") + std::to_string(i);
    const auto field = [&](const std::string& last) {
        return hash(R"({"shapes": [{"height_field": {"columns": 2, "heights": [)" + heights + ", " + last + "]}}]}");
    };
    CHECK(field("1") == field("1.0"));
    CHECK(field("1") != field("2"));
    const std::string name(10'000, 'x');
    CHECK(hash("{\"name\": \"" + name + "\"}") != hash("{\"name\": \"" + name + "x\"}"));
}
