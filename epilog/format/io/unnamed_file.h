// A temporary file without a name: it is gone when it is closed, whatever ends the program.
#pragma once

#include <string>

namespace kojak {

// Opens one for reading and writing in `directory`; where that is empty it becomes $TMPDIR or /tmp.
// Returns a descriptor, which the caller closes, or -1: then errno tells why.
int open_unnamed_file(std::string& directory);

}  // namespace kojak
