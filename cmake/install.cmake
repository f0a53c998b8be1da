# `cmake --install` exports find_package(fovea).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS fovea EXPORT fovea_targets)
install(TARGETS fovea_cli)
install(DIRECTORY fovea DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE REGEX "(gradient_check|golden|attention_reference|toy_data|svg_texts)\\.h$" EXCLUDE)  # what only tests include
install(EXPORT fovea_targets NAMESPACE fovea:: FILE fovea-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
configure_package_config_file(cmake/fovea-config.cmake.in fovea-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
write_basic_package_version_file(fovea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fovea-config.cmake ${PROJECT_BINARY_DIR}/fovea-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
install(DIRECTORY zoo/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/zoo OPTIONAL)
