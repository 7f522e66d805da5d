// Whether what a command is to write would replace what it reads.
//
// Files are compared by device and inode, whatever their names: through links, other spellings, and
// standard input or output that is a file. An output that does not exist yet is known by its
// directory and name. Only regular files count: a terminal or /dev/null may be given twice. No
// state; any thread.
#pragma once

#include <string>
#include <vector>

#include "epilog/format/error.h"

namespace kojak {

// Fails (exit code 1, naming both) if an output is one of the inputs or two outputs are the same
// file. Empty names are passed over; "-" is standard input among the inputs and standard output
// among the outputs. Buffers that belong to local traces are to be named as well.
Status keep_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace kojak
