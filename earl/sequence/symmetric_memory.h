// SHMEM: which record tells where an operation works (placeptr), and which write to a variable
// ended the waiting for it (writeptr).
//
// Feed it every event in file order, with the region filled in. What is not complete yet is in the
// transfer queues. Memory: the writes of symmetric_memory.h in earl/state. Not thread-safe; nothing
// fails. Source: docs/earl.md.
#pragma once

#include <vector>

#include "earl/state/symmetric_memory.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

class SymmetricMemory {
 public:
  explicit SymmetricMemory(const Trace& trace);
  void apply(const Event& e) {
    placeptr_ = writeptr_ = kNoEvent;
    if (any_) [[unlikely]]
      follow(e);
  }
  // Of the latest event: a PUT_1TS, or a GET_1TO; a SHMEM_WAIT.
  std::uint64_t placeptr() const { return placeptr_; }
  std::uint64_t writeptr() const { return writeptr_; }

 private:
  struct Place {
    std::uint64_t pos = kNoEvent, enter = kNoEvent, offset = SymmetricPlace::kUnknown;
    RmaId rmaid{};
  };
  void follow(const Event& e);
  void find_place(const Event& e, const Place& place);
  bool awaits(RegionId region) const;

  const Trace* trace_;
  bool any_ = false;           // the trace has regions of SHMEM
  std::vector<bool> awaits_;   // by region: it may wait for a variable
  std::vector<Place> places_;  // by location: the latest
  SymmetricWrites writes_;
  std::uint64_t placeptr_ = kNoEvent, writeptr_ = kNoEvent;
};

}  // namespace kojak::earl::sequence
