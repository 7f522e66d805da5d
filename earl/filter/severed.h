// What a cut cuts through: operations of several processes of which it keeps only a part.
//
// A first pass over the whole trace puts operations together as the analysis does. Where some of an
// operation's calls or events are selected and others are not, the selected ones are listed here:
// the calls stay in the cut, but lose the events that tie them to other processes. So whatever the
// cut keeps of messages, collectives, window synchronisations and epochs is whole. Epochs that are
// tied to each other over several processes are kept or cut together. Calls are named by the
// position of their ENTER, SENDs and RECVs by their own. Memory: what is cut through, and what is
// open in the trace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "earl/aspects/polls.h"
#include "earl/filter/selection.h"
#include "earl/trace.h"

namespace kojak::filter {

class Severed {
 public:
  void add(std::uint64_t pos) { positions_.push_back(pos); }
  void add_request(ProcessId process, RequestId request) {
    if (!is_absent(request)) requests_.push_back(key(process, request));
  }
  // The time of the last event that was seen.
  Seconds end() const { return end_; }
  void seen(Seconds time) { end_ = std::max(end_, time); }
  // After the last add.
  void finish();
  bool contains(std::uint64_t pos) const;
  // A receive whose message is in the cut, and which was posted where nothing is selected.
  void carry_request(ProcessId process, RequestId request) {
    if (!is_absent(request)) carried_.push_back(key(process, request));
  }
  bool carries_request(ProcessId process, RequestId request) const;
  // A receive that was posted, but whose message is not in the cut.
  bool has_request(ProcessId process, RequestId request) const;
  // A series of polls that goes on behind the cut, by the ENTER of its instance.
  void add_series(std::uint64_t enter_pos, const earl::PolledSeries& series) {
    series_.emplace(enter_pos, series);
  }
  const earl::PolledSeries* series(std::uint64_t enter_pos) const {
    const auto found = series_.find(enter_pos);
    return found == series_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return positions_.size(); }

 private:
  static std::uint64_t key(ProcessId process, RequestId request) {
    return std::uint64_t{raw(process)} << 32 | raw(request);
  }
  std::vector<std::uint64_t> positions_, requests_, carried_;
  std::map<std::uint64_t, earl::PolledSeries> series_;
  Seconds end_{-HUGE_VAL};
};

// Reads the trace to its end. The selection learns where the named regions are.
Severed find_severed(earl::Trace& trace, Selection& selection,
                     const std::function<void(std::uint64_t event)>& progress);

}  // namespace kojak::filter
