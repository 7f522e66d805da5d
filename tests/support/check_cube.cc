// Says of each report that is named whether CUBE's readers take it (cube_grammar.h); exit status 1
// if one does not, 2 without a name.
#include <iostream>

#include "tests/support/cube_grammar.h"

int main(int argc, char** argv) {
  int wrong = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string what = kojak::support::check_cube_grammar(argv[i]);
    if (what.empty()) continue;
    std::cerr << "not for CUBE: " << what << '\n';
    wrong = 1;
  }
  return argc < 2 ? 2 : wrong;
}
