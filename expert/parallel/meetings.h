// The meetings of a run, and at which of them it is at rest: where it can be cut (rows.h).
//
// Memory: three numbers for each process and row kept. Nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/parallel/rows.h"

namespace kojak::parallel {

struct Meeting {
  MeetingKey key;
  double at = 0;           // corrected time of the last enter
  double left = 0;         // and of the first exit
  std::uint16_t open = 0;  // of all processes
  bool on_their_way = false, half_done = false;
  std::uint64_t events = 0;  // of all processes before it
  std::uint64_t bytes = 0;   // likewise, of offsets
  std::uint64_t done = 0;    // one of these: what is before it of the run
  // By process: offsets of the first and of the last record of its call.
  std::vector<std::uint64_t> begins, ends;

  bool at_rest() const { return open == 0 && !on_their_way && !half_done; }
};

// What joins the rows of all processes, which come one after the other in the order of their ranks.
class MeetingTable {
 public:
  // `clock`: a function from recorded to corrected times.
  template <class Clock>
  void add(const std::vector<Row>& rows, Clock&& clock) {
    ++processes_;
    for (const Row& row : rows) add(row, clock(row.enter), clock(row.exit));
  }
  // In the order of time. `locks`: a lock of one target is taken somewhere.
  std::vector<Meeting> finish(bool locks);

 private:
  struct Joined {
    Meeting meeting;
    std::uint64_t messages = 0, agreement = 0;
    std::uint32_t processes = 0;
  };
  void add(const Row& row, double enter, double exit);
  std::map<MeetingKey, Joined> joined_;
  std::uint32_t processes_ = 0;
};

// What keeps a meeting from being at rest, for messages and tests; "at rest" where nothing does.
std::string why_not(const Meeting& meeting);

}  // namespace kojak::parallel
