/* A library that holds nothing but a dependency (mpi_last.cmake says why). */
extern const char kojak_behind_all_others;
const char kojak_behind_all_others = 0;
