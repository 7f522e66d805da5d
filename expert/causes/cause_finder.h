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
// Memory: 16 bytes for each call and stretch of the trace and for each member of a group operation,
// 40 for each call that depended on others and 12 for each of these, some 120 for each wait; beyond
// a limit in a temporary file (LogMemory). Not thread-safe; nothing fails. Sources: Boehme, Geimer,
// Arnold, Voigtlaender, Wolf, "Identifying the root causes of wait states in large-scale parallel
// applications", ACM TOPC 3(2), 2016; Boehme's thesis, 2013 (critical path). Differs: one common
// moment for both, shares for several late ones, and what is exact without comparing.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/causes/common_moments.h"
#include "expert/causes/gain_finder.h"
#include "expert/causes/root_causes.h"
#include "expert/causes/timeline.h"
#include "expert/patterns/openmp/teams.h"
#include "expert/sums/instances.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class CauseFinder {
 public:
  struct Options {
    double min_wait = 1e-6;                // shorter waits count as unexplained
    std::size_t most = kMostOfRootCauses;  // fewer for tests: no trace of theirs has so many
  };
  CauseFinder(std::size_t locations, const RegionClasses& classes, const Options& options,
              LogMemory& memory);

  // All events of the trace, in its order.
  void on_enter(const earl::OpenCall& call) {
    if (full_) [[unlikely]]
      return;
    grow(2 * sizeof(Piece));
    timelines_[call.index].enter(ticks(call.enter), raw(call.cnode), kind_of(call, classes_),
                                 stretches_);
  }
  // Before anything is told.
  void use(const LibraryCalls* library) { stretches_.use(library); }
  // What is done in `path` is compared with what others do in `as`. Before either is entered.
  void compare_as(CallPathIndex path, CallPathIndex as) { stretches_.compare_as(path, as); }
  void on_call(const earl::Call& call) {
    if (full_) [[unlikely]]
      return;
    timelines_[call.index].leave(ticks(call.exit));
  }
  // What the location was found computing, in order of time.
  void on_sample(const earl::OpenCall& in, Seconds time, CallSiteId site, std::uint32_t count) {
    if (!full_) samples_.push_back({ticks(time), in.index, site, count});
  }
  // All members have come to an operation in which each waits for all: before its waits.
  void on_meeting(std::uint64_t operation, std::span<const Arrival> arrivals);
  // A team of threads that was made for a parallel region: none of them can enter it earlier.
  void on_team(LocationIndex master, Seconds made, std::span<const OmpTeams::Member> members);
  // It has left a parallel region that another made.
  void on_left_team(LocationIndex location, Seconds time) {
    if (!full_) left_team_[location] = ticks(time);
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

  // Asks for the chain to the cause of the wait in which the location is just before that time.
  struct Asked {
    LocationIndex location;
    Seconds end;
  };
  // With the chains of the longest waits of these instances.
  RootCauses finish(const WaitResults& waits);

 private:
  friend class CauseSolver;
  friend class CauseChains;

  // Times of a trace lie near its first event; differences of clocks are small.
  Ticks ticks(Seconds time) {
    if (!started_) {
      start_ = time;
      started_ = true;
    }
    return since_start(time);
  }
  Ticks since_start(Seconds time) const {
    return std::max<Ticks>(in_ticks(time.value - start_.value), 0);
  }
  // Logs have grown by so much: they rest after every few MB.
  void grow(std::size_t bytes) {
    constexpr std::size_t kAtOnce = std::size_t{4} << 20;
    if ((grown_ += bytes) < kAtOnce) return;
    grown_ = 0;
    memory_.rest();
  }
  // Whether there is room for one more in a log.
  template <class T>
  bool has_room(const LogVector<T>& log) {
    full_ = full_ || log.size() >= options_.most;
    return !full_;
  }
  void add_wait(const Wait& wait, bool direct);
  void add_unended(Wait wait);
  // Of which the awaited one may have become idle before the end.
  void add_compared(const Wait& wait);
  std::uint32_t place_of(const Wait& wait);
  CommonMoments::GroupId group_of_members();
  void depend(LocationIndex location, Seconds enter, Seconds exit, std::uint64_t exit_pos,
              const EndedBy& by);
  void add_dependency(DependentCall call, const Dependency& on);
  // When the awaited one ended that wait. (It is known; kDelay.)
  Ticks by_time(WaitId wait) const {
    return late_enders_.empty() ? waits_[wait].end : late_by_time(wait);
  }
  Ticks late_by_time(WaitId wait) const;

  // What many waits have in common.
  struct WaitPlace {
    LocationIndex location;
    CallPathIndex call_path;
    MetricIndex metric;
    std::uint32_t object_id;
    Operation::Object object;
    // That nobody is to blame for, and that pass on what they receive: those of a dispatcher.
    bool idle = false;
    bool operator==(const WaitPlace&) const = default;
  };
  enum class Known : std::uint8_t {
    kNothing,
    kDelay,   // the awaited one is compared with the one that waits, or will be
    kDirect,  // the trace shows what the awaited one did meanwhile
    kOfGroup  // it waited for the last of a group
  };
  struct WaitRecord {
    Ticks begin, end;
    Ticks length = 0;  // of its pieces
    std::uint32_t place;
    LocationIndex by;
    Known known = Known::kNothing;
    bool passed_on = false;  // all that it received: it receives no more
    bool wanted = false;     // it is one of the chains that were asked for
    // What was passed on to it, a number of CauseSolver's, until it has passed on all; then the
    // wait that passed on most of that.
    std::uint32_t via = kNone32;
  };
  struct LateEnder {  // where clocks differ
    PackedTicks time;
    WaitId wait;
  };
  struct Group {
    CommonMoments::GroupId id;
    bool waited;        // somebody did
    bool synchronised;  // nobody left before the last had come
    Ticks last;         // the last enter
    std::uint64_t first_exit_pos;
    std::size_t first;  // of its members in presences_, in the order of their locations
    WaitId first_wait = 0, waits_end = 0;  // its waits, one after the other
  };
  struct SampleRecord {
    Ticks time;
    LocationIndex location;
    CallSiteId site;
    std::uint32_t count;
  };
  struct Presence {
    Ticks enter, exit;
  };
  static constexpr std::uint32_t kNone32 = 0xFFFFFFFF;

  LogMemory& memory_;
  const RegionClasses& classes_;
  Options options_;
  Seconds start_, common_;
  bool started_ = false;
  bool full_ = false;  // a log has Options::most: what comes is left out, see RootCauses::until
  Stretches stretches_;
  std::vector<Timeline> timelines_;
  std::vector<WaitPlace> places_;
  // By what identifies a place; and those that were asked for last.
  std::unordered_multimap<std::uint64_t, std::uint32_t> place_numbers_;
  std::array<std::uint32_t, 1024> recent_places_{};
  LogVector<WaitRecord> waits_;
  LogVector<LateEnder> late_enders_;  // of waits for one that ended them later than they ended
  LogVector<Group> groups_;
  LogVector<Presence> presences_;
  LogVector<DependentCall> calls_;
  LogVector<Dependency> dependencies_;  // of these
  LogVector<SampleRecord> samples_;
  std::vector<std::vector<Start>> starts_;  // by location
  std::vector<Ticks> left_team_;            // by location: the last time; 0: never
  CommonMoments moments_;
  std::size_t grown_ = 0;
  Amount not_listed_ = 0;  // waits below the threshold
  // Of the operation told of last.
  std::uint64_t operation_ = 0;
  std::vector<Arrival> current_;
  std::vector<LocationIndex> members_;
  CommonMoments::GroupId group_ = kNone32;
};

}  // namespace kojak::expert
