#include "expert/metrics/time_class.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "epilog/format/shmem_functions.h"

namespace kojak::expert {
namespace {

TimeClass class_of(ShmemRole role) {
  switch (role) {
    case ShmemRole::kInit:
    case ShmemRole::kFinalize:
    case ShmemRole::kExit:
      return TimeClass::kShmemInitExit;
    case ShmemRole::kPut:
    case ShmemRole::kPutNbi:
    case ShmemRole::kPutStrided:
    case ShmemRole::kPutSignal:
    case ShmemRole::kPutSignalNbi:
    case ShmemRole::kGet:
    case ShmemRole::kGetNbi:
    case ShmemRole::kGetStrided:
    case ShmemRole::kAtomicPut:
    case ShmemRole::kAtomicGet:
    case ShmemRole::kAtomicGetNbi:
    case ShmemRole::kAtomicGetPut:
    case ShmemRole::kAtomicGetPutNbi:
    case ShmemRole::kAtomicPutNbi:
    case ShmemRole::kLocalWait:
    case ShmemRole::kLocalTest:
    case ShmemRole::kCopy:
    case ShmemRole::kCopyNbi:
      return TimeClass::kShmemRma;
    case ShmemRole::kQuiet:
    case ShmemRole::kFence:
    case ShmemRole::kNotify:  // it waits for nobody but for what was issued
      return TimeClass::kShmemPairSync;
    case ShmemRole::kBarrier:
    case ShmemRole::kSync:
    case ShmemRole::kNotifyWait:
      return TimeClass::kShmemBarrier;
    case ShmemRole::kBroadcast:
    case ShmemRole::kCollect:
    case ShmemRole::kFcollect:
    case ShmemRole::kAlltoall:
    case ShmemRole::kReduce:
    case ShmemRole::kScatter:
    case ShmemRole::kGather:
    case ShmemRole::kPermute:
    case ShmemRole::kReduceToOne:
    case ShmemRole::kPrefixReduce:
      return TimeClass::kShmemCollective;
    case ShmemRole::kMalloc:
    case ShmemRole::kRealloc:
    case ShmemRole::kFree:
    case ShmemRole::kOwnMemory:
      return TimeClass::kShmemMemory;
    case ShmemRole::kWait:
    case ShmemRole::kWaitUntil:
    case ShmemRole::kWaitUntilAll:
    case ShmemRole::kWaitUntilAny:
    case ShmemRole::kWaitUntilSome:
    case ShmemRole::kTest:
    case ShmemRole::kTestAll:
    case ShmemRole::kTestAny:
    case ShmemRole::kTestSome:
      return TimeClass::kShmemWait;
    case ShmemRole::kSetLock:
    case ShmemRole::kTestLock:
    case ShmemRole::kClearLock:
      return TimeClass::kShmemLock;
    case ShmemRole::kTeamCreate:
    case ShmemRole::kTeamDestroy:
      return TimeClass::kShmemTeam;
    case ShmemRole::kOther:  // nothing is moved, nobody is waited for
    case ShmemRole::kContextCreate:
    case ShmemRole::kContextDestroy:
      break;
  }
  return TimeClass::kShmem;
}

using Words = std::vector<std::string>;

// "shmem_put64_nbi" gives put, nbi: the words behind the prefix, without sizes at their ends.
// Empty if it is no name of SHMEM.
Words words_of(std::string_view name) {
  std::string lower;
  for (const char c : name) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!lower.empty() && lower.back() == '_') lower.pop_back();  // Fortran
  std::string_view rest = lower;
  if (rest.starts_with("pshmem_")) rest.remove_prefix(1);
  if (!rest.starts_with("shmem_") && !rest.starts_with("shmemx_")) return {};
  rest.remove_prefix(rest.find('_') + 1);
  Words words;
  while (true) {
    const std::size_t end = rest.find('_');
    std::string word(rest.substr(0, end));
    while (word.size() > 1 && word.back() >= '0' && word.back() <= '9') word.pop_back();
    words.push_back(word);
    if (end == std::string_view::npos) return words;
    rest.remove_prefix(end + 1);
  }
}

// Names without the prefix that are not in the table.
constexpr std::array<std::string_view, 3> kOldMemory{"shpalloc", "shpdeallc", "shpclmove"};

// The first of these words that a name has tells what it is.
constexpr std::array<std::pair<std::string_view, TimeClass>, 48> kWords{{
    {"barrier", TimeClass::kShmemBarrier},
    {"sync", TimeClass::kShmemBarrier},
    {"lock", TimeClass::kShmemLock},
    {"wait", TimeClass::kShmemWait},
    {"test", TimeClass::kShmemWait},
    {"broadcast", TimeClass::kShmemCollective},
    {"collect", TimeClass::kShmemCollective},
    {"fcollect", TimeClass::kShmemCollective},
    {"alltoall", TimeClass::kShmemCollective},
    {"alltoalls", TimeClass::kShmemCollective},
    {"all", TimeClass::kShmemCollective},  // _to_all: reductions
    {"reduce", TimeClass::kShmemCollective},
    {"fence", TimeClass::kShmemPairSync},
    {"quiet", TimeClass::kShmemPairSync},
    {"init", TimeClass::kShmemInitExit},
    {"finalize", TimeClass::kShmemInitExit},
    {"exit", TimeClass::kShmemInitExit},
    {"malloc", TimeClass::kShmemMemory},
    {"calloc", TimeClass::kShmemMemory},
    {"free", TimeClass::kShmemMemory},
    {"realloc", TimeClass::kShmemMemory},
    {"align", TimeClass::kShmemMemory},
    {"split", TimeClass::kShmemTeam},
    {"team", TimeClass::kShmem},  // _team_get_config, _ctx_get_team: nothing is moved
    {"info", TimeClass::kShmem},
    {"put", TimeClass::kShmemRma},
    {"get", TimeClass::kShmemRma},
    {"iput", TimeClass::kShmemRma},
    {"iget", TimeClass::kShmemRma},
    {"putmem", TimeClass::kShmemRma},
    {"getmem", TimeClass::kShmemRma},
    {"p", TimeClass::kShmemRma},
    {"g", TimeClass::kShmemRma},
    {"atomic", TimeClass::kShmemRma},
    {"swap", TimeClass::kShmemRma},
    {"cswap", TimeClass::kShmemRma},
    {"mswap", TimeClass::kShmemRma},
    {"fadd", TimeClass::kShmemRma},
    {"finc", TimeClass::kShmemRma},
    {"fetch", TimeClass::kShmemRma},
    {"set", TimeClass::kShmemRma},
    {"add", TimeClass::kShmemRma},
    {"inc", TimeClass::kShmemRma},
    {"and", TimeClass::kShmemRma},
    {"or", TimeClass::kShmemRma},
    {"xor", TimeClass::kShmemRma},
    {"pe", TimeClass::kShmem},
    {"ptr", TimeClass::kShmem},
}};

}  // namespace

