// What is known of a run when it has been read, and from which its causes are found: what each
// location did, its waits, when all of a group came together, and on whom calls depended.
//
// Filled by CauseFinder; CausePart notes in the waits what becomes of them. Memory: 16 bytes for
// each call and stretch of the trace and for each member of a group operation, 40 for each call
// that depended on others and 12 for each of these, some 120 for each wait; beyond a limit in a
// temporary file (LogMemory). Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/causes/common_moments.h"
#include "expert/causes/gain_finder.h"
#include "expert/causes/timeline.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

struct CauseLog {
  CauseLog(std::size_t locations, LogMemory& logs)
      : memory(logs),
        waits(logs),
        late_enders(logs),
        groups(logs),
        presences(logs),
        calls(logs),
        dependencies(logs),
        samples(logs),
        starts(locations),
        left_team(locations),
        moments(locations) {
    timelines.reserve(locations);
    for (std::size_t l = 0; l < locations; ++l) timelines.emplace_back(logs);
  }

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
    kDelay,    // the awaited one is compared with the one that waits, or will be
    kDirect,   // the trace shows what the awaited one did meanwhile
    kService,  // likewise, and the awaited one serves
    kOfGroup   // it waited for the last of a group
  };
  struct WaitRecord {
    Ticks begin, end;
    Ticks length = 0;  // of its pieces
    std::uint32_t place;
    LocationIndex by;
    Known known = Known::kNothing;
    bool passed_on = false;  // all that it received: it receives no more
    bool wanted = false;     // it is one of the chains that were asked for
    // What was passed on to it, a number of PassBack's, until it has passed on all; then the
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
    std::size_t first;  // of its members in presences, in the order of their locations
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

  // Times of a trace lie near its first event; differences of clocks are small.
  Ticks since_start(Seconds time) const {
    return std::max<Ticks>(in_ticks(time.value - of_run.start.value), 0);
  }
  // Where it stands what the awaited one of a wait did.
  const Timeline& doing(LocationIndex location, Known known) const {
    return known == Known::kService ? serving.at(location) : timelines[location];
  }
  bool answers_another(const Stretch& stretch, const WaitRecord& waiting) const {
    return stretch.kind == Stretch::Kind::kAnswering && stretch.whom != Stretch::kNobody &&
           stretch.whom != firsts[places[waiting.place].location];
  }
  // Who worked.
  std::size_t workers() const { return timelines.size() - serving.size(); }
  // A time of the trace.
  double seconds_at(Ticks time) const { return of_run.start.value + in_seconds(Amount{time}); }
  // When the awaited one ended that wait. (It is known; kDelay.)
  Ticks by_time(WaitId wait) const {
    if (late_enders.empty()) return waits[wait].end;
    const LateEnder* const known =
        std::lower_bound(late_enders.begin(), late_enders.end(), wait,
                         [](const LateEnder& l, WaitId w) { return l.wait < w; });
    return known != late_enders.end() && known->wait == wait ? Ticks{known->time} : waits[wait].end;
  }
  // Of a timeline at most this many pieces are looked at. If an interval that is compared has more,
  // the common moment is moved later, which does not change the sums.
  static constexpr std::size_t kMostPieces = 4096;
  // What lies in files leaves memory when enough of it was looked at.
  static constexpr std::size_t kPiecesOfWait = 4;  // what looking at a wait is like
  void rest_after(std::size_t pieces) {
    constexpr std::size_t kAtOnce = (4 << 20) / sizeof(Piece);
    touched += pieces;
    if (touched < kAtOnce) return;
    touched = 0;
    memory.rest();
  }
  const WaitPlace& place_of(WaitId wait) const { return places[waits[wait].place]; }
  static bool is_direct(const WaitRecord& wait) {
    return wait.known == Known::kDirect || wait.known == Known::kService;
  }
  bool is_idle(const WaitRecord& wait) const { return places[wait.place].idle; }
  // What it waited on its own account.
  Ticks own(const WaitRecord& wait) const { return is_idle(wait) ? 0 : wait.length; }
  // What a dispatcher was idle before anybody waited has made nobody late.
  auto idle_from(Ticks waits_from) const {
    return [this, waits_from](WaitId wait, Ticks begin) {
      return is_idle(waits[wait]) ? std::max(begin, waits_from) : begin;
    };
  }

  struct OfRun {
    Seconds start;  // when the run began
    // What it is of the run, if not all: it begins when the last one had come to a call that it
    // begins behind, and ends when the last one had come to the last of its groups.
    bool begins_behind = false, goes_on = false;
    bool in_library = false;  // a library has made that call: what it computes next may be its own
    Ticks begin = 0, end = 0;
  };

  LogMemory& memory;
  OfRun of_run;
  bool full = false;  // what came later is left out, see RootCauses::until
  Stretches stretches;
  std::vector<Timeline> timelines;  // by location
  // Of those that serve, from then on: whom they answer.
  std::map<LocationIndex, Timeline> serving;
  std::vector<LocationIndex> firsts;  // by location: its process's first thread; if any serves
  std::vector<WaitPlace> places;
  LogVector<WaitRecord> waits;
  LogVector<LateEnder> late_enders;  // of waits for one that ended them later than they ended
  LogVector<Group> groups;
  LogVector<Presence> presences;  // of the members of groups
  LogVector<DependentCall> calls;
  LogVector<Dependency> dependencies;  // of these
  LogVector<SampleRecord> samples;
  std::vector<std::vector<Start>> starts;  // by location
  std::vector<Ticks> left_team;            // by location: the last time; 0: never
  CommonMoments moments;
  Amount not_listed = 0;    // waits below the threshold
  std::size_t touched = 0;  // pieces, since what lies in files rested
};

}  // namespace kojak::expert
