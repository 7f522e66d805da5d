// Prints how many regions a trace enters: the smallest use of EARL.
#include <cstdio>

#include "earl/access/archive.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const auto archive = kojak::earl::Archive::open(argv[1]);
  if (!archive) {
    std::fprintf(stderr, "%s\n", archive.error().message().c_str());
    return 2;
  }
  unsigned long enters = 0;
  for (std::uint64_t i = 0; i < archive->size(); ++i) enters += kojak::earl::is_enter((*archive)[i].type) ? 1 : 0;
  std::printf("%lu\n", enters);
  return 0;
}
