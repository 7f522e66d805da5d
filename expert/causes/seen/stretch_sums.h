// Sums of what was seen while the processes computed: of each stretch (stretches.h) at each
// location, so many values.
//
// Fed with what was seen between two events of a location, before the later one of them. A worker's
// stretches are compared with its master's (compare_as). Only computing is kept. Memory: 8 bytes
// for each value, stretch and location where something was seen. Not thread-safe; nothing fails.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "expert/causes/stretches.h"
#include "expert/causes/timeline.h"

namespace kojak::expert {

// `Value`: whole numbers, where what parts of a run have is to be added, or double.
template <class Value>
class StretchSums {
 public:
  struct Row {
    LocationIndex location;
    std::size_t first;
  };

  StretchSums(std::size_t values, const RegionClasses& classes, std::size_t locations)
      : count_(values), classes_(&classes), locations_(locations) {}

  void use(const LibraryCalls* library) { library_ = library; }
  void compare_as(CallPathIndex path, CallPathIndex as);
  void on_enter(const earl::OpenCall& call) {
    enter(call.index, raw(call.cnode), kind_of(call, *classes_));
  }
  // The location goes on behind this call, and what it did before is another part's.
  void on_goes_on(const earl::Call& from);
  void on_call(const earl::Call& call);
  // Of what this location computes now; empty if it does not.
  std::span<Value> now(LocationIndex location);

  // After the last event.
  void finish();
  // Then: what another one was told of; its call path p is paths[p] here.
  void add(const StretchSums& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    archive(rows_, sums_);
  }
  // Those who do it and of whom something was seen. Their calls' numbers are those of the master.
  std::span<const Row> rows(const Stretch& stretch) const;
  std::span<const Value> values(const Row& row) const { return {&sums_[row.first], count_}; }
  CallPathIndex compared_as(CallPathIndex path) const {
    const bool other = path < compared_as_.size() && compared_as_[path] != kNoCallPath;
    return other ? compared_as_[path] : path;
  }

 private:
  struct Open {
    CallPathIndex path;
    Timeline::Kind kind;
  };
  struct Location {
    std::vector<Open> open;
    std::size_t calls = 0;  // open ones, one in the other
    CallBounds bounds;
    std::vector<CallPathIndex> paths;  // that computed since the last call
    std::vector<Value> values;         // of each of them
  };

  void enter(LocationIndex location, CallPathIndex path, Timeline::Kind kind);
  void name(LocationIndex location);
  void add_to(const Between& stretch, LocationIndex location, const Value* values);

  std::size_t count_;
  const RegionClasses* classes_;
  const LibraryCalls* library_ = nullptr;
  std::vector<Location> locations_;
  std::vector<CallPathIndex> compared_as_;
  std::unordered_map<Between, std::vector<Row>, Between::Hash> rows_;
  std::vector<Value> sums_;
};

}  // namespace kojak::expert
