// Whether the threads had a processor, in words: for the table of findings, and for those who look
// at waits.
//
// Pure functions; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

// A note where a thread was without a processor for 1 % of its time or more, or where the trace
// cannot tell.
void add_processor_findings(const ProcessorUse& use, std::vector<Finding>& found);
// What to know before the waits are looked at, where processors were missing for 5 % of the time of
// all threads or more; empty otherwise.
std::string processor_warning(const Report& report);
// Of one thread: "rank 2 had no processor for 40 % of its time", where that is 5 % or more; empty
// otherwise.
std::string without_processor(const Report& report, LocationIndex location);
// `time`: with its unit; `all`: whether all of it is known.
inline std::string had_no_processor(const std::string& who, const std::string& time, bool all) {
  return who + " had no processor for " + (all ? "" : "at least ") + time;
}

// What blocked a process, or several: " (sleeps)", " (read or write files)"; empty if nobody knows.
std::string blocked_by(BlockedKind kind, bool several);

}  // namespace kojak::expert
