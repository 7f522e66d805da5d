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
    const Last& last = is_absent(parent) ? last_root_ : last_[raw(parent)];
    if (last.region == region && last.csite == csite) [[likely]]
      return last.child;
    return find_or_add(parent, region, csite, pos);
  }
  std::size_t size() const { return paths_.size(); }
  const CallPath& operator[](CallPathId id) const { return paths_[raw(id)]; }

 private:
  CallPathId find_or_add(CallPathId parent, RegionId region, CallSiteId csite, std::uint64_t pos);
  void grow();

  struct Last {  // the child entered last
    RegionId region = absent<RegionId>();
    CallSiteId csite{};
    CallPathId child{};
  };
  std::vector<CallPath> paths_;
  std::vector<Last> last_;  // by call path
  Last last_root_;
  std::vector<std::uint32_t> table_;  // open addressing over (parent, region, csite); 0 is empty
};

}  // namespace kojak::earl
