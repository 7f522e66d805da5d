// State aspect of SHMEM: locations in a call that waits, for a lock (shmem_set_lock) or for a
// variable (shmem_wait, shmem_wait_until and its like). Who holds a lock: ThreadLocks.
//
// A call waits for a lock until its ALOCK, for variables until its exit. What it waits for stands
// in records behind its beginning: ALOCK, SHMEM_WAIT, and MPI_OPEN_CALL where the process ended in
// the call. So a stream knows it from that record on, and a state of an archive from the beginning.
// A test of a lock or a variable does not wait. Feed apply() every event in file order, with region
// and enterptr. Memory: open calls. Source: docs/earl.md;
// OpenSHMEM 1.5, 9.9 and 9.12.
#pragma once

#include <map>
#include <vector>

#include "earl/aspects/symmetric_memory.h"
#include "earl/index/interval_column.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

struct ShmemWait {
  std::uint64_t enter = kNoEvent;  // number of its ENTER
  LocationId location{};
  bool for_lock = false;  // else for variables
  // Absent, empty: nothing tells, or not yet.
  LockId lock = absent<LockId>();
  std::vector<AwaitedVariable> variables{};  // those that were found
};

class ShmemWaits {
 public:
  explicit ShmemWaits(const Trace& trace) : trace_(&trace) {}
  void apply(const Event& e) {
    if (!learned_) [[unlikely]]
      learn_regions();
    if (any_) [[unlikely]]
      follow(e);
  }
  // In order of their ENTERs.
  std::vector<ShmemWait> waits() const;
  // Those that wait for this lock.
  std::vector<ShmemWait> lock_waiters(LockId lock) const;

  // From its ENTER on, with the events that tell what a call waits for.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);
  // A call that waits, from its ENTER and its row. event(number) gives the Event.
  template <class GetEvent>
  void restore(const Event& enter, const IntervalColumn::Row& row, GetEvent&& event) {
    Open& open = begin(enter, kind_of(enter.reg));
    NumberReader in(row.contents);
    std::uint64_t at = enter.pos;
    while (!in.at_end()) open.tell(event(at += in.number()));
  }

 private:
  enum class Kind : std::uint8_t { kNothing, kLock, kVariable };
  struct Open {
    ShmemWait wait;
    std::vector<std::uint64_t> told{};  // by these events
    void tell(const Event& e);
  };
  void learn_regions();
  Kind kind_of(RegionId region) const;
  void follow(const Event& e);
  Open& begin(const Event& enter, Kind kind);
  void end(std::uint32_t location, std::uint64_t pos);
  void log(const Open& open, std::uint64_t end);

  const Trace* trace_;
  bool learned_ = false, any_ = false;  // the trace has such regions
  std::vector<Kind> kinds_;             // by region
  std::map<std::uint32_t, Open> open_;  // by location
  IntervalColumn* log_ = nullptr;
  std::vector<std::byte> contents_;  // of the column's next row
};

}  // namespace kojak::earl::sequence
