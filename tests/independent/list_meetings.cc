// Prints the meetings of a run and what is open at each, a line each:
//   list_meetings DIR    TIME KIND IDENTITY ORDINAL: at rest, or what keeps it from that
#include <cstdio>

#include "tests/support/run_meetings.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const auto meetings = kojak::test::find_meetings(argv[1]);
  if (!meetings) {
    std::fprintf(stderr, "%s\n", meetings.error().message().c_str());
    return 2;
  }
  if (!meetings->alone.empty()) std::printf("alone: %s\n", meetings->alone.c_str());
  for (const kojak::parallel::Meeting& m : meetings->all) {
    std::printf(
        "%.9f %s %016llx%016llx %llu: %s\n", m.at, m.key.window ? "window" : "comm",
        static_cast<unsigned long long>(m.key.hi), static_cast<unsigned long long>(m.key.lo),
        static_cast<unsigned long long>(m.key.ordinal), kojak::parallel::why_not(m).c_str());
  }
  return 0;
}
