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
};

// The child's exit status, 128 + the signal that ended it, 127 if there is no such program, 126 if
// it cannot be run (with a message in `failure`).
int run_child(const std::vector<std::string>& command, const ChildOptions& options,
              std::string& failure);

}  // namespace kojak::run
