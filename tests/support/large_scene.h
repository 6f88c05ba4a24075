// A scene of 26,000 named bodies that stand still, and a template: its key frame takes some 5 MB.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "protocol/scene/scene.h"

namespace orrery::testing {

inline protocol::LoadedScene large_scene() {
    std::string text =
        R"({"scene_version": 1, "name": "large", "shapes": [{"name": "ball", "sphere": {"radius": 0.1}}],
            "templates": [{"name": "marble", "bodies": [{"name": "ball", "shape": "ball"}]}], "bodies": [)";
    const std::string long_name(90, 'n');
    for (int i = 0; i < 26'000; ++i) {
        text += (i == 0 ? "" : ",") + std::string(R"({"type": "static", "shape": "ball", "name": ")") + long_name +
                std::to_string(i) + R"(", "position": [)" + std::to_string(i % 4000) + ", 0, 0]}";
    }
    text += "]}";
    auto scene =
        protocol::load_scene(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), "large.json");
    if (!scene) FAIL(scene.error().to_string());
    return std::move(scene).value();
}

}  // namespace orrery::testing
