// Finds the causes of all waits of a run: forward over the waits it compares each culprit with
// those who waited, backward it passes the amounts on.
//
// Used once. A wait's share goes to a Delay: an interval of a culprit with the stretches and waits
// of it that are to blame, each with its weight. Delays and weights lie in the order in which they
// are found, and are taken from the end on the way back, so nothing says where they are, nor what
// the waits and arrivals tell: whose they are, and when they end. Memory: as said in
// cause_finder.h, 16 or 20 bytes for each delay and 12 for each weight, and 32 for each wait that
// has something to pass on at the same time. Not thread-safe; nothing fails.
#pragma once

#include <span>
#include <unordered_map>

#include "expert/causes/cause_chains.h"
#include "expert/causes/doings.h"
#include "expert/causes/group_maker.h"
#include "expert/causes/place_numbers.h"

namespace kojak::expert {

class CauseSolver {
 public:
  explicit CauseSolver(CauseFinder& causes)
      : c_(causes),
        timelines_(causes.timelines_),
        waits_(causes.waits_),
        items_(causes.memory_),
        of_group_(causes.memory_),
        exceptions_(causes.memory_),
        late_ones_(causes.memory_),
        pairs_(causes.memory_),
        shares_(causes.memory_),
        received_(causes.memory_),
        chains_(causes) {}
  RootCauses solve(std::span<const CauseFinder::Asked> asked);

 private:
  using WaitRecord = CauseFinder::WaitRecord;
  using Group = CauseFinder::Group;
  using Known = CauseFinder::Known;
  struct ArrivalRecord {
    Ticks time;
    LocationIndex location;
    std::uint32_t member = 0;  // of its group, in the order of their locations
  };

  // At most this many pieces of a timeline are compared. If an interval has more, the common
  // moment is moved later, which does not change the sums.
  static constexpr std::size_t kMostPieces = 4096;
  // Times are kept for this many stretches, the most costly ones.
  static constexpr std::size_t kStretches = 1000;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  // So many causes have a chain, and all of them of so many links together.
  static constexpr std::size_t kChains = 1000, kAllLinks = 100'000;

  struct TookLonger {
    Ticks from, to, longer;
    LocationIndex location;
  };
  static constexpr std::size_t kMostGains = 10;  // so many causes have one
  // One of two things by its number, and a time. 12 bytes: there are as many as waits, or more.
  class Numbered {
   public:
    Numbered() = default;
    Numbered(std::uint32_t number, bool second, Ticks ticks)
        : what_(number << 1 | (second ? 1u : 0u)), ticks_(ticks) {}
    std::uint32_t number() const { return what_ >> 1; }
    bool second() const { return (what_ & 1) != 0; }
    Ticks ticks() const { return ticks_; }
    void add(Ticks ticks) { ticks_ = ticks_ + ticks; }

