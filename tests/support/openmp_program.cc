#include "tests/support/openmp_program.h"

namespace kojak::support {

std::vector<std::string> openmp_threads() {
  const std::string regions =
      "REGION rid=0 rnid=\"parallel\" rtype=11\nREGION rid=1 rnid=\"critical\" rtype=18\n"
      "REGION rid=2 rnid=\"block\" rtype=23\nREGION rid=3 rnid=\"ibarrier\" rtype=21\n";
  return {"LOCAL_RUN run_hi=1 run_lo=7 size=1 pid=0 tid=0\n" + regions +
              "ENTER lid=0 time=0 region=main\n"
              "OMP_FORK lid=0 time=1\nENTER lid=0 time=1 region=parallel\n"
              "OMP_TEAM lid=0 time=1 team=1 index=0 size=1\n"
              "ENTER lid=0 time=2 region=critical\nOMP_ALOCK lid=0 time=2 lkid=7\n"
              "ENTER lid=0 time=2 region=block\n"
              "EXIT lid=0 time=3\nOMP_RLOCK lid=0 time=3 lkid=7\nEXIT lid=0 time=3\n"
              "EXIT lid=0 time=4\nOMP_JOIN lid=0 time=4\n"
              "OMP_FORK lid=0 time=5\nENTER lid=0 time=5 region=parallel\n"
              "OMP_TEAM lid=0 time=5 team=2 index=0 size=2\n"
              "ENTER lid=0 time=6 region=omp_set_lock\nOMP_ALOCK lid=0 time=6.5 lkid=8\n"
              "EXIT lid=0 time=6.5\nOMP_RLOCK lid=0 time=7 lkid=8\n"
              "ENTER lid=0 time=8 region=ibarrier\nOMP_COLLEXIT lid=0 time=9\n"
              "EXIT lid=0 time=9\nOMP_JOIN lid=0 time=9\nEXIT lid=0 time=10\n",
          "LOCAL_RUN run_hi=1 run_lo=7 size=1 pid=0 tid=1\n" + regions +
              "ENTER lid=0 time=5 region=parallel\nOMP_TEAM lid=0 time=5 team=2 index=1 size=2\n"
              "ENTER lid=0 time=5.5 region=critical\nOMP_ALOCK lid=0 time=6 lkid=7\n"
              "ENTER lid=0 time=6 region=block\n"
              "EXIT lid=0 time=7\nOMP_RLOCK lid=0 time=7 lkid=7\nEXIT lid=0 time=7\n"
              "ENTER lid=0 time=7.5 region=ibarrier\nOMP_COLLEXIT lid=0 time=9\n"
              "EXIT lid=0 time=9\n"};
}

}  // namespace kojak::support
