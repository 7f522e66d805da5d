// Tasks of OpenMP in words: who created them, and who executed them.
#pragma once

#include <vector>

#include "expert/findings/statement.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// Those that one thread created at one place.
struct TaskRow {
  double seconds = 0;  // how long they took
  std::uint64_t count = 0;
  Statement said;
};
// Those that took longest first.
std::vector<TaskRow> task_rows(const Report& report);

}  // namespace kojak::expert
