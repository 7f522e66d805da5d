#include "expert/findings/last_call_words.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "epilog/format/text/counts.h"
#include "expert/ends/deadlocks.h"
#include "expert/findings/wait_words.h"

namespace kojak::expert {
namespace {

std::string seconds(Seconds time) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f s", time.value);
  return text;
}

const LastCall* first_ended(const LastCalls& last);

// What is said of a call with several requests: the trace knows the first one.
std::string among_others(const LastCall& call) {
  return call.polls_for_more ? " at least" : "";
}

// "rank 3".
std::string one(const LastCalls& last, std::uint32_t process) {
  return std::string(last.process) + ' ' + std::to_string(process);
}

// "rank 3", "ranks 0, 2-5 and 7"; locations of the same kind by their names.
std::string who(const Report& report, const LastCallGroup& group) {
  if (group.calls.size() == 1) {
    const std::size_t thread = report.thread_at(group.calls.front()->location);
    return thread == kNone ? one(report.last_calls(), group.calls.front()->process)
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
  std::string text = std::string(report.last_calls().process) + "s " + runs.front();
  for (std::size_t i = 1; i < runs.size() && i < kNamed; ++i) text += ", " + runs[i];
  if (runs.size() > kNamed) text += " ...";
  return text + " (" + std::to_string(group.calls.size()) + ")";
}

}  // namespace

std::vector<LastCallGroup> last_call_groups(const LastCalls& last) {
  const LastCall* const first = first_ended(last);
  std::map<std::tuple<std::uint32_t, CallSiteId, std::string, bool>, LastCallGroup> by_reason;
  for (const LastCall& call : last.calls) {
    const bool ended = call.state == LastCall::State::kEnded || &call == first;
    LastCallGroup& group = by_reason[{call.call_path, call.computes, call.awaits, ended}];
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

LastCallWords last_call_parts(const Report& report, const LastCallGroup& group) {
  const LastCall& call = *group.calls.front();
  const bool several = group.calls.size() > 1;
  LastCallWords words;
  words.who = who(report, group);
  words.call = call_name(report, call.call_path);
  words.times = "since " + seconds(group.since) + ", for " + seconds(group.until - group.since);
  if (call.state == LastCall::State::kPolls) {
    std::uint64_t polls = 0;
    for (const LastCall* each : group.calls) polls += each->polls;
    words.does = several ? "poll by" : "polls by";
    words.times += ", " + grouped(polls) + " times" + (several ? " in all" : "");
    const std::string& asked = call.polls_for;
    if (!asked.empty() && std::all_of(group.calls.begin(), group.calls.end(),
                                      [&](const LastCall* c) { return c->polls_for == asked; })) {
      words.times += ", for " + asked + among_others(call);
    }
  } else if (call.state == LastCall::State::kUnknown) {
    words.does = several ? "were not recorded" : "was not recorded";
    words.call = "(" + std::string(call.unrecorded) + ")";
  } else if (call.function == nullptr && call.shmem == nullptr) {
    words.does = (several ? "are" : "is") + (" outside of " + report.last_calls().library) +
                 " calls that can wait, in";
    if (!is_absent(call.computes)) words.call = function_at(report, call.computes);
  } else if (call.function != nullptr && call.function->role == MpiRole::kAbort) {
    words.does = several ? "have called" : "has called";
    words.times = "at " + seconds(group.since);
    return words;
  } else if (call.state == LastCall::State::kEnded || first_ended(report.last_calls()) == &call) {
    words.does = "ended in";
    words.times = "at " + seconds(group.until) + ", which did not return";
  } else {
    words.does = several ? "have been in" : "has been in";
    words.times = "for " + seconds(group.until - group.since);
  }
  if (!call.awaits.empty()) words.awaits = (several ? "wait for " : "waits for ") + call.awaits;
  if (!words.awaits.empty() && !is_absent(call.awaited_computes)) {
    words.awaits += ", which computes in " + function_at(report, call.awaited_computes);
  }
  return words;
}

std::string last_call_words(const Report& report, const LastCallGroup& group) {
  const LastCallWords words = last_call_parts(report, group);
  return words.who + ' ' + words.does + ' ' + words.call + ' ' + words.times +
         (words.awaits.empty() ? "" : ", and " + words.awaits) + '.';
}

std::string rank_list(const std::vector<std::uint32_t>& ranks, std::string_view word) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    runs.push_back(std::to_string(ranks[i]));
    if (end - i >= 3) runs.back() += '-' + std::to_string(ranks[end - 1]);
    i = end;
  }
  std::string text = std::string(word) + (ranks.size() == 1 ? " " : "s ");
  for (std::size_t i = 0; i < runs.size() && i < kNamed; ++i) {
    const bool last = i + 1 == runs.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + runs[i];
  }
  return runs.size() > kNamed ? text + " ..." : text;
}

std::string deadlock_words(const Report& report, const Deadlock& deadlock) {
  constexpr std::size_t kNamed = 8;
  const LastCalls& last = report.last_calls();
  std::string text = "Deadlock of " + rank_list(deadlock.ranks, last.process) + ": ";
  std::size_t named = 0;
  for (const LastCall& call : last.calls) {
    if (call.awaits.empty() || call.ranks.empty() ||
        !std::binary_search(deadlock.ranks.begin(), deadlock.ranks.end(), call.process)) {
      continue;
    }
    if (named == kNamed) {
      text += " ...";
      break;
    }
    text += (named++ == 0 ? "" : ", ") + one(last, call.process) + " is in " +
            call_name(report, call.call_path) + " and waits for " + call.awaits;
  }
  if (!deadlock.certain) text += ", unless another of their threads calls MPI";
  text += '.';
  if (deadlock.behind.empty()) return text;
  const bool one = deadlock.behind.size() == 1;
  std::string behind = rank_list(deadlock.behind, last.process);
  behind.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(behind.front())));
  return text + ' ' + behind + (one ? " waits behind it." : " wait behind it.");
}

