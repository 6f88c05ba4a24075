#include "protocol/scene/parse.h"

#include <cstring>

#include "protocol/scene/convert.h"
#include "protocol/scene/json.h"
#include "protocol/scene/reader.h"
#include "protocol/scene/schema_text.h"

namespace orrery::protocol::scene {

namespace {

constexpr std::size_t kIdentifierOffset = 4;
constexpr std::size_t kMinTableBytes = 8;  // a table that is not shared takes 4, the reference to it 4 more
constexpr std::size_t kMaxTemplates = 10'000;
constexpr std::size_t kMaxGenerators = 10'000;

// Checks the flat form before it is unpacked: an object tree is larger than its buffer, and a hostile buffer may refer
// to one long string from many tables.
class FlatCheck {
  public:
    FlatCheck(std::string_view file_name, const SceneCaps& caps) : reader_(file_name), caps_(caps) {}

    const Reader& run(const Scene& scene) {
        const Path root;
        version(scene, root);
        text(scene.name(), root / "name");
        if (!reader_.ok()) return reader_;
        each(scene.materials(), "materials", root, caps_.max_bodies, "max_bodies",
             [&](const Material& m, const Path& p) { text(m.name(), p); });
        each(scene.shapes(), "shapes", root, caps_.max_bodies, "max_bodies", [&](const Shape& s, const Path& p) {
            text(s.name(), p);
            if (!s.compound()) return;
            each(s.compound()->children(), "children", p / "compound", sim::kMaxCompoundChildren,
                 "kMaxCompoundChildren",
                 [&](const CompoundChild& c, const Path& where) { text(c.shape(), where / "shape"); });
        });
        group(scene.bodies(), scene.joints(), scene.actuators(), root);
        each(scene.slots(), "slots", root, sim::kMaxSlots, "kMaxSlots", [&](const Slot& s, const Path& p) {
            text(s.name(), p);
            text(s.template_(), p / "template");
        });
        each(scene.templates(), "templates", root, kMaxTemplates, "kMaxTemplates",
             [&](const Template& t, const Path& p) {
                 text(t.name(), p);
                 group(t.bodies(), t.joints(), t.actuators(), p);
             });
        each(scene.generators(), "generators", root, kMaxGenerators, "kMaxGenerators",
             [&](const Generator& g, const Path& p) { generator(g, p); });
        each(scene.rigs(), "rigs", root, caps_.max_joints, "max_joints", [&](const Rig& r, const Path& p) {
            text(r.name(), p);
            each(r.bodies(), "bodies", p, caps_.max_bodies, "max_bodies",
                 [&](const flatbuffers::String& b, const Path& where) { text(&b, where); });
        });
        each(scene.bounds(), "bounds", root, kMaxSceneBounds, "kMaxSceneBounds",
             [&](const Bound& b, const Path& p) { text(b.body(), p / "body"); });
        return reader_;
    }

  private:
    template <class Vector, class Check>
    void each(const Vector* vector, std::string_view field, const Path& up, std::uint64_t most, const char* limit,
              const Check& check) {
        if (!vector) return;
        reader_.at_most(vector->size(), most, limit, up / field);
        for (flatbuffers::uoffset_t i = 0; reader_.ok() && i < vector->size(); ++i)
            check(*vector->Get(i), up.element(field, i));
    }

    void version(const Scene& scene, const Path& root) {
        if (scene.scene_version() == 0) {
            reader_.fail(root / "scene_version",
                         "is missing; begin the scene with \"scene_version\": " + std::to_string(kSceneVersion));
        } else if (scene.scene_version() > kSceneVersion) {
            reader_.fail(root / "scene_version",
                         "is " + std::to_string(scene.scene_version()) + "; this program reads up to " +
                             std::to_string(kSceneVersion) + ": use a newer program",
                         ErrorCode::version_mismatch);
        }
    }

    void text(const flatbuffers::String* value, const Path& where) {
        if (!value) return;
        if (value->size() > kMaxNameBytes) {
            reader_.fail(where,
                         "has a name of " + std::to_string(value->size()) + " bytes; at most " +
                             std::to_string(kMaxNameBytes) + " are accepted (kMaxNameBytes)",
                         ErrorCode::limit_reached);
        }
        for (const char c : *value) {
            if (static_cast<unsigned char>(c) < 0x20)
                return reader_.fail(where, "has a control character in a name; remove it");
        }
    }
    // A name by which a body is made known; brackets are kept for those that generators make.
    void own_name(const flatbuffers::String* value, const Path& where) {
        text(value, where);
        if (value && std::strpbrk(value->c_str(), "[]") != nullptr) {
            reader_.fail(where / "name",
                         "has a bracket, which only names of generated bodies have (name[i]); remove it");
        }
    }

