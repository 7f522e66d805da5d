// State aspect: who wrote to the symmetric memory of a process while that waited for a variable.
//
// A call that waited for a variable names it at its end (SHMEM_WAIT). The operation that satisfied
// it is the last one to the variable, of those that were issued before the call ended. One that was
// issued before the call began did not make it wait, so operations are kept only while such a call
// of their target is open, one for each range of bytes. Tests in a series of polls are such a call;
// between parts of one that may go on the operations are kept up to the location's next such call,
// or quiet. Memory: those.
// Source: OpenSHMEM 1.5, 9.9 and 9.10.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "earl/call.h"
#include "earl/event.h"
#include "epilog/format/field_values.h"
#include "epilog/format/shmem_functions.h"

namespace kojak::earl {

// What a call has completed: SHMEM_QUIET.
struct Quiet {
  std::uint32_t context = kAbsent;         // absent: all
  std::uint8_t kind = 0;                   // bits of field_values.h
  ProcessId target = absent<ProcessId>();  // absent: operations to all processes
  // Whether operations of that sort are complete at both sides.
  bool puts() const { return (kind & kQuietLocal) == 0; }
  bool gets() const { return (kind & kQuietPuts) == 0; }
};

// Where an operation of SHMEM works, and how: SHMEM_PLACE.
struct SymmetricPlace {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t offset = kUnknown;
  std::uint32_t context = 0;
  std::uint8_t flags = 0;

  bool known() const { return offset != kUnknown; }
  bool non_blocking() const { return (flags & kPlaceNonBlocking) != 0; }
  bool atomic() const { return (flags & kPlaceAtomic) != 0; }
  bool signal() const { return (flags & kPlaceSignal) != 0; }
};

// An operation that writes to the memory of a process.
struct SymmetricWrite {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t pos = 0;  // of its PUT_1TS
  OpenCall call;          // that issued it
};

// A variable that a call waited for, or tested, and found as it wanted it.
struct AwaitedVariable {
  std::uint64_t pos = 0;  // of SHMEM_WAIT, or of MPI_OPEN_CALL, which tells the offset only
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint8_t comparison = 0;
  std::uint64_t value = 0;
  // The last write to it, if that was issued while the call was open; else null.
  const SymmetricWrite* write = nullptr;
};

// At the exit of a call that found variables as it wanted them.
struct SymmetricWait {
  const Call* call = nullptr;
  std::span<const AwaitedVariable> variables;
};

// At the exit of a call that got a lock of SHMEM, or gave it back. Where a process tells after a
// gap that it holds one, or no longer does, the call stands for that moment: without length, in the
// region instance that the process is in, if any.
struct SymmetricLock {
  const Call* call = nullptr;
  LockId lock{};
  bool acquired = false;
  ProcessId granted_by = absent<ProcessId>();  // absent: unknown
};

class SymmetricWrites {
 public:
  SymmetricWrites(std::uint32_t processes, std::uint32_t locations)
      : processes_(processes), locations_(locations) {}

  // A location enters a call that may wait for a variable, or leaves one.
  void enter(ProcessId process, std::uint32_t location) {
    ++processes_[raw(process)].calls;
    end_stretch(process, location);
  }
  void leave(ProcessId process) { release(process); }
  // In place of that: it leaves a series of tests, which may go on.
  void leave_part(std::uint32_t location, std::uint64_t begun) {
    locations_[location] = {begun, true};
  }
  // The parts that the location's call goes on began with this event.
  std::uint64_t begun(std::uint32_t location) const { return locations_[location].begun; }
  // Nothing goes on any more.
  void end_stretch(ProcessId process, std::uint32_t location) {
    if (std::exchange(locations_[location].may_go_on, false)) release(process);
  }
  bool followed(ProcessId target) const { return processes_[raw(target)].calls != 0; }
  void issue(ProcessId target, const SymmetricWrite& write) {
    processes_[raw(target)].writes[{write.offset, write.bytes}] = write;
  }
  // The last one behind `since` that wrote to one of those bytes; null if there is none.
  const SymmetricWrite* last(ProcessId target, std::uint64_t offset, std::uint64_t bytes,
                             std::uint64_t since) const {
    const SymmetricWrite* latest = nullptr;
    for (const auto& [range, w] : processes_[raw(target)].writes) {
      if (offset + bytes <= w.offset) break;
      const bool meets = w.offset < offset + bytes && offset < w.offset + w.bytes;
      if (meets && (latest == nullptr || latest->pos < w.pos)) latest = &w;
    }
    return latest == nullptr || latest->pos < since ? nullptr : latest;
  }

 private:
  void release(ProcessId process) {
    Process& p = processes_[raw(process)];
    if (p.calls != 0 && --p.calls == 0) p.writes.clear();
  }

  struct Process {
    std::uint32_t calls = 0;                                                   // open
    std::map<std::pair<std::uint64_t, std::uint64_t>, SymmetricWrite> writes;  // by range
  };
  struct Location {
    std::uint64_t begun = kNoEvent;  // ENTER of the latest stretch of tests
    bool may_go_on = false;
  };
  std::vector<Process> processes_;
  std::vector<Location> locations_;
};

}  // namespace kojak::earl
