// check_truth REPORT TRUTH [SECONDS [SHARE]]: compares a report with what a program measured of
// itself (make_truth); times may differ by SECONDS, by default 2 ms, or by SHARE of the expected
// one if that is more, by default 0.
// check_truth --same REPORT REPORT: the severities of two reports of one run agree.
// Both also run the checks that hold on every report. Exit status: 0 good, 1 wrong, 2 unusable
// input.
#include <iostream>
#include <string>

#include "tests/support/report_checks.h"

namespace {

using kojak::support::Cube;

int report(const std::string& what, const std::vector<std::string>& wrong) {
  for (const std::string& line : wrong) std::cerr << what << ": " << line << '\n';
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool same = argc == 4 && std::string(argv[1]) == "--same";
  if (argc < 3 || argc > 5) {
    std::cerr << "usage: check_truth REPORT TRUTH [SECONDS [SHARE]] | --same REPORT REPORT\n";
    return 2;
  }
  try {
    const std::string path = argv[same ? 2 : 1];
    const Cube cube = kojak::support::read_cube(path);
    int status = report(path, kojak::support::check_report(cube));
    if (same) {
      // The same intervals, added up in another order.
      const Cube other = kojak::support::read_cube(argv[3]);
      status |= report(argv[3], kojak::support::compare_reports(cube, other, 1e-9));
    } else {
      const double tolerance = argc >= 4 ? std::stod(argv[3]) : 2e-3;
      const double share = argc == 5 ? std::stod(argv[4]) : 0;
      status |= report(path, kojak::support::compare_with_truth(cube, argv[2], tolerance, share));
    }
    return status;
  } catch (const std::exception& problem) {
    std::cerr << "check_truth: " << problem.what() << '\n';
    return 2;
  }
}
