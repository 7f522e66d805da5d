#include "expert/report/last_call_words.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "expert/report/wait_words.h"

namespace kojak::expert {
namespace {

std::string seconds(Seconds time) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f s", time.value);
  return text;
}

// "rank 3", "ranks 0, 2-5 and 7"; locations of the same kind by their names.
std::string who(const Report& report, const StorePlaces& places, const LastCallGroup& group) {
  if (group.calls.size() == 1) {
    const std::size_t thread = places.thread(group.calls.front()->location);
    return thread == kNone ? "rank " + std::to_string(group.calls.front()->process)
                           : report.thread_name(thread);
  }
  std::vector<std::uint32_t> ranks;
  for (const LastCall* call : group.calls) ranks.push_back(call->process);
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] <= ranks[end - 1] + 1) ++end;
    runs.push_back(std::to_string(ranks[i]));
    if (ranks[end - 1] != ranks[i]) runs.back() += '-' + std::to_string(ranks[end - 1]);
    i = end;
  }
  constexpr std::size_t kNamed = 8;
  std::string text = "ranks " + runs.front();
  for (std::size_t i = 1; i < runs.size() && i < kNamed; ++i) text += ", " + runs[i];
  if (runs.size() > kNamed) text += " ...";
  return text + " (" + std::to_string(group.calls.size()) + ")";
}

}  // namespace

std::vector<LastCallGroup> last_call_groups(const LastCalls& last) {
  std::map<std::tuple<std::uint32_t, CallSiteId, std::string>, LastCallGroup> by_reason;
  for (const LastCall& call : last.calls) {
    LastCallGroup& group = by_reason[{call.call_path, call.computes, call.awaits}];
    if (group.calls.empty()) group.since = call.since, group.until = call.until;
    group.since = std::min(group.since, call.since);
    group.until = std::max(group.until, call.until);
    group.calls.push_back(&call);
  }
  std::vector<LastCallGroup> groups;
  for (auto& [reason, group] : by_reason) groups.push_back(std::move(group));
  std::stable_sort(
      groups.begin(), groups.end(),
      [](const LastCallGroup& a, const LastCallGroup& b) { return a.since < b.since; });
  return groups;
}

LastCallWords last_call_parts(const Report& report, const StorePlaces& places,
                              const LastCallGroup& group) {
  const LastCall& call = *group.calls.front();
  const bool several = group.calls.size() > 1;
  LastCallWords words;
  words.who = who(report, places, group);
  words.call = call_name(report, places, call.call_path);
  words.times = "since " + seconds(group.since) + ", for " + seconds(group.until - group.since);
  if (call.function == nullptr && call.shmem == nullptr) {
    words.does = (several ? "are" : "is") + (" outside of " + report.last_calls().library) +
                 " calls that can wait, in";
    if (!is_absent(call.computes)) words.call = function_at(report, call.computes);
  } else if (call.function != nullptr && call.function->role == MpiRole::kAbort) {
    words.does = several ? "have called" : "has called";
    words.times = "at " + seconds(group.since);
    return words;
  } else {
    words.does = several ? "stand in" : "stands in";
  }
  if (!call.awaits.empty()) words.awaits = (several ? "wait for " : "waits for ") + call.awaits;
  if (!words.awaits.empty() && !is_absent(call.awaited_computes)) {
    words.awaits += ", which computes in " + function_at(report, call.awaited_computes);
  }
  return words;
}

std::string last_call_words(const Report& report, const StorePlaces& places,
                            const LastCallGroup& group) {
  const LastCallWords words = last_call_parts(report, places, group);
  return words.who + ' ' + words.does + ' ' + words.call + ' ' + words.times +
         (words.awaits.empty() ? "" : ", and " + words.awaits) + '.';
}

std::string deadlock_words(const std::vector<std::uint32_t>& circle) {
  constexpr std::size_t kNamed = 8;
  std::string text = "Deadlock: ";
  for (std::size_t i = 0; i < circle.size() && i < kNamed; ++i) {
    if (i != 0) text += ", ";
    text += "rank " + std::to_string(circle[i]) + " waits for rank " +
            std::to_string(circle[(i + 1) % circle.size()]);
  }
  if (circle.size() > kNamed) {
    text += " and so on, " + std::to_string(circle.size()) + " processes in all";
  }
  return text + '.';
}

}  // namespace kojak::expert
