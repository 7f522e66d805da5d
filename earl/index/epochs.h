// State aspects: access and exposure epochs, epoch pairs, access and exposure transactions; fence
// epochs and passive-target epochs. All as numbers of events.
//
// An epoch has the events that begin and end it and the transfers issued in it; a transfer belongs
// to the epoch that its origin had open towards the target when it was issued (a lock of the target
// or of all; else a started access epoch that names it; else the fence epoch). The n-th access
// epoch of o that names t on a window corresponds to the n-th exposure epoch of t that names o.
// What an event completed is there until the next event is applied. Epochs belong to processes:
// their constituents may lie on different threads. Feed apply() every event (filled in, see
// region_stacks.h) in file order. Which epochs correspond is the analysis' rule
// (earl/aspects/epoch_partners.h). record() and restore(): epoch_columns.cc. Memory: open epochs,
// and closed ones until the last transaction or transfer that they take part in is complete.
// References are good until the next apply(). Source: docs/earl.md; docs/merge.md. The streaming
// pass has an implementation of its own (earl/aspects/gats.h, fences.h, passive.h), which keeps
// calls instead of numbers and sums instead of transfers; a test compares them. Both ask the same
// rules: which calls move an epoch (epilog/format/epoch_moves.h), which one claims a transfer, what
// a state record says (epilog/model/window_standing.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "earl/aspects/epoch_partners.h"
#include "earl/detail/group_table.h"
#include "earl/index/interval_column.h"
#include "earl/index/transfer_queues.h"
#include "earl/pool.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

enum class EpochMode : std::uint8_t { kAccess, kExposure, kFence, kLock, kLockAll };

// A put (PUT_1TS, PUT_1TE; with lock grants PUT_1TO) or a get (GET_1TO, GET_1TS, GET_1TE).
struct Operation {
  std::uint64_t start = kNoEvent;
  std::uint64_t end = kNoEvent;  // kNoEvent: not complete yet
  ProcessId target{};
  std::uint32_t issued_before : 30 = 0;  // how far the GET_1TO or PUT_1TO stands before the start
  std::uint32_t get : 1 = 0;
  std::uint32_t marked : 1 = 0;  // the merge could not place it: it takes part in no pattern
  // The event at the origin that issued it.
  std::uint64_t issued() const { return start - issued_before; }
};

struct Epoch {
  // A process on the other side of an access or exposure epoch.
  struct Partner {
    ProcessId process{};
    std::uint64_t ordinal = 0;    // of the epochs between the two, from 0
    std::uint32_t epoch = kNone;  // its epoch; kNone: has not begun, or never will
    std::uint32_t index = 0;      // this epoch's place among its partners

    // Kept by Epochs: the events with which it was named, and with which its epoch was made.
    std::uint64_t named = 0, linked = kNoEvent;
  };
  EpochMode mode{};
  ProcessId process{};
  WindowId window{};
  CommId group = absent<CommId>();    // access, exposure
  std::uint64_t opened = kNoEvent;    // exit of start, post, the fence before; WIN_LOCK(_ALL)
  std::uint64_t closed = kNoEvent;    // exit of complete, wait, true test, fence; WIN_UNLOCK(_ALL)
  ProcessId target{};                 // lock
  bool exclusive = false;             // lock
  std::uint64_t ordinal = 0;          // fence: number of the fence that closes it
  std::vector<Partner> partners;      // access, exposure: in group order
  std::vector<Operation> operations;  // not of exposure epochs: those are their origins'
  bool complete() const { return opened != kNoEvent && closed != kNoEvent; }

  // Kept by Epochs. Events: that made it; with which it was no longer open; with which it was
  // complete, as which of those that were complete then.
  std::uint64_t made = 0, left = kNoEvent, done = kNoEvent;
  std::uint32_t done_as = 0;
  std::uint32_t unclosed = 0, unended = 0, refs = 0;
  bool live = false, is_closed = false, ready = false, delivered = false;
  bool regular = true;  // its partners are the group's processes; else EPOCH_STATEs named some
};

// An access epoch and the corresponding exposure epoch, without transfers to others.
struct EpochPair {
  const Epoch* access;
  const Epoch* exposure;
  // Numbers of all its events, ascending.
  std::vector<std::uint64_t> events() const;
};

// An access epoch with all its exposure epochs, or an exposure epoch with all its access epochs;
// transfers only between the two sides.
struct Transaction {
  const Epoch* root;
  std::vector<const Epoch*> partners;  // in group order; nullptr: not recorded
  bool whole() const;                  // nothing is missing
  std::vector<std::uint64_t> events() const;
};

class Epochs {
 public:
  explicit Epochs(const Trace& trace);

  void apply(const Event& event) {
    if (!completed_.empty() || closed_ != kNone) [[unlikely]]
      release_completed(event.pos);
    const bool enter = is_enter(event.type);
    if (enter ? event.reg == trace_->pausing_region() : event.type != EventType::kExit) {
      now_ = event.pos;
      change(event);
    }
  }

