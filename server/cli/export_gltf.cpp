#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "protocol/scene/shape_triangles.h"
#include "server/cli/body_lines.h"
#include "server/cli/gltf_file.h"
#include "server/cli/motion_sink.h"
#include "server/cli/motion_track.h"

namespace orrery::server {

namespace {

constexpr float kPlaneHalf_m = 100.0f;  // of the square that stands for a plane, which has no end

// Base colours by type of body, linear.
struct Look {
    const char* name;
    std::array<float, 4> colour;
};
constexpr std::array<Look, 3> kLooks = {{{"dynamic", {0.8f, 0.35f, 0.1f, 1.0f}},
                                         {"kinematic", {0.1f, 0.35f, 0.8f, 1.0f}},
                                         {"fixed", {0.45f, 0.45f, 0.45f, 1.0f}}}};

std::size_t look_of(sim::BodyType type) {
    if (type == sim::BodyType::dynamic) return 0;
    return type == sim::BodyType::kinematic ? 1 : 2;
}

struct BodyTrack {
    sim::BodyId id;
    std::string name;
    std::uint32_t shape = sim::kNone;
    std::size_t look = 0;
    double first_s = 0.0;
    std::optional<double> gone_s;  // of the first sample without it
    MotionTrack<sim::Vec3> positions;
    MotionTrack<sim::Quat> rotations;
};

class GltfSink final : public MotionSink {
  public:
    GltfSink(NewFile& file, const GltfSettings& settings) : file_(file), settings_(settings) {}

    Result<Ok> add(const sim::World& world) override {
        const sim::WorldDef& def = world.definition();
        if (!definition_) {
            definition_ = world.shared_definition();
            first_tick_ = world.tick();
        }
        time_s_ = static_cast<double>(world.tick() - first_tick_) / static_cast<double>(def.tick_rate_hz);
        world.read_bodies(bodies_);
        std::map<std::uint32_t, std::size_t> living;
        for (const sim::BodyState& body : bodies_) {
            const auto known = living_.find(body.id.index);
            const bool is_new = known == living_.end() || tracks_[known->second].id != body.id;
            const std::size_t track = is_new ? tracks_.size() : known->second;
            if (is_new) begin(def, body);
            tracks_[track].positions.add(time_s_, body.pose.position);
            tracks_[track].rotations.add(time_s_, body.pose.orientation);
            living.emplace_hint(living.end(), body.id.index, track);
        }
        for (const auto& [index, track] : living_) {
            const auto still = living.find(index);
            if (still == living.end() || still->second != track) tracks_[track].gone_s = time_s_;
        }
        living_ = std::move(living);
        ++samples_;
        return Ok{};
    }

    Result<Ok> end() override {
        for (BodyTrack& track : tracks_) {
            track.positions.end();
            track.rotations.end();
            if (auto added = add_node(track); !added) return added;
        }
        const sim::WorldDef& def = definition_->def();
        JsonLine parts, extras, scene;
        parts.object("asset", JsonLine().text("version", "2.0").text("generator", "orrery replay export"));
        extras.number("first_tick", first_tick_)
            .number("tick_rate_hz", std::optional(static_cast<double>(def.tick_rate_hz)));
        std::vector<std::size_t> roots(nodes_.size());
        for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = i;
        scene.text("name", def.name).object("extras", extras);
        if (!roots.empty()) scene.integers("nodes", roots);
        parts.number("scene", 0).objects("scenes", {scene});
        if (!nodes_.empty()) parts.objects("nodes", nodes_);
        if (!meshes_.empty()) parts.objects("meshes", meshes_);
        std::vector<JsonLine> looks;
        for (const Look& look : kLooks) {
            JsonLine surface;
            surface.numbers("baseColorFactor", look.colour).number("metallicFactor", 0).number("roughnessFactor", 1);
            looks.push_back(JsonLine().text("name", look.name).object("pbrMetallicRoughness", surface));
        }
        parts.objects("materials", looks);
        if (!channels_.empty()) {
            JsonLine animation;
            animation.text("name", "recording").objects("channels", channels_).objects("samplers", samplers_);
            parts.objects("animations", {animation});
        }
        return gltf_.write(file_, parts);
    }

    std::string summary() const override {
        return std::to_string(nodes_.size()) + " bodies, " + std::to_string(samples_) + " samples, " +
               std::to_string(keys_) + " keys";
    }

  private:
    void begin(const sim::WorldDef& def, const sim::BodyState& body) {
        tracks_.push_back({.id = body.id,
                           .name = body_name(def, body),
                           .shape = body.shape,
                           .look = look_of(body.type),
                           .first_s = time_s_,
                           .gone_s = std::nullopt,
                           .positions = MotionTrack<sim::Vec3>(settings_.tolerance_m),
                           .rotations = MotionTrack<sim::Quat>(settings_.tolerance_rad)});
    }