   private:
    std::uint32_t what_ = 0;
    PackedTicks ticks_;
  };
  struct Share : Numbered {
    using Numbered::Numbered;
    bool to_wait() const { return second(); }
    std::uint32_t target() const { return number(); }  // a wait of the culprit, or one of costs_
    Ticks weight() const { return ticks(); }
  };
  // What is known of a place of waits, and where its sums stand.
  struct OfPlace {
    StretchId call = 0;  // that waits
    std::uint32_t cost = kNone, unexplained = kNone, waits = kNone, row = kNone;
  };
  struct Culprit {
    LocationIndex location;
    Ticks from, to;  // the interval in which it is compared
    Ticks late_by;   // than those who waited, on the average
  };
  struct Delay {
    Ticks from, to;  // the interval in which it was compared, or waited for
    Ticks whole;     // at least the sum of the weights
    LocationIndex culprit;
    std::uint32_t shares;  // their number
  };
  // What is kept of it: of a member of a group that was late,
  struct LateOne {
    Ticks whole;
    std::uint32_t member, shares;
  };
  // and of one that is compared with another.
  struct Pair {
    PackedTicks from, whole;
    std::uint32_t shares;
  };
  using Shares = std::span<const Share>;
  // What is done at a time: a wait on its own, a group with its waits, or only the coming together.
  struct Item : Numbered {
    using Numbered::Numbered;
    bool group() const { return second(); }
    std::uint32_t index() const { return number(); }
    Ticks time() const { return ticks(); }
  };
  struct Exception {  // a pair with a common moment of its own
    std::uint32_t late, waiter;
    std::uint32_t delay;  // of its group's, from 0
  };
  struct OfGroup {
    Ticks since = 0;                           // all are compared, but exceptions
    std::uint32_t delays = 0, exceptions = 0;  // how many
  };
  // A delay of the group looked at last.
  struct GroupDelay {
    std::uint32_t late;    // its place in the arrivals
    std::uint32_t waiter;  // likewise, of an exception
    Delay delay;
    Shares shares;
    Ticks waited;  // by charge()
  };
  struct Waiting {
    Amount own = 0, passed = 0;  // of those who wait here, and of those who waited for them
  };
  struct Received {
    Amount amount = 0;
    CauseChains::Via via;
    CauseChains::Link link_of(WaitId wait) const { return {wait, via.link.length + 1}; }
  };
  struct Waits {
    MetricIndex metric;
    Amount direct, indirect;
  };
  struct Cost {
    Amount short_term = 0, long_term = 0;
  };
  struct Counted {
    Ticks to, longer;  // until then, of all
  };
  struct CostOf {
    LocationIndex location = 0;
    StretchId stretch = 0;
    std::vector<std::pair<MetricIndex, Cost>> patterns;
    std::vector<std::pair<std::uint32_t, Amount>> objects;  // by a place of waits there
    CauseChains::Via via;
    Ticks to = 0;  // the end of the interval in which it is to blame for `via`
    Ticks longer = 0;
    std::vector<Counted> counted;  // the latest parts of `longer`
    bool compared = false;
  };

  struct ListedCause {
    RootCause cause;
    std::uint32_t cost;  // of costs_
  };

