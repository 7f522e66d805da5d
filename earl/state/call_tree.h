// State aspect: the call tree: distinct call paths by region and call site.
//
// Call paths are numbered in order of their first ENTER, on any location. Memory: call paths. Not
// thread-safe; nothing fails. Source: EARL spec, "call tree", cnodeptr.
#pragma once

#include <cstdint>
#include <vector>

#include "earl/event.h"

namespace kojak::earl {

struct CallPath {
  CallPathId parent = absent<CallPathId>();  // absent at a root
  RegionId region{};
  CallSiteId csite = absent<CallSiteId>();
  std::uint64_t first_enter = kNoEvent;  // cnodeptr
};

class CallTree {
 public:
  CallTree();
  // The call path of `region`, entered from `csite` (may be absent) in `parent` (absent: a root).
  CallPathId enter(CallPathId parent, RegionId region, CallSiteId csite, std::uint64_t pos) {
    const CallPathId last = is_absent(parent) ? last_root_ : last_child_[raw(parent)];
    if (!is_absent(last)) [[likely]] {
      const CallPath& path = paths_[raw(last)];
      if (path.region == region && path.csite == csite) return last;
    }
    const CallPathId found = find_or_add(parent, region, csite, pos);
    (is_absent(parent) ? last_root_ : last_child_[raw(parent)]) = found;
    return found;
  }
  std::size_t size() const { return paths_.size(); }
  const CallPath& operator[](CallPathId id) const { return paths_[raw(id)]; }

 private:
  CallPathId find_or_add(CallPathId parent, RegionId region, CallSiteId csite, std::uint64_t pos);
  void grow();

  std::vector<CallPath> paths_;
  std::vector<CallPathId> last_child_;  // by call path: the child entered last
  CallPathId last_root_ = absent<CallPathId>();
  std::vector<std::uint32_t> table_;  // open addressing over (parent, region, csite); 0 is empty
};

}  // namespace kojak::earl
