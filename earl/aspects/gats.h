// State aspect: access and exposure epochs: keeps open ones, finds which belong together, and hands
// out transactions when they are complete. gats_epochs.h says what they are and which rules hold.
//
// Feed it the calls in order of their exits, and the enters of Win_post. drain() delivers what has
// become complete; finish() the rest. Faults are counted.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "earl/aspects/epoch_partners.h"
#include "earl/aspects/gats_epochs.h"
#include "earl/detail/group_table.h"
#include "earl/many_open.h"

namespace kojak::earl {

class Gats {
 public:
  Gats(detail::GroupTable& groups, const Trace& trace, Findings& findings);

  // The exits of the four calls (of Win_test only if it returned true).
  void start(const Call& call, WindowId window, CommId group);
  const AccessEpoch& complete(const Call& call, WindowId window, CommId group);
  void post(const Call& call, WindowId window, CommId group);
  void wait(const Call& call, WindowId window, CommId group);
  // A process is inside Win_post, on whatever window; it has left it (after post()).
  void enter_post(const OpenCall& call) {
    posting_.push_back({call.process, call.index, call.enter});
  }
  void leave_post(const OpenCall& call);
  // EPOCH_STATE; `open`: its flags.
  void resume(ProcessId process, WindowId window, ProcessId peer, std::uint64_t access,
              std::uint64_t exposure, std::uint64_t ops, std::uint8_t open, std::uint64_t pos);
  void pause(ProcessId process) { partners_.pause(process); }
  // The process has freed the window; all of them have.
  void free(ProcessId process, WindowId window, std::uint64_t pos);
  void free_all(WindowId window) { partners_.forget(*this, window); }

  // Transfers: the open access epoch of the process that names the target, if there is one,
  // counts it; leave_transfer() at the exit of the call that issued it.
  bool any_open(ProcessId process) const { return !open_access_[raw(process)].empty(); }
  TransferSlot issue(ProcessId process, WindowId window, ProcessId target, RmaId rmaid, bool get);
  void leave_transfer(const TransferSlot& slot, const Call& call);
  // RMA_MARK: the epoch of the transfer, or nullptr.
  const AccessEpoch* mark(ProcessId origin, WindowId window, ProcessId target, RmaId rmaid,
                          bool get);

  // Whether drain() has anything to do at this time.
  KOJAK_INLINED bool due(Seconds now) const { return any_ready_ || now > next_due_; }
  // call(const Call&, const AccessEpoch&), exposure(const ExposureEpoch&), access(const
  // AccessEpoch&)
  template <class OnCall, class OnExposure, class OnAccess>
  void drain(Seconds now, OnCall&& on_call, OnExposure&& on_exposure, OnAccess&& on_access) {
    if (now > next_due_) settle_late_calls(now);
    while (any_ready_) {
      any_ready_ = false;
      for (std::size_t i = 0; i < ready_access_.size(); ++i) offer_all(ready_access_[i]);
      for (std::size_t i = 0; i < ready_calls_.size(); ++i) {
        on_call(static_cast<const Call&>(ready_calls_[i].call),
                static_cast<const AccessEpoch&>(accesses_[ready_calls_[i].epoch]));
        unref_access(ready_calls_[i].epoch);
      }
      ready_calls_.clear();
      for (std::size_t i = 0; i < ready_exposure_.size(); ++i) {
        on_exposure(finished<Exposure>(ready_exposure_[i]));
        release_exposure(ready_exposure_[i]);
      }
      ready_exposure_.clear();
      for (std::size_t i = 0; i < ready_access_.size(); ++i) {
        on_access(finished<Access>(ready_access_[i]));
        release_access(ready_access_[i]);
      }
      ready_access_.clear();
    }
  }
  // Makes ready what stays incomplete, and counts it; drain() then delivers it.
  void finish();

