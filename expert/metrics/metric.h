// A node of the metric tree: what it is called, what it means and what to do about it.
//
// The report, `expert --list-patterns`, the manual's pattern pages and the summary on the terminal
// are made from it. Constant data of the pattern files (expert/patterns); thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/shmem_functions.h"

namespace kojak::expert {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Dense numbers from 0.
using MetricIndex = std::uint32_t;    // in the catalogue
using CallPathIndex = std::uint32_t;  // in order of first appearance in the trace
using LocationIndex = std::uint32_t;

enum class Unit : std::uint8_t { kSeconds, kOccurrences, kBytes };
// In words, for people.
constexpr const char* unit_word(Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return "seconds";
    case Unit::kOccurrences:
      return "occurrences";
    case Unit::kBytes:
      return "bytes";
  }
  return "";
}

// The one class that the exclusive time of a region instance belongs to: a class of the table of
// MPI functions, or one of these.
enum class TimeClass : std::uint8_t {
  kPointToPoint,
  kCollective,
  kBarrier,
  kRmaCommunication,
  kWindowManagement,
  kFence,
  kGeneralActiveTarget,
  kPassiveTarget,
  kIo,
  kInitExit,
  kManagement,
  kShmem,
  kShmemCollective,
  kShmemRma,
  kShmemBarrier,
  kShmemPairSync,
  kShmemLock,
  kShmemInitExit,
  kShmemMemory,
  kShmemWait,
  kShmemTeam,
  // ARMCI's, in the same order.
  kArmci,
  kArmciCollective,
  kArmciRma,
  kArmciBarrier,
  kArmciPairSync,
  kArmciLock,
  kArmciInitExit,
  kArmciMemory,
  kArmciWait,
  kArmciTeam,
  // UPC's likewise, which has no more.
  kUpc,
  kUpcCollective,
  kUpcRma,
  kUpcBarrier,
  kUpcPairSync,
  kUpcLock,
  kUpcInitExit,
  kUpcMemory,
  kOmpFlush,
  kOmpExplicitBarrier,
  kOmpImplicitBarrier,
  kOmpLockApi,
  kOmpCritical,
  kOmpOrdered,
  kOmpTaskwait,
  kUser,      // everything else
  kService,   // of a process that serves the others, whatever it does
  kOverhead,  // TRACING and PAUSING
};
inline constexpr std::size_t kTimeClasses = static_cast<std::size_t>(TimeClass::kOverhead) + 1;

constexpr TimeClass time_class(MpiClass c) {
  return static_cast<TimeClass>(c);
}
static_assert(time_class(MpiClass::kPointToPoint) == TimeClass::kPointToPoint);
static_assert(time_class(MpiClass::kFence) == TimeClass::kFence);
static_assert(time_class(MpiClass::kManagement) == TimeClass::kManagement);

// The first class of each model, by PgasModel, and the one behind the last.
inline constexpr TimeClass kFirstOfModel[] = {TimeClass::kShmem, TimeClass::kArmci, TimeClass::kUpc,
                                              TimeClass::kOmpFlush};
inline constexpr std::size_t kPgasModels = std::size(kFirstOfModel) - 1;
constexpr std::size_t index_of(PgasModel model) {
  return static_cast<std::size_t>(model);
}

// Whose calls are of that class; nothing: those of none of these.
constexpr std::optional<PgasModel> model_of(TimeClass c) {
  if (c < kFirstOfModel[0] || c >= kFirstOfModel[kPgasModels]) return std::nullopt;
  std::size_t model = 0;
  while (c >= kFirstOfModel[model + 1]) ++model;
  return static_cast<PgasModel>(model);
}
// The class of the same calls in another model, which must have such calls.
constexpr TimeClass in_model(TimeClass c, PgasModel model) {
  const std::optional<PgasModel> own = model_of(c);
  if (!own) return c;
  const auto first = [](PgasModel of) { return static_cast<int>(kFirstOfModel[index_of(of)]); };
  return static_cast<TimeClass>(static_cast<int>(c) - first(*own) + first(model));
}
constexpr TimeClass as_shmem(TimeClass c) {
  return in_model(c, PgasModel::kShmem);
}

// What a trace must have for a branch of the tree to be in its report.
enum class Needs : std::uint8_t { kNothing, kShmem, kArmci, kUpc, kOpenMp, kAllProgress, kService };
constexpr Needs needs_of(PgasModel model) {
  return static_cast<Needs>(static_cast<int>(Needs::kShmem) + static_cast<int>(model));
}
static_assert(needs_of(PgasModel::kUpc) == Needs::kUpc);
// The model that it must have.
constexpr std::optional<PgasModel> model_needed(Needs needs) {
  if (needs < Needs::kShmem || needs >= Needs::kOpenMp) return std::nullopt;
  return static_cast<PgasModel>(static_cast<int>(needs) - static_cast<int>(Needs::kShmem));
}

struct Metric {
  std::string_view name;         // unique: "mpi_latesender"
  std::string_view title;        // "Late Sender"
  std::string_view parent = {};  // unique name of the parent, empty for a root
  Unit unit = Unit::kSeconds;
  // How the node relates to its parent. A pattern is a part of time that the parent counts itself;
  // the children of a sum are all that there is of it, together with what the parent has of its
  // own.
  enum class Kind : std::uint8_t { kPattern, kSummand } kind = Kind::kPattern;
  // The time that the node has of its own; patterns and counts have none.
  std::optional<TimeClass> own = {};
  std::string_view summary;       // one sentence
  std::string_view formula = {};  // how the severity is computed; empty if the summary says it
  std::string_view meaning = {};  // for the user: what it means when it is large
  std::string_view advice = {};   // what to do about it; empty if nothing is wrong with it
  // An example for the documentation: rows "who: call 1-7 ~1-5, call 8-9; who: ...": calls with
  // their times, and what of them is the severity. See timeline_drawing.
  std::string_view timeline = {};
  Needs needs = Needs::kNothing;
  std::string_view in_shmem = {};  // of another model: the node of SHMEM's that has its rule
  bool for_the_last = false;       // a pattern: all members of a group wait for the last of them
  bool nobody_awaited = false;  // a pattern: time of a call itself, no waiting for another process
  bool of_causes = false;       // made from root causes, which are told in words, too
  bool fractions = false;       // of a count that need not be whole: some hardware counters
  // A pattern: whom it names ended the call only if that waited (a send that did not wait need not
  // have a receiver at all). Of others, who came last ended the call even if nobody waited.
  bool names_only_waits = false;
  // What the report remarks on how sure the severity is: whether the library needs its targets, or
  // how the order of lock holders was found.
  enum class Sureness : std::uint8_t { kPlain, kProgress, kLockOrder } sureness = Sureness::kPlain;

  // The exclusive time of one class of calls into MPI, SHMEM or OpenMP. What of it no pattern below
  // explains is work of the library, or a wait that nobody knows.
  constexpr bool is_call_time() const {
    return own && *own != TimeClass::kUser && *own != TimeClass::kOverhead &&
           *own != TimeClass::kService && *own != TimeClass::kInitExit &&
           as_shmem(*own) != TimeClass::kShmemInitExit;
  }
};

}  // namespace kojak::expert
