# Libraries without a CMake package of their own, as imported targets: orrery::xxhash, orrery::sodium, orrery::zstd,
# orrery::flatbuffers. Included by the build and, installed, by orrery-config.cmake: so an installed package finds them
# again where it is used and holds no path of the machine that built it.

# orrery_find_library(target library header debian_package)
function(orrery_find_library target library header package)
  if(TARGET orrery::${target})
    return()
  endif()
  string(TOUPPER "ORRERY_${target}" prefix)
  find_library(${prefix}_LIBRARY ${library})
  find_path(${prefix}_INCLUDE_DIR ${header})
  mark_as_advanced(${prefix}_LIBRARY ${prefix}_INCLUDE_DIR)
  if(NOT ${prefix}_LIBRARY OR NOT ${prefix}_INCLUDE_DIR)
    message(FATAL_ERROR "Orrery needs lib${library} and <${header}>: install ${package} (deploy/deps does), "
      "or set ${prefix}_LIBRARY and ${prefix}_INCLUDE_DIR")
  endif()
  add_library(orrery::${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(orrery::${target} PROPERTIES
    IMPORTED_LOCATION "${${prefix}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${prefix}_INCLUDE_DIR}")
endfunction()

orrery_find_library(xxhash xxhash xxhash.h libxxhash-dev)
orrery_find_library(flatbuffers flatbuffers flatbuffers/flatbuffers.h libflatbuffers-dev)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^wasm")
  orrery_find_library(sodium sodium sodium.h libsodium-dev)
  orrery_find_library(zstd zstd zstd.h libzstd-dev)
endif()
