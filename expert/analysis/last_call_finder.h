// In which call each process stood when the run ended before it did, since when, and for whom.
//
// A process that was ended from outside, or by a fault, leaves PROCESS_ENDED in the trace; what its
// last call was about stands in MPI_OPEN_CALL and MPI_AWAITS. Who has not come is told by what the
// replay leaves open at the end: posts and completes, messages, locks, members of collectives.
// Processes that wait for each other so that none of them can go on are a deadlock; one circle of
// each is named. In a trace of a run that ended well this costs nothing and finds nothing. Memory:
// processes, and what is open at the end.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "earl/replay.h"
#include "expert/analysis/last_calls.h"

namespace kojak::expert {

class LastCallFinder {
 public:
  explicit LastCallFinder(const Definitions& definitions) : definitions_(definitions) {}

  // Some location has left a note, or was ended.
  bool any() const { return !open_calls_.empty(); }

  // From the replay. The first four of every event; the rest counts only after them, at the end.
  void on_open_call(const earl::OpenCall& call, const MpiOpenCall& note);
  void on_awaits(const earl::OpenCall& call, const MpiAwaits& awaited);
  void on_process_end(const earl::OpenCall& call, Seconds last, Seconds time);
  void on_enter(const earl::OpenCall& call) { open_calls_.erase(call.index); }
  void on_exit(const earl::Call& call);
  void on_collective(const earl::CollectiveInstance& instance);
  void on_collective_unbegun(const earl::CollectiveInstance& instance);
  void on_window_collective(const earl::WindowInstance& instance);
  void on_access_transaction(const earl::AccessEpoch& epoch);
  void on_exposure_transaction(const earl::ExposureEpoch& epoch);
  void on_passive_epoch(const earl::PassiveEpoch& epoch);
  // Of every event, too.
  void on_symmetric_lock(const earl::SymmetricLock& lock);
  void on_unreceived(const earl::Message& message);
  void on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag);

  LastCalls finish();

 private:
  using Rank = std::uint32_t;
  using Ranks = std::set<Rank>;

  struct OpenCallState {
    earl::OpenCall call;
    MpiOpenCall note{};
    std::vector<MpiAwaits> awaits;
    const ShmemFunction* shmem = nullptr;  // that may wait
    bool noted = false;
    bool ended = false;   // PROCESS_ENDED
    bool closed = false;  // its call has been left, at `until`
    Seconds since, until;

    MpiRole role() const { return call.role(); }
    bool outside() const { return call.function == nullptr && shmem == nullptr; }
    Rank process() const { return raw(call.process); }
  };
  struct Envelope {
    Rank source, destination;
    CommId com;
    Tag tag;
  };
  struct OpenOperation {  // a collective or window operation that some have left
    std::uint32_t object;
    std::uint64_t ordinal;
    MpiRole role;
    Ranks left;
  };
  struct OpenEpoch {  // of an origin to targets, or of a target to origins
    Rank process;
    WindowId window;
    bool finished;
    Ranks there, missing;
  };
  struct Lock {
    Rank origin, target;
    WindowId window;
    bool all, exclusive;
  };

  void resolve(const OpenCallState& s, LastCall& call) const;
  void for_messages(const OpenCallState& s, LastCall& call) const;
  void for_requests(const OpenCallState& s, LastCall& call) const;
  void for_collective(const OpenCallState& s, LastCall& call) const;
  void for_window_members(const OpenCallState& s, LastCall& call) const;
  void for_start(const OpenCallState& s, LastCall& call) const;
  void for_complete(const OpenCallState& s, LastCall& call) const;
  void for_wait(const OpenCallState& s, LastCall& call) const;
  void for_lock(const OpenCallState& s, LastCall& call) const;
  void for_transfer(const OpenCallState& s, LastCall& call) const;
  void for_begun(const OpenCallState& s, LastCall& call) const;
  void for_finalize(const OpenCallState& s, LastCall& call) const;
  void for_shmem(const OpenCallState& s, LastCall& call) const;
  void for_shmem_members(const OpenCallState& s, LastCall& call) const;
  void not_there(const OpenCallState& s, const Ranks& members, const Ranks& left,
                 LastCall& call) const;

  const ShmemFunction* shmem_of(const earl::OpenCall& call) const;
  std::string library() const;
  const OpenCallState* of_process(Rank process) const;
  Ranks members_of(CommId com) const;
  Ranks members_of(WindowId window) const;
  bool sent(Rank source, Rank destination, CommId com, Tag tag) const;
  bool taken(Rank source, Rank destination, CommId com, Tag tag) const;
  std::vector<std::vector<Rank>> find_deadlocks(const std::vector<LastCall>& calls) const;

  const Definitions& definitions_;
  std::map<std::uint32_t, OpenCallState> open_calls_;  // by location
  std::vector<Envelope> unreceived_, unmet_;
  std::vector<OpenOperation> collectives_, windows_;
  std::map<std::uint32_t, Ranks> begun_;  // communicator: who has begun what others have not
  std::vector<OpenEpoch> accesses_, exposures_;
  std::vector<Lock> locks_;
  std::map<std::uint32_t, Rank> holders_;  // of SHMEM's locks; kAbsent: nobody
};

}  // namespace kojak::expert
