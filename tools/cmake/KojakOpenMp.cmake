# Finds the header of OpenMP's interface for tools (OMPT), which LLVM's OpenMP brings: Debian's libomp-dev.
#
# Sets KOJAK_OMPT, and KOJAK_LIBOMP if the library is there, too: programs built for GCC's OpenMP library run on it.
# A link under the name of GCC's lies in a folder of its own for that.
# The header alone is taken, by a link: beside it lie headers of another compiler. OpenMP is
# optional: without the header constructs of OpenMP are not recorded.
set(KOJAK_OMPT OFF)
file(GLOB places /usr/lib/llvm-*/lib/clang/*/include /usr/lib/clang/*/include /usr/lib64/clang/*/include)
list(SORT places COMPARE NATURAL ORDER DESCENDING)
find_file(KOJAK_OMPT_HEADER omp-tools.h PATHS ${places})
mark_as_advanced(KOJAK_OMPT_HEADER)
if(KOJAK_OMPT_HEADER)
  set(KOJAK_OMPT ON)
  set(folder ${PROJECT_BINARY_DIR}/epilog/openmp/system)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${KOJAK_OMPT_HEADER} ${folder}/omp-tools.h SYMBOLIC)
  add_library(kojak_ompt INTERFACE)
  target_include_directories(kojak_ompt SYSTEM INTERFACE ${folder})
  message(STATUS "OpenMP is recorded: ${KOJAK_OMPT_HEADER}")
  string(REGEX REPLACE "/lib/clang/.*" "/lib" beside ${KOJAK_OMPT_HEADER})
  find_file(KOJAK_LIBOMP libomp.so.5 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} ${beside} /usr/lib64)
  mark_as_advanced(KOJAK_LIBOMP)
  if(KOJAK_LIBOMP)
    set(folder ${PROJECT_BINARY_DIR}/lib/kojak/openmp)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${KOJAK_LIBOMP} ${folder}/libgomp.so.1 SYMBOLIC)
    install(FILES ${folder}/libgomp.so.1 DESTINATION ${CMAKE_INSTALL_LIBDIR}/kojak/openmp)
  else()
    message(STATUS "kojak run --openmp is not for programs of GCC: no libomp.so.5 (Debian: libomp5)")
  endif()
else()
  message(STATUS "OpenMP is not recorded: no omp-tools.h (Debian: libomp-dev)")
endif()
