# Compile and link flags of every Orrery target. They are PRIVATE: a project that links the installed
# libraries inherits none of them.

# Programs of WebAssembly have neither addresses to hide nor return addresses in reach: nothing to harden.
set(ORRERY_NATIVE TRUE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^wasm")
  set(ORRERY_NATIVE FALSE)
endif()

if(ORRERY_NATIVE)
  include(CheckPIESupported)
  check_pie_supported()
endif()
find_package(Threads REQUIRED)
find_package(hwy CONFIG REQUIRED)

# Scalable vectors (SVE, RVV) cannot live in the structs of the lanes; targets beyond AVX3 add nothing that we use.
set(ORRERY_DISABLED_TARGETS "HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV|HWY_AVX3_DL")
if(hwy_VERSION VERSION_GREATER_EQUAL 1.1)
  string(APPEND ORRERY_DISABLED_TARGETS "|HWY_SSE2|HWY_AVX3_ZEN4|HWY_AVX3_SPR|HWY_NEON_WITHOUT_AES")
endif()
if(ORRERY_TARGETS)
  string(APPEND ORRERY_DISABLED_TARGETS "|${ORRERY_TARGETS}")
endif()

# The bits of a float must not depend on the compiler: no contraction of a*b+c into a fused multiply-add, anywhere.
# OrreryProbe proves at configure time that the compiler obeys.
set(ORRERY_FLOAT_FLAGS -ffp-contract=off)

# orrery_flags(target [NO_EXCEPTIONS] [OPTIMISE level])
#   NO_EXCEPTIONS  for sim and protocol: errors are values there (Result), so exceptions and RTTI are off.
#   OPTIMISE       of a release, where compile time matters more than speed: what must be fast is in sim and snapshots.
function(orrery_flags target)
  cmake_parse_arguments(arg "NO_EXCEPTIONS" "OPTIMISE" "" ${ARGN})
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ${ORRERY_NATIVE}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

  target_compile_options(${target} PRIVATE
    ${ORRERY_FLOAT_FLAGS} -Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas $<$<BOOL:${ORRERY_NATIVE}>:-fstack-protector-strong>
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
    # g++ 12 sees overlaps and bounds overstepped inside std::string's own copies, and where it inlines less, unset members.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-maybe-uninitialized>
    # Masks are combined by & and |, which for a lane of plain float are those of bool: a branch-free form is meant.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-bitwise-instead-of-logical -Wno-unknown-warning-option>
    # Of Highway's regions, which name a target's instructions: WebAssembly has but one set.
    $<$<NOT:$<BOOL:${ORRERY_NATIVE}>>:-Wno-pragma-clang-attribute>
    $<$<BOOL:${ORRERY_WERROR}>:-Werror>)
  if(arg_OPTIMISE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${arg_OPTIMISE}>)
  endif()
  target_link_options(${target} PRIVATE $<$<BOOL:${ORRERY_NATIVE}>:-Wl,-z,relro -Wl,-z,now>)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")

  if(arg_NO_EXCEPTIONS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  endif()
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(${ORRERY_DISABLED_TARGETS})")
  if(ORRERY_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(ORRERY_SANITIZE)
    target_compile_definitions(${target} PRIVATE ORRERY_DEBUG_ASSERTIONS=1)
    target_compile_options(${target} PRIVATE -fsanitize=${ORRERY_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${ORRERY_SANITIZE})
    if(ORRERY_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all -fno-sanitize=function,vptr)
    endif()
  else()
    # glibc's checked string functions need optimisation, and hide accesses from the sanitizers.
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# orrery_together(group files...): small files of a target that include much are compiled as one, where its UNITY_BUILD_MODE is
# GROUP. What their unnamed namespaces hold must then differ.
function(orrery_together group)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()
