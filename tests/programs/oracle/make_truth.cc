// make_truth PREFIX [-o TRUTH]: what a report of the run must say, from the notes that the
// program's processes wrote to PREFIX.<rank>. Lines `metric function rank value`, function "*" for
// all functions. Exit status: 0, or 1 if the program did not do what it was to do, 2 if the notes
// are unusable.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/programs/oracle/truth.h"

namespace {

void write(std::ostream& out, const kojak::oracle::Truth& truth) {
  out.precision(17);
  for (const auto& [key, value] : truth.values())
    out << std::get<0>(key) << ' ' << std::get<1>(key) << ' ' << std::get<2>(key) << ' ' << value
        << '\n';
  out.flush();
}

}  // namespace

int main(int argc, char** argv) {
  if ((argc != 2 && argc != 4) || (argc == 4 && std::string(argv[2]) != "-o")) {
    std::cerr << "usage: make_truth PREFIX [-o TRUTH]\n";
    return 2;
  }
  try {
    const kojak::oracle::Notes run = kojak::oracle::read_all_notes(argv[1]);
    const kojak::oracle::Truth truth(run);
    if (argc == 4) {
      std::ofstream out(argv[3]);
      write(out, truth);
      if (!out) {
        std::cerr << "make_truth: cannot write " << argv[3] << '\n';
        return 2;
      }
    } else {
      write(std::cout, truth);
    }
    const std::vector<std::string> broken = kojak::oracle::broken_guards(run, truth);
    for (const std::string& line : broken) std::cerr << "injection failed: " << line << '\n';
    return broken.empty() ? 0 : 1;
  } catch (const std::exception& problem) {
    std::cerr << "make_truth: " << problem.what() << '\n';
    return 2;
  }
}
