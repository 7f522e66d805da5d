// State aspect: the call tree: distinct call paths, by region and call site, with visits per
// location.
//
// Feed it every event (filled in, see region_stacks.h) in file order. Paths are numbered in order
// of their first ENTER in the file. Memory: call paths x locations that visited them.
// Source: docs/earl.md.
#pragma once

#include <vector>

#include "earl/aspects/call_tree.h"
#include "earl/index/visit_marks.h"
#include "earl/trace.h"

namespace kojak::earl {
class EventIndex;
}

namespace kojak::earl::sequence {

class CallPaths {
 public:
  explicit CallPaths(const Trace& trace)
      : trace_(&trace), tree_(&trace.definitions()), open_(trace.location_count()) {}

  KOJAK_INLINED void apply(const Event& event) {
    const std::uint32_t i = trace_->index(event.loc);
    if (i == kAbsent) [[unlikely]]
      return;
    std::vector<CallPathId>& open = open_[i];
    if (is_enter(event.type)) {
      const CallPathId parent = open.empty() ? absent<CallPathId>() : open.back();
      current_ = tree_.enter(parent, event.reg, event.csite, event.pos);
      open.push_back(current_);
      // What was entered with it counts, too, on the way from the open region.
      for (CallPathId at = current_; at != parent; at = tree_[at].parent) count(at, i);
      if (log_ != nullptr && (*log_)[i].due()) [[unlikely]]
        mark(event.pos, i);
      return;
    }
    current_ = open.empty() ? absent<CallPathId>() : open.back();
    if (is_exit(event.type) && event.enterptr != kNoEvent && !open.empty()) open.pop_back();
  }
  // The call path of the latest event; absent outside any region.
  CallPathId current() const { return current_; }
  const CallTree& tree() const { return tree_; }
  std::uint64_t visits(CallPathId path, std::uint32_t index) const {
    if (index_ != nullptr) return indexed_visits(path, index);
    const std::vector<std::uint64_t>& list = visits_[raw(path)];
    return index < list.size() ? list[index] : 0;
  }

  // Visits every few thousand ENTERs, by location.
  void record(std::vector<VisitMarks>* log) { log_ = log; }
  // What there is after an event: visits are looked up in the index, which must outlive this.
  void restore(const EventIndex& index, std::uint64_t pos, CallPathId current);

 private:
  void count(CallPathId path, std::uint32_t index) {
    if (raw(path) >= visits_.size()) visits_.resize(raw(path) + 1);
    std::vector<std::uint64_t>& list = visits_[raw(path)];
    if (index >= list.size()) list.resize(index + 1);
    ++list[index];
  }
  void mark(std::uint64_t pos, std::uint32_t index);
  std::uint64_t indexed_visits(CallPathId path, std::uint32_t index) const;

  const Trace* trace_;
  std::vector<VisitMarks>* log_ = nullptr;
  const EventIndex* index_ = nullptr;
  std::uint64_t pos_ = 0;
  CallTree tree_;
  std::vector<std::vector<CallPathId>> open_;       // by location
  std::vector<std::vector<std::uint64_t>> visits_;  // by call path, by location
  CallPathId current_ = absent<CallPathId>();
};

}  // namespace kojak::earl::sequence
