# Finds the MPI libraries to build a measurement library for, each by its own compiler wrapper: those that
# KOJAK_MPI_COMPILERS names, else Debian's mpicc.openmpi and mpicc.mpich, else the mpicc in the path. There is one library
# for each of the two binary interfaces: Open MPI's, and that of MPICH and its relatives (Intel MPI, MVAPICH, Cray).
# Sets KOJAK_MPIS (default one first: Open MPI where it is there) and for each <mpi>
#   KOJAK_<mpi>_CC, _FC (maybe empty), _RUN, _INCLUDES, _LIBS
# and defines the imported target kojak_mpi_<mpi>.

set(KOJAK_MPI_COMPILERS "" CACHE STRING "C compilers of the MPI libraries (full paths), one of each binary interface")

# The interface that a compiler's mpi.h has: openmpi or mpich.
function(kojak_interface_of compiler result)
  set(file ${PROJECT_BINARY_DIR}/CMakeFiles/kojak_mpi_interface.c)
  file(WRITE ${file} "#include <mpi.h>
#if defined(OPEN_MPI)
kojak_interface is openmpi
#elif defined(MPICH_VERSION) || defined(MPICH_NAME) || defined(I_MPI_VERSION) || defined(MVAPICH_VERSION)
kojak_interface is mpich
#endif
")
  execute_process(COMMAND ${compiler} -E ${file} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${compiler} does not find mpi.h, so it is no compiler of an MPI library: ${status} ${error}")
  endif()
  if(NOT text MATCHES "kojak_interface is ([a-z]+)")
    message(FATAL_ERROR "${compiler}: its mpi.h is neither Open MPI's nor MPICH's nor one of MPICH's relatives"
                        " (Intel MPI, MVAPICH, Cray), so its handles are not known; leave it out")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# A compiler stands for its interface; the Fortran compiler and the launcher beside it belong to it.
function(kojak_take_compiler compiler)
  find_program(kojak_found_compiler NAMES ${compiler} NO_CACHE)
  if(NOT kojak_found_compiler)
    message(FATAL_ERROR "KOJAK_MPI_COMPILERS names ${compiler}, which is not there")
  endif()
  kojak_interface_of(${kojak_found_compiler} mpi)
  if(KOJAK_${mpi}_CC AND NOT KOJAK_${mpi}_CC STREQUAL kojak_found_compiler)
    message(FATAL_ERROR "${compiler} has the same interface (${mpi}) as ${KOJAK_${mpi}_CC}: one library serves both,"
                        " name one (or use another build folder)")
  endif()
  set(KOJAK_${mpi}_CC ${kojak_found_compiler} CACHE FILEPATH "C compiler of the MPI library" FORCE)
  cmake_path(GET kojak_found_compiler PARENT_PATH folder)
  find_program(KOJAK_${mpi}_FC NAMES mpifort.${mpi} mpifort mpif90 mpiifort ftn PATHS ${folder} NO_DEFAULT_PATH)
  find_program(KOJAK_${mpi}_RUN NAMES mpirun.${mpi} mpiexec.${mpi} mpirun mpiexec PATHS ${folder} NO_DEFAULT_PATH)
endfunction()

set(kojak_named ${KOJAK_MPI_COMPILERS})
if(NOT kojak_named)
  foreach(mpi openmpi mpich)
    find_program(KOJAK_${mpi}_CC NAMES mpicc.${mpi})
  endforeach()
  if(NOT KOJAK_openmpi_CC AND NOT KOJAK_mpich_CC)
    find_program(kojak_any_compiler NAMES mpicc NO_CACHE)
    if(kojak_any_compiler)
      set(kojak_named ${kojak_any_compiler})
    endif()
  endif()
endif()
foreach(compiler IN LISTS kojak_named)
  kojak_take_compiler(${compiler})
endforeach()

set(KOJAK_MPIS "")
foreach(mpi openmpi mpich)
  if(NOT kojak_named)
    find_program(KOJAK_${mpi}_FC NAMES mpifort.${mpi} mpif90.${mpi})
    find_program(KOJAK_${mpi}_RUN NAMES mpirun.${mpi} mpiexec.${mpi})
  endif()
  mark_as_advanced(KOJAK_${mpi}_CC KOJAK_${mpi}_FC KOJAK_${mpi}_RUN)
  if(NOT KOJAK_${mpi}_CC)
    continue()
  endif()
  # -show is understood by both wrappers and prints the underlying command line.
  execute_process(COMMAND ${KOJAK_${mpi}_CC} -show OUTPUT_VARIABLE line RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(WARNING "${KOJAK_${mpi}_CC} -show failed; ${mpi} is left out")
    continue()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  set(includes "")
  set(libs "")
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-[lL].+")
      list(APPEND libs ${word})
    endif()
  endforeach()
  set(KOJAK_${mpi}_INCLUDES ${includes})
  set(KOJAK_${mpi}_LIBS ${libs})
  add_library(kojak_mpi_${mpi} INTERFACE)
  target_include_directories(kojak_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_link_libraries(kojak_mpi_${mpi} INTERFACE ${libs})
  list(APPEND KOJAK_MPIS ${mpi})
endforeach()
if(NOT KOJAK_MPIS)
  message(FATAL_ERROR "No MPI found: install openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev, or name"
                      " compilers by -DKOJAK_MPI_COMPILERS=/path/to/mpicc")
endif()
list(GET KOJAK_MPIS 0 KOJAK_DEFAULT_MPI)
message(STATUS "MPI libraries: ${KOJAK_MPIS} (default ${KOJAK_DEFAULT_MPI})")
