// Two runs of one program: which is faster, what waits less, what became worse.
//
// Pure functions of plain values; nothing fails; any thread.
#pragma once

#include <string>
#include <vector>

namespace kojak::expert {

// Seconds of one run. Where runs of different sizes are compared, all of a process in the mean.
struct ComparedRun {
  std::string name;
  double time = 0;     // of the location that took longest
  double total = 0;    // of all locations
  double outside = 0;  // of MPI
  // One for each kind of waiting, in the same order in both runs.
  std::vector<double> waits;
};

// More than two runs of one program differ by: a hundredth of the run and a twentieth of the larger
// value (two runs of the tests' programs differ by so much by themselves). `run`: the total of the
// run that took longer.
bool beyond_noise(double before, double after, double run);

// "fixed/a.cube is 58 % faster than slow/a.cube (3.6 s, not 8.6 s); it waits 21 s less; no kind of
// waiting got worse by more than noise." `titles` are those of the kinds of waiting. `of_each`: the
// runs have different sizes.
std::string difference_words(const ComparedRun& before, const ComparedRun& after,
                             const std::vector<std::string>& titles, bool of_each);

}  // namespace kojak::expert