    Result<Ok> add_node(const BodyTrack& track) {
        JsonLine node;
        node.text("name", track.name);
        node.object("extras", JsonLine().text(
                                  "body", std::to_string(track.id.index) + ":" + std::to_string(track.id.generation)));
        if (track.shape != sim::kNone) {
            const Result<std::optional<std::size_t>> mesh = mesh_of(track.shape, track.look);
            if (!mesh) return mesh.error();
            if (*mesh) node.number("mesh", **mesh);
        }
        const sim::Vec3 p = track.positions.keys()[0].value;
        const sim::Quat q = track.rotations.keys()[0].value;
        node.numbers("translation", std::array{p.x, p.y, p.z}).numbers("rotation", std::array{q.x, q.y, q.z, q.w});
        if (track.positions.moves())
            add_channel("translation", "LINEAR", track.positions.keys(), [](const sim::Vec3& v) {
                return std::array{v.x, v.y, v.z};
            });
        if (track.rotations.moves())
            add_channel("rotation", "LINEAR", track.rotations.keys(), [](const sim::Quat& v) {
                return std::array{v.x, v.y, v.z, v.w};
            });
        // It is there in a part of the time.
        std::vector<MotionKey<float>> scales;
        if (track.first_s > 0.0) scales.push_back({0.0, 0.0f});
        if (track.first_s > 0.0 || track.gone_s) scales.push_back({track.first_s, 1.0f});
        if (track.gone_s) scales.push_back({*track.gone_s, 0.0f});
        if (!scales.empty())
            add_channel("scale", "STEP", scales, [](float scale) { return std::array{scale, scale, scale}; });
        nodes_.push_back(node);
        return Ok{};
    }

    // Of the node that is made.
    template <class Key, class Numbers>
    void add_channel(const char* path, const char* interpolation, const std::vector<Key>& keys, Numbers numbers_of) {
        std::vector<float> times, values;
        std::size_t components = 0;
        for (const Key& key : keys) {
            times.push_back(static_cast<float>(key.time_s));
            const auto numbers = numbers_of(key.value);
            components = numbers.size();
            values.insert(values.end(), numbers.begin(), numbers.end());
        }
        keys_ += keys.size();
        channels_.push_back(JsonLine()
                                .number("sampler", samplers_.size())
                                .object("target", JsonLine().number("node", nodes_.size()).text("path", path)));
        samplers_.push_back(JsonLine()
                                .number("input", gltf_.times(times))
                                .number("output", gltf_.values(values, components))
                                .text("interpolation", interpolation));
    }

    // Nothing: there is nothing to draw. Looks share the numbers of a shape.
    Result<std::optional<std::size_t>> mesh_of(std::uint32_t shape, std::size_t look) {
        const auto [known, is_new] = mesh_of_.try_emplace({shape, look});
        if (!is_new) return known->second;
        const sim::ShapeDef& def = definition_->def().shapes[shape];
        const auto [numbers, is_new_shape] = numbers_.try_emplace(shape);
        if (is_new_shape) {
            std::optional<protocol::Triangles> made = protocol::triangles_of(definition_->def().shapes, shape);
            if (!made)
                return Error{ErrorCode::limit_reached, "shapes[" + std::to_string(shape) + "]",
                             "has more than " + std::to_string(protocol::kMostVertices) +
                                 " vertices (kMostVertices); such a scene cannot be exported as glTF"};
            if (def.type == sim::ShapeType::plane) made = plane();
            if (!made->indices.empty())
                numbers->second = Numbers{gltf_.vertices(made->positions, true), gltf_.vertices(made->normals, false),
                                          gltf_.indices(made->indices)};
        }
        if (!numbers->second) return std::optional<std::size_t>();
        JsonLine primitive;
        primitive.object(
            "attributes",
            JsonLine().number("POSITION", numbers->second->positions).number("NORMAL", numbers->second->normals));
        primitive.number("indices", numbers->second->indices).number("material", look);
        const std::string name = def.name.empty() ? "shapes[" + std::to_string(shape) + "]" : def.name;
        meshes_.push_back(JsonLine().text("name", name).objects("primitives", {primitive}));
        known->second = meshes_.size() - 1;
        return known->second;
    }
    static protocol::Triangles plane() {
        constexpr float a = kPlaneHalf_m;
        const sim::Vec3 up{0.0f, 1.0f, 0.0f};
        return {.positions = {{-a, 0.0f, -a}, {-a, 0.0f, a}, {a, 0.0f, a}, {a, 0.0f, -a}},
                .normals = {up, up, up, up},
                .indices = {0, 1, 2, 0, 2, 3}};
    }

    struct Numbers {
        GltfFile::Accessor positions, normals, indices;
    };
    NewFile& file_;
    const GltfSettings settings_;
    std::shared_ptr<const sim::Definition> definition_;
    std::uint64_t first_tick_ = 0, samples_ = 0, keys_ = 0;
    double time_s_ = 0.0;
    std::vector<sim::BodyState> bodies_;
    std::vector<BodyTrack> tracks_;
    std::map<std::uint32_t, std::size_t> living_;  // tracks by the index of the body
    GltfFile gltf_;
    std::map<std::uint32_t, std::optional<Numbers>> numbers_;  // by shape
    std::map<std::pair<std::uint32_t, std::size_t>, std::optional<std::size_t>> mesh_of_;
    std::vector<JsonLine> nodes_, meshes_, channels_, samplers_;
};

}  // namespace

std::unique_ptr<MotionSink> make_gltf(NewFile& file, const GltfSettings& settings) {
    return std::make_unique<GltfSink>(file, settings);
}

}  // namespace orrery::server
