// How the converters name processes and threads: as the program did, else by rank and number.
//
// Pure functions; any thread.
#pragma once

#include <string>

#include "epilog/format/definitions.h"

namespace kojak::exporting {

// `unnamed` stands before the rank of a process without a name.
inline std::string process_name(const Definitions& definitions, ProcessId process,
                                const char* unnamed = "Rank ") {
  const auto known = definitions.process_names.find(process);
  return known != definitions.process_names.end() ? known->second
                                                  : unnamed + std::to_string(raw(process));
}

inline std::string thread_name(const Definitions& definitions, const LocationDef& location) {
  const auto known = definitions.thread_names.find({location.process, location.thread});
  return known != definitions.thread_names.end() && !known->second.empty()
             ? known->second
             : "thread " + std::to_string(raw(location.thread));
}

}  // namespace kojak::exporting
