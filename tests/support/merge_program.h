// Random valid one-sided programs with a known ground truth of where every transfer ends.
//
// A program is simulated as MPI would run it: processes with one or two threads, windows over
// subsets of them, fence, start/post/complete/wait and lock phases with far-ahead origins and slow
// targets, request-based and atomic operations, true and false Win_test, assertions, recording
// switched off and on, clocks that are off, traces that are cut or missing. Every operation is tied
// to the calls that complete it as the simulation issues them, never by counting, so that the truth
// owes nothing to the rules by which a merge finds it. The same seed gives the same program. Values
// own all they hold; no global state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kojak::support {

// An event of one location, by its place among those that the location wrote itself (transfer ends
// do not count; regions that the merge closes do).
struct EventPlace {
  std::uint32_t location = 0;
  std::uint32_t index = 0;
  bool operator==(const EventPlace&) const = default;
};

// Where one transfer must end: immediately before that event.
struct ExpectedEnd {
  std::uint32_t origin = 0, rmaid = 0;
  bool put = false;
  std::uint32_t location = 0;  // of the end
  std::uint8_t mark = 0;
  std::optional<EventPlace> before;
  // What the local traces alone cannot tell: a flush or a new lock while recording was off.
  bool ambiguous = false;

  std::string words() const;
};

struct ProgramTrace {
  std::uint32_t rank = 0, thread = 0;
  std::vector<std::byte> bytes;
  std::uint32_t closed = 0;  // regions that the merge must close
};

struct RandomProgram {
  std::uint32_t processes = 0;
  std::vector<ProgramTrace> traces;  // without those that are missing
  std::vector<ExpectedEnd> ends;
  bool corrected = false;      // clocks are off, and the traces tell by how much
  std::vector<double> shifts;  // of each trace's clock
  std::string features;        // what is in it, for messages
};

RandomProgram random_program(std::uint64_t seed);

}  // namespace kojak::support