std::optional<TimeClass> shmem_class(std::string_view name) {
  if (const ShmemFunction* const known = find_shmem_function(name)) {
    const TimeClass c = class_of(known->role);
    return in_model(c, known->model);
  }
  if (std::find(kOldMemory.begin(), kOldMemory.end(), name) != kOldMemory.end()) {
    return TimeClass::kShmemMemory;
  }
  const Words words = words_of(name);
  if (words.empty()) return std::nullopt;
  for (const auto& [word, time_class] : kWords) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return time_class;
  }
  return TimeClass::kShmem;
}

bool is_shmem_broadcast(std::string_view name) {
  if (const ShmemFunction* const known = find_shmem_function(name)) {
    return known->role == ShmemRole::kBroadcast;
  }
  const Words words = words_of(name);
  return std::find(words.begin(), words.end(), "broadcast") != words.end();
}

bool has_functions_of(const Definitions& definitions, PgasModel model) {
  bool any = false;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    any = any || (region.shmem != nullptr && region.shmem->model == model);
  });
  return any;
}

std::string_view process_word(const Definitions& definitions) {
  if (!has_functions_of(definitions, PgasModel::kUpc)) return "rank";
  std::set<ProcessId> processes;
  std::size_t locations = 0;
  definitions.locations.for_each([&](LocationId, const LocationDef& location) {
    processes.insert(location.process);
    ++locations;
  });
  return processes.size() == locations ? "thread" : "rank";
}

TimeClass region_class(const RegionDef& region) {
  if (region.is_tracing() || region.is_pausing()) return TimeClass::kOverhead;
  switch (region.type) {
    case kOmpCritical:
    case kOmpAtomic:
      return TimeClass::kOmpCritical;
    case kOmpBarrier:
      return TimeClass::kOmpExplicitBarrier;
    case kOmpImplicitBarrier:
      return TimeClass::kOmpImplicitBarrier;
    case kOmpFlush:
      return TimeClass::kOmpFlush;
    case kOmpOrdered:
      return TimeClass::kOmpOrdered;
    case kOmpTaskwait:
    case kOmpTaskgroup:
      return TimeClass::kOmpTaskwait;
    default:
      break;
  }
  if (region.name == "omp_set_lock" || region.name == "omp_set_nest_lock") {
    return TimeClass::kOmpLockApi;
  }
  return shmem_class(region.name).value_or(TimeClass::kUser);
}

}  // namespace kojak::expert
