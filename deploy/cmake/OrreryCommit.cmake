# Run at every build (cmake -P): writes the header FILE with the commit of the clone SOURCE. The file stays untouched
# while the commit is the same. Outside of a clone the commit is "unknown". A GIVEN commit, if not empty, takes its
# place: the build of a container has no clone.
set(commit "${GIVEN}")
if(NOT commit)
  set(commit unknown)
  find_program(git git)
  if(git)
    # Sources inside of another project's clone have no commit.
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
