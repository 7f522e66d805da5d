// OpenMP: which thread created the tasks that a thread executes, and where in the program.
//
// Told of the tasks that threads enter with who created them (ATTR_UI4, created by), and of the
// regions that are left. A task that was suspended and goes on counts once more. Memory: places in
// the program x pairs of threads.
// Source: docs/patterns, Wait at Taskwait.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "earl/trace.h"
#include "expert/patterns/openmp/created_tasks.h"

namespace kojak::expert {

class OmpTasks {
 public:
  explicit OmpTasks(const earl::Trace& trace) : trace_(trace), open_(trace.location_count()) {}

  void on_task(const earl::OpenCall& task, ThreadId creator) {
    open_[task.index].push_back({task.cnode, creator});
  }
  void on_call(const earl::Call& call) {
    std::vector<Open>& open = open_[call.index];
    if (open.empty() || open.back().cnode != call.cnode) return;
    const std::uint32_t creator = location_of(call.process, open.back().creator);
    open.pop_back();
    if (creator == kAbsent) return;
    Tasks& tasks = found_[{raw(call.region), raw(call.csite), creator}];
    if (tasks.shares.empty()) tasks.call_path = raw(call.cnode);
    CreatedTasks::Share& share = tasks.shares[call.index];
    share.thread = call.index;
    ++share.count;
    share.sum.add((call.exit - call.enter).value);
  }
  // In the order of their places.
  std::vector<CreatedTasks> take() {
    std::vector<CreatedTasks> all;
    for (const auto& [key, tasks] : found_) {
      CreatedTasks& out = all.emplace_back();
      out.call_path = tasks.call_path;
      out.creator = std::get<2>(key);
      for (const auto& [thread, share] : tasks.shares) out.shares.push_back(share);
    }
    found_.clear();
    return all;
  }

 private:
  struct Open {
    CallPathId cnode;
    ThreadId creator;
  };
  struct Tasks {
    CallPathIndex call_path = 0;
    std::map<LocationIndex, CreatedTasks::Share> shares;
  };
  std::uint32_t location_of(ProcessId process, ThreadId thread) {
    if (threads_.empty()) {
      for (std::uint32_t i = 0; i < trace_.location_count(); ++i) {
        const LocationDef& def = trace_.location_def(i);
        threads_[{def.process, def.thread}] = i;
      }
    }
    const auto found = threads_.find({process, thread});
    return found != threads_.end() ? found->second : kAbsent;
  }

  const earl::Trace& trace_;
  std::vector<std::vector<Open>> open_;  // by location
  std::map<std::tuple<std::uint32_t, std::uint32_t, LocationIndex>, Tasks> found_;
  std::map<std::pair<ProcessId, ThreadId>, std::uint32_t> threads_;
};

}  // namespace kojak::expert
