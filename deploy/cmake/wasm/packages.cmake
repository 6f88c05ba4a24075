# What find_package() finds where no library is built for WebAssembly: headers of Debian's packages for this machine, by links to
# them alone, since the folder in which they lie holds this machine's C library, too. CMake's dependency provider.
set(ORRERY_WASM_INCLUDE "${CMAKE_BINARY_DIR}/include")
foreach(header IN ITEMS hwy doctest flatbuffers xxhash.h xxh3.h)
  find_path(place ${header} PATHS /usr/include NO_DEFAULT_PATH NO_CACHE)
  if(NOT place)
    message(FATAL_ERROR "Orrery needs <${header}>: deploy/deps installs it")
  endif()
  file(MAKE_DIRECTORY "${ORRERY_WASM_INCLUDE}")
  file(CREATE_LINK "${place}/${header}" "${ORRERY_WASM_INCLUDE}/${header}" SYMBOLIC)
  unset(place)
endforeach()

foreach(target IN ITEMS hwy::hwy doctest::doctest Threads::Threads orrery::xxhash orrery::flatbuffers)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE "${ORRERY_WASM_INCLUDE}")
endforeach()
target_compile_definitions(orrery::xxhash INTERFACE XXH_INLINE_ALL=)  # as files that define it themselves do
# A failed REQUIRE goes on with the test, since nothing can be thrown; it has failed all the same.
target_compile_definitions(doctest::doctest INTERFACE DOCTEST_CONFIG_NO_EXCEPTIONS_BUT_WITH_ALL_ASSERTS
  DOCTEST_CONFIG_NO_POSIX_SIGNALS _WASI_EMULATED_SIGNAL)

# In place of the standard library's headers of these names.
include_directories(SYSTEM "${CMAKE_CURRENT_LIST_DIR}/include")

macro(orrery_wasm_package method package)
  if("${package}" MATCHES "^(hwy|doctest|Threads)$")
    set(${package}_FOUND TRUE)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER orrery_wasm_package SUPPORTED_METHODS FIND_PACKAGE)
