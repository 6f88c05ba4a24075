# Run at every build (cmake -P): writes FILE, a header that holds the commit of the clone SOURCE, where the commit differs from the one that
# FILE holds. Outside of a clone it is "unknown". GIVEN, if not empty, stands for it: of a container's build, which has no clone.
set(commit "${GIVEN}")
if(NOT commit)
  set(commit unknown)
  find_program(git git)
  if(git)
    # A copy of the sources inside of another project's clone has no commit.
    execute_process(COMMAND "${git}" -C "${SOURCE}" rev-parse --show-prefix --short=12 HEAD
      OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
      set(commit "${CMAKE_MATCH_1}")
    endif()
  endif()
endif()
set(text "#pragma once\n#define ORRERY_COMMIT \"${commit}\"\n")
if(EXISTS "${FILE}")
  file(READ "${FILE}" held)
endif()
if(NOT "${held}" STREQUAL "${text}")
  file(WRITE "${FILE}" "${text}")
endif()
