# What `cmake --install` puts where: headers, libraries with their exported package, manual pages.
# Programs install themselves (kojak_program); the measurement libraries and their pkg-config files
# are installed by epilog/mpi.
include(CMakePackageConfigHelpers)

set(KOJAK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kojak)

foreach(part format model earl)
  if(NOT TARGET kojak_${part})
    continue()
  endif()
  set_target_properties(kojak_${part} PROPERTIES EXPORT_NAME ${part})
  target_compile_features(kojak_${part} PUBLIC cxx_std_20)  # our headers need it
  install(TARGETS kojak_${part} EXPORT kojakTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endforeach()
install(EXPORT kojakTargets NAMESPACE kojak:: DESTINATION ${KOJAK_PACKAGE_DIR} COMPONENT development)

foreach(folder epilog/format epilog/model earl)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kojak/${folder} COMPONENT development
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "python" EXCLUDE)
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/tools/cmake/kojakConfig.cmake.in ${PROJECT_BINARY_DIR}/kojakConfig.cmake
  INSTALL_DESTINATION ${KOJAK_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/kojakConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kojakConfig.cmake ${PROJECT_BINARY_DIR}/kojakConfigVersion.cmake
        DESTINATION ${KOJAK_PACKAGE_DIR} COMPONENT development)

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# All chapters, so that README's links lead somewhere.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "man" EXCLUDE PATTERN "demo" EXCLUDE)
# The program of the tutorial.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/demo DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.md")
