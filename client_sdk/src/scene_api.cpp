// The C face of a scene's shapes.
#include "client_sdk/src/look_api.h"

using namespace orrery;
using namespace orrery::client;

struct orrery_scene {
    std::unique_ptr<SceneLook> look;
};

orrery_status orrery_scene_open(const uint8_t* bytes, size_t size, orrery_scene** scene) {
    if (!scene) return ORRERY_INVALID_ARGUMENT;
    *scene = nullptr;
    return guarded([&]() -> orrery_status {
        if (!bytes || size == 0) return ORRERY_INVALID_ARGUMENT;
        Result<std::unique_ptr<SceneLook>> look = open_scene({bytes, size});
        if (!look) return ORRERY_INVALID_ARGUMENT;
        if (!*look) return ORRERY_UNSUPPORTED;
        *scene = new orrery_scene{std::move(look).value()};
        return ORRERY_OK;
    });
}

void orrery_scene_close(orrery_scene* scene) { delete scene; }

uint32_t orrery_scene_shape_count(const orrery_scene* scene) {
    return scene ? static_cast<std::uint32_t>(scene->look->shapes().size()) : 0;
}

orrery_status orrery_scene_get_shape(const orrery_scene* scene, uint32_t shape, orrery_shape* out) {
    if (!scene || !out) return ORRERY_INVALID_ARGUMENT;
    return shape < scene->look->shapes().size() ? give_shape(scene->look->shapes()[shape], out) : ORRERY_EMPTY;
}

orrery_status orrery_scene_shape_triangles(orrery_scene* scene, uint32_t shape, orrery_triangles* out) {
    if (!scene || !out || out->struct_size < sizeof *out) return ORRERY_INVALID_ARGUMENT;
    return guarded([&]() -> orrery_status {
        out->vertex_count = out->index_count = 0;
        if (shape >= scene->look->shapes().size()) return ORRERY_EMPTY;
        const std::optional<protocol::Triangles>& triangles = scene->look->triangles(shape);
        if (!triangles) return ORRERY_EMPTY;
        const protocol::Triangles& made = *triangles;
        out->vertex_count = static_cast<std::uint32_t>(made.positions.size());
        out->index_count = static_cast<std::uint32_t>(made.indices.size());
        if (out->vertex_count > out->vertex_capacity || out->index_count > out->index_capacity) return ORRERY_TOO_SMALL;
        for (std::uint32_t i = 0; i < out->vertex_count; ++i) {
            write3(out->positions, i, made.positions[i]);
            write3(out->normals, i, made.normals[i]);
        }
        for (std::uint32_t i = 0; out->indices && i < out->index_count; ++i) out->indices[i] = made.indices[i];
        return ORRERY_OK;
    });
}

orrery_status orrery_scene_get_child(orrery_scene* scene, uint32_t shape, uint32_t child, orrery_child* out) {
    if (!scene || !out) return ORRERY_INVALID_ARGUMENT;
    return guarded([&]() -> orrery_status {
        if (shape >= scene->look->shapes().size()) return ORRERY_EMPTY;
        const std::span<const sim::CompoundChild> children = scene->look->children(shape);
        if (child >= children.size()) return ORRERY_EMPTY;
        orrery_child mine{};
        mine.shape = children[child].shape;
        write3(mine.position, 0, children[child].pose.position);
        write4(mine.orientation, 0, children[child].pose.orientation);
        return give(mine, out);
    });
}
