// Root causes: who made the others wait, by doing what, and how long they waited for it.
//
// A consumer of the analysis's waits. The patterns say for whom each call waited; here it is found
// what that one did instead. Some waits need no assumption: while a lock was held, or a target was
// outside MPI, the waiting belongs to what the holder or the target did at that time. For all
// others the two are compared since the latest moment at which both stood together (CommonMoments):
// what the late one computed longer is charged with the waiting, and what it waited longer passes
// its share on to those waits and so to their causes. Waiting that neither of the two explains
// stays unexplained.
//
// Amounts are whole numbers: the costs of all causes and what is unexplained add up to all waiting
// exactly. Where several come late together, each moment is shared by those who are still missing.
// The critical path goes backward from the process that ends last, and from each wait to the
// process that ended it. What the run would gain without the largest causes: see GainFinder; for
// that it must know of all synchronisation, whether anybody waited or not.
//
// Memory: see CauseLog. Not thread-safe; nothing fails. Sources: Boehme, Geimer,
// Arnold, Voigtlaender, Wolf, "Identifying the root causes of wait states in large-scale parallel
// applications", ACM TOPC 3(2), 2016; Boehme's thesis, 2013 (critical path). Differs: one common
// moment for both, shares for several late ones, and what is exact without comparing.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "earl/aspects/messages.h"
#include "expert/causes/cause_part.h"
#include "expert/causes/cause_solver.h"
#include "expert/causes/log.h"
#include "expert/causes/root_causes.h"
#include "expert/patterns/openmp/teams.h"
#include "expert/sums/instances.h"
#include "expert/sums/setting.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class CauseFinder {
 public:
  struct Options {
    double min_wait = 1e-6;                // shorter waits count as unexplained
    std::size_t most = kMostOfRootCauses;  // fewer for tests: no trace of theirs has so many
  };
  CauseFinder(const Setting& setting, const RegionClasses& classes, const Options& options,
              LogMemory& memory);

  void on_begin(Seconds first) { log_.of_run.start = first; }
  // All events of the trace, in its order.
  void on_enter(const earl::OpenCall& call) {
    if (log_.full) [[unlikely]]
      return;
    if (serves(call.index, call.enter)) [[unlikely]]
      return asks(call);
    grow(2 * sizeof(Piece));
    log_.timelines[call.index].enter(ticks(call.enter), raw(call.cnode), kind_of(call, classes_),
                                     log_.stretches);
  }
  // Of a part of a run: what is before a location's own, and behind which call that begins.
  void on_enter_before(const earl::OpenCall& call);
  void on_call_before(const earl::Call& call) {
    log_.timelines[call.index].leave(ticks(call.exit));
  }
  void on_goes_on(const earl::Call& from);
  // Before anything is told.
  void use(const LibraryCalls* library) { log_.stretches.use(library); }
  // What is done in `path` is compared with what others do in `as`. Before either is entered.
  void compare_as(CallPathIndex path, CallPathIndex as) { log_.stretches.compare_as(path, as); }
  void on_call(const earl::Call& call) {
    if (log_.full || serves(call.index, call.exit)) [[unlikely]]
      return;
    log_.timelines[call.index].leave(ticks(call.exit));
  }
  void on_receive(const earl::RecvEvent& receive) {
    if (services_.any() && serves(receive.call->index, receive.call->enter)) [[unlikely]]
      takes(receive);
  }
  void on_end(Seconds last) {
    for (auto& [location, timeline] : log_.serving) {
      timeline.go_over(ticks(last), Stretches::kBeforeRecording);
    }
  }
  // What the location was found computing, in order of time.
  void on_sample(const earl::OpenCall& in, Seconds time, CallSiteId site, std::uint32_t count) {
    if (!log_.full) log_.samples.push_back({ticks(time), in.index, site, count});
  }
  // All members have come to an operation in which each waits for all: before its waits.
  void on_meeting(std::uint64_t operation, std::span<const Arrival> arrivals);
  // They are known to have come as far as that, though none of these calls waited.
  void on_passed(std::span<const Arrival> arrivals);
  // A team of threads that was made for a parallel region: none of them can enter it earlier.
  void on_team(LocationIndex master, Seconds made, std::span<const OmpTeams::Member> members);
  // It has left a parallel region that another made.
  void on_left_team(LocationIndex location, Seconds time) {
    if (!log_.full) log_.left_team[location] = ticks(time);
  }
  void on_wait(const Wait& wait);
  // Of a dispatcher's: after all waits.
  void on_moved(CallPathIndex path, LocationIndex location, MetricIndex from,
                std::optional<MetricIndex> to);
  // Before the waits that nobody has ended: up to then all still waited.
  void on_last_waits(Seconds common) { common_ = common; }
  void on_arrival(const earl::Call& call, const EndedBy& by) {
    if (by.known()) depend(call.index, call.enter, call.exit, call.exit_pos, by);
  }

  // Why that is no part of a run that can be added to others; empty if it may be one.
  std::string why_apart() const;
  // What it was told of, when all is told. `goes_on`: the run does behind it.
  CausePart& part(bool goes_on);
  // With the chains of the longest waits of these instances. `others`: who have the other parts of
  // the run, of which this one's is the last, with all call paths of the run; null: this is all.
  RootCauses finish(const WaitResults& waits, CauseParts* others = nullptr,
                    std::span<const CallPath> paths = {});

 private:
  Ticks ticks(Seconds time) const { return log_.since_start(time); }
  // Logs have grown by so much: they rest after every few MB.
  void grow(std::size_t bytes) {
    constexpr std::size_t kAtOnce = std::size_t{4} << 20;
    if ((grown_ += bytes) < kAtOnce) return;
    grown_ = 0;
    log_.memory.rest();
  }
  // Whether there is room for one more in a log.
  template <class T>
  bool has_room(const LogVector<T>& log) {
    log_.full = log_.full || log.size() >= options_.most;
    return !log_.full;
  }
  // What a process does that serves the others is compared with nothing.
  bool serves(LocationIndex location, Seconds time) const { return services_.at(location, time); }
  // One that serves, at the begin of a call: where that asks for a message it has nothing to do.
  void asks(const earl::OpenCall& call);
  // It takes one.
  void takes(const earl::RecvEvent& receive);
  void add_wait(const Wait& wait, CauseLog::Known known);
  // For one that serves: what it does meanwhile is known.
  void add_service(const Wait& wait);
  void add_unended(Wait wait);
  // Of which the awaited one may have become idle before the end.
  void add_compared(const Wait& wait);
  std::uint32_t place_of(const Wait& wait);
  CommonMoments::GroupId group_of_members();
  void depend(LocationIndex location, Seconds enter, Seconds exit, std::uint64_t exit_pos,
              const EndedBy& by);
  void add_dependency(DependentCall call, const Dependency& on);

  CauseLog log_;
  const RegionClasses& classes_;
  const earl::Trace& trace_;
  const Services& services_;
  Options options_;
  Seconds common_;
  std::optional<CausePart> part_;
  // Of places, by what identifies one; and those that were asked for last.
  std::unordered_multimap<std::uint64_t, std::uint32_t> place_numbers_;
  std::array<std::uint32_t, 1024> recent_places_{};
  std::size_t grown_ = 0;
  // Of the operation told of last.
  std::uint64_t operation_ = 0;
  EndedBy last_to_come_;  // of those who do not serve; if any serves
  std::vector<Arrival> current_;
  std::vector<LocationIndex> members_;
  CommonMoments::GroupId group_ = CauseLog::kNone32;
};

}  // namespace kojak::expert