  // No epoch is open. (Calls may wait for the clocks' error to pass.)
  bool at_rest() const {
    const auto none = [](const auto& open) { return open.empty(); };
    return std::all_of(open_access_.begin(), open_access_.end(), none) &&
           std::all_of(open_exposure_.begin(), open_exposure_.end(), none) && posting_.empty() &&
           pending_.empty();
  }

 private:
  // What a partner's epoch is to an epoch.
  enum class Partner : std::uint8_t { kAwaited, kOpen, kClosed, kLost };
  // What is kept of an epoch, beside what is told of it.
  struct Kept {
    std::vector<Partner> partners;      // in the order in which it names them
    std::vector<std::uint32_t> theirs;  // by partner: their epochs' numbers
    const detail::GroupInfo* info = nullptr;
    std::uint32_t unclosed = 0;  // partners whose epoch may still be closed
    std::uint32_t refs = 0;      // epochs of partners and calls that point here
    std::uint32_t segment = 0;
    std::uint32_t place = 0;  // among those that its process has open
    bool live = false, closed = false, ready = false, delivered = false;
  };
  struct Access : AccessEpoch, Kept {
    std::vector<std::uint32_t> their_index;  // by target: this epoch's place among their origins
    std::uint32_t awaited = 0;               // targets whose post may still come
    std::uint32_t calls = 0;                 // calls that wait to be offered
    std::uint32_t hint = 0;                  // target used last
    std::uint32_t first_rmaid = 0, last_rmaid = 0;
    std::uint32_t older = 0, newer = 0;  // of the same origin
    Seconds latest_post;                 // enter, of those known
    std::uint64_t offered = kNoEvent;    // enter_pos of the call offered last

    // What both kinds of epochs have, under one name.
    using Told = AccessEpoch;
    static constexpr EpochSide kSide = EpochSide::kAccess;
    static constexpr Finding kIncomplete = Finding::kIncompleteAccess;
    ProcessId& process() { return origin; }
    Call& first() { return start; }
    bool& has_first() { return has_start; }
    std::vector<AccessTarget>& named() { return targets; }
    std::uint32_t place_there(std::uint32_t i) const { return their_index[i]; }
    void name(ProcessId target, std::uint64_t ordinal) {
      targets.push_back({target, ordinal, {}, nullptr});
      their_index.push_back(0);
      ++awaited;
    }
    // There have been so many transfers to that target.
    void count_transfers(std::uint32_t i, std::uint64_t ops) {
      TargetTransfers& t = targets[i].transfers;
      if (ops <= t.ops) return;
      t.unrecorded += ops - t.ops;
      t.ops = ops;
    }
  };
  struct Exposure : ExposureEpoch, Kept {
    using Told = ExposureEpoch;
    static constexpr EpochSide kSide = EpochSide::kExposure;
    static constexpr Finding kIncomplete = Finding::kIncompleteExposure;
    ProcessId& process() { return target; }
    Call& first() { return post; }
    bool& has_first() { return has_post; }
    std::vector<ExposureOrigin>& named() { return origins; }
    std::uint32_t place_there(std::uint32_t i) const { return origins[i].target_index; }
    void name(ProcessId origin, std::uint64_t ordinal) {
      origins.push_back({origin, ordinal, nullptr, 0});
    }
  };
  struct OpenEpoch {
    WindowId window;
    std::uint32_t epoch;
  };
  struct Posting {
    ProcessId process;
    std::uint32_t index;  // location
    Seconds enter;
  };
  struct WaitingCall {
    Call call;
    std::uint32_t epoch;
    Seconds due;
  };

