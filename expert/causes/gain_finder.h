// What the run would gain without some of its causes: all synchronisation is replayed with the time
// that each of them took longer left out.
//
// A call ends when its own process and all processes that it depends on have come so far, plus
// the time that it took after that in the run. So each process is earlier by some time, which grows
// where something is left out and changes with each such call: nobody gains more than those whom it
// depends on, and new waits appear where there were none. Fed in the order in which the calls
// ended, for up to kMost causes at once. Memory: kKept changes for each location (of what lies
// further back the oldest of them counts), and what is left out. Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expert/causes/ticks.h"
#include "expert/severity.h"

namespace kojak::expert {

// A call that could not end before another process had come to some point, waiting or not.
struct Dependency {
  std::uint64_t exit_pos = 0;  // of the call, in the trace
  Ticks enter = 0, exit = 0;   // of the call
  Ticks awaited = 0;           // when the other one came there
  LocationIndex location = 0, by = 0;
};

class GainFinder {
 public:
  static constexpr std::size_t kMost = 10;

  // `causes`: how many, at most kMost.
  explicit GainFinder(std::size_t locations, std::size_t causes = kMost)
      : causes_(causes), locations_(locations) {}

  // Before the replay, each cause's in order of time: a location does something for so much less
  // time that ends at `until`.
  void leave_out(std::size_t cause, LocationIndex location, Ticks until, Ticks time) {
    locations_[location].left_out.push_back({until, time, cause});
  }
  void start();
  // All that one call depends on.
  void end_call(std::span<const Dependency> dependencies);
  // All members waited for the last one.
  struct Member {
    LocationIndex location;
    Ticks enter, exit;
  };
  void meet(std::span<const Member> members);
  // Call it last. Returns for each cause by how much earlier the last location ends. `ends`: the
  // end of each location.
  std::array<Ticks, kMost> finish(std::span<const Ticks> ends);

 private:
  static constexpr std::size_t kKept = 64;

  using Earlier = std::array<Ticks, kMost>;  // than in the run, by cause
  struct LeftOut {
    Ticks until, time;
    std::size_t cause;
  };
  struct Change {
    Ticks time;  // from then on
    Earlier earlier;
  };
  struct Location {
    std::vector<LeftOut> left_out;
    std::size_t next = 0;  // of these
    Earlier now{};
    std::vector<Change> changes;  // the latest ones
  };

  static void advance(Location& location, Ticks time);
  static void change(Location& location, Ticks time, const Earlier& earlier);
  static const Earlier& at(Location& location, Ticks time);

  std::size_t causes_;
  std::vector<Location> locations_;
};

}  // namespace kojak::expert
