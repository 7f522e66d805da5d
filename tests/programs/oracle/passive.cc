// Passive target synchronisation: who held a lock before whom, and who was outside MPI while an
// origin needed it. Written over complete lists: every epoch is compared with every other.
#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
using Times = std::vector<std::pair<double, double>>;

// Length of a call within the union of times.
double within(const Call& call, Times times) {
  std::ranges::sort(times);
  double length = 0, done = call.enter;
  for (const auto& [begin, end] : times) {
    const double from = std::max(begin, done), to = std::min(end, call.exit);
    if (from < to) {
      length += to - from;
      done = to;
    }
  }
  return length;
}
Times without(const Times& times, const Times& taken) {
  Times rest = times;
  for (const auto& [a, b] : taken) {
    Times next;
    for (const auto& [begin, end] : rest) {
      if (begin < std::min(end, a)) next.emplace_back(begin, std::min(end, a));
      if (std::max(begin, b) < end) next.emplace_back(std::max(begin, b), end);
    }
    rest = next;
  }
  return rest;
}

struct Lock {
  std::string window;
  int origin = 0;
  int target = -1;  // -1: lock_all
  bool exclusive = false, nocheck = false;
  const Call *lock = nullptr, *unlock = nullptr;
  std::vector<const Call*> calls;
  std::map<int, double> proof;   // by target
  std::map<int, int> open;       // operations outstanding, by target
  std::map<int, double> issued;  // when the last of them was, by target
  double proof_at(int t) const {
    const auto found = proof.find(t);
    return found == proof.end() ? unlock->exit : std::min(found->second, unlock->exit);
  }
};

// A call that may need its targets while operations are outstanding.
struct Needing {
  const Call* call;
  std::string kind;
  std::map<int, double> targets;  // when the last operation was issued to each
};

bool covers(const Lock& lock, int target) {
  return lock.target < 0 || target < 0 || lock.target == target;
}
bool first(const Lock& a, const Lock& b, int t) {
  const double pa = a.proof_at(t), pb = b.proof_at(t);
  const double ua = a.unlock->enter, ub = b.unlock->enter;
  if (pa <= ua && pb <= ub && (ua <= pb) != (ub <= pa)) return ua <= pb;
  if ((ua <= b.lock->exit) != (ub <= a.lock->exit)) return ua <= b.lock->exit;
  return a.unlock->exit < b.unlock->exit;
}
bool conflict(const Lock& a, const Lock& b) {
  return a.window == b.window && a.origin != b.origin && (a.exclusive || b.exclusive) &&
         !a.nocheck && !b.nocheck && (a.target < 0 || b.target < 0 || a.target == b.target);
}

// A transfer with a request, until that is completed.
struct Request {
  std::size_t lock;
  int target;
  bool result;  // it brings data back
  double issued;
};

bool is_wait(const std::string& function) {
  return function.starts_with("MPI_Wait");
}

// A call that completes requests of transfers. While their epoch is open, their Wait may wait for
// its lock; data that came back proves the lock, and may have needed the target. A put may be
// complete here only.
void complete_requests(const Call& call, const std::map<std::string, Request>& requests,
                       const std::vector<std::size_t>& open, std::vector<Lock>& all,
                       std::vector<Needing>& needing) {
  Needing needs{&call, "get wait", {}};
  const bool waits = is_wait(call.function) && classes_of(call).back() == "mpi_rma_communication";
  for (const std::string& name : call.list("rma")) {
    const Request& request = requests.at(name);
    if (std::ranges::find(open, request.lock) == open.end()) continue;
    Lock& lock = all[request.lock];
    if (waits) lock.calls.push_back(&call);
    if (!request.result) continue;
    int& outstanding = lock.open[request.target];
    if (outstanding > 0) --outstanding;
    lock.proof.emplace(request.target, call.exit);
    if (!waits) continue;
    double& issued = needs.targets[request.target];
    issued = std::max(issued, request.issued);
  }
  needing.push_back(needs);
}

