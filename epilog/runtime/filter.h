// Which regions of the program are recorded: the file that ELG_FILTER names.
//
// Lines `include PATTERN` or `exclude PATTERN`, `#` begins a comment; wildcards as in the shell.
// The first line that fits a name decides; a name that fits none passes. Functions are known by
// their symbol, in C++ also by its readable form. Asked once per function and thread: what the
// answer was is kept in the thread's cache. Read once before recording starts, constant afterwards.
// A file that cannot be read, and a line that is not understood, are named when ELG_VERBOSE is set;
// then they filter nothing.
#pragma once

namespace kojak::measure {

void read_filter(const char* path);
bool name_passes(const char* name);
bool function_passes(const void* function);

}  // namespace kojak::measure
