# cmake -DCOMPILER= -DFLAGS= -DSOURCE= -DPROCESSOR= -DEXPECT=none|fused -DWORK= -P contraction.cmake
# Compiles SOURCE to assembly and looks for fused multiply-adds: none may be there (EXPECT=none), or some must be
# (EXPECT=fused, which proves that the probe sees them).

separate_arguments(flags NATIVE_COMMAND "${FLAGS}")
file(MAKE_DIRECTORY "${WORK}")
set(assembly "${WORK}/contraction-${EXPECT}.s")
execute_process(
  COMMAND "${COMPILER}" ${flags} "-DORRERY_PROBE_SELF=\"${SOURCE}\"" -S "${SOURCE}" -o "${assembly}"
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "The contraction probe does not compile with ${COMPILER} ${FLAGS}:\n${output}")
endif()
file(READ "${assembly}" text)

if(PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(product "[ \t]v?mul[sp]s[ \t]")
  set(fused "[ \t]vfn?m(add|sub|addsub|subadd)[0-9]*[sp][sd][ \t]")
elseif(PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(product "[ \t]fmul[ \t]")
  set(fused "[ \t](fn?madd|fn?msub|fmla|fmls|fmad|fmsb)[ \t]")
elseif(PROCESSOR MATCHES "^wasm")
  set(product "f32x?4?.mul")
  set(fused "relaxed_n?madd")
else()
  message(FATAL_ERROR "The contraction probe does not know the processor '${PROCESSOR}': x86_64, aarch64 and wasm are supported")
endif()

string(REGEX MATCHALL "${product}" products "${text}")
string(REGEX MATCHALL "${fused}" fusions "${text}")
list(LENGTH products product_count)
list(LENGTH fusions fusion_count)
list(REMOVE_DUPLICATES fusions)
string(REGEX REPLACE "[ \t]+" " " fusions "${fusions}")

if(EXPECT STREQUAL "none")
  if(fusion_count GREATER 0)
    message(FATAL_ERROR "This compiler fuses a*b+c (${fusion_count} times:${fusions}), so results would differ between "
      "SIMD targets. Build with -ffp-contract=off and take every flag out of CMAKE_CXX_FLAGS that turns contraction on "
      "(-ffp-contract=fast, -ffast-math, -Ofast).\nProbed: ${COMPILER} ${FLAGS}\nAssembly: ${assembly}")
  endif()
  if(product_count EQUAL 0)
    message(FATAL_ERROR "The contraction probe found no multiplication at all in ${assembly}: it proves nothing")
  endif()
elseif(NOT PROCESSOR MATCHES "^wasm" AND fusion_count EQUAL 0)
  message(FATAL_ERROR "The contraction probe is blind: with -ffp-contract=fast it found no fused multiply-add in "
    "${assembly}.\nProbed: ${COMPILER} ${FLAGS}")
endif()
message(STATUS "contraction probe: ${product_count} multiplications, ${fusion_count} fused (expected: ${EXPECT})")
