// Who serves the others, for the reader: the threads of a report that have time of service.
//
// Pure function; nothing fails; any thread.
#pragma once

#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct ServingThread {
  std::size_t thread;
  std::size_t library_call;  // the call path of the library's function that it is in; or kNone
  double since, seconds;
};
std::vector<ServingThread> serving_threads(const Report& report);

}  // namespace kojak::expert
