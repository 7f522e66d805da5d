// State aspect: operations of a communicator whose number stands in their records: non-blocking and
// persistent collectives from MPI_COLL_BEGIN to the completion of their requests, and calls that a
// group makes together (MPI_GROUP_CALL). What is handed out is said in collectives.h.
//
// Feed it the records in file order; leave() at the exit of every call that completed a request
// (its reference is not 0), drain() after each begin(). Memory: open operations x members that have
// begun them, and open requests; when too much waits for a member that never comes, the oldest is
// given up. Not thread-safe; faults are counted.
#pragma once

#include <vector>

#include "earl/aspects/collectives.h"
#include "earl/detail/flat_index.h"
#include "earl/detail/group_table.h"
#include "earl/detail/request_table.h"
#include "earl/pool.h"

namespace kojak::earl {

class NumberedCollectives {
 public:
  NumberedCollectives(detail::GroupTable& groups, std::uint32_t processes, Findings& findings)
      : groups_(groups), findings_(findings), requests_of_(processes) {}

  struct Number {
    CommId com{};
    std::uint64_t key = 0, ordinal = 0;
    bool operator==(const Number&) const = default;
    std::uint64_t hash() const { return detail::mix(detail::mix(raw(com), key), ordinal); }
  };

  // MPI_COLL_BEGIN. The operation if this was the last member to begin it, else nullptr.
  const CollectiveInstance* begin(const OpenCall& call, std::uint64_t pos, const MpiCollBegin& r,
                                  PeerId root);
  // REQUEST_STATE of a collective that was begun where nothing was recorded, or before the cut that
  // the trace is. With kBegunBefore it counts as begun when that was written, which is no later
  // than what the others do in the cut; without, nobody knows when. As begin().
  const CollectiveInstance* resume(const OpenCall& call, std::uint64_t pos, const RequestState& r,
                                   PeerId root);
  // What an open request of the process is, likewise; 0 if it is none of these.
  std::uint8_t kind_of(ProcessId process, RequestId id) const;
  // MPI_REQUEST_COMPLETE of a collective. `wait_ref` belongs to the region instance that it lies in
  // (0 at first). What it was: kCompletedBarrier or kCompletedCollective.
  std::uint8_t complete(const Call& call, std::uint64_t pos, RequestId id, std::uint32_t& wait_ref);
  // The call that `wait_ref` belongs to has been left; f(const CollectiveWait&) as soon as its
  // operations have been begun by all.
  template <class F>
  void leave(std::uint32_t wait_ref, const Call& call, F&& f) {
    PendingWait& wait = waits_[wait_ref - 1];
    if (wait.open == 0) {
      deliver(wait_ref, call, f);
    } else {
      wait.call = call;
      wait.left = true;
    }
  }
  // Waits that have become final otherwise.
  template <class F>
  void drain(F&& f) {
    while (!ready_.empty()) {
      const std::uint32_t ref = ready_.back();
      ready_.pop_back();
      deliver(ref, waits_[ref - 1].call, f);
    }
  }
  // MPI_GROUP_CALL at the exit of its call: the instance that it completes, or nullptr. Valid until
  // the next call.
  const CollectiveInstance* leave_group_call(const Call& call, const Number& number);
  // Recording of the process was switched off: its open requests may complete unseen.
  void pause(ProcessId process);
  // f(const CollectiveInstance&) for all that stay incomplete; counts them. drain() then delivers
  // the waits for them.
  template <class F>
  void finish(std::uint64_t pos, F&& f) {
    while (oldest_ != kNone) {
      const Operation& operation = operations_[oldest_];
      findings_.add(Finding::kIncompleteBegun, pos);
      f(static_cast<const CollectiveInstance&>(operation));
      give_up(oldest_);
    }
  }
  std::size_t open() const { return operations_.live(); }
  // No operation is begun by some and not by others, or not known to be complete where it was.
  bool at_rest() const { return oldest_ == kNone && requests_.live() == 0 && waits_.live() == 0; }

 private:
  static constexpr std::size_t kMaxMembers = 1u << 18;

  struct Operation : CollectiveInstance {
    Number number;
    std::uint32_t older = kNone, newer = kNone;  // of those that are incomplete
    std::uint32_t refs = 0;                      // requests and waits
    std::vector<std::uint32_t> waits;            // for its completion
  };
  struct OpenRequest {
    RequestId id{};
    std::uint32_t operation = kNone;  // kNone: on a communicator of unknown identity
    std::uint32_t member = 0;
    bool barrier = false;
  };
  struct PendingWait {
    Call call;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> completed;  // operation, member
    std::uint32_t open = 0;  // operations that are incomplete
    bool left = false;
  };

  std::uint32_t join(const OpenCall& call, std::uint64_t pos, const Number& number,
                     const MpiFunction* function, std::uint32_t& rank);
  OpenRequest& open(ProcessId process, RequestId id);
  CollectiveMember& add(std::uint32_t operation, const OpenCall& call, std::uint32_t rank,
                        PeerId root);
  bool settle(std::uint32_t operation, std::uint64_t pos, LocationId loc);
  void close(std::uint32_t operation);
  void give_up(std::uint32_t operation);
  void release_waits(Operation& operation);
  void unref(std::uint32_t operation);
  template <class F>
  void deliver(std::uint32_t ref, const Call& call, F&& f) {
    PendingWait& wait = waits_[ref - 1];
    out_.clear();
    for (const auto& [operation, member] : wait.completed) {
      if (operations_[operation].complete && !operations_[operation].mixed) {
        out_.push_back({&operations_[operation], member});
      }
    }
    if (!out_.empty()) f(CollectiveWait{&call, out_});
    for (const auto& [operation, member] : wait.completed) unref(operation);
    wait.completed.clear();
    waits_.give_back(ref - 1);
  }

  detail::GroupTable& groups_;
  Findings& findings_;
  Pool<Operation> operations_;
  detail::FlatIndex<Number> incomplete_;
  std::uint32_t oldest_ = kNone, newest_ = kNone;
  std::size_t members_ = 0;  // of incomplete ones
  Pool<OpenRequest> requests_;
  std::vector<detail::RequestTable> requests_of_;  // by process
  Pool<PendingWait> waits_;                        // references are numbers + 1
  std::vector<std::uint32_t> ready_;
  std::vector<CompletedOperation> out_;
  std::uint32_t delivered_ = kNone;  // group call, or an operation nobody refers to
};

}  // namespace kojak::earl
