# Runs at install time. Installs every public header and, transitively, each header of ours that one of them includes:
#
#   sim/include/orrery/sim.hpp    ->  include/orrery/sim.hpp        (likewise protocol, server, client_sdk)
#   protocol/**.h, server/**.h    ->  include/orrery/protocol/**.h, include/orrery/server/**.h
#   sim/constraints/hinge.h       ->  include/orrery/sim/constraints/hinge.h     (reached from sim.hpp)
#   generated schema headers      ->  include/orrery/protocol/**.h
#
# Inside the tree headers include each other from the source root ("sim/base/result.h"); installed they say
# "orrery/sim/base/result.h", so that one include folder is enough for every user, with CMake or without.

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

set(destination "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${ORRERY_INCLUDE_DESTINATION}")
if(IS_ABSOLUTE "${ORRERY_INCLUDE_DESTINATION}")
  set(destination "$ENV{DESTDIR}${ORRERY_INCLUDE_DESTINATION}")
endif()

set(waiting)
foreach(room IN ITEMS sim protocol server client_sdk)
  string(REPLACE "client_sdk" "client" library "${room}")
  if(library IN_LIST ORRERY_LIBRARIES)
    file(GLOB_RECURSE found RELATIVE "${ORRERY_SOURCE}" "${ORRERY_SOURCE}/${room}/include/*")
    list(APPEND waiting ${found})
    if(room MATCHES "^(protocol|server)$")
      file(GLOB_RECURSE found RELATIVE "${ORRERY_SOURCE}" "${ORRERY_SOURCE}/${room}/*.h" "${ORRERY_SOURCE}/${room}/*.hpp")
      list(FILTER found EXCLUDE REGEX "^server/cli/|^(protocol|server)/include/")
      list(APPEND waiting ${found})
    endif()
  endif()
endforeach()

set(done)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done "${header}")

  set(file "${ORRERY_SOURCE}/${header}")
  if(NOT EXISTS "${file}")
    set(file "${ORRERY_GENERATED}/${header}")
  endif()
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${header} is included by a public header but exists neither in ${ORRERY_SOURCE} nor in ${ORRERY_GENERATED}")
  endif()

  file(READ "${file}" text)
  string(REGEX MATCHALL "#[ \t]*include \"(sim|protocol|server|client_sdk)/[^\"\n]*\"" includes "${text}")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE ".*\"(.*)\"" "\\1" included "${line}")
    if(NOT included MATCHES "-inl\\.h$")  # function sections of constraint headers: for our own passes alone
      list(APPEND waiting "${included}")
    endif()
  endforeach()
  string(REGEX REPLACE "(#[ \t]*include \")((sim|protocol|server|client_sdk)/)" "\\1orrery/\\2" text "${text}")

  string(REGEX REPLACE "^[a-z_]+/include/(.*)$" "\\1" to "${header}")
  if(to STREQUAL header)
    set(to "orrery/${header}")
  endif()
  set(old "")
  if(EXISTS "${destination}/${to}")
    file(READ "${destination}/${to}" old)
  endif()
  if(NOT old STREQUAL text)  # leave an unchanged header's time alone: users need not rebuild
    message(STATUS "Installing: ${destination}/${to}")
    file(WRITE "${destination}/${to}" "${text}")
  endif()
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${destination}/${to}")
endwhile()
cmake_policy(POP)
