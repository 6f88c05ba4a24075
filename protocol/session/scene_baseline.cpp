#include "protocol/session/scene_baseline.h"

#include <array>
#include <bit>

#include "protocol/session/handshake.h"

namespace orrery::protocol {
namespace {

// Numbers in a fixed byte order, so that the hash is the same on every machine.
class HashInput {
  public:
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    }
    void add(float number) { add(std::uint64_t{std::bit_cast<std::uint32_t>(number)}); }
    void add(const std::string& text) {
        add(std::uint64_t{text.size()});
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    void add(const std::array<std::int32_t, 3>& vector) {
        for (const std::int32_t number : vector) add(std::uint64_t{static_cast<std::uint32_t>(number)});
    }
    Bytes bytes() const { return bytes_; }

  private:
    std::vector<std::uint8_t> bytes_;
};

void add(HashInput& to, const QuantisedWorld::Body& body) {
    to.add(std::uint64_t{body.state.generation} << 32 | body.state.index);
    to.add(std::uint64_t{body.shape} << 32 | body.material);
    to.add(std::uint64_t{body.prefab} << 32 | body.member);
    to.add(std::uint64_t{body.slot} << 32 | static_cast<std::uint64_t>(body.type));
    to.add(body.user_data);
    to.add(body.state.position);
    to.add(std::uint64_t{body.state.orientation});
    to.add(body.state.linear_velocity);
    to.add(body.state.angular_velocity);
}

}  // namespace

std::uint64_t hash_of(const SceneBaseline& scene) {
    HashInput in;
    in.add(std::uint64_t{scene.shapes.size()});
    for (const sim::ShapeDef& shape : scene.shapes) {
        in.add(static_cast<std::uint64_t>(shape.type));
        for (const float length :
             {shape.radius, shape.half_height, shape.half_extents.x, shape.half_extents.y, shape.half_extents.z})
            in.add(length);
    }
    in.add(std::uint64_t{scene.names.size()});
    for (const auto& [id, name] : scene.names) {
        in.add(std::uint64_t{id.generation} << 32 | id.index);
        in.add(name);
    }
    in.add(std::uint64_t{scene.vocabulary.templates.size()});
    for (const TemplateNames& names : scene.vocabulary.templates) {
        in.add(names.name);
        in.add(std::uint64_t{names.members.size()});
        for (const std::string& member : names.members) in.add(member);
    }
    in.add(std::uint64_t{scene.vocabulary.materials.size()});
    for (const std::string& material : scene.vocabulary.materials) in.add(material);
    in.add(std::uint64_t{scene.world.living()});
    for (const QuantisedWorld::Body& body : scene.world.bodies()) {
        if (body.alive) add(in, body);
    }
    const std::uint64_t hash = hash_of_scene_bytes(in.bytes());
    return hash == 0 ? 1 : hash;
}

SceneBaseline describe_scene(const sim::World& world, Bytes binary) {
    const sim::WorldDef& def = world.definition();
    SceneBaseline out;
    for (const sim::ShapeDef& shape : def.shapes)
        out.shapes.push_back({{}, shape.type, shape.radius, shape.half_height, shape.half_extents});
    for (const sim::PrefabDef& prefab : def.prefabs) {
        TemplateNames& names = out.vocabulary.templates.emplace_back();
        names.name = prefab.name;
        for (const sim::BodyDef& body : prefab.bodies) names.members.push_back(body.name);
    }
    for (const sim::MaterialDef& material : def.materials) out.vocabulary.materials.push_back(material.name);
    // A new world's bodies are those of the definition, in its order.
    std::vector<sim::BodyState> bodies;
    world.read_bodies(bodies);
    for (std::size_t i = 0; i < def.bodies.size(); ++i) {
        if (!def.bodies[i].name.empty()) out.names.emplace(bodies[i].id, def.bodies[i].name);
    }
    out.world.update(world.tick(), bodies);
    out.scene_bytes_hash = hash_of_scene_bytes(binary);
    out.hash = hash_of(out);
    return out;
}

}  // namespace orrery::protocol
