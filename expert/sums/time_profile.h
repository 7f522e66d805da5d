// Time and visits of every call path and location, and which class the time belongs to.
//
// The class of a call path is that of its region, by the table of MPI functions; only a Wait or
// Test call is classed by what it completed. Memory: call paths x locations.
// Source: docs/patterns.
#pragma once

#include <algorithm>
#include <vector>

#include "earl/aspects/call_tree.h"
#include "earl/call.h"
#include "expert/metrics/time_class.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

class TimeProfile {
 public:
  explicit TimeProfile(const Setting& setting)
      : definitions_(&setting.definitions()),
        services_(setting.services),
        severities_(setting.severities),
        cells_(setting.locations()) {}

  KOJAK_INLINED void on_call(const earl::Call& call) {
    const auto call_path = static_cast<CallPathIndex>(raw(call.cnode));
    if (call_path >= paths_.size() || paths_[call_path].row == nullptr) [[unlikely]]
      learn(call);
    const Path& path = paths_[call_path];
    Cell& cell = path.row[call.index];
    ++cell.visits;
    if (call.nests && !path.by_completion && !services_.any()) {
      cell.time += TimeSum(std::max<Ticks>(call.own(), 0));  // where times go back, it can be less
      return;
    }
    double time = call.exclusive.value > 0 ? call.exclusive.value : 0;
    if (services_.any()) [[unlikely]]
      time -= take_service(call, call_path, time);
    if (path.by_completion && class_of_completed(call.completed) != path.time_class) {
      severities_.add(metric_of_class(class_of_completed(call.completed)), call_path, call.index,
                      time);
    } else {
      cell.time.add(time);
    }
  }
  // At the end, the innermost one of a location first: another one counts its time, without what
  // has ended in it here. (What is open in it has not, though the replay ends that, too.)
  void leave_open(const earl::Call& call) {
    learn(call);
    const Ticks open = open_.location == call.index ? open_.time : 0;
    paths_[raw(call.cnode)].row[call.index].time -= TimeSum(call.nested - open);
    open_ = {call.index, earl::ticks_between(call.enter.value, call.exit.value)};
  }
  // Further calls of a call path, whose time is another's: those of a series of polls.
  void on_polls(const earl::OpenCall& at, std::uint64_t calls) {
    const auto call_path = static_cast<CallPathIndex>(raw(at.cnode));
    if (call_path >= paths_.size() || paths_[call_path].row == nullptr) learn(at);
    paths_[call_path].row[at.index].visits += static_cast<std::int64_t>(calls);
  }
  // Moves everything to the severities, row by row, so that nothing is held twice. Functions that
  // were entered with a call, as its call path tells, are visited with it.
  void finish(const earl::CallTree& tree);

 private:
  struct Cell {
    TimeSum time;
    std::int64_t visits = 0;
  };
  struct Path {
    Cell* row = nullptr;  // null: never left yet
    TimeClass time_class = TimeClass::kUser;
    bool by_completion = false;
  };
  void learn(const earl::OpenCall& call);
  // Counts what of the call's own time was service, and says how much that was.
  double take_service(const earl::Call& call, CallPathIndex path, double time);
  static MetricIndex metric_of_class(TimeClass c);

  // What leave_open() was told of last.
  struct Open {
    LocationIndex location = ~LocationIndex{0};  // none
    Ticks time = 0;
  };

  const Definitions* definitions_;
  const Services& services_;
  Open open_;
  std::vector<double> served_;  // by location: time of calls that have ended
  SeverityStore& severities_;
  RowTable<Cell> cells_;
  std::vector<Path> paths_;
};

}  // namespace kojak::expert
