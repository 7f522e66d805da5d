#include "expert/ends/last_waits.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

std::optional<MetricIndex> metric_of_shmem(const LastCall& call) {
  if (call.ranks.empty()) return std::nullopt;
  switch (call.thing) {
    case AwaitedThing::kWrite:
      return metric_index<ShmemLateNotification>();
    case AwaitedThing::kClearLock:
      return metric_index<ShmemLockContention>();
    case AwaitedThing::kMembers:
      break;
    default:
      return std::nullopt;
  }
  constexpr std::uint8_t kBarrier = 4, kOneToAll = 5, kAllToAll = 7;  // EPILOG's region types
  switch (call.shmem->region_type) {
    case kBarrier:
      return metric_index<ShmemBarrierWait>();
    case kOneToAll:
      return metric_index<ShmemLateBroadcast>();
    case kAllToAll:
      return metric_index<ShmemNxnWait>();
    default:
      return std::nullopt;
  }
}

std::optional<MetricIndex> metric_of_last_shmem(const LastCall& call) {
  const std::optional<MetricIndex> found = metric_of_shmem(call);
  return found ? std::optional(in_model(*found, call.shmem->model)) : found;
}

// The pattern that a call which did not return would have had.
std::optional<MetricIndex> metric_of_last(const LastCall& call) {
  if (call.shmem != nullptr) return metric_of_last_shmem(call);
  if (call.function == nullptr || call.ranks.empty()) return std::nullopt;
  const bool transfer = call.function->cls == MpiClass::kRmaCommunication;
  switch (call.thing) {
    case AwaitedThing::kMessage:
    case AwaitedThing::kOwnParts:
      return metric_index<LateSender>();
    case AwaitedThing::kReceive:
      return metric_index<LateReceiver>();
    case AwaitedThing::kPost:
      return transfer ? metric_index<EarlyTransfer>() : metric_index<LatePost>();
    case AwaitedThing::kComplete:
      return metric_index<EarlyWait>();
    case AwaitedThing::kHolder:
    case AwaitedThing::kAsker:
      return transfer ? metric_index<RmaLockContention>() : metric_index<SyncLockContention>();
    case AwaitedThing::kProgress:
      if (transfer) return metric_index<RmaWaitForProgress>();
      if (call.function->cls == MpiClass::kPassiveTarget) {
        return metric_index<SyncWaitForProgress>();
      }
      if (call.function->role == MpiRole::kWinComplete) return metric_index<GatWaitForProgress>();
      return std::nullopt;
    case AwaitedThing::kMembers:
      break;
    default:
      return std::nullopt;
  }
  switch (call.function->role) {
    case MpiRole::kBarrier:
      return metric_index<BarrierWait>();
    case MpiRole::kOneToAll:
      return metric_index<LateBroadcast>();
    case MpiRole::kAllToOne:
      return metric_index<ReduceWait>();
    case MpiRole::kAllToAll:
      return metric_index<NxnWait>();
    case MpiRole::kPrefix:
      return metric_index<EarlyScan>();
    case MpiRole::kNeighbor:
      return metric_index<NeighbourWait>();
    case MpiRole::kWinFence:
      return metric_index<FenceWait>();
    case MpiRole::kWinCreate:
      return metric_index<WindowCreateWait>();
    case MpiRole::kWinFree:
      return metric_index<WindowFreeWait>();
    case MpiRole::kCommCreate:
      return metric_index<CommCreateWait>();
    case MpiRole::kFinalize:
      return metric_index<FinalizeWait>();
    default:
      return call.function->cls == MpiClass::kIo ? std::optional(metric_index<CollectiveIoWait>())
                                                 : std::nullopt;
  }
}

}  // namespace