  void place_waits();
  // Of those locations where not all have their places.
  void place_anew();
  void order_items();
  void compare_single(WaitId number);
  // Its members in the order of their enters: arrivals_, places_ and place_of_.
  void look_at(const Group& group);
  // Where a location stands among them, if it is one of them.
  std::size_t place_of(LocationIndex location) const;
  void compare_group(std::uint32_t index);
  void compare_pair(const ArrivalRecord& waiter, const ArrivalRecord& late, Ticks since);
  // A delay of what the culprit does more than those who waited did: its weights are added.
  template <class Those>
  Delay delay_of(const Culprit& culprit, const Doings& doings, const Those& those);
  // Where the trace shows what the awaited one did during the wait: found anew each time, since
  // that takes less than to keep it. The shares are direct_shares_; note(cost, begin, end) for each
  // that is no wait.
  template <class Note>
  Delay direct_delay(const WaitRecord& wait, Note&& note);
  void pass_back();
  void pass_group(std::uint32_t index);
  // Passes on what a wait received: it receives no more then.
  Received take(WaitId wait);
  Received& received_of(WaitId wait);
  // The last delays and weights that were not taken yet.
  Delay take_pair(LocationIndex culprit, Ticks to, Shares& shares);
  Delay take_late_one(const Group& group, const OfGroup& of, Shares& shares);
  void take_delays(const Group& group, const OfGroup& of);
  Shares take_shares(std::uint32_t count) {
    shares_left_ -= count;
    return Shares(shares_.data() + shares_left_, count);
  }
  // `what`: a place of those who wait. `via`: the one of them that waits most. Returns the weight
  // of the shares that are waits.
  Ticks charge(const Delay& delay, Shares shares, std::uint32_t what, Waiting waiting, WaitId wait,
               const CauseChains::Link& via);
  void add_object(CostOf& cost, std::uint32_t what, Amount amount) const;
  // What it waited on its own account.
  Ticks own(const WaitRecord& wait) const { return is_idle(wait) ? 0 : wait.length; }
  // What a dispatcher was idle before anybody waited has made nobody late.
  auto idle_from(Ticks waits) const {
    return [this, waits](WaitId wait, Ticks begin) {
      return is_idle(waits_[wait]) ? std::max(begin, waits) : begin;
    };
  }
  bool is_idle(const WaitRecord& wait) const { return c_.places_[wait.place].idle; }
  LocationIndex location_of(const WaitRecord& wait) const {
    return c_.places_[wait.place].location;
  }
  void leave_unexplained(WaitId wait, Amount amount);
  // Of a wait: how much of it was for waits of the one it was for.
  void note_indirect(WaitId wait, Ticks indirect);
  static double indirect_part(const GroupDelay& d) {
    return static_cast<double>(d.waited) / static_cast<double>(d.delay.whole);
  }
  void follow(WaitId wait, const Delay& delay, Shares shares);
  void follow_group(WaitId wait, std::size_t place);
  Ticks bounded(LocationIndex location, Ticks since, Ticks to) const {
    return timelines_[location].bounded(since, to, kMostPieces);
  }
  std::uint32_t cost_of(LocationIndex location, StretchId stretch) {
    const std::uint32_t number = cost_numbers_.number(location, stretch);
    if (number == costs_.size()) {
      costs_.emplace_back();
      costs_.back().location = location;
      costs_.back().stretch = stretch;
    }
    return number;
  }
  // What lies in files leaves memory when enough of it was looked at.
  static constexpr std::size_t kPiecesOfWait = 4;  // what looking at a wait is like
  void rest_after(std::size_t pieces) {
    constexpr std::size_t kAtOnce = (4 << 20) / sizeof(Piece);
    touched_ += pieces;
    if (touched_ < kAtOnce) return;
    touched_ = 0;
    c_.memory_.rest();
  }
  // The cost of the call that waited.
  std::uint32_t cost_of_call(WaitId wait) {
    const std::uint32_t place = waits_[wait].place;
    OfPlace& of = of_place_[place];
    if (of.cost == kNone) of.cost = cost_of(c_.places_[place].location, of.call);
    return of.cost;
  }
  static Cost& of_pattern(CostOf& cost, MetricIndex metric);
  void note_longer(CostOf& cost, Ticks from, Ticks to, Ticks longer, bool compared);
  void follow_critical_path(RootCauses& results);
  void list(RootCauses& results);
  // `wanted`: stretches, in the order in which they are listed.
  using Doers = std::unordered_map<StretchId, std::size_t>;  // how many locations do it
  Doers list_times(RootCauses& results, const std::vector<StretchId>& wanted);
  void list_samples(std::span<ListedCause> listed, const Doers& doers) const;
  // In cause_groups.cc.
  class GainsOfGroups;
  void find_groups(std::span<const ListedCause> listed, std::span<ListedCause> largest,
                   CauseGroups& results);
  std::vector<CauseAtom> list_atoms(std::span<const ListedCause> listed,
                                    const WhatIsDone& what) const;
  // The causes of groups get their places in the list instead of those in costs_.
  void number_causes(std::span<const ListedCause> listed, CauseGroups& groups) const;
  // What the run would gain without each of these, and without each and several of the groups.
  // In cause_gains.cc, as what follows.
  void find_gains(std::span<ListedCause> causes, GainsOfGroups& groups);
  // Whom a delay is for: a wait, or of those who waited for the last of a group one, or all that
  // came before the late one.
  struct DelayOf {
    const Item& item;
    std::uint32_t late = kNone, waiter = kNone;  // places in arrivals_
  };
  // f(delay, shares, DelayOf) of all delays of these culprits; after_group(group) when those of one
  // are told, and arrivals_ still are of it.
  template <class F, class G>
  void each_delay(const std::vector<bool>& culprits, F&& f, G&& after_group);
  // Every instance of these stretches is shortened by what they took longer in these times.
  void shorten(LocationIndex location, const std::vector<bool>& stretches,
               std::span<TookLonger> times, LogVector<GainFinder::LeftOut>& left_out);
  void replay(GainFinder& gains);
  // When it has done its work: what a thread of a team is left with behind that is no work.
  Ticks end_of_work(LocationIndex location) const;

