// What the entry points of communication libraries are called in the program's own language.
//
// A call of MPI that a coarray statement makes is named by the statement: `sync all`, not
// `_gfortran_caf_sync_all`. Source: the interface of gfortran's coarray library (GNU Fortran
// manual, "Coarray Programming").
#pragma once

#include <string>

namespace kojak::merge {

// The statement that a function stands for; the name itself if it stands for none.
std::string statement_of(const std::string& function);

// The statement of a function within OpenCoarrays' own file, which stands in the place of an entry
// point that ended with calling it.
std::string statement_of(const std::string& function, const std::string& file);

}  // namespace kojak::merge
