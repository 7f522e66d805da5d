// Which processes make progress outside of MPI calls, as the environment of the run says.
//
// Made from RUN_PROPERTY; a trace without such records says nothing. A variable counts only for
// the libraries that read it. Plain values.
#pragma once

#include <string>
#include <vector>

#include "epilog/format/definitions.h"

namespace kojak::expert {

class AsyncProgress {
 public:
  explicit AsyncProgress(const Definitions& definitions) : properties_(definitions.properties) {}

  // The variable that says so of the process, as NAME=VALUE; empty if none does.
  std::string variable(ProcessId process) const;
  bool of(ProcessId process) const { return properties_.size() != 0 && !variable(process).empty(); }

 private:
  const RunProperties& properties_;
};

}  // namespace kojak::expert
