// Lines for `kojak run`, which tells them when the run is over (format/io/run_file.h).
//
// Does nothing where nobody asked for them. Where this process cannot reach the file any more
// (another root, another user), the process that keeps its buffers adds the line. Never fails.
#pragma once

namespace kojak::measure {

// Null if there is none. Not of a program that runs with more rights than its user.
const char* run_file();
// False if that could not be done.
bool tell_run(const char* word, const char* text);
void tell_run_of_abort(int code);

}  // namespace kojak::measure