LastWaits find_last_waits(const LastCalls& last) {
  const std::vector<LastCall>& calls = last.calls;
  std::map<std::uint32_t, const LastCall*> of_process;
  for (const LastCall& call : calls) of_process.try_emplace(call.process, &call);
  const auto computes = [](const LastCall& c) { return c.state == LastCall::State::kComputes; };
  std::map<const LastCall*, std::size_t> number;  // in `waits`
  std::vector<LastWait> waits;
  for (const LastCall& call : calls) {
    const std::optional<MetricIndex> metric = metric_of_last(call);
    if (!metric) continue;
    // Of several that have not come, the one that holds up: it computes, or came first to mind.
    const LastCall* awaited = nullptr;
    for (const std::uint32_t rank : call.ranks) {
      const auto known = of_process.find(rank);
      if (known == of_process.end() || known->second == &call) continue;
      if (awaited == nullptr || (computes(*known->second) && !computes(*awaited))) {
        awaited = known->second;
      }
    }
    Seconds begin = call.since;
    if (call.thing == AwaitedThing::kProgress) {  // no longer than it is outside
      if (awaited == nullptr || !computes(*awaited)) continue;
      begin = std::max(begin, awaited->since);
    }
    if (!(begin < call.until)) continue;
    number.emplace(&call, waits.size());
    waits.push_back({&call, awaited, *metric, begin, 0});
  }
  // Who is waited for is told before those who wait, and up to a time at which all still waited:
  // so the causes of its waiting are those of theirs.
  Seconds common{std::numeric_limits<double>::infinity()};
  std::vector<std::size_t> way;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    common = std::min(common, waits[i].call->until);
    way.clear();
    for (std::size_t at = i; waits[at].depth == 0 && way.size() <= waits.size();) {
      way.push_back(at);
      const auto next = number.find(waits[at].awaited);
      if (next == number.end()) break;
      at = next->second;
      if (waits[at].depth != 0) way.push_back(at);
    }
    std::size_t depth = waits[way.empty() ? i : way.back()].depth;
    if (depth != 0 && !way.empty()) way.pop_back();
    for (auto it = way.rbegin(); it != way.rend(); ++it) waits[*it].depth = ++depth;
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const LastWait& a, const LastWait& b) { return a.depth < b.depth; });
  return {std::move(waits), common};
}

Wait wait_of(const LastWait& last, std::size_t n) {
  const LastCall& call = *last.call;
  Wait wait{.metric = last.metric,
            .call_path = call.call_path,
            .location = call.location,
            .enter = call.since,
            .exit = call.until,
            .exit_pos = (std::uint64_t{1} << 62) + call.location,  // behind all that returned
            .begin = last.begin,
            .end = call.until,
            .waiting = call.until - last.begin};
  if (last.awaited != nullptr) {
    wait.ended_by = {last.awaited->location, last.awaited->call_path, call.until};
  }
  wait.ended_by.never = true;
  wait.operation = {.scattered = true, .number = (std::uint64_t{3} << 62) + n};
  if (call.deadlock != kNoDeadlock) wait.cause = Wait::Cause::kNobody;
  wait.known = Wait::Known::kAtEnd;
  return wait;
}

void add_deadlocks(const LastWaits& waits, std::size_t deadlocks, RootCauses& found) {
  std::vector<RootCause> causes(deadlocks);
  std::vector<std::map<MetricIndex, double>> by_pattern(deadlocks);
  for (const LastWait& last : waits.waits) {
    const LastCall& call = *last.call;
    if (call.deadlock == kNoDeadlock) continue;
    RootCause& cause = causes[call.deadlock];
    if (cause.deadlock == kNoDeadlock) {
      cause.deadlock = call.deadlock;
      cause.compared = false;
      cause.location = call.location;
      cause.place = call.call_path;
      cause.stretch = {.kind = Stretch::Kind::kCall, .path = call.call_path};
    }
    const double waiting = (call.until - last.begin).value;
    cause.longer = cause.seconds += waiting;
    by_pattern[call.deadlock][last.metric] += waiting;
    found.waits += waiting;
    found.waits_at.push_back({call.location, call.call_path, last.metric, waiting, 0});
  }
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (const auto& [metric, seconds] : by_pattern[i]) {
      causes[i].patterns.push_back({metric, seconds, 0});
    }
    std::stable_sort(
        causes[i].patterns.begin(), causes[i].patterns.end(),
        [](const CostOfPattern& a, const CostOfPattern& b) { return a.short_term > b.short_term; });
  }
  std::erase_if(causes, [](const RootCause& cause) { return cause.deadlock == kNoDeadlock; });
  found.causes.insert(found.causes.begin(), std::make_move_iterator(causes.begin()),
                      std::make_move_iterator(causes.end()));
}

}  // namespace kojak::expert