// The epochs of one process, and its calls that need others.
void read_locks(const std::vector<Call>& calls, std::vector<Lock>& all,
                std::vector<Needing>& needing) {
  std::vector<std::size_t> open;
  std::map<std::string, std::vector<const Call*>> access;  // transfers of the open access epoch
  std::map<std::string, bool> started;
  std::map<std::string, Request> requests;
  for (const Call& call : calls) {
    const std::string window = call.text("win");
    const std::string& f = call.function;
    if (f == "MPI_Win_lock" || f == "MPI_Win_lock_all") {
      Lock lock;
      lock.window = window;
      lock.origin = call.rank;
      if (call.has("lock")) lock.target = static_cast<int>(call.number("lock"));
      lock.exclusive = call.text("exclusive") == "1";
      lock.nocheck = call.text("nocheck") == "1";
      lock.lock = &call;
      lock.calls.push_back(&call);
      open.push_back(all.size());
      all.push_back(lock);
      if (lock.target >= 0) needing.push_back({&call, "lock", {{lock.target, call.enter}}});
    } else if (f == "MPI_Win_unlock" || f == "MPI_Win_unlock_all") {
      const int target = call.has("unlock") ? static_cast<int>(call.number("unlock")) : -1;
      for (const std::size_t i : open) {
        Lock& lock = all[i];
        if (lock.window != window || lock.target != target) continue;
        lock.unlock = &call;
        lock.calls.push_back(&call);
        Needing needs{&call, "unlock", {}};
        for (const auto& [t, count] : lock.open) {
          if (count != 0) needs.targets[t] = lock.issued[t];
        }
        needing.push_back(needs);
        std::erase(open, i);
        break;
      }
    } else if (call.has("flush_local")) {  // of puts: it proves nothing and needs nobody
      for (const std::size_t i : open)
        if (all[i].window == window && covers(all[i], static_cast<int>(call.number("flush_local"))))
          all[i].calls.push_back(&call);
    } else if (f.starts_with("MPI_Win_flush")) {
      const int target = call.has("flush") ? static_cast<int>(call.number("flush")) : -1;
      Needing needs{&call, "flush", {}};
      for (const std::size_t i : open) {
        Lock& lock = all[i];
        if (lock.window != window || !covers(lock, target)) continue;
        lock.calls.push_back(&call);
        for (auto& [t, count] : lock.open) {
          if (count == 0 || (target >= 0 && t != target)) continue;
          lock.proof.emplace(t, call.exit);
          needs.targets[t] = lock.issued[t];
          count = 0;
        }
      }
      needing.push_back(needs);
    } else if (f == "MPI_Win_start") {
      started[window] = true;
    } else if (f == "MPI_Win_complete") {
      Needing needs{&call, "complete", {}};
      for (const Call* c : access[window]) {
        needs.targets[static_cast<int>(c->number("to"))] = c->enter;  // the last one's
      }
      needing.push_back(needs);
      access[window].clear();
      started[window] = false;
    } else if (call.has("to") && call.has("win")) {
      const int target = static_cast<int>(call.number("to"));
      bool passive = false;
      for (const std::size_t i : open) {
        Lock& lock = all[i];
        if (lock.window != window || !covers(lock, target)) continue;
        passive = true;
        lock.calls.push_back(&call);
        // What an atomic brings back may be here long before its update is known to be there.
        lock.open[target] += call.has("bytes_put") && call.has("bytes_get") ? 2 : 1;
        lock.issued[target] = call.enter;
        if (call.has("rma")) {
          requests[call.text("rma")] = {i, target, call.text("result") == "1", call.enter};
        }
      }
      if (passive) {
        needing.push_back({&call, "passive transfer", {{target, call.enter}}});
      } else if (started[window]) {
        access[window].push_back(&call);
        needing.push_back({&call, "access transfer", {{target, call.enter}}});
      }
    } else if (call.has("rma")) {
      complete_requests(call, requests, open, all, needing);
    }
  }
  for (const std::size_t i : open) {
    throw std::runtime_error("an epoch of window " + all[i].window + " is not closed");
  }
}

