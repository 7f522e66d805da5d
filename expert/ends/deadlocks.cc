#include "expert/ends/deadlocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kojak::expert {
namespace {

using Rank = std::uint32_t;

// The circles of a graph of processes: its strongly connected parts (Tarjan, 1972), without calling
// itself, since chains of processes may be long.
class Circles {
 public:
  explicit Circles(const std::map<Rank, std::vector<Rank>>& waits) : waits_(waits) {}
  std::vector<std::vector<Rank>> find() {
    for (const auto& [rank, others] : waits_) {
      if (!numbers_.contains(rank)) search(rank);
    }
    return std::move(found_);
  }

 private:
  struct Open {
    Rank rank;
    std::size_t next = 0;
  };
  struct Number {
    std::size_t own, lowest;
    bool on_stack = true;
  };

  void begin(Rank rank) {
    const std::size_t number = numbers_.size();
    numbers_.emplace(rank, Number{number, number});
    stack_.push_back(rank);
    open_.push_back({rank});
  }
  void search(Rank first) {
    begin(first);
    while (!open_.empty()) {
      Open& at = open_.back();
      const std::vector<Rank>& others = waits_.at(at.rank);
      if (at.next < others.size()) {
        const Rank other = others[at.next++];
        const auto known = numbers_.find(other);
        if (known == numbers_.end()) {
          begin(other);
        } else if (known->second.on_stack) {
          std::size_t& lowest = numbers_.at(at.rank).lowest;
          lowest = std::min(lowest, known->second.own);
        }
        continue;
      }
      const Rank done = at.rank;
      open_.pop_back();
      const Number number = numbers_.at(done);
      if (!open_.empty()) {
        std::size_t& lowest = numbers_.at(open_.back().rank).lowest;
        lowest = std::min(lowest, number.lowest);
      }
      if (number.lowest == number.own) close(done);
    }
  }
  void close(Rank first) {
    std::vector<Rank> part;
    for (Rank rank = first + 1; rank != first;) {
      rank = stack_.back();
      stack_.pop_back();
      numbers_.at(rank).on_stack = false;
      part.push_back(rank);
    }
    const std::vector<Rank>& own = waits_.at(first);
    const bool circle = part.size() > 1 || std::find(own.begin(), own.end(), first) != own.end();
    std::sort(part.begin(), part.end());
    if (circle) found_.push_back(std::move(part));
  }

  const std::map<Rank, std::vector<Rank>>& waits_;
  std::map<Rank, Number> numbers_;
  std::vector<Rank> stack_;
  std::vector<Open> open_;
  std::vector<std::vector<Rank>> found_;
};

bool needs_others(const LastCall& call) {
  return !call.ranks.empty() && !call.other_world && call.thing != AwaitedThing::kProgress &&
         call.thing != AwaitedThing::kAsker;
}

// What is left of those that wait when all are gone that can go on.
std::map<Rank, const LastCall*> stuck_processes(const LastCalls& last,
                                                const std::set<Rank>& traced) {
  std::map<Rank, const LastCall*> waits;
  std::map<Rank, bool> known;  // and whether it ended before
  for (const LastCall& call : last.calls) {
    bool& ended = known.try_emplace(call.process, true).first->second;
    ended = ended && call.state == LastCall::State::kEnded;
    if (call.state == LastCall::State::kWaits && needs_others(call)) {
      waits.try_emplace(call.process, &call);
    }
  }
  for (const LastCall& call : last.calls) {  // another of its threads may go on
    const bool in_call = call.function != nullptr || call.shmem != nullptr;
    if (in_call && !needs_others(call)) waits.erase(call.process);
  }
  // Of one that is over nothing can come; of one that has no trace, anything.
  const auto over = [&](Rank rank) {
    const auto entry = known.find(rank);
    return entry == known.end() ? traced.contains(rank) : entry->second;
  };
  // How many of those that a process waits for are stuck; it is looked at again when one of them
  // goes on.
  std::map<Rank, std::size_t> stuck;
  std::map<Rank, std::vector<Rank>> waiters;
  std::vector<Rank> going;
  const auto goes_on = [&](Rank rank) {
    const LastCall& call = *waits.at(rank);
    return call.any ? stuck.at(rank) != call.ranks.size() : stuck.at(rank) == 0;
  };
  for (const auto& [rank, call] : waits) {
    std::size_t& count = stuck[rank];
    for (const Rank other : call->ranks) {
      if (waits.contains(other)) {
        waiters[other].push_back(rank);
      } else if (!over(other)) {
        continue;
      }
      ++count;
    }
    if (goes_on(rank)) going.push_back(rank);
  }
  while (!going.empty()) {
    const Rank free = going.back();
    going.pop_back();
    if (waits.erase(free) == 0) continue;
    for (const Rank rank : waiters[free]) {
      if (!waits.contains(rank)) continue;
      --stuck.at(rank);
      if (goes_on(rank)) going.push_back(rank);
    }
  }
  return waits;
}

}  // namespace

