// What a cut keeps: a time window, some ranks, what happens inside some regions.
//
// An event is selected if its time lies in [from, to], its process is kept, and, where regions are
// named, it lies in an instance of one of them, the ENTER and the exit record included. Which
// events lie in such instances is learned from a first pass (enter(), leave()); one pair of
// positions is kept for each outermost instance. Not thread-safe; nothing fails after make().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "earl/call.h"
#include "earl/event.h"
#include "earl/trace.h"
#include "epilog/format/definitions.h"

namespace kojak::filter {

struct Cut {
  double from, to;                // infinite: no limit
  std::set<std::uint32_t> ranks;  // empty: all
  std::set<std::string> regions;  // empty: all
};

class Selection {
 public:
  // Fails if the trace has no such rank or region: exit code 1, or 2 where the run had the rank.
  static Result<Selection> make(const Cut& cut, const earl::Trace& trace);

  const Cut& cut() const { return cut_; }
  bool by_region() const { return !cut_.regions.empty(); }
  bool process(std::uint32_t rank) const {
    return cut_.ranks.empty() || cut_.ranks.count(rank) != 0;
  }
  // Whether a region is named, or a function that is entered with it on the way to its call site.
  bool named(RegionId region, CallSiteId site) const {
    return named(region) || (!sites_.empty() && sites_.count(site) != 0);
  }
  // All of these processes.
  bool all(const RankList& ranks) const;
  // Collectives on the communicator can be whole: no member is left out.
  bool whole(const CommDef* comm) const;

  // Region instances, as they pass.
  void enter(const earl::OpenCall& call);
  void leave(const earl::Call& call);

  // Whether an event is selected; `index` is the dense number of its location.
  bool event(std::uint32_t index, ProcessId process, Seconds time, std::uint64_t pos) const;
  bool exit_of(const earl::Call& call) const {
    return event(call.index, call.process, call.exit, call.exit_pos);
  }
  // Whether anything of the process between the two calls' ends is selected.
  bool between(const earl::Call& first, const earl::Call& last) const;

 private:
  struct Instance {
    std::uint64_t begin, end;
  };
  explicit Selection(Cut cut) : cut_(std::move(cut)) {}
  bool named(RegionId region) const {
    return raw(region) < named_.size() ? named_[raw(region)] : far_.count(region) != 0;
  }
  // The last instance that begins at or before the position, or nullptr.
  const Instance* before(std::uint32_t index, std::uint64_t pos) const;

  Cut cut_;
  std::vector<bool> named_;  // by region
  std::set<RegionId> far_;
  std::set<CallSiteId> sites_;                    // with callers of which one enters a named region
  std::vector<std::vector<Instance>> instances_;  // by location
  std::vector<std::uint32_t> depth_;              // open instances of named regions
  std::map<ProcessId, std::vector<std::uint32_t>> threads_;  // numbers of a process's locations
};

}  // namespace kojak::filter