namespace {

// Who waits for a process, or for one that waits for it.
std::vector<std::uint32_t> waiters_of(const LastCalls& last, std::uint32_t process) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> waiters;
  for (const LastCall& call : last.calls) {
    if (call.state != LastCall::State::kWaits || call.seconds() < kStood) continue;
    for (const std::uint32_t rank : call.ranks) waiters[rank].push_back(call.process);
  }
  std::set<std::uint32_t> found;
  std::vector<std::uint32_t> at{process};
  while (!at.empty()) {
    const std::vector<std::uint32_t> next = waiters[at.back()];
    at.pop_back();
    for (const std::uint32_t rank : next) {
      if (rank != process && found.insert(rank).second) at.push_back(rank);
    }
  }
  return {found.begin(), found.end()};
}

// In a call that can wait.
bool stands(const LastCall& call) {
  return call.state == LastCall::State::kWaits || call.state == LastCall::State::kInCall ||
         call.state == LastCall::State::kEnded;
}

std::string waiting_words(const LastCalls& last, const std::vector<std::uint32_t>& waiters) {
  return rank_list(waiters, last.process) +
         (waiters.size() == 1 ? " waits for it" : " wait for it");
}

// "ranks 0 and 1 wait for each other as far as is recorded, but not all is of rank 0 (recording was
// off)"
std::string unsure_words(const LastCalls& last, const Deadlock& circle) {
  std::string text = rank_list(circle.ranks, last.process) +
                     (circle.ranks.size() == 1 ? " waits for itself" : " wait for each other") +
                     " as far as is recorded, but not all is of ";
  for (const LastCall& call : last.calls) {
    if (call.incomplete == nullptr ||
        !std::binary_search(circle.ranks.begin(), circle.ranks.end(), call.process)) {
      continue;
    }
    return text + one(last, call.process) + " (" + call.incomplete + ')';
  }
  return text + "them";
}

// Whether MPI, an error handler or something else ended it there no trace knows.
std::string ended_in(const Report& report, const LastCall& call) {
  if (call.function == nullptr && call.shmem == nullptr) return {};
  return " in " + call_name(report, call.call_path) + ", which did not return";
}