void judge_last_calls(LastCalls& last, const Definitions& definitions,
                      const std::set<Rank>& traced) {
  Seconds end{0};
  for (const LastCall& call : last.calls) end = std::max(end, call.until);
  for (LastCall& call : last.calls) {
    const bool outside = call.function == nullptr && call.shmem == nullptr;
    call.state = call.until < end - Seconds{kEndedBefore} ? LastCall::State::kEnded
                 : call.unrecorded != nullptr             ? LastCall::State::kUnknown
                 : call.polls != 0                        ? LastCall::State::kPolls
                 : outside                                ? LastCall::State::kComputes
                 : call.ranks.empty()                     ? LastCall::State::kInCall
                                                          : LastCall::State::kWaits;
  }
  const std::map<Rank, const LastCall*> stuck = stuck_processes(last, traced);
  std::set<Rank> incomplete;
  std::set<Rank> traceless;
  for (const LastCall& call : last.calls) {
    if (call.incomplete != nullptr) incomplete.insert(call.process);
    for (const Rank rank : call.ranks) {
      if (!traced.contains(rank)) traceless.insert(rank);
    }
  }
  last.traceless.assign(traceless.begin(), traceless.end());
  std::map<Rank, std::vector<Rank>> waits, waiters;
  for (const auto& [rank, call] : stuck) {
    std::vector<Rank>& others = waits[rank];
    for (const Rank other : call->ranks) {
      if (!stuck.contains(other)) continue;
      others.push_back(other);
      waiters[other].push_back(rank);
    }
  }
  std::map<Rank, std::uint32_t> number;  // of the deadlock that a process is in or behind
  for (std::vector<Rank>& ranks : Circles(waits).find()) {
    Deadlock deadlock;
    const bool stood = std::all_of(ranks.begin(), ranks.end(),
                                   [&](Rank rank) { return stuck.at(rank)->seconds() >= kStood; });
    if (!stood) continue;
    for (const Rank rank : ranks) {
      const std::string* threads =
          definitions.properties.find(run_property::kThreads, static_cast<ProcessId>(rank));
      deadlock.certain = deadlock.certain && (threads == nullptr || *threads != "multiple");
    }
    const bool sure = std::none_of(ranks.begin(), ranks.end(),
                                   [&](Rank rank) { return incomplete.contains(rank); });
    deadlock.ranks = std::move(ranks);
    (sure ? last.deadlocks : last.unsure).push_back(std::move(deadlock));
  }
  std::sort(last.deadlocks.begin(), last.deadlocks.end(),
            [](const Deadlock& a, const Deadlock& b) { return a.ranks < b.ranks; });
  for (std::uint32_t i = 0; i < last.deadlocks.size(); ++i) {
    for (const Rank rank : last.deadlocks[i].ranks) number.emplace(rank, i);
  }
  for (std::uint32_t i = 0; i < last.deadlocks.size(); ++i) {
    std::vector<Rank> at = last.deadlocks[i].ranks;
    while (!at.empty()) {
      const Rank rank = at.back();
      at.pop_back();
      for (const Rank waiter : waiters[rank]) {
        if (!number.emplace(waiter, i).second) continue;
        last.deadlocks[i].behind.push_back(waiter);
        at.push_back(waiter);
      }
    }
    std::sort(last.deadlocks[i].behind.begin(), last.deadlocks[i].behind.end());
  }
  for (LastCall& call : last.calls) {
    const auto known = number.find(call.process);
    if (known != number.end() && call.state == LastCall::State::kWaits)
      call.deadlock = known->second;
  }
}

}  // namespace kojak::expert
