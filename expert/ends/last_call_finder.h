// In which call each process stood when the run ended before it did, since when, and for whom.
//
// A process that was ended from outside, or by a fault, leaves PROCESS_ENDED in the trace; what its
// last call was about stands in MPI_OPEN_CALL and MPI_AWAITS. Who has not come is told by what the
// replay leaves open at the end: posts and completes, messages, locks, members of collectives.
// Processes that wait for each other so that none of them can go on are a deadlock; one circle of
// each is named. What a process computed that never came back to MPI its samples tell. In a trace
// of a run that ended well this costs nothing and finds nothing. Memory and time: processes, what
// is open at the end, and the places of samples between two events; no list of that is gone through
// for each entry of another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "earl/aspects/polls.h"
#include "earl/replay.h"
#include "expert/ends/envelopes.h"
#include "expert/ends/last_calls.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

class LastCallFinder {
 public:
  // pausing: the region that stands for a time in which recording was off.
  explicit LastCallFinder(const Setting& setting);

  // Some location has left a note, or was ended.
  bool any() const { return !open_calls_.empty(); }

  // From the replay. What comes of every event:
  void on_enter(const earl::OpenCall& call) {
    if (any()) [[unlikely]]
      open_calls_.erase(call.index);
    if (!open_polls_.empty()) [[unlikely]]  // what was noted behind it came later
      open_polls_.erase(call.index);
  }
  void on_call(const earl::Call& call) {
    note_call(call);
    if (any()) [[unlikely]]
      note_exit(call);
  }
  void on_open_call(const earl::OpenCall& call, const MpiOpenCall& note);
  void on_awaits(const earl::OpenCall& call, const MpiAwaits& awaited);
  void on_process_end(const earl::OpenCall& call, Seconds last, Seconds time);
  void on_symmetric_lock(const earl::SymmetricLock& lock);
  void on_request_tested(const earl::OpenCall& call, RequestId request) {
    lately_[call.index].tested = request;
  }
  void on_first_sample(const earl::OpenCall& in) { sampled_[in.index].clear(); }
  void on_sample(const earl::OpenCall& in, Seconds /*time*/, CallSiteId site, std::uint32_t count) {
    sampled_[in.index][site] += count;
  }
  // What counts only at the end, when it is known that some location has left a note.
  void on_collective(const earl::CollectiveInstance& instance);
  // Polls that are part of the call that is open.
  void on_polls(const earl::OpenCall& at, std::uint64_t calls) {
    lately_[at.index].joined += calls;
  }
  // A series that was open when its process ended is what that was in.
  void on_polled(const earl::OpenCall& at, const earl::PolledSeries& series) {
    if (raw(series.polled.end) == raw(PollEnd::kProcessEnded)) [[unlikely]]
      open_polls_[at.index] = series;
  }
  void on_collective_unbegun(const earl::CollectiveInstance& instance);
  void on_window_collective(const earl::WindowInstance& instance);
  void on_access_transaction(const earl::AccessEpoch& epoch);
  void on_exposure_transaction(const earl::ExposureEpoch& epoch);
  void on_passive_epoch(const earl::PassiveEpoch& epoch);
  void on_unreceived(const earl::Message& message);
  void on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag,
                        RequestId request);

  LastCalls finish();

 private:
  void note_call(const earl::Call& call) {
    if (call.incomplete) [[unlikely]]
      cut_.try_emplace(call.index, call);
    Lately& lately = lately_[call.index];
    lately.seen = true;
    const std::size_t region = raw(call.region);
    Kind kind = region < kinds_.size() ? kinds_[region] : Kind::kOther;
    if (kind == Kind::kOther) return;
    if (call.joined) [[unlikely]]
      kind = Kind::kPoll;  // also where it reads
    if (kind == Kind::kPause) {
      lately.paused = true;
      return;
    }
    if (kind == Kind::kPoll) {
      if (lately.polls == 0) lately.first = call.enter;
      lately.polls += 1 + lately.joined;
    } else {
      lately.polls = 0;
    }
    lately.joined = 0;
    lately.asked = lately.tested;
    lately.of_several = call.role() != MpiRole::kTest && call.role() != MpiRole::kRequestGetStatus;
    lately.tested = absent<RequestId>();
    lately.left = call.exit;
    lately.path = raw(call.cnode);
  }
  void note_exit(const earl::Call& call);

  using Rank = std::uint32_t;
  using Ranks = std::set<Rank>;

  // What a region is to note_call.
  enum class Kind : std::uint8_t { kOther, kLibrary, kPoll, kPause };
  struct Lately {
    std::uint64_t polls = 0;   // in a row
    std::uint64_t joined = 0;  // part of the call that is open
    Seconds first, left;       // enter of the first of them; exit of the last call of MPI or SHMEM
    std::uint32_t path = kLeftNone;  // of that
    bool paused = false;             // recording was off for a time
    bool seen = false;
    bool of_several = false;                 // `asked` is the first of several requests
    RequestId tested = absent<RequestId>();  // by the call that is open
    RequestId asked = absent<RequestId>();   // by the last one
  };

  struct OpenCallState {
    earl::OpenCall call;
    MpiOpenCall note{};
    std::vector<MpiAwaits> awaits;
    const ShmemFunction* shmem = nullptr;  // that may wait
    bool noted = false;
    bool ended = false;   // PROCESS_ENDED
    bool paused = false;  // recording was off then
    bool cut = false;     // its trace ends in the midst of it
    bool closed = false;  // its call has been left, at `until`
    Seconds since, until;

    MpiRole role() const { return call.role(); }
    bool outside() const { return call.function == nullptr && shmem == nullptr; }
    Rank process() const { return raw(call.process); }
  };
  struct OpenEpoch {  // of an origin to targets, or of a target to origins
    Ranks there, missing;
  };
  struct Holders {  // of a lock
    Ranks exclusive, shared, proven;
  };
  struct OwnLock {
    std::size_t number = 0;  // the last one counts
    bool exclusive = false;
  };
  using Epoch = std::pair<Rank, WindowId>;  // of a process
  using Object = std::uint32_t;             // a communicator, or a window
  using Operation = std::tuple<Object, std::uint64_t, MpiRole>;
  // Who stands in the same call: whether the object is a window, which one, the ordinal.
  using Meeting = std::tuple<bool, Object, std::uint64_t>;
  using ShmemMeeting = std::tuple<const ShmemFunction*, CommId, std::uint64_t>;
  static constexpr Rank kAll = kAbsent;      // a lock of all targets
  static constexpr Rank kAny = kAbsent - 1;  // whatever the target is

  struct Attendance {
    Ranks there;                                   // in the same function
    std::map<Rank, const MpiFunction*> elsewhere;  // in another one of its kind
    std::optional<Ranks> missing;                  // of all members, once somebody has asked
  };

  void index_open_calls();
  void resolve(const OpenCallState& s, LastCall& call);
  void for_messages(const OpenCallState& s, LastCall& call) const;
  void for_requests(const OpenCallState& s, LastCall& call) const;
  void for_collective(const OpenCallState& s, LastCall& call);
  void for_window_members(const OpenCallState& s, LastCall& call);
  void for_start(const OpenCallState& s, LastCall& call) const;
  void for_complete(const OpenCallState& s, LastCall& call) const;
  void for_wait(const OpenCallState& s, LastCall& call) const;
  void for_lock(const OpenCallState& s, LastCall& call) const;
  void for_transfer(const OpenCallState& s, LastCall& call) const;
  void for_begun(const OpenCallState& s, LastCall& call) const;
  void for_finalize(const OpenCallState& s, LastCall& call) const;
  void for_shmem(const OpenCallState& s, LastCall& call);
  void for_shmem_members(const OpenCallState& s, LastCall& call);
  Attendance& attendance(const OpenCallState& s);
  static Ranks missing_of(const Ranks& members, const Operation& operation,
                          const std::map<Operation, Ranks>& operations,
                          const Attendance& attendance);
  void not_there(const OpenCallState& s, const Ranks& missing, const Attendance& attendance,
                 LastCall& call) const;
  bool locks(Rank origin, WindowId window, Rank target) const;

  const ShmemFunction* shmem_of(const earl::OpenCall& call) const;
  std::string library() const;
  std::string one_of_shmem(Rank rank) const;  // "rank 3", "thread 3"
  Ranks members_of(CommId com) const;
  Ranks members_of(WindowId window) const;
  Ranks possible_senders(CommId com, Rank to) const;
  bool foreign(CommId com) const;
  bool foreign(WindowId window) const;
  bool in_other_worlds(const OpenCallState& s) const;
  void add_cut();
  bool sent(Rank source, Rank destination, CommId com, Tag tag) const;
  bool taken(Rank source, Rank destination, CommId com, Tag tag) const;

  std::string asked_for(const OpenCallState& s, const MpiPoll& member) const;
  std::string asked_for(const OpenCallState& s, RequestId request) const;
  // Of a test of SHMEM.
  std::string tested_for(const MpiPoll& member) const;
  void look_back(const OpenCallState& s, LastCall& call) const;

  const Definitions& definitions_;
  const std::string_view process_word_;
  RegionId pausing_;
  std::vector<Kind> kinds_;                                 // by region
  std::vector<Lately> lately_;                              // by location
  std::map<std::uint32_t, earl::OpenCall> cut_;             // what no record has ended, by location
  std::map<ProcessId, const char*> unrecorded_;             // of which calls are missing, and why
  std::map<std::uint32_t, OpenCallState> open_calls_;       // by location
  std::map<std::uint32_t, earl::PolledSeries> open_polls_;  // by location: at its end
  std::map<std::uint32_t, std::map<CallSiteId, double>> sampled_;  // by location, since it acted
  Envelopes sent_, received_;  // messages and receives that are there, or on their way
  std::map<Rank, std::vector<Envelope>> unreceived_;                 // by source
  std::map<Rank, std::vector<Envelope>> unmet_;                      // receives, by destination
  std::map<std::pair<Rank, RequestId>, std::string> open_requests_;  // of both, in words
  std::set<std::pair<Rank, Rank>> unreceived_pairs_;                 // source and destination
  std::map<Operation, Ranks> collectives_, windows_;  // who has left what others have not
  std::map<std::uint32_t, Ranks> begun_;  // communicator: who has begun what others have not
  std::map<Epoch, OpenEpoch> accesses_;   // the first one that is open
  std::map<Epoch, Ranks> unposted_;       // of the first one that lacks a post: whose
  std::map<Epoch, Ranks> uncompleted_;    // of the first exposure that lacks a complete: whose
  std::set<std::tuple<Rank, WindowId, Rank>> posted_;  // target, and an origin that does not access
  std::map<std::pair<WindowId, Rank>, Holders> locked_;            // by target
  std::map<std::tuple<WindowId, Rank, Rank>, OwnLock> own_locks_;  // by origin and target
  std::size_t lock_count_ = 0;
  // Of the calls that are open when all has been read.
  std::map<Rank, const OpenCallState*> of_process_;  // the one to speak of
  std::map<Meeting, std::vector<const OpenCallState*>> meetings_;
  std::map<std::pair<Meeting, const MpiFunction*>, Attendance> attendances_;
  std::map<ShmemMeeting, Attendance> shmem_meetings_;
  std::set<std::tuple<Rank, WindowId, std::uint64_t>> fencing_;
  Ranks not_finalizing_, everybody_;
  std::map<std::uint32_t, Rank> holders_;  // of SHMEM's locks; kAbsent: nobody
};

}  // namespace kojak::expert
