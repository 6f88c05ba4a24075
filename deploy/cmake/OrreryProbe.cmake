# Proves, before anything is built, that this compiler with our flags contracts no a*b+c into a fused multiply-add
# (DETERMINISM.md rule 1), and that the proof can fail: with contraction on, the same probe must see one. The compiler
# writes assembly, which is read: nothing is run, so it works the same when cross-compiling. Tests repeat both.

set(ORRERY_PROBE_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/probe/contraction.cmake")
set(ORRERY_PROBE_SOURCE "${CMAKE_CURRENT_LIST_DIR}/probe/contraction.cpp")

string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
set(ORRERY_PROBE_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}} -O2 -std=c++20 '-DHWY_DISABLED_TARGETS=(${ORRERY_DISABLED_TARGETS})'")
if(CMAKE_CXX_COMPILER_TARGET)
  string(APPEND ORRERY_PROBE_FLAGS " --target=${CMAKE_CXX_COMPILER_TARGET}")
endif()
if(CMAKE_SYSROOT)
  string(APPEND ORRERY_PROBE_FLAGS " --sysroot=${CMAKE_SYSROOT}")
endif()
find_package(hwy CONFIG REQUIRED)
get_target_property(includes hwy::hwy INTERFACE_INCLUDE_DIRECTORIES)
foreach(folder IN LISTS includes)
  if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    string(APPEND ORRERY_PROBE_FLAGS " -isystem ${folder}")
  endif()
endforeach()

# orrery_probe_command(out expect extra_flags): the command that probes; expect is `none` or `fused`.
function(orrery_probe_command out expect extra_flags)
  set(${out} "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DFLAGS=${ORRERY_PROBE_FLAGS} ${extra_flags}"
    "-DSOURCE=${ORRERY_PROBE_SOURCE}" "-DPROCESSOR=${CMAKE_SYSTEM_PROCESSOR}" "-DEXPECT=${expect}"
    "-DWORK=${PROJECT_BINARY_DIR}/probe" -P "${ORRERY_PROBE_SCRIPT}" PARENT_SCOPE)
endfunction()
string(JOIN " " float_flags ${ORRERY_FLOAT_FLAGS})
orrery_probe_command(ORRERY_PROBE_NONE none "${float_flags}")
orrery_probe_command(ORRERY_PROBE_FUSED fused "-ffp-contract=fast")

# A probe that passed is not repeated until the compiler, the flags or the probe itself changes.
file(SHA256 "${ORRERY_PROBE_SCRIPT}" script_hash)
file(SHA256 "${ORRERY_PROBE_SOURCE}" source_hash)
set(key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${ORRERY_PROBE_FLAGS} ${float_flags} ${script_hash} ${source_hash}")
if(NOT ORRERY_PROBE_PASSED STREQUAL key)
  foreach(probe IN ITEMS ORRERY_PROBE_NONE ORRERY_PROBE_FUSED)
    execute_process(COMMAND ${${probe}} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
      message(FATAL_ERROR "${output}")
    endif()
  endforeach()
  message(STATUS "Contraction probe: no fused multiply-add with ${float_flags}")
  set(ORRERY_PROBE_PASSED "${key}" CACHE INTERNAL "Compiler and flags for which the contraction probe passed")
endif()
