// State aspect of SHMEM: the queue of operations of each process and context that were issued and
// are not complete. With the pointers: which record tells where an operation works (placeptr), and
// which write to a variable ended the waiting for it (writeptr).
//
// An operation leaves the queue with SHMEM_QUIET of its context, if it was issued before the call
// that quiets was entered or by the same location, or, if it is complete when its
// call returns, with its own end in that call (epilog/model/shmem_completion.h): in both models of
// the merge, and wherever the end of a put stands. One without SHMEM_PLACE is blocking, in the
// default context. Feed it every event in file order, with region and enterptr. Memory: the queues,
// and the writes of symmetric_memory.h in earl/aspects. Source:
// docs/earl.md.
#pragma once

#include <map>
#include <vector>

#include "earl/aspects/symmetric_memory.h"
#include "earl/index/interval_column.h"
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
  // PUT_1TS and GET_1TO of a process, in file order; context kAbsent: of all contexts.
  std::vector<std::uint64_t> queue(ProcessId process, std::uint32_t context = kAbsent) const;

  // From PUT_1TS or GET_1TO to what completes it.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);
  // An operation that is in the queue after an event; operations in file order. Pointers of the
  // event.
  void restore(const Event& issued, std::uint32_t context);
  void restore_pointers(std::uint64_t placeptr, std::uint64_t writeptr) {
    placeptr_ = placeptr;
    writeptr_ = writeptr;
  }

  // Pointers of the latest event, a PUT_1TS or GET_1TO; a SHMEM_WAIT.
  std::uint64_t placeptr() const { return placeptr_; }
  std::uint64_t writeptr() const { return writeptr_; }

 private:
  struct Place {
    std::uint64_t pos = kNoEvent, enter = kNoEvent, offset = SymmetricPlace::kUnknown;
    RmaId rmaid{};
    std::uint32_t context = 0;
    std::uint8_t flags = 0;
    bool got = false;  // the get of a get-and-put, or of a get, has been issued
  };
  struct Issued {
    std::uint64_t pos;
    std::uint32_t location;
    LocationId target;
    bool get;
  };
  struct Operation {
    std::uint64_t pos;
    RmaId rmaid;
    std::uint32_t context;
  };
  struct Queue {
    std::map<std::uint32_t, std::vector<Issued>> until_quiet;  // by context
    std::vector<Operation> in_call;
  };
  void follow(const Event& e);
  void find_place(const Event& e, const Place& place);
  void issue(const Event& e, ProcessId process, const Place& place);
  void end(const Event& e, LocationId origin);
  void quiet(const Event& e, std::uint32_t location, ProcessId process);
  bool awaits(RegionId region) const;
  bool quiets(RegionId region) const;

  const Trace* trace_;
  bool any_ = false;           // the trace has regions of SHMEM
  std::vector<bool> awaits_;   // by region: it may wait for a variable
  std::vector<bool> quiets_;   // by region: it may complete a context
  std::vector<Place> places_;  // by location: the latest
  std::vector<Queue> queues_;  // by process
  // The series of tests that a location's open call is, or ends.
  struct Series {
    bool goes_on = false, alone = false;
  };
  std::uint64_t waits_since(const Event& e, std::uint32_t location) const;

  std::vector<Series> series_;  // by location
  SymmetricWrites writes_;
  IntervalColumn* log_ = nullptr;
  std::uint64_t placeptr_ = kNoEvent, writeptr_ = kNoEvent;
};

}  // namespace kojak::earl::sequence
