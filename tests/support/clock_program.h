// Random message-passing programs whose clocks are wrong: local traces in text, and which event is
// the cause of which.
//
// A program is simulated in true time, where every cause precedes its effects: messages (blocking,
// and posted receives that complete in another order), barriers, broadcasts, reductions, prefix
// reductions, irregular exchanges, calls between two groups and among neighbours in a grid and a
// graph, all of these also begun and completed later, fences, and general active target over random
// groups; some processes pause their recording. What is
// recorded are the times of clocks with an offset, a drift and a wobble that no line can take out.
// The same seed gives the same program. Values own all they hold; no global state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kojak::support {

struct ClockProgram {
  // An event of a process by its place among the events of its trace.
  struct Place {
    std::uint32_t process = 0, index = 0;
  };
  struct Dependency {
    Place cause, effect;
    const char* what = "";
    bool joint = false;  // one of several causes of a call's exit, of which the last one counts
  };
  std::vector<std::string> traces;         // by rank
  std::vector<std::vector<double>> times;  // of all events, as the linear correction has them
  std::vector<Dependency> dependencies;
  std::uint64_t unknown = 0;  // effects that the trace tells no cause of, if nobody pauses
  bool pauses = false;        // somebody did not record all the time
  bool measured = false;      // the traces hold their clocks' offsets at the beginning and the end
};

ClockProgram clock_program(std::uint64_t seed);

}  // namespace kojak::support
