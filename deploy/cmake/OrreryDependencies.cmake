# Libraries without a CMake package of their own, as imported targets: orrery::xxhash, orrery::sodium, orrery::zstd,
# orrery::flatbuffers, orrery::wslay, orrery::httplib,
# orrery::prometheus. Included by the build and, installed, by orrery-config.cmake: so an installed package finds them
# again where it is used and holds no path of the machine that built it.

# orrery_find_library(target library header debian_package): without the library there is no target, and
# ORRERY_MISSING says what to do.
function(orrery_find_library target library header package)
  if(TARGET orrery::${target})
    return()
  endif()
  string(TOUPPER "ORRERY_${target}" prefix)
  find_library(${prefix}_LIBRARY ${library})
  find_path(${prefix}_INCLUDE_DIR ${header})
  mark_as_advanced(${prefix}_LIBRARY ${prefix}_INCLUDE_DIR)
  if(NOT ${prefix}_LIBRARY OR NOT ${prefix}_INCLUDE_DIR)
    set(ORRERY_MISSING "Orrery needs lib${library} and <${header}>: install ${package} (deploy/deps does), or set ${prefix}_LIBRARY and ${prefix}_INCLUDE_DIR" PARENT_SCOPE)
    return()
  endif()
  add_library(orrery::${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(orrery::${target} PROPERTIES
    IMPORTED_LOCATION "${${prefix}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${prefix}_INCLUDE_DIR}")
endfunction()

# orrery_find(targets...): sets ORRERY_MISSING, empty if all are found.
macro(orrery_find)
  set(ORRERY_MISSING "")
  foreach(orrery_target IN ITEMS ${ARGN})
    if(orrery_target STREQUAL "xxhash")
      orrery_find_library(xxhash xxhash xxhash.h libxxhash-dev)
    elseif(orrery_target STREQUAL "flatbuffers")
      orrery_find_library(flatbuffers flatbuffers flatbuffers/flatbuffers.h libflatbuffers-dev)
    elseif(orrery_target STREQUAL "sodium")
      orrery_find_library(sodium sodium sodium.h libsodium-dev)
    elseif(orrery_target STREQUAL "zstd")
      orrery_find_library(zstd zstd zstd.h libzstd-dev)
    elseif(orrery_target STREQUAL "wslay")
      orrery_find_library(wslay wslay wslay/wslay.h libwslay-dev)
    elseif(orrery_target STREQUAL "httplib")
      orrery_find_library(httplib cpp-httplib httplib.h libcpp-httplib-dev)
    elseif(orrery_target STREQUAL "prometheus")
      orrery_find_library(prometheus prometheus-cpp-core prometheus/registry.h prometheus-cpp-dev)
    endif()
  endforeach()
endmacro()
