// Who serves the others, for the reader: the threads of a report that have time of service.
//
// Pure function; nothing fails; any thread.
#pragma once

#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct ServingThread {
  std::size_t thread;
  // The call path of the library's function that it is in: by which the program called it, or,
  // where the library's own functions are recorded, the one that never comes back; or kNone.
  std::size_t library_call;
  double since, seconds;
};
std::vector<ServingThread> serving_threads(const Report& report);

}  // namespace kojak::expert
