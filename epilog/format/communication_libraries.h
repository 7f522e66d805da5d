// Communication libraries between the program and MPI (coarrays, ARMCI, Global Arrays, PETSc, HDF5,
// Boost.MPI, Python's packages), by the names of their files: the measurement looks for the line of
// the program that called them, the merge for what of a sample is the program's.
//
// Nothing is allocated; nothing fails.
#pragma once

#include <fnmatch.h>

#include <cstddef>
#include <cstring>

namespace kojak {

// Beginnings of files' names, and what the paths of Python's packages contain.
inline constexpr const char* kLibraryFiles[] = {
    "libcaf_", "libarmci",        "libcomex", "libga.",  "libga-",
    "libga++", "libglobalarrays", "libpetsc", "libhdf5", "libboost_mpi"};
inline constexpr const char* kLibraryPackages[] = {"/mpi4py/", "/petsc4py/", "/slepc4py/",
                                                   "/h5py/"};

inline bool is_of_library_package(const char* path) {
  for (const char* package : kLibraryPackages) {
    if (std::strstr(path, package) != nullptr) return true;
  }
  return false;
}

// Whether one of the patterns in a list (ELG_LIBRARIES, with commas) fits a name.
inline bool is_in_libraries(const char* list, const char* name) {
  while (list != nullptr && *list != '\0') {
    const std::size_t length = std::strcspn(list, ",");
    char pattern[256];
    if (length != 0 && length < sizeof pattern) {
      std::memcpy(pattern, list, length);
      pattern[length] = '\0';
      if (fnmatch(pattern, name, 0) == 0) return true;
    }
    list += length + (list[length] == ',' ? 1 : 0);
  }
  return false;
}

// `more`: such a list, or null.
inline bool is_library_file(const char* path, const char* more) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* prefix : kLibraryFiles) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  }
  return is_of_library_package(path) || is_in_libraries(more, name);
}

// The region type of the function by which the program called such a library, where a call of MPI
// came out of it: the call stands in that function, and its line is that of the program.
inline constexpr unsigned char kLibraryFunction = 30;

}  // namespace kojak
