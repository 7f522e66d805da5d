// The members of communicators and windows, looked up quickly: rank of a process, size, how many of
// them the trace has.
//
// Refers to the definitions, which must outlive it; an index is made when first asked for. Not
// thread-safe; unknown identifiers give nullptr.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "earl/detail/rank_index.h"
#include "earl/trace.h"

namespace kojak::earl::detail {

struct GroupInfo {
  RankIndex ranks;
  const CommDef* def = nullptr;
  std::uint32_t present = 0;  // members with a location in the trace
};

class GroupTable {
 public:
  explicit GroupTable(const Trace& trace) : trace_(trace) {}

  const GroupInfo* find(CommId com) {
    if (raw(com) < made_.size() && made_[raw(com)]) [[likely]]
      return made_[raw(com)].get();
    return make(com);
  }
  const WindowDef* window(WindowId window) const {
    return trace_.definitions().windows.find(window);
  }
  const GroupInfo* find(WindowId id) {
    const WindowDef* def = window(id);
    return def == nullptr ? nullptr : find(def->comm);
  }
  bool present(ProcessId process) const { return trace_.main_index(process) != kAbsent; }
  std::uint32_t processes() const { return trace_.process_count(); }

 private:
  const GroupInfo* make(CommId com);
  const Trace& trace_;
  std::vector<std::unique_ptr<GroupInfo>> made_;
  std::map<CommId, std::unique_ptr<GroupInfo>> far_;
};

}  // namespace kojak::earl::detail