    template <class Bodies, class Joints, class Actuators>
    void group(const Bodies* bodies, const Joints* joints, const Actuators* actuators, const Path& up) {
        each(bodies, "bodies", up, caps_.max_bodies, "max_bodies", [&](const Body& b, const Path& p) {
            own_name(b.name(), p);
            text(b.shape(), p / "shape");
            text(b.material(), p / "material");
        });
        each(joints, "joints", up, caps_.max_joints, "max_joints", [&](const Joint& j, const Path& p) {
            text(j.name(), p);
            text(j.a(), p / "a");
            text(j.b(), p / "b");
            text(j.c(), p / "c");
            text(j.d(), p / "d");
        });
        each(actuators, "actuators", up, caps_.max_joints, "max_joints",
             [&](const Actuator& a, const Path& p) { actuator(a, p); });
    }

    void actuator(const Actuator& a, const Path& p) {
        text(a.name(), p);
        text(a.slot(), p / "slot");
        if (a.weights() && a.weights()->size() > sim::kControlChannels) {
            reader_.fail(p / "weights", "has more entries than the " + std::to_string(sim::kControlChannels) +
                                            " control channels (kControlChannels)");
        }
        if (a.motor()) text(a.motor()->joint(), p / "motor.joint");
        if (a.force()) text(a.force()->body(), p / "force.body");
        if (a.torque()) text(a.torque()->body(), p / "torque.body");
        if (a.kinematic()) text(a.kinematic()->body(), p / "kinematic.body");
        if (a.steer()) text(a.steer()->joint(), p / "steer.joint");
        if (a.brake()) text(a.brake()->joint(), p / "brake.joint");
        if (a.walk()) text(a.walk()->body(), p / "walk.body");
        if (a.jump()) text(a.jump()->body(), p / "jump.body");
    }

    template <class Kind>
    void made_of(const Kind* kind, const Path& where) {
        if (!kind) return;
        text(kind->shape(), where / "shape");
        text(kind->material(), where / "material");
    }

    void generator(const Generator& g, const Path& p) {
        own_name(g.name(), p);
        made_of(g.grid(), p / "grid");
        made_of(g.stack(), p / "stack");
        made_of(g.pyramid(), p / "pyramid");
        made_of(g.chain(), p / "chain");
        made_of(g.net(), p / "net");
        made_of(g.tree(), p / "tree");
        made_of(g.ring(), p / "ring");
        made_of(g.bridge(), p / "bridge");
        if (g.rope_ladder()) {
            text(g.rope_ladder()->rung_shape(), p / "rope_ladder.rung_shape");
            text(g.rope_ladder()->link_shape(), p / "rope_ladder.link_shape");
            text(g.rope_ladder()->material(), p / "rope_ladder.material");
        }
        if (g.arena()) text(g.arena()->material(), p / "arena.material");
        if (g.crowd()) text(g.crowd()->template_(), p / "crowd.template");
        if (!g.rain()) return;
        text(g.rain()->material(), p / "rain.material");
        each(g.rain()->shapes(), "shapes", p / "rain", kMaxRainShapes, "kMaxRainShapes",
             [&](const flatbuffers::String& s, const Path& where) { text(&s, where); });
    }

    Reader reader_;
    const SceneCaps& caps_;
};

Result<std::unique_ptr<SceneT>> unpack(const Scene& flat, std::string_view file_name, const SceneCaps& caps) {
    FlatCheck check(file_name, caps);
    const Reader& found = check.run(flat);
    if (!found.ok()) return found.error();
    return std::unique_ptr<SceneT>(flat.UnPack());
}

}  // namespace

bool is_binary(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= kIdentifierOffset + 4 &&
           std::memcmp(bytes.data() + kIdentifierOffset, SceneIdentifier(), 4) == 0;
}

Result<std::unique_ptr<SceneT>> parse_binary(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                             const SceneCaps& caps) {
    // Aligned as the verifier and the accessors want it, whatever the caller's bytes are part of.
    const std::unique_ptr<std::uint64_t[]> aligned(new std::uint64_t[(bytes.size() + 7) / 8]());
    std::memcpy(aligned.get(), bytes.data(), bytes.size());
    const auto* data = reinterpret_cast<const std::uint8_t*>(aligned.get());
    flatbuffers::Verifier verifier(data, bytes.size(), kMaxJsonDepth,
                                   static_cast<flatbuffers::uoffset_t>(bytes.size() / kMinTableBytes + 1));
    if (!VerifySceneBuffer(verifier)) {
        return Error{ErrorCode::corrupt, std::string(file_name),
                     "is a binary scene that is damaged; make it again from its source"};
    }
    return unpack(*GetScene(data), file_name, caps);
}

Result<std::unique_ptr<SceneT>> parse_json(std::string_view text, std::string_view file_name, const SceneCaps& caps) {
    flatbuffers::Parser parser;
    if (const Result<Ok> parsed = parse_json_text(parser, scene_schema_text(), text, file_name); !parsed)
        return parsed.error();
    return unpack(*GetScene(parser.builder_.GetBufferPointer()), file_name, caps);
}

}  // namespace orrery::protocol::scene
