// What pass 2 keeps of a location's series of polls while it is written.
//
// A value; the times in it are those of one record.
#pragma once

#include <algorithm>
#include <vector>

#include "epilog/format/record/records.h"
#include "merge/define/linear_clock.h"

namespace kojak::merge {

// Times within a series, which lie before that of its record, and lengths. Linear clocks move each
// by itself; the controlled clock knows the times of records only, so they keep their places
// between these.
class MovedTimes {
 public:
  MovedTimes() = default;
  MovedTimes(double recorded_begin, double begin, double recorded_end, double end,
             const LinearClock& clock, bool controlled)
      : clock_(clock),
        controlled_(controlled),
        recorded_begin_(recorded_begin),
        begin_(begin),
        end_(end),
        scale_(clock.factor) {
    const double recorded = recorded_end - recorded_begin;
    if (controlled && recorded > 0) scale_ = (end - begin) / recorded;
  }
  Seconds at(Seconds recorded) const {
    const double t =
        controlled_ ? begin_ + (recorded.value - recorded_begin_) * scale_ : clock_(recorded.value);
    return {std::max(begin_, std::min(t, end_))};
  }
  Duration length(Duration recorded) const { return {recorded.value * scale_}; }

 private:
  LinearClock clock_;
  bool controlled_ = false;
  double recorded_begin_ = 0, begin_ = 0, end_ = 0;
  double scale_ = 1;
};

struct SeriesOnTheWay {
  std::vector<MpiPoll> members;  // of the whole series that follows, as recorded
  std::uint32_t due = 0;         // members that are still to come, of a series in a call
  bool waits = false;            // the whole series whose second half comes next
  bool joined = false;           // ends with the call that follows it
  bool even_works = false;       // the last series was even, and was found to work
  MovedTimes times;
};

}  // namespace kojak::merge
