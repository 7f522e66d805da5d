# The MPI library stands behind libraries of ours that are empty otherwise.
#
# The preloaded library needs the MPI that it was built for, so that it can also be loaded into programs
# without MPI (sh, timeout). But the dynamic linker takes a name from the library that is nearest to the
# program: directly behind ours, that MPI would come before the MPI of a program which uses another one by
# way of libraries, as every Fortran program does, and would get its calls. So it is put two steps further.
#
# The linker must not look through these libraries, or it would ask for the MPI itself: it is shown an empty
# one of the same name. That one must never be found when a program is loaded, not even where the library was
# copied alone to another folder: there it would be loaded without its MPI, and programs (sh, timeout, orted)
# would end with undefined symbols. Without the others it is refused by the name of what is missing.
function(kojak_put_mpi_last mpi subdir)
  foreach(kind real shown)
    add_library(elg_mpi_last_${kind}_${mpi} SHARED last.c)
    set_target_properties(elg_mpi_last_${kind}_${mpi} PROPERTIES OUTPUT_NAME elg_mpi_last
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${mpi})
  endforeach()
  add_library(elg_mpi_far_${mpi} SHARED last.c)
  set_target_properties(elg_mpi_far_${mpi} PROPERTIES OUTPUT_NAME elg_mpi_far)
  set_target_properties(elg_mpi_far_${mpi} elg_mpi_last_real_${mpi} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib${subdir} BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  target_link_libraries(elg_mpi_last_real_${mpi} PRIVATE
    -Wl,--push-state,--no-as-needed elg_mpi_far_${mpi} -Wl,--pop-state)
  target_link_libraries(elg_mpi_far_${mpi} PRIVATE
    -Wl,--push-state,--no-as-needed ${KOJAK_${mpi}_LIBS} -Wl,--pop-state)
  install(TARGETS elg_mpi_last_real_${mpi} elg_mpi_far_${mpi}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}${subdir} COMPONENT ${mpi})

  set_target_properties(elg_mpi_${mpi} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_link_options(elg_mpi_${mpi} PRIVATE -Wl,--unresolved-symbols=ignore-in-object-files)
  target_link_libraries(elg_mpi_${mpi} PRIVATE
    -Wl,--push-state,--no-as-needed $<TARGET_FILE:elg_mpi_last_shown_${mpi}> -Wl,--pop-state)
  add_dependencies(elg_mpi_${mpi} elg_mpi_last_shown_${mpi} elg_mpi_last_real_${mpi})
endfunction()
