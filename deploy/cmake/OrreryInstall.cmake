# Install rules, the exported package and pkg-config files: find_package(orrery) gives orrery::sim, orrery::protocol
# and, if they were built, orrery::client, orrery::client_shared and orrery::server. All but orrery::client_shared are
# static; no compile flag of ours reaches a user.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/orrery")

# Each library is a component with an export file of its own, so that a user of one needs nothing of the others.
set(libraries)
foreach(library IN ITEMS sim protocol client client_shared server)  # each after those that it links
  if(TARGET orrery_${library})
    list(APPEND libraries ${library})
    set_target_properties(orrery_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS orrery_${library} EXPORT orrery-${library}-targets
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT orrery-${library}-targets NAMESPACE orrery:: DESTINATION "${package_dir}")
  endif()
endforeach()
foreach(program IN ITEMS orrery orrery_drive)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  endif()
endforeach()

if(TARGET orrery_jacobi_cuda)  # where the program in bin looks for it
  install(TARGETS orrery_jacobi_cuda LIBRARY DESTINATION lib COMPONENT program OPTIONAL)  # if it was built
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
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/deploy/scenes" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery" COMPONENT program)
endif()

# The page, where deploy/page has built it: the program finds it beside itself.
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/orrery/page" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery" COMPONENT page OPTIONAL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/client_sdk/examples/sumo" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery/examples")

# The C# binding. Clang reads the header for its declarations. Without Python, or one of these versions of clang, whose
# syntax trees have been tried, it is left out.
find_program(ORRERY_CLANG NAMES clang-14 clang-19)
find_program(ORRERY_PYTHON NAMES python3)
if(TARGET orrery_client_shared AND ORRERY_CLANG AND ORRERY_PYTHON)
  set(csharp "${PROJECT_SOURCE_DIR}/client_sdk/csharp")
  set(csharp_native "${PROJECT_BINARY_DIR}/share/orrery/csharp/OrreryNative.cs")
  set(csharp_header "${PROJECT_SOURCE_DIR}/client_sdk/include/orrery/client.h")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/orrery/csharp")
  add_custom_command(OUTPUT "${csharp_native}"
    COMMAND "${ORRERY_PYTHON}" "${csharp}/generate.py" "${csharp_header}" "${csharp_native}" --clang "${ORRERY_CLANG}"
    DEPENDS "${csharp_header}" "${csharp}/generate.py" "${csharp}/c_header.py" VERBATIM)
  add_custom_target(orrery_csharp ALL DEPENDS "${csharp_native}")
  install(FILES "${csharp_native}" "${csharp}/Client.cs" "${csharp}/ClientTypes.cs"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery/csharp")
endif()

# What a scene may say: the schema, and that for editors, which the program makes of it.
install(FILES "${PROJECT_SOURCE_DIR}/protocol/scene/scene.fbs" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery" COMPONENT program)
if(TARGET orrery AND NOT CMAKE_CROSSCOMPILING)
  set(scene_schema "${PROJECT_BINARY_DIR}/share/orrery/scene.schema.json")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/orrery")
  add_custom_command(OUTPUT "${scene_schema}" COMMAND orrery check --json-schema "${scene_schema}" DEPENDS orrery VERBATIM)
  add_custom_target(orrery_scene_schema ALL DEPENDS "${scene_schema}")
  install(FILES "${scene_schema}" DESTINATION "${CMAKE_INSTALL_DATADIR}/orrery" COMPONENT program)
endif()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/orrery-config.cmake.in"
  "${PROJECT_BINARY_DIR}/orrery-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/orrery-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/orrery-config.cmake" "${PROJECT_BINARY_DIR}/orrery-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/OrreryDependencies.cmake" DESTINATION "${package_dir}")

# pkg-config: one file a library. The prefix is found from where the file lies, so that an installed tree may be moved.
# A library without a file of its own in Debian is named by -l, since pkg-config refuses what requires a file that is
# not there.
set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "${pc_dir}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH pc_include "${pc_dir}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
# orrery_pkg_config(library description requires libs libs_private)
function(orrery_pkg_config library description requires libs libs_private)
  if(library IN_LIST libraries)
    configure_file("${PROJECT_SOURCE_DIR}/deploy/cmake/orrery.pc.in" "${PROJECT_BINARY_DIR}/orrery-${library}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/orrery-${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endif()
endfunction()
orrery_pkg_config(sim "Deterministic rigid-body simulation (C++20, static)" "" "-lorrery_sim -lhwy -lxxhash" "")
orrery_pkg_config(protocol "Scenes, recordings and the network protocol (C++20, static)" "orrery-sim"
  "-lorrery_protocol -lflatbuffers -lsodium -lzstd -lxxhash" "")
orrery_pkg_config(server "A room and its host (C++20, static)" "orrery-protocol, spdlog" "-lorrery_server -lwslay -lcpp-httplib -lprometheus-cpp-core -ldl -pthread" "")
orrery_pkg_config(client "The client SDK (C; shared, or static with --static)" "" "-lorrery_client"
  "-lorrery_protocol -lorrery_sim -lhwy -lflatbuffers -lsodium -lzstd -lxxhash -lstdc++ -lm")
