# Packages, made by `cpack` in the build folder: Debian packages (-G DEB), and the archive of the sources
# (--config CPackSourceConfig.cmake). The version is that of project() in the top-level CMakeLists.txt; nothing else
# names it.
#
# A package for each component, so that nobody needs two MPI libraries: kojak (programs, manual pages, documentation),
# kojak-openmpi and kojak-mpich (the measurement libraries), kojak-dev (headers, static libraries, CMake's files),
# python3-earl. dpkg-shlibdeps finds out which libraries they need.
set(CPACK_PACKAGE_NAME kojak)
set(CPACK_PACKAGE_VENDOR "kojak")
set(CPACK_PACKAGE_CONTACT "kojak developers <kojak@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR DEB)

set(CPACK_COMPONENTS_ALL tools ${KOJAK_MPIS} development)
if(KOJAK_PYTHON_READY)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)  # one package for each
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What libelg_mpi.so loads from its own folder is in the same package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME kojak)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "Merges the traces of a run, says which calls waited and for what, and shows it
as text, as a page for the browser and as a CUBE report. To record runs install
the measurement library of your MPI, too: kojak-openmpi or kojak-mpich.")
# The package of the MPI that a measurement library was built for: it needs none to be loaded, and looks for it by name.
function(kojak_package_of_mpi mpi result)
  set(package "")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/epilog/mpi/find_mpi_library.py
    --compiler ${KOJAK_${mpi}_CC} --print OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_program(KOJAK_DPKG_QUERY NAMES dpkg-query)
  mark_as_advanced(KOJAK_DPKG_QUERY)
  if(KOJAK_DPKG_QUERY AND IS_ABSOLUTE "${library}")
    file(REAL_PATH ${library} library)
    execute_process(COMMAND ${KOJAK_DPKG_QUERY} -S ${library} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9.+-]+)[:,]")
      set(package ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${result} "${package}" PARENT_SCOPE)
endfunction()

set(measuring "")
foreach(mpi IN LISTS KOJAK_MPIS)
  string(TOUPPER ${mpi} upper)
  list(APPEND measuring kojak-${mpi})
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${mpi})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME kojak-${mpi})
  # What expert loads under mpirun is linked with the MPI; who records needs not have that one. The C library comes with
  # kojak.
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "kojak ${same}")
  kojak_package_of_mpi(${mpi} CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION
    "Records the calls of MPI programs under ${mpi}: preloaded by \"kojak run\", or
linked with the program as elg_config says.")
endforeach()
list(JOIN measuring " | " CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME kojak-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "kojak ${same}, zlib1g-dev, libzstd-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers and static libraries that read, write and analyse traces, for programs
of your own (find_package(kojak)).")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-earl)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, kojak ${same}")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Reads and analyses traces of kojak in Python: events, states, waits as tables.")

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME kojak-${PROJECT_VERSION})
string(REGEX REPLACE "([][+.*()^$?|])" "\\\\\\1" top "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${top}/build/" "/\\.git/" "/\\.git$" "/node_modules/" "/__pycache__/" "\\.swp$")
include(CPack)