  CauseFinder& c_;
  std::vector<Timeline>& timelines_;
  LogVector<WaitRecord>& waits_;
  LogVector<Item> items_;
  LogVector<OfGroup> of_group_;  // by group
  LogVector<Exception> exceptions_;
  LogVector<LateOne> late_ones_;
  LogVector<Pair> pairs_;
  LogVector<Share> shares_;
  // That were not taken yet.
  std::size_t exceptions_left_ = 0, late_ones_left_ = 0, pairs_left_ = 0, shares_left_ = 0;
  LogVector<Received> received_;
  std::uint32_t unused_ = kNone;  // the first of those in received_, each names the next
  CauseChains chains_;
  PlaceNumbers cost_numbers_, unexplained_numbers_, waits_numbers_;
  std::vector<OfPlace> of_place_;  // by place of waits
  std::vector<CostOf> costs_;
  std::vector<Amount> unexplained_at_;
  std::vector<std::vector<Waits>> waits_at_;
  Amount all_ = 0, unexplained_ = 0;
  // What took longer while a dispatcher was idle, where others waited for that: known on the way
  // back only.
  struct PassedOn {
    std::uint32_t cost;
    Ticks longer, from, to;
  };
  std::vector<PassedOn> passed_on_;
  std::unordered_map<WaitId, Ticks> passed_by_idle_;  // no more than their lengths
  bool idle_ = false;                                 // such a wait is compared
  // Kept for their memory only.
  std::vector<Share> direct_shares_;
  Doings doings_, late_, waiter_;
  Reference reference_, excepted_;
  OneReference pair_;
  struct OfFunction {
    Ticks time = 0;
    double longer = 0;  // of stretches that took longer
  };
  std::vector<OfFunction> of_function_;  // all zero in between
  std::vector<double> longer_;           // by part of the doings looked at
  struct OfCall {
    double all = 0, more = 0;
  };
  std::vector<OfCall> of_call_;  // by stretch
  struct Rate {                  // a waiter's amounts by the length of its wait
    double own = 0, passed = 0;
  };
  std::vector<Rate> rates_;
  std::vector<WaitId> waiters_;
  std::vector<Amount> to_pass_on_;        // of waiters
  std::vector<CauseChains::Link> links_;  // the same
  std::vector<GroupDelay> group_delays_, pair_delays_;
  std::vector<double> weights_;  // of waiters: their waits by how much they were earlier
  std::vector<double> indirect_, part_of_;
  std::size_t touched_ = 0;  // pieces, since what lies in files rested
  // Of the group looked at last.
  std::vector<ArrivalRecord> arrivals_;
  // How much of a waiter's time falls to each late one: a waiter at place p waits `places_[j] -
  // places_[p]` for the one at j > p: each moment is shared by all that are still missing.
  std::vector<double> places_;
  std::vector<std::uint32_t> place_of_;              // by location
  std::vector<Amount> done_;                         // by stretch: of all locations, without waits
  std::unordered_map<std::uint64_t, double> times_;  // the wanted ones, by location and stretch
};

template <class Note>
CauseSolver::Delay CauseSolver::direct_delay(const WaitRecord& wait, Note&& note) {
  Ticks sum = 0;
  direct_shares_.clear();
  timelines_[wait.by].each(wait.begin, wait.end, [&](const Piece& piece, Ticks begin, Ticks end) {
    const bool to_wait = piece.wait != kNoWait;
    if (!to_wait && c_.stretches_[piece.stretch].kind == Stretch::Kind::kOverhead) return;
    const std::uint32_t target = to_wait ? piece.wait : cost_of(wait.by, piece.stretch);
    direct_shares_.push_back({target, to_wait, end - begin});
    sum += end - begin;
    if (!to_wait) note(target, begin, end);
  });
  rest_after(direct_shares_.size() + kPiecesOfWait);
  return {wait.begin, wait.end, std::max({wait.length, sum, Ticks{1}}), wait.by,
          static_cast<std::uint32_t>(direct_shares_.size())};
}

}  // namespace kojak::expert