  // ---- what is open after the latest event
  // The open epoch of a process on a window; nullptr if there is none.
  const Epoch* access(ProcessId process, WindowId window) const;
  const Epoch* exposure(ProcessId process, WindowId window) const;
  const Epoch* fence(ProcessId process, WindowId window) const;
  // The process's open lock of the target, or of all.
  const Epoch* lock(ProcessId process, WindowId window, ProcessId target) const;
  const Epoch* lock_all(ProcessId process, WindowId window) const;
  // f(const Epoch&) for all that are not over, waiting ones of closed transactions among them.
  template <class F>
  void for_each(F&& f) const {
    for (std::uint32_t i = 0; i < epochs_.capacity(); ++i) {
      if (epochs_[i].live && !epochs_[i].delivered) f(epochs_[i]);
    }
  }
  const Epoch& operator[](std::uint32_t epoch) const { return epochs_[epoch]; }

  // ---- what the latest event completed
  // It is the end of an access or exposure epoch: the completed pair with that partner.
  std::optional<EpochPair> epoch_pair(ProcessId partner) const;
  std::vector<EpochPair> epoch_pairs() const;
  std::vector<Transaction> access_transactions() const { return completed(EpochMode::kAccess); }
  std::vector<Transaction> exposure_transactions() const { return completed(EpochMode::kExposure); }
  // Fence and passive-target epochs whose end and last transfer have come.
  std::vector<const Epoch*> finished() const;

  // Epochs, as long as they or others that they belong to are not over, with all that they were.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);
  // What there is after an event, into an object that nothing has been applied to.
  void restore(const IntervalColumn& log, std::uint64_t pos);

 private:
  struct Transfer {  // that has not ended
    std::uint32_t id = 0, epoch = kNone, operation = 0;
    bool empty() const { return epoch == kNone; }
  };

  void change(const Event& event);
  ProcessId process(std::uint32_t location) const;
  MpiRole role_of(const Event& event) const;
  std::uint32_t make(EpochMode mode, ProcessId process, WindowId window, std::uint64_t opened);
  std::uint32_t find_open(ProcessId process, EpochMode mode, WindowId window) const;
  std::uint32_t find_lock(ProcessId process, WindowId window, ProcessId target) const;
  std::uint32_t take_open(ProcessId process, EpochMode mode, WindowId window);
  std::uint32_t find_covering(ProcessId origin, WindowId window, ProcessId target) const;

  void win_exit(const Event& e, ProcessId process);
  void open_sided(EpochMode mode, const Event& e, ProcessId process);
  void close_sided(EpochMode mode, const Event& e, ProcessId process);
  void fence(const Event& e, ProcessId process);
  void free(const Event& e, ProcessId process);
  void lock(const Event& e, ProcessId process, bool all);
  void unlock(const Event& e, ProcessId process, bool all);
  void issue(const Event& e, ProcessId origin, ProcessId target, bool get);
  void end(const Event& e, ProcessId origin);
  void resume_window(const Event& e, ProcessId process);
  void resume(const Event& e, ProcessId process);
  void pause(std::uint32_t index, ProcessId process);

  // sides and their partners (epoch_sides.cc)
  friend EpochPartners;
  void name_partners(std::uint32_t epoch, CommId group);
  void add_partner(std::uint32_t epoch, ProcessId partner, std::uint64_t ordinal,
                   EpochPartners::Pair& pair);
  void link(std::uint32_t access, std::uint32_t target, std::uint32_t exposure,
            std::uint32_t origin);
  void lose(EpochSide side, std::uint32_t epoch, std::uint32_t partner);
  void close(std::uint32_t epoch);
  void check(std::uint32_t epoch);
  void release_completed(std::uint64_t now);
  void unref(std::uint32_t epoch);
  [[gnu::noinline]] void log(const Epoch& epoch, std::uint64_t end);
  void read(const IntervalColumn::Row& row, std::uint64_t pos, Epoch& to);
  void join(std::span<const std::uint32_t> epochs);
  void couple(std::uint32_t a, std::uint32_t in_a, std::uint32_t b, std::uint32_t in_b);
  std::vector<Transaction> completed(EpochMode mode) const;
  std::optional<EpochPair> pair_of(const Epoch& epoch, const Epoch::Partner& partner) const;

  const Trace* trace_;
  mutable detail::GroupTable groups_;
  Pool<Epoch> epochs_;
  std::vector<std::vector<std::uint32_t>> open_;  // by process
  EpochPartners partners_;
  detail::TransferTable<Transfer> transfers_;
  OriginQueues origins_;
  std::map<WindowId, std::uint32_t> freed_;                         // how many members have
  std::map<std::pair<WindowId, ProcessId>, std::uint64_t> fences_;  // counts so far
  std::set<std::pair<WindowId, ProcessId>> no_succeed_;  // their next fence has MPI_MODE_NOSUCCEED
  std::vector<std::uint32_t> pauses_;                    // by location
  std::vector<std::uint32_t> completed_;                 // with the latest event
  std::uint32_t closed_ = kNone;                         // access or exposure epoch that it ended
  bool marked_ = false;                                  // an RMA_MARK is for the next end
  std::uint64_t now_ = 0;                                // the event that is being applied
  IntervalColumn* log_ = nullptr;
  std::vector<std::byte> contents_;  // of the column's next row
};

}  // namespace kojak::earl::sequence
