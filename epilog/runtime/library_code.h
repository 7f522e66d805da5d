// Which code is the MPI library's own: its files, its components' and its Fortran library's, those
// of libraries between the program and it, and ours.
//
// Within a call MPI calls functions of MPI for itself, and functions that the program gave to it,
// which may do the same. The return address tells which of both a call is. Asked only for calls
// within calls; each part of a file is looked at once. Thread-safe, safe in a small stack, nothing
// fails: code that nobody knows is the program's. An MPI that is linked into the program as an
// archive cannot be told from it; then all that is called within a call is taken for MPI's own.
#pragma once

namespace kojak::measure {

// By the part of its path behind the last slash. Also files that stand beside MPI and call none of
// the program's functions.
bool is_library_file_name(const char* name);

// `inside` lies in the MPI library, or in one that stands before it, whatever its file is called.
// Before the first question.
void note_library_code(const void* inside);

bool is_library_code(const void* return_address);

}  // namespace kojak::measure
