# The scenes that ship in their binary form, for a build that reads no JSON: made by flatc of this machine. Sets `scenes` and
# `scene_ending`.
set(binary_scenes "${PROJECT_BINARY_DIR}/scenes")
file(GLOB texts CONFIGURE_DEPENDS "${scenes}/*.json" "${scenes}/gallery/*.json")
set(made)
foreach(text IN LISTS texts)
  cmake_path(RELATIVE_PATH text BASE_DIRECTORY "${scenes}" OUTPUT_VARIABLE stem)
  cmake_path(REMOVE_EXTENSION stem)
  cmake_path(GET stem PARENT_PATH folder)
  add_custom_command(OUTPUT "${binary_scenes}/${stem}.orscene"
    COMMAND flatc --binary -o "${binary_scenes}/${folder}" "${PROJECT_SOURCE_DIR}/protocol/scene/scene.fbs" "${text}"
    DEPENDS "${text}" "${PROJECT_SOURCE_DIR}/protocol/scene/scene.fbs" VERBATIM)
  list(APPEND made "${binary_scenes}/${stem}.orscene")
endforeach()
add_custom_target(orrery_binary_scenes DEPENDS ${made})
add_dependencies(test_protocol orrery_binary_scenes)
set(scenes "${binary_scenes}")
set(scene_ending orscene)