// The process that ended before all others in a call in which it had nobody to wait for, if others
// have waited for it: a call that fails may end the process.
const LastCall* first_ended(const LastCalls& last) {
  constexpr double kBefore = 1e-3;
  const LastCall* first = nullptr;
  for (const LastCall& call : last.calls) {
    if (first == nullptr || call.until < first->until) first = &call;
  }
  if (first == nullptr || first->function == nullptr || !first->ranks.empty()) return nullptr;
  for (const LastCall& call : last.calls) {
    if (&call != first && call.until < first->until + Seconds{kBefore}) return nullptr;
  }
  return waiters_of(last, first->process).empty() ? nullptr : first;
}

// What a process did for which others wait.
std::string held_up_by(const Report& report, const LastCall& call) {
  const std::string rank = one(report.last_calls(), call.process);
  switch (call.state) {
    case LastCall::State::kEnded:
      return rank + " ended at " + seconds(call.until) + ended_in(report, call);
    case LastCall::State::kUnknown:
      return "what " + rank + " did was not recorded (" + call.unrecorded + ")";
    case LastCall::State::kPolls:
      return rank + " polls " +
             (call.polls_for.empty() ? "" : "for " + call.polls_for + among_others(call) + ' ') +
             '(' + call_name(report, call.call_path) + ", " + grouped(call.polls) +
             " times since " + seconds(call.since) + ")";
    default:
      break;
  }
  std::string text = rank + " has computed";
  if (!is_absent(call.computes)) text += " in " + function_at(report, call.computes);
  text += " since " + seconds(call.since);
  if (call.after != kLeftNone) text += ", after " + call_name(report, call.after);
  return text;
}

}  // namespace

std::string verdict_words(const Report& report) {
  constexpr std::size_t kNamed = 3;
  constexpr double kOfRun = 0.01;
  const LastCalls& last = report.last_calls();
  if (last.empty() || !last.deadlocks.empty()) return {};
  std::set<std::uint32_t> working;  // those that have come to their call just now, and who waits
  for (const LastCall& call : last.calls) {
    if (!stands(call) || call.seconds() >= kStood || !working.insert(call.process).second) continue;
    for (const std::uint32_t waiter : waiters_of(last, call.process)) working.insert(waiter);
  }
  double longest = 0, run = 0;
  for (const LastCall& call : last.calls) {
    run = std::max(run, call.until.value);
    if (call.function != nullptr && call.function->role == MpiRole::kAbort) return {};
    if (stands(call) && !working.contains(call.process)) {
      longest = std::max(longest, call.seconds());
    }
  }
  if (longest < kStood || longest < kOfRun * run) {
    const LastCall* const first = first_ended(last);
    if (first == nullptr) return "The run was ended while it worked.";
    return "No deadlock: " + one(last, first->process) + " ended first, at " +
           seconds(first->until) + ended_in(report, *first) +
           " (MPI, or its error handler, may have ended it); " +
           waiting_words(last, waiters_of(last, first->process)) + ".";
  }
  std::string text;
  std::size_t named = 0;
  for (const LastCall& call : last.calls) {
    if (call.state != LastCall::State::kEnded && stands(call)) continue;
    const std::vector<std::uint32_t> waiters = waiters_of(last, call.process);
    if (waiters.empty()) continue;
    if (++named > kNamed) break;
    const bool unknown = call.state == LastCall::State::kUnknown;
    text += !text.empty() ? "; " : unknown ? "" : "No deadlock: ";
    text += held_up_by(report, call) + "; " + waiting_words(last, waiters);
  }
  for (const std::uint32_t rank : last.traceless) {
    const std::vector<std::uint32_t> waiters = waiters_of(last, rank);
    if (waiters.empty()) continue;
    if (++named > kNamed) break;
    text += (text.empty() ? "" : "; ") + ("of " + one(last, rank)) + " there is no trace; " +
            waiting_words(last, waiters);
  }
  for (const Deadlock& circle : last.unsure) {
    if (++named > kNamed) break;
    text += (text.empty() ? "" : "; ") + unsure_words(last, circle);
  }
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + '.';
}

const Deadlock* deadlock_at(const Report& report, LocationIndex location, CallPathIndex call_path) {
  const LastCalls& last = report.last_calls();
  for (const LastCall& call : last.calls) {
    if (call.location == location && call.call_path == call_path &&
        call.deadlock < last.deadlocks.size()) {
      return &last.deadlocks[call.deadlock];
    }
  }
  return nullptr;
}

}  // namespace kojak::expert
