# `cmake --install` puts the library, the program, the models and the headers in place, with find_package(fovea) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS fovea EXPORT fovea_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(BUILD_SHARED_LIBS)
  set_target_properties(fovea_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS fovea_cli)
install(DIRECTORY zoo/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/zoo OPTIONAL)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
install(EXPORT fovea_targets NAMESPACE fovea:: FILE fovea-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/fovea-config.cmake.in fovea-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(fovea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fovea-config.cmake ${PROJECT_BINARY_DIR}/fovea-config-version.cmake
        DESTINATION ${package_folder})

# Which headers, and where the models will stand, is known only then: the prefix may be given to `cmake --install`.
set(values "")
foreach(name PROJECT_SOURCE_DIR PROJECT_BINARY_DIR PROJECT_DESCRIPTION PROJECT_VERSION PROJECT_VERSION_MAJOR PROJECT_VERSION_MINOR
        PROJECT_VERSION_PATCH CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR BUILD_SHARED_LIBS)
  string(APPEND values "set(${name} [[${${name}}]])\n")
endforeach()
install(CODE "${values}include([[${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake]])")
