#include "earl/detail/replay_core.h"

#include <algorithm>

#include "epilog/format/field_values.h"
#include "epilog/format/openmp_constructs.h"

namespace kojak::earl::detail {
namespace {

RegionInfo make_info(const RegionDef& def) {
  RegionInfo info;
  info.known = true;
  info.function = def.function;
  info.pausing = def.is_pausing();
  info.post = def.function != nullptr && def.function->role == MpiRole::kWinPost;
  info.awaits = asks_for_variable(def.shmem_role());
  info.keeps_holes = def.function != nullptr || def.shmem != nullptr ||
                     def.name.starts_with("shmem_") || def.type == kOmpBarrier ||
                     def.type == kOmpImplicitBarrier || def.type == kOmpTaskwait;
  return info;
}

std::vector<CounterKind> counter_kinds(const Definitions& definitions) {
  std::vector<CounterKind> kinds;
  definitions.metrics.for_each([&](MetricId, const MetricDef& def) {
    using Interval = CounterKind::Interval;
    kinds.push_back({.real = def.dtype == kFloatCounter,
                     .interval = def.interval == 1   ? Interval::kLast
                                 : def.interval == 2 ? Interval::kNext
                                                     : Interval::kStart});
  });
  return kinds;
}

}  // namespace

ReplayCore::ReplayCore(Trace& t)
    : trace(t),
      places(t.location_count()),
      process_pauses(t.process_count()),
      get_origin(t.process_count()),
      groups(t),
      tree(&t.definitions()),
      stack(t.location_count(), counter_kinds(t.definitions())),
      messages(t.process_count(), t.native(), t.findings()),
      collectives(groups, t.native(), t.findings()),
      numbered(groups, t.process_count(), t.findings()),
      partitioned(t.process_count()),
      windows(groups, t.native(), t.findings()),
      gats(groups, t, t.findings()),
      fences(t.process_count()),
      passive(t.process_count(), t.findings()),
      symmetric(t.process_count(), t.location_count()) {
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    stack.head(i).id = t.location(i);
    stack.head(i).process = t.process(i);
  }
  const Definitions& definitions = t.definitions();
  const std::size_t limit = 2 * definitions.regions.size() + 64;
  definitions.regions.for_each([&](RegionId id, const RegionDef& def) {
    if (raw(id) < limit) {
      if (raw(id) >= regions.size()) regions.resize(raw(id) + 1);
      regions[raw(id)] = make_info(def);
    } else {
      far_regions[id] = make_info(def);
    }
  });
}

const RegionInfo* ReplayCore::far_region(RegionId id) const {
  const auto it = far_regions.find(id);
  return it == far_regions.end() ? nullptr : &it->second;
}

ProcessId ReplayCore::missing_process(PeerId peer) const {
  if (raw(peer) < trace.process_count()) return static_cast<ProcessId>(raw(peer));
  return absent<ProcessId>();
}

void ReplayCore::pause(std::uint32_t place) {
  for (Frame& frame : stack.frames(place)) frame.paused = true;
  LocationState& p = places[place];
  ++p.pauses;
  // Each thread of a process writes its own LOG_OFF: the process pauses once.
  const ProcessId process = stack.head(place).process;
  std::uint32_t& pauses = process_pauses[raw(process)];
  if (p.pauses <= pauses) return;
  pauses = p.pauses;
  messages.pause(process);
  collectives.pause(process);
  numbered.pause(process);
  partitioned.pause(process);
  windows.pause(process);
  gats.pause(process);
  fences.pause(process);
  passive.pause(process);
}

bool blocking_send(MpiRole role) {
  switch (role) {
    case MpiRole::kIsend:
    case MpiRole::kIbsend:
    case MpiRole::kIssend:
    case MpiRole::kIrsend:
    case MpiRole::kIsendrecv:
    case MpiRole::kStart:
    case MpiRole::kStartall:
      return false;
    default:
      return true;
  }
}

bool posting_receive(MpiRole role) {
  switch (role) {
    case MpiRole::kMrecv:
    case MpiRole::kWait:
    case MpiRole::kWaitall:
    case MpiRole::kWaitany:
    case MpiRole::kWaitsome:
    case MpiRole::kTest:
    case MpiRole::kTestall:
    case MpiRole::kTestany:
    case MpiRole::kTestsome:
    case MpiRole::kRequestGetStatus:
      return false;
    default:
      return true;
  }
}

}  // namespace kojak::earl::detail
