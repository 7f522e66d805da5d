// State aspect of values in windows that a process reads, or swaps, again and again: which
// operation has changed the value that it found at last (writeptr), and which one had taken the
// lock that it has got (holderptr).
//
// Pointers of MPI_VALUE. They follow the rules of Late Notification and Lock Contention
// (earl/aspects/window_writes.h): of a value that the target stored itself, or that may be of
// several, nothing is told; nor of a lock that nobody had while it was polled for. Feed it every
// event in file order, with enterptr. Memory: that of window_writes.h, the last reads of each
// location, and the places that its last series asked for. Source: docs/earl.md.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "earl/aspects/window_writes.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

class WindowValues {
 public:
  explicit WindowValues(const Trace& trace);
  void apply(const Event& e) {
    writeptr_ = holderptr_ = kNoEvent;
    if (is_exit(e.type) && any_) ++exits_[e.loc];
    if (is_flow(e.type)) [[likely]]
      return;
    follow(e);
  }
  // Of the latest event, a MPI_VALUE: the PUT_1TS of an operation.
  std::uint64_t writeptr() const { return writeptr_; }
  std::uint64_t holderptr() const { return holderptr_; }
  void restore_pointers(std::uint64_t writeptr, std::uint64_t holderptr) {
    writeptr_ = writeptr;
    holderptr_ = holderptr;
  }

 private:
  static constexpr std::size_t kMostReads = 16;
  struct Issued {
    std::uint64_t pos = kNoEvent;  // PUT_1TS
    LocationId location{};
    std::uint64_t exits = 0;  // of its location, before it
  };
  // PUT_1TS, or the ENTER of the call, and when that was entered.
  struct At {
    std::uint64_t pos = kNoEvent;
    Seconds enter;
    bool operator==(const At&) const = default;
  };
  using Writes = WindowWrites<Issued>;
  using Locks = SwapLocks<At, At>;
  struct Read {
    RmaId rmaid = absent<RmaId>();
    WindowId window{};
    ProcessId target{};
    std::uint64_t first = 0, bytes = 0;
    bool swaps = false;
    At issued;                     // by ENTER
    std::uint64_t put = kNoEvent;  // of a swap: its PUT_1TS
  };
  // What the series of a location ask for, that go on in one another.
  struct Asked {
    Seconds first, last;  // enter of the first poll, and of the last one
  };
  struct Location {
    std::array<Read, kMostReads> reads;
    std::size_t next_read = 0;
    std::uint32_t placed = kAbsent;  // the put that the latest place is of
    Event place;
    std::map<Locks::Place, Asked> asked;
    bool found = false;  // the last series ended with a find, which has not come
  };

  void follow(const Event& e);
  void place(const Event& e, Location& at, ProcessId process);
  void put(const Event& e, Location& at, ProcessId process);
  void poll(const Event& e, Location& at);
  void value(const Event& e, Location& at, ProcessId process);
  void end(const Event& e);
  void took(const Read& read, const std::deque<Locks::Holding>& turns, const Asked& asked,
            ProcessId process);
  ProcessId process(std::uint32_t location) const;

  const Trace* trace_;
  bool any_ = false;  // some place is known
  Writes writes_;
  Locks locks_;
  std::map<LocationId, Location> locations_;
  std::map<LocationId, std::uint64_t> exits_;
  std::uint64_t writeptr_ = kNoEvent, holderptr_ = kNoEvent;
};

}  // namespace kojak::earl::sequence
