// Names of files that are not complete yet, so that a program that a signal ends leaves none.
//
// A table of fixed size for the whole process, because a signal handler can ask nobody. Names that
// do not fit are not kept: such a file then stays behind. Remembering and forgetting is safe from
// any thread; remove_temporary_files() is safe in a signal handler. Nothing fails.
#pragma once

#include <string>

namespace kojak {

void remember_temporary_file(const std::string& path);
void forget_temporary_file(const std::string& path);
// Unlinks all that are remembered; they stay in the table.
void remove_temporary_files();

// SIGINT, SIGTERM and SIGHUP remove them and then end the program as they would have, unless they
// are ignored. For programs, not for libraries.
void remove_temporary_files_on_signals();

}  // namespace kojak
