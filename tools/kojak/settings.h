// The environment variables that recording and merging obey, printed with their values now.
#pragma once

namespace kojak::run {

// On standard output: for people, or as comma-separated values.
void print_settings(bool csv);

}  // namespace kojak::run
