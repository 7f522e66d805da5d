// State aspect: the call tree: distinct call paths by region and call site.
//
// A call site may say which sites led to it (CALL_SITE_CALLER): then their functions are call paths
// of their own above it, entered with it. Call paths are numbered in order of their first ENTER, on
// any location. The definitions must outlive the tree while enter() is called. Memory: call paths,
// and the pairs of a call path and a site with callers that was entered in it.
// Source: docs/earl.md.
#pragma once

#include <cstdint>
#include <vector>

#include "earl/event.h"
#include "epilog/format/definitions.h"

namespace kojak::earl {

struct CallPath {
  CallPathId parent = absent<CallPathId>();  // absent at a root
  RegionId region{};
  CallSiteId csite = absent<CallSiteId>();
  std::uint64_t first_enter = kNoEvent;  // cnodeptr
};

class CallTree {
 public:
  // Without definitions no site has callers.
  explicit CallTree(const Definitions* definitions = nullptr);
  // The call path of `region`, entered from `csite` (may be absent) while `open` is (absent: no
  // region is open).
  KOJAK_INLINED CallPathId enter(CallPathId open, RegionId region, CallSiteId csite,
                                 std::uint64_t pos) {
    const Last& last = is_absent(open) ? last_root_ : last_[raw(open)];
    if (last.region == region && last.csite == csite) [[likely]]
      return last.child;
    return find_or_add(open, region, csite, pos);
  }
  // The call path right below `parent`: sites that led to `csite` are there already.
  CallPathId add(CallPathId parent, RegionId region, CallSiteId csite, std::uint64_t pos) {
    return entry({parent, region, csite, pos}, false);
  }
  // The call paths of the functions that led to `path` and were entered with it, innermost first:
  // f(CallPathId).
  template <class F>
  void for_each_entered_with(CallPathId path, F&& f) const {
    for (std::size_t i = 0; i < kMostSiteCallers && has_caller(paths_[raw(path)].csite); ++i) {
      path = paths_[raw(path)].parent;
      f(path);
    }
  }
  std::size_t size() const { return paths_.size(); }
  const CallPath& operator[](CallPathId id) const { return paths_[raw(id)]; }

 private:
  CallPathId find_or_add(CallPathId open, RegionId region, CallSiteId csite, std::uint64_t pos);
  CallPathId entry(const CallPath& path, bool jumps);
  CallPathId add_with_callers(CallPathId open, RegionId region, CallSiteId csite,
                              std::uint64_t pos);
  bool has_caller(CallSiteId csite) const;
  void grow();

  struct Last {  // the child entered last
    RegionId region = absent<RegionId>();
    CallSiteId csite{};
    CallPathId child{};
  };
  // What a region entered from a site leads to: right below `parent`, or below the site's callers.
  struct Entry {
    CallPathId parent;
    RegionId region;
    CallSiteId csite;
    bool jumps;
    CallPathId child;
  };
  const Definitions* definitions_;
  std::vector<CallPath> paths_;
  std::vector<Last> last_;  // by call path
  Last last_root_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> table_;  // open addressing over entries; 0 is empty
};

}  // namespace kojak::earl
