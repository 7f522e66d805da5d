// Draws the example timeline of a pattern as text: a line of names and a bar for each process.
//
//                MPI_Barrier
//   rank 0  -----[~~~~~~~~~~~~~~~~~====]---
//
// A timeline is rows "who: call 1-6 ~1-5, call 7-8" joined by ';'. Pure function of constant data;
// what is not understood is left out (the tests see that nothing is). Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kojak::expert {

struct TimelineCall {
  std::string name;
  double begin = 0, end = 0;
  double wait_begin = 0, wait_end = 0;  // equal: it does not wait
};
struct TimelineRow {
  std::string who;
  std::vector<TimelineCall> calls;
};
std::vector<TimelineRow> parse_timeline(std::string_view timeline);
std::string draw_timeline(std::string_view timeline);

}  // namespace kojak::expert
