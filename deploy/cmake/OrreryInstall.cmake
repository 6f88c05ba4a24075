# Install rules and the exported package: find_package(orrery) gives orrery::sim, orrery::protocol and, if they were
# built, orrery::server and orrery::client. The libraries are static; no compile flag of ours reaches a user.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/orrery")

set(libraries)
foreach(library IN ITEMS sim protocol client server)
  if(TARGET orrery_${library})
    list(APPEND libraries ${library})
  endif()
endforeach()
foreach(library IN LISTS libraries)
  set_target_properties(orrery_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS orrery_${library} EXPORT orrery-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()
foreach(program IN ITEMS orrery orrery_drive)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()

if(TARGET orrery_jacobi_cuda)  # where the program in bin looks for it
  install(TARGETS orrery_jacobi_cuda LIBRARY DESTINATION lib OPTIONAL)  # if it was built
endif()

# Headers keep their folders below include/orrery; install_headers.cmake says how.
string(CONFIGURE [[
  set(ORRERY_SOURCE "@PROJECT_SOURCE_DIR@")
  set(ORRERY_GENERATED "@PROJECT_BINARY_DIR@/generated")
  set(ORRERY_LIBRARIES "@libraries@")
  set(ORRERY_INCLUDE_DESTINATION "@CMAKE_INSTALL_INCLUDEDIR@")
]] settings @ONLY)
install(CODE "${settings}")
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake")

if(EXISTS "${PROJECT_SOURCE_DIR}/deploy/scenes")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/deploy/scenes" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery")
endif()

# What a scene may say: the schema, and that for editors, which the program makes of it.
install(FILES "${PROJECT_SOURCE_DIR}/protocol/scene/scene.fbs" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery")
if(TARGET orrery AND NOT CMAKE_CROSSCOMPILING)
  set(scene_schema "${PROJECT_BINARY_DIR}/share/orrery/scene.schema.json")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/orrery")
  add_custom_command(OUTPUT "${scene_schema}" COMMAND orrery check --json-schema "${scene_schema}" DEPENDS orrery VERBATIM)
  add_custom_target(orrery_scene_schema ALL DEPENDS "${scene_schema}")
  install(FILES "${scene_schema}" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery")
endif()

set(ORRERY_PACKAGE_HAS_SERVER OFF)
if(TARGET orrery_server)
  set(ORRERY_PACKAGE_HAS_SERVER ON)
endif()
install(EXPORT orrery-targets NAMESPACE orrery:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/orrery-config.cmake.in"
  "${PROJECT_BINARY_DIR}/orrery-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/orrery-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/orrery-config.cmake" "${PROJECT_BINARY_DIR}/orrery-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/OrreryDependencies.cmake" DESTINATION "${package_dir}")
