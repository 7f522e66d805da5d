// Runs another program and waits for it.
//
// While it runs, keyboard interrupts are the child's business: they go to both, and ours are
// ignored, so that what was recorded until then can still be analysed. SIGTERM and SIGHUP are
// passed on. One child at a time, from the main thread.
#pragma once

#include <string>
#include <vector>

namespace kojak::run {

struct ChildOptions {
  std::vector<std::string> environment;  // NAME=value, instead of or besides ours
  bool stdout_to_stderr = false;
  int both_to = -1;  // a descriptor that gets standard output and standard error
};

struct ChildEnd {
  int status = 0;       // as a shell gives it: 128 + the signal that ended it, 127 if there is no
                        // such program, 126 if it cannot be run
  int signal = 0;       // that ended it, or 0
  std::string failure;  // why it was not run, or empty
};
ChildEnd run_child(const std::vector<std::string>& command, const ChildOptions& options);

}  // namespace kojak::run