// When a process was outside MPI: between its calls, other than those that make no progress.
Times outside(const std::vector<Call>& calls) {
  Times times;
  double since = kNever;
  for (const Call& call : calls) {
    if (call.function == "MPI_Comm_rank" || call.function == "MPI_Wtime") continue;
    if (since < call.enter) times.emplace_back(since, call.enter);
    since = call.exit;
  }
  return times;
}

std::string metric_of(const Call& call, const std::string& what) {
  const std::vector<std::string> classes = classes_of(call);
  if (classes.back() == "mpi_rma_communication") return "mpi_rma_comm_" + what;
  return classes.back() == "mpi_rma_gat_synchronization" ? "mpi_rma_gat_" + what
                                                         : "mpi_rma_sync_" + what;
}

}  // namespace

void Truth::add_passive(const Notes& run, const std::map<const Call*, Times>& taken_before) {
  std::vector<Lock> locks;
  std::vector<Needing> needing;
  for (const auto& calls : run.calls) read_locks(calls, locks, needing);

  std::map<const Call*, Times> taken = taken_before;
  std::map<const Call*, Times> contention;
  for (const Lock& e : locks) {
    Times waits;
    for (const Lock& h : locks) {
      if (!conflict(e, h)) continue;
      const int t = e.target >= 0 ? e.target : h.target;
      if (!first(h, e, t)) continue;
      double release = h.unlock->exit;
      for (const Lock& x : locks) {
        if (conflict(h, x) && (x.target < 0 || x.target == t) && first(h, x, t))
          release = std::min(release, x.proof_at(t));
      }
      release = std::max(release, h.unlock->enter);
      const double begin = std::max(e.lock->enter, h.lock->enter);
      const double end = std::min(release, e.proof_at(t));
      if (begin < end) waits.emplace_back(begin, end);
    }
    for (const Call* c : e.calls)
      contention[c].insert(contention[c].end(), waits.begin(), waits.end());
  }
  for (const auto& [c, waits] : contention) {
    add(metric_of(*c, "lock_contention"), *c, within(*c, waits));
    taken[c].insert(taken[c].end(), waits.begin(), waits.end());
  }

  // Who was outside MPI is known only if the program noted all its calls.
  const bool all_noted = std::ranges::any_of(run.calls, [](const auto& calls) {
    return std::ranges::any_of(calls, [](const Call& c) { return c.has("all_noted"); });
  });
  if (!all_noted) {
    for (auto it = values_.begin(); it != values_.end();)
      it = std::get<0>(it->first).ends_with("_wait_for_progress") ? values_.erase(it)
                                                                  : std::next(it);
    return;
  }
  std::vector<Times> away;
  for (const auto& calls : run.calls) away.push_back(outside(calls));
  std::set<std::pair<std::string, std::string>> asynchronous;  // window, kind
  for (const Needing& n : needing) {
    if (n.kind.ends_with("transfer") || n.kind == "lock") continue;
    for (const auto& [t, issued] : n.targets) {
      if (t == n.call->rank) continue;
      for (const auto& [begin, end] : away[static_cast<std::size_t>(t)]) {
        if (begin <= issued && n.call->exit < end)
          asynchronous.insert({n.call->text("win"), n.kind});
      }
    }
  }
  for (const Needing& n : needing) {
    const std::string window = n.call->text("win");
    const auto is_async = [&](const char* kind) { return asynchronous.contains({window, kind}); };
    if (asynchronous.contains({window, n.kind})) continue;
    if (n.kind == "access transfer" && is_async("complete")) continue;
    if ((n.kind == "passive transfer" || n.kind == "lock") &&
        (is_async("flush") || is_async("unlock")))
      continue;
    Times waits;
    for (const auto& [t, issued] : n.targets) {
      if (t == n.call->rank) continue;
      for (const auto& [begin, end] : away[static_cast<std::size_t>(t)]) {
        if (end <= n.call->exit) waits.emplace_back(begin, end);
      }
    }
    add(metric_of(*n.call, "wait_for_progress"), *n.call,
        within(*n.call, without(waits, taken[n.call])));
  }
}

}  // namespace kojak::oracle
