// Calls of MPI that come out of a communication library: the program called the library, and what
// it computes lies between these calls.
//
// Where the trace tells the function by which the program called the library (kLibraryFunction),
// all calls of MPI out of one such call are one bound, with that function and the program's line.
// The call of the library goes on while the next call of MPI comes out of the same function, called
// at the same place, and is not the one that it began with: a loop around the library's function
// has the same place in each turn, and what it computes is the program's.
#pragma once

#include <limits>
#include <vector>

#include "earl/aspects/call_tree.h"
#include "epilog/format/communication_libraries.h"
#include "epilog/format/definitions.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

inline constexpr CallPathIndex kNoCallPath = std::numeric_limits<CallPathIndex>::max();

// Of each call path the one of the library's function that it comes out of.
class LibraryCalls {
 public:
  LibraryCalls() = default;
  // Both must outlive it. Paths may still be added to the tree.
  LibraryCalls(const earl::CallTree& tree, const Definitions& definitions)
      : tree_(&tree), definitions_(&definitions) {
    definitions.regions.for_each(
        [&](RegionId, const RegionDef& region) { any_ = any_ || region.type == kLibraryFunction; });
  }
  // Both null: nothing is known of call paths.
  const earl::CallTree* tree() const { return tree_; }
  const Definitions* definitions() const { return definitions_; }
  bool any() const { return any_; }
  // kNoCallPath: none.
  CallPathIndex around(CallPathIndex path) const {
    if (!any_ || path == kNoCallPath) [[likely]]
      return kNoCallPath;
    if (path >= around_.size()) learn();
    return path < around_.size() ? around_[path] : kNoCallPath;
  }

 private:
  void learn() const {
    while (around_.size() < tree_->size()) {
      const earl::CallPath& path =
          (*tree_)[static_cast<CallPathId>(static_cast<std::uint32_t>(around_.size()))];
      const RegionDef* const above = is_absent(path.parent)
                                         ? nullptr
                                         : definitions_->regions.find((*tree_)[path.parent].region);
      around_.push_back(above != nullptr && above->type == kLibraryFunction ? raw(path.parent)
                                                                            : kNoCallPath);
    }
  }

  const earl::CallTree* tree_ = nullptr;
  const Definitions* definitions_ = nullptr;
  bool any_ = false;
  mutable std::vector<CallPathIndex> around_;
};

// What lies around the computing of one location: the call before it, and the call behind it.
class CallBounds {
 public:
  // A call begins, in no other call. What was computed since the last one lies within the library's
  // function `inside()`, or, if that is kNoCallPath, between `before()` and `after()`.
  void enter(CallPathIndex path, const LibraryCalls& library) {
    const CallPathIndex around = library.around(path);
    const bool goes_on = around != kNoCallPath && around == around_ && path != first_;
    inside_ = goes_on ? around : kNoCallPath;
    before_ = last_;
    after_ = around != kNoCallPath ? around : path;
    if (!goes_on) first_ = path;
    around_ = around;
  }
  void leave() { last_ = after_; }
  // A region of the program is entered or left outside of calls: it is not the library that
  // computes.
  void computes() { around_ = kNoCallPath; }
  // After the last event.
  void finish() {
    inside_ = kNoCallPath;
    before_ = last_;
    after_ = kNoCallPath;
  }
  CallPathIndex inside() const { return inside_; }
  CallPathIndex before() const { return before_; }
  CallPathIndex after() const { return after_; }

 private:
  CallPathIndex first_ = kNoCallPath;   // that the library's function began with
  CallPathIndex around_ = kNoCallPath;  // the library's function of the last call
  CallPathIndex last_ = kNoCallPath;
  CallPathIndex inside_ = kNoCallPath, before_ = kNoCallPath, after_ = kNoCallPath;
};

}  // namespace kojak::expert
