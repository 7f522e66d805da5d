// Makes the records of a local trace from the events of one location of an OTF2 archive.
//
// What an archive says in other words than EPILOG is put together here, call by call: which epoch a
// group synchronisation begins or ends is known by the region that it stands in, a flush's target
// by the operations that it completed. Completions of one-sided operations are not used otherwise:
// the merge knows by MPI's rules which call completes what. Memory: what is open, and 64 bytes for
// each non-blocking collective operation. Not thread-safe; nothing fails here (LocalTrace keeps
// errors). Source: docs/exchange.md, the table of records.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/otf2elg/local_trace.h"

namespace kojak::otf2 {

// What was not taken over, by the name of what it is.
using LeftOut = std::map<std::string, std::uint64_t>;

// What the locations of a process share.
struct ProcessState {
  std::uint32_t operations = 0, requests = 0;
};

class Converter {
 public:
  Converter(const ArchiveDefinitions& definitions, LocalTrace& out, ProcessState& process,
            bool atomics_in_elements, LeftOut& left_out)
      : definitions_(definitions),
        out_(out),
        process_(process),
        atomics_in_elements_(atomics_in_elements),
        left_out_(left_out) {}

  // For Archive::read, with this as the receiver; the caller deletes them.
  static OTF2_EvtReaderCallbacks* callbacks();
  // After the last event.
  void finish();
  std::uint64_t events() const { return events_; }

 private:
  friend struct Callbacks;

  enum class Leaves : std::uint8_t { kPlain, kCollective, kWindowCollective, kEpoch, kTeam };
  struct Frame {
    OTF2_RegionRef ref = 0;
    const LocalTrace::Region* region = nullptr;  // null: the program
    Seconds enter;
    Leaves leaves = Leaves::kPlain;
    // Of what leaves it.
    std::uint32_t root = kAbsent;
    CommId comm = absent<CommId>();
    WindowId window = absent<WindowId>();
    std::uint64_t sent = 0, received = 0;
    bool ends_epoch = false;
    // Written right before its exit.
    enum class Lock : std::uint8_t { kNone, kLock, kLockAll, kUnlock, kUnlockAll, kFlush };
    Lock lock = Lock::kNone;
    std::uint32_t target = kAbsent;
    bool exclusive = false;
    bool created = false;  // comm is made by this call
    // The operation that it is.
    std::uint8_t transfer = 0;  // MPI_RMA_CALL's kind
    std::uint32_t operation = 0;
  };
  struct Held {  // a lock
    OTF2_RmaWinRef window;
    std::uint32_t target;  // kAbsent: all
  };
  struct Posted {
    std::uint64_t offset;
    MpiRecvRequest record;
  };
  struct Begun {
    std::uint64_t offset;
    MpiCollBegin record;
    bool complete;
  };
  struct Pending {  // an operation, by window and number
    std::uint32_t target = 0, operation = 0;
    bool by_request = false;
  };

  Seconds seconds(OTF2_TimeStamp time) {
    ++events_;
    const auto ticks =
        static_cast<double>(static_cast<std::int64_t>(time - definitions_.first_tick));
    return {ticks / static_cast<double>(definitions_.ticks_per_second)};
  }
  // Of the innermost call; null if it is none of MPI.
  const MpiFunction* function() const {
    return stack_.empty() || stack_.back().region == nullptr ? nullptr
                                                             : stack_.back().region->function;
  }
  MpiRole role() const {
    const MpiFunction* const called = function();
    return called == nullptr ? MpiRole::kOther : called->role;
  }
  // The call that the event is about; one that nobody leaves if the archive has none.
  Frame& call() {
    if (!stack_.empty()) return stack_.back();
    outside_ = {};
    return outside_;
  }
  template <class Record>
  void write(const Record& record) {
    write_enter();
    out_.write(record);
  }
  void write_enter();
  void enter(Seconds time, OTF2_RegionRef ref, CallSiteId site);
  void leave(Seconds time);
  void write_leaving(const Frame& frame, Seconds time);
  void write_lock(const Frame& frame, Seconds time);
  void write_transfer(const Frame& frame, Seconds time);
  RequestId request(std::uint64_t number);
  Bytes bytes_field(Byte kind, std::uint64_t bytes);
  void transfer(OTF2_RmaWinRef window, std::uint32_t remote, std::uint8_t kind, std::uint64_t bytes,
                std::uint64_t got, std::uint64_t matching);
  void completed(Seconds time, OTF2_RmaWinRef window, std::uint64_t matching);
  void flush_is_known(OTF2_RmaWinRef window, std::uint32_t target);
  void guess_flush(Frame& frame);

  const ArchiveDefinitions& definitions_;
  LocalTrace& out_;
  ProcessState& process_;
  bool atomics_in_elements_;
  LeftOut& left_out_;
  std::vector<Frame> stack_;
  Frame outside_;
  bool enter_is_due_ = false;  // that of the innermost region: nothing was written since
  std::vector<Held> held_;
  std::unordered_map<std::uint64_t, RequestId> requests_;
  std::unordered_map<std::uint64_t, Posted> posted_;
  std::vector<Begun> begun_;
  std::unordered_map<std::uint64_t, std::size_t> open_begun_;
  struct Numbered {  // matching numbers are a window's own
    OTF2_RmaWinRef window;
    std::uint64_t number;
    bool operator==(const Numbered&) const = default;
  };
  struct HashNumbered {
    std::size_t operator()(const Numbered& n) const {
      return std::hash<std::uint64_t>()(n.number * 0x9E3779B97F4A7C15 + n.window);
    }
  };
  std::unordered_map<Numbered, Pending, HashNumbered> pending_;
  std::map<CommId, std::uint64_t> creations_;
  std::uint64_t events_ = 0;
};

}  // namespace kojak::otf2
