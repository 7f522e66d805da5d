// What must hold of the series of polls of one location: that times are in order, that counts and
// lengths add up, that what ends a series follows it.
//
// Feed it every event of the location, in file order; it gives what is wrong as constants, to
// f(field, what). A value. Source: docs/format.md, "Polls".
#pragma once

#include <cmath>
#include <cstdint>

#include "epilog/format/field_values.h"
#include "epilog/format/record/records.h"

namespace kojak {

class PollRules {
 public:
  // `local`: of a local trace, where members stand before a whole series in one record.
  template <class R, class Find>
  void event(const R& r, bool local, Find&& find) {
    if constexpr (std::is_same_v<R, MpiPolled>) {
      lacks_members(find);
      begin(r, local, find);
    } else if constexpr (std::is_same_v<R, MpiPoll>) {
      if (due_ == 0 && !local) return find("", "belongs to no MPI_POLLED");
      member(r, find);
    } else if constexpr (std::is_same_v<R, MpiPollCall>) {
      if (1u + noted_ != raw(r.members)) find("members", "are not those that stand before it");
      if (raw(r.polls) + noted_count_ != raw(r.count)) find("count", kCounts);
      if (r.last_enter < r.time || r.exit < r.last_enter) find("last_enter", kOrder);
      lengths(r, (r.exit - r.time).value, find);
      noted_ = 0;
      noted_count_ = 0;
      any_ = true;
    } else {
      lacks_members(find);
      if constexpr (kLeaves<R>) {
        const bool itself =
            !std::is_same_v<R, Exit>;  // MPI_WINEXIT and its like complete something
        if (awaits_ && !itself) find("", kNotThere);
        awaits_ = false;
      } else if constexpr (!std::is_same_v<R, Processor> && !std::is_same_v<R, MpiError>) {
        awaits_ = false;
      }
    }
  }

  // Where only a part of a trace is there, these are no breach.
  static constexpr const char* kNotThere =
      "ends a series of polls that found something, which is not there";
  static constexpr const char* kNothingBefore = "says that it goes on, and nothing is before it";

 private:
  static constexpr const char* kOrder = "is not within the times of its series";
  static constexpr const char* kCounts = "is not the sum of its members";

  template <class Find>
  void begin(const MpiPolled& r, bool local, Find&& find) {
    works_ = raw(r.judged) == raw(PollClass::kWorks);
    begin_ = r.begin;
    time_ = r.time;
    count_ = raw(r.count);
    due_ = raw(r.members);
    noted_ = 0;
    noted_count_ = 0;
    if (r.time < r.begin) find("begin", "is after the last poll");
    if (raw(r.judged) == raw(PollClass::kEven) && !local) {
      find("judged", "is not settled, as the merge does");
    }
    if ((raw(r.flags) & kPollGoesOn) != 0 && !any_) {
      find("flags", kNothingBefore);
    }
    any_ = true;
    awaits_ = raw(r.end) == raw(PollEnd::kFound) && (raw(r.flags) & kPollAlone) == 0;
    if (!works_) lengths(r, (r.time - r.begin).value, find);
  }
  template <class R, class Find>
  void lengths(const R& r, double length, Find&& find) {
    constexpr double kResolution = 1e-9;  // of the clocks that are read before and behind each poll
    const double parts = r.called.value + r.paused.value + r.rest.value;
    const double most = length + (static_cast<double>(raw(r.count)) + 1) * kResolution;
    // (What began before a cut counts whole where its end is.)
    const bool whole = (raw(r.flags) & kPollBegunBefore) == 0;
    if (whole && raw(r.judged) != raw(PollClass::kWorks) && parts > most) {
      find("rest", "and the other times are longer than the series");
    }
  }
  template <class Find>
  void member(const MpiPoll& r, Find&& find) {
    if (raw(r.kind) == raw(PollKind::kLong) && raw(r.count) != 0) {
      find("count", "is not 0, though its poll is another member's");
    }
    if (due_ == 0) {  // of the whole series that follows
      ++noted_;
      noted_count_ += raw(r.count);
      return;
    }
    if (r.first_enter < begin_ || (!works_ && time_ < r.first_enter)) find("first_enter", kOrder);
    if (r.last_enter < r.first_enter || (!works_ && time_ < r.last_enter)) {
      find("last_enter", kOrder);
    }
    noted_count_ += raw(r.count);
    if (--due_ == 0) {
      if (noted_count_ != count_) find("count", "does not add up to that of the series");
      noted_count_ = 0;
    }
  }
  template <class Find>
  void lacks_members(Find&& find) {
    if (due_ == 0) return;
    due_ = 0;
    noted_count_ = 0;
    find("", "stands where a member of a series is missing");
  }

  Seconds begin_, time_;
  std::uint64_t count_ = 0, noted_count_ = 0;
  std::uint32_t due_ = 0;    // members of the last MPI_POLLED that are still to come
  std::uint32_t noted_ = 0;  // members before a whole series
  bool works_ = false;
  bool any_ = false;     // a series has been
  bool awaits_ = false;  // what it found is still to come
};

}  // namespace kojak
