# Fortran entry points of the measurement libraries (generate_fortran.py says which an MPI needs).
# KOJAK_FORTRAN is on where an MPI's Fortran compiler was found; without one the libraries serve C only.

set(kojak_fortran_found "")
foreach(mpi IN LISTS KOJAK_MPIS)
  if(KOJAK_${mpi}_FC)
    list(APPEND kojak_fortran_found ${mpi})
  endif()
endforeach()
if(kojak_fortran_found)
  option(KOJAK_FORTRAN "Record Fortran programs" ON)
else()
  set(KOJAK_FORTRAN OFF)
endif()
if(KOJAK_FORTRAN)
  message(STATUS "Fortran is recorded for: ${kojak_fortran_found}")
else()
  message(STATUS "Fortran programs are not recorded (no Fortran compiler found, or KOJAK_FORTRAN is off)")
endif()

# kojak_add_fortran(mpi): adds to the measurement libraries of one MPI what records Fortran.
function(kojak_add_fortran mpi)
  if(NOT KOJAK_FORTRAN OR NOT KOJAK_${mpi}_FC)
    return()
  endif()
  set(dir ${PROJECT_SOURCE_DIR}/epilog/mpi/fortran)
  set(made ${PROJECT_BINARY_DIR}/epilog/mpi/fortran/${mpi})
  set(table ${PROJECT_SOURCE_DIR}/epilog/mpi/functions.table)
  set(sources "")
  foreach(part IN LISTS kojak_mpi_parts)
    set(file ${made}/fortran_${part}.cc)
    add_custom_command(OUTPUT ${file}
      COMMAND ${Python3_EXECUTABLE} ${dir}/generate_fortran.py
        --table ${table} --library ${mpi} --part ${part} --out ${file}
      DEPENDS ${table} ${dir}/generate_fortran.py ${PROJECT_SOURCE_DIR}/epilog/mpi/function_table.py
        ${PROJECT_SOURCE_DIR}/epilog/mpi/generate.py ${PROJECT_SOURCE_DIR}/epilog/table_file.py
        ${hooks}
      COMMENT "Generating the Fortran entry points of the ${part} functions for ${mpi}")
    list(APPEND sources ${file})
  endforeach()
  # The MPI library's own Fortran compiler knows its sentinels; the object needs no Fortran library.
  set(values ${made}/values.o)
  add_custom_command(OUTPUT ${values}
    COMMAND ${KOJAK_${mpi}_FC} -O2 -fPIC -w -c ${dir}/values.f90 -o ${values}
    DEPENDS ${dir}/values.f90
    COMMENT "Compiling what Fortran knows of ${mpi}")
  set(libraries ${made}/include/epilog/mpi/fortran/libraries.h)
  add_custom_command(OUTPUT ${libraries}
    COMMAND ${Python3_EXECUTABLE} ${dir}/find_libraries.py --compiler ${KOJAK_${mpi}_FC} --out ${libraries}
    DEPENDS ${dir}/find_libraries.py ${PROJECT_SOURCE_DIR}/epilog/table_file.py
    COMMENT "Finding the Fortran libraries of ${mpi}")
  add_custom_target(kojak_fortran_generated_${mpi} DEPENDS ${sources} ${values} ${libraries})

  set(target elg_mpi_objects_${mpi})
  add_dependencies(${target} kojak_fortran_generated_${mpi})
  target_sources(${target} PRIVATE ${sources} ${dir}/convert.cc ${dir}/entry.cc ${dir}/lifecycle.cc ${dir}/values.cc)
  target_include_directories(${target} PRIVATE ${made}/include)
  foreach(library elg_mpi_${mpi} elg_mpi_static_${mpi})
    target_sources(${library} PRIVATE ${values})
    set_source_files_properties(${values} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_dependencies(${library} kojak_fortran_generated_${mpi})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY KOJAK_FORTRAN_MPIS ${mpi})
endfunction()
