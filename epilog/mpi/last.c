/* A library that holds nothing but a dependency on the MPI library (CMakeLists.txt says why). */
extern const char kojak_behind_all_others;
const char kojak_behind_all_others = 0;