  friend EpochPartners;
  // E: Access or Exposure.
  template <class E>
  static constexpr bool kIsAccess = E::kSide == EpochSide::kAccess;
  template <class E>
  auto& epochs() {
    if constexpr (kIsAccess<E>) {
      return accesses_;
    } else {
      return exposures_;
    }
  }
  template <class E>
  std::vector<std::uint32_t>& ready() {
    return kIsAccess<E> ? ready_access_ : ready_exposure_;
  }
  template <class E>
  std::uint32_t make(ProcessId process, WindowId window);
  template <class E>
  void begin(const Call& call, WindowId window, CommId group);
  template <class E>
  E& end(const Call& call, WindowId window, CommId group);
  // Of which the end was not recorded. `at`: where that shows.
  template <class E, class... At>
  void end_open(ProcessId process, WindowId window, At... at);
  template <class E>
  void resume_side(ProcessId process, WindowId window, ProcessId peer, std::uint64_t count,
                   std::uint64_t ops, bool open, std::uint64_t pos);
  template <class E>
  void name_partners(std::uint32_t epoch, CommId group, const Call& call);
  template <class E>
  void name(std::uint32_t epoch, ProcessId partner, std::uint64_t ordinal,
            EpochPartners::Pair& pair);
  void link(std::uint32_t access, std::uint32_t target, std::uint32_t exposure,
            std::uint32_t origin);
  void lose(EpochSide side, std::uint32_t epoch, std::uint32_t partner);  // it will never come
  template <class E>
  void lose(std::uint32_t epoch, std::uint32_t partner);
  template <class E>
  void close(std::uint32_t epoch);
  template <class E>
  void check(std::uint32_t epoch);
  template <class E>
  void make_ready(std::uint32_t epoch);
  static ManyOpen::Key key(EpochSide side, ProcessId process, WindowId window) {
    return {raw(process), std::uint64_t{raw(window)} << 1 | (side == EpochSide::kAccess)};
  }
  std::vector<OpenEpoch>& opens(EpochSide side, ProcessId process) {
    return (side == EpochSide::kAccess ? open_access_ : open_exposure_)[raw(process)];
  }
  std::uint32_t& place(EpochSide side, std::uint32_t epoch) {
    return side == EpochSide::kAccess ? accesses_[epoch].place : exposures_[epoch].place;
  }
  // kNone if none is open.
  std::uint32_t find_open(EpochSide side, ProcessId process, WindowId window);
  std::uint32_t take_open(EpochSide side, ProcessId process, WindowId window);
  void add_open(EpochSide side, ProcessId process, WindowId window, std::uint32_t epoch);
  static std::uint32_t index_of(Access& epoch, ProcessId target);
  static std::uint32_t index_of(const Exposure& epoch, ProcessId origin);
  bool may_be_posting(const Access& epoch, const Call& call) const;
  bool may_be_blocked(const Access& epoch, const Call& call) const;
  void offer(const Call& call, std::uint32_t epoch);
  void offer_all(std::uint32_t epoch);
  void settle_late_calls(Seconds now);
  void settle_pending();
  // Says whether the transaction is whole, before it is handed out.
  template <class E>
  const typename E::Told& finished(std::uint32_t epoch);
  void release_access(std::uint32_t epoch);
  void release_exposure(std::uint32_t epoch);
  void unref_access(std::uint32_t epoch);
  void unref_exposure(std::uint32_t epoch);
  void free_access(std::uint32_t epoch);

  detail::GroupTable& groups_;
  const Trace& trace_;
  Findings& findings_;
  Pool<Access> accesses_;
  Pool<Exposure> exposures_;
  EpochPartners partners_;
  std::vector<std::vector<OpenEpoch>> open_access_, open_exposure_;  // by process
  ManyOpen many_;
  std::vector<std::uint32_t> live_access_;  // the latest, by process
  std::vector<Posting> posting_;
  std::vector<WaitingCall> pending_;  // until a Win_post has been left
  std::vector<WaitingCall> late_;     // until the clocks' error has passed, by time
  std::size_t late_head_ = 0;
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  Seconds next_due_;
  std::vector<WaitingCall> ready_calls_;
  std::vector<std::uint32_t> ready_exposure_, ready_access_;
  bool any_ready_ = false;
};

}  // namespace kojak::earl
