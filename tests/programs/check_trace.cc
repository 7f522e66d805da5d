// check_trace TRACE REPORT: the checks that hold on every trace and its report, and all relations
// between the trace and changed ones whose reports are then known (metamorphic_relations.h).
// Exit status: 0 good, 1 wrong, 2 unusable input.
#include <iostream>

#include "tests/support/cross_checks.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/metamorphic_relations.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: check_trace TRACE REPORT\n";
    return 2;
  }
  try {
    const auto trace = kojak::test::read_bytes(argv[1]);
    std::vector<std::string> wrong =
        kojak::support::cross_checks(kojak::support::read_cube(argv[2]), trace);
    kojak::metamorphic::Tally tally;
    constexpr std::uint64_t kSeed = 6;
    for (std::string& line : kojak::metamorphic::check_relations(trace, kSeed, tally)) {
      wrong.push_back(std::move(line));
    }
    for (const std::string& line : wrong) std::cerr << argv[1] << ": " << line << '\n';
    return wrong.empty() ? 0 : 1;
  } catch (const std::exception& problem) {
    std::cerr << "check_trace: " << problem.what() << '\n';
    return 2;
  }
}
