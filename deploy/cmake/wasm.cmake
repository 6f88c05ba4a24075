# Cross build for WebAssembly on Debian: clang 19 and wasi-libc, programs run by Node's WASI. One thread, no exceptions, no
# files but by the C library's functions; wasm/ holds what stands in for the rest.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# Debian's clang 19 comes without an archiver; binutils' keeps these objects, whose symbols the linker then reads by itself.
set(CMAKE_C_FLAGS_INIT -msimd128)
# What assertions say of a source names it from the top of the checkout: a module that is shipped has no path of its build.
get_filename_component(orrery_top "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -fno-exceptions -fmacro-prefix-map=${orrery_top}/=")
# As much stack as programs have elsewhere; it lies first, so that one which is overrun traps.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=8388608,--stack-first")
# Without V8's fast calls: Node's WASI allocates in them, where a garbage collection may not happen, and can lose itself.
set(CMAKE_CROSSCOMPILING_EMULATOR node;--no-warnings;--no-turbo-fast-api-calls;${CMAKE_CURRENT_LIST_DIR}/wasm/run.mjs)
