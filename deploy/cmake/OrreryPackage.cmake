# The Debian package: `cpack -G DEB` in a build folder. It has the program, the example client, the scenes, the page if it is
# built, a systemd unit and an example of its settings. The libraries and headers are for `cmake --install`.

if(NOT TARGET orrery OR CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
set(units "${PROJECT_SOURCE_DIR}/deploy/systemd")
install(FILES "${units}/orrery.service" DESTINATION /lib/systemd/system COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES "${units}/orrery.toml" DESTINATION /etc/orrery COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VENDOR Orrery)
set(CPACK_PACKAGE_CONTACT "Orrery <orrery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "The same scene and the same commands give the same bits on every machine.\n Players connect over UDP or WebSocket; recordings can be verified afterwards.")
set(CPACK_COMPONENTS_ALL program page debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_SET_DESTDIR ON)  # for the folders outside of the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/deb")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION games)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)  # of postinst; shlibdeps adds the libraries
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${units}/conffiles;${units}/postinst;${units}/prerm;${units}/postrm")
include(CPack)
