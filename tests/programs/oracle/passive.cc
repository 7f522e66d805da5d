// Long because all calls of passive target, and who was absent in them, are one reckoning.
// Passive target synchronisation: who held a lock before whom, and who was outside MPI while an
// origin needed it. Written over complete lists: every epoch is compared with every other.
#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

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
  std::map<int, std::pair<double, double>> proof;  // by target: the call that proves the lock
  std::map<int, int> open;                         // operations outstanding, by target
  std::map<int, double> issued;                    // when the last of them was, by target
};

// One epoch at one target.
struct Turn {
  const Lock* lock = nullptr;
  bool exclusive = false;
  int origin = 0;
  double asked = 0, locked = 0;     // its lock call
  double proving = 0, proof = 0;    // the call that proves the lock
  double letting_go = 0, gone = 0;  // its unlock call
  double earliest = 0;              // when it can have let go
  double grant = 0, release = 0;
  double since = 0;  // it had asked, and nobody held what it wanted
  bool conflicts(const Turn& o) const { return origin != o.origin && (exclusive || o.exclusive); }
};

// A call that may need its targets while operations are outstanding.
struct Needing {
  const Call* call;
  std::string kind;
  std::map<int, double> targets;  // when the last operation was issued to each
  std::string window;             // where the call itself names none
  bool nocheck = false;

  std::string on() const { return window.empty() ? call->text("win") : window; }
};

bool covers(const Lock& lock, int target) {
  return lock.target < 0 || target < 0 || lock.target == target;
}
constexpr double kClear = 1.5;

// The order in which they held their locks, found one after the other, each time among all that are
// left: what proofs leave open is decided by what calls lasted, then by who asked first.
class Order {
 public:
  explicit Order(std::vector<Turn> turns) : rest_(std::move(turns)) {
    std::ranges::sort(rest_, [](const Turn& a, const Turn& b) {
      return std::pair(a.letting_go, a.gone) < std::pair(b.letting_go, b.gone);
    });
  }
  std::vector<Turn> find() {
    std::vector<Turn> order;
    while (!rest_.empty()) {
      const std::size_t i = next();
      let_go_[rest_[i].exclusive] = std::max(let_go_[rest_[i].exclusive], earliest(rest_[i]));
      rest_[i].earliest = earliest_of_next_;
      order.push_back(rest_[i]);
      rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return order;
  }

 private:
  double since(const Turn& t) const {
    return t.exclusive ? std::max(let_go_[0], let_go_[1]) : let_go_[1];
  }
  double earliest(const Turn& t) const {
    return std::max(t.letting_go, std::min(since(t), t.gone));
  }
  double lasted(const Turn& t) const {
    return std::max(t.locked - std::max(t.asked, since(t)), 0.0) +
           std::max(t.proof - std::max(t.proving, since(t)), 0.0);
  }
  // Shared ones that had proved their locks before one of them let go held them together.
  double together(const Turn& t) const {
    double until = earliest(t);
    for (bool more = true; more;) {
      more = false;
      for (const Turn& o : rest_) {
        if (o.exclusive || !(o.proof < until) || o.letting_go <= until) continue;
        until = o.letting_go;
        more = true;
      }
    }
    return until;
  }
  bool may_be_next(const Turn& t) const {
    double rival = kNever;
    for (const Turn& o : rest_) {
      if (&o != &t && (o.exclusive || t.exclusive)) rival = std::min(rival, o.proof);
    }
    if (rival < earliest(t)) return false;
    return t.exclusive || rival == kNever || rival >= together(t);
  }
  std::size_t next() {
    double first_exclusive = kNever, least = kNever;
    for (const Turn& t : rest_) {
      if (t.exclusive) first_exclusive = std::min(first_exclusive, t.letting_go);
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (!may_be_next(rest_[i])) continue;
      const bool alone = !rest_[i].exclusive && rest_[i].proof < first_exclusive;
      if (alone) ready.clear();  // all exclusive ones come after it
      ready.push_back(i);
      if (alone) break;
    }
    for (const std::size_t i : ready) least = std::min(least, lasted(rest_[i]));
    std::size_t best = 0;  // the clocks are wrong if nothing is ready
    bool any = false;
    for (const std::size_t i : ready) {
      const Turn &a = rest_[i], &b = rest_[best];
      if (lasted(a) > kClear * least) continue;
      if (!any || std::pair(a.asked, a.origin) < std::pair(b.asked, b.origin)) best = i;
      any = true;
    }
    earliest_of_next_ = earliest(rest_[best]);
    return best;
  }

  std::vector<Turn> rest_;
  double let_go_[2] = {-kNever, -kNever};  // shared, exclusive
  double earliest_of_next_ = 0;
};

// When each asked for what nobody held any more, and when it released it.
std::vector<Turn> turns_of(const std::vector<Turn>& all) {
  std::vector<Turn> order = Order(all).find();
  double released[2] = {-kNever, -kNever};
  std::size_t together = 0;  // from here on shared ones since the last exclusive one
  for (std::size_t i = 0; i < order.size(); ++i) {
    Turn& t = order[i];
    t.release = t.gone;
    for (std::size_t k = i + 1; k < order.size(); ++k) {
      if (t.conflicts(order[k])) t.release = std::min(t.release, order[k].proof);
    }
    t.release = std::max(t.release, t.earliest);
    if (t.exclusive) {
      for (; together < i; ++together) {
        Turn& s = order[together];
        if (s.exclusive) continue;
        if (s.origin != t.origin) {
          const double granted = std::min(s.release, std::min(t.proof, t.release));
          s.release = std::max({s.earliest, granted, s.grant});
        }
        released[0] = std::max(released[0], s.release);
      }
    }
    t.since = std::max(t.asked, t.exclusive ? std::max(released[0], released[1]) : released[1]);
    t.grant = std::min(t.since, t.proof);
    t.release = std::max(t.release, t.grant);
    if (t.exclusive) released[1] = std::max(released[1], t.release);
  }
  return order;
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
  Needing needs{&call, "get wait", {}, {}};
  const bool waits = is_wait(call.function) && classes_of(call).back() == "mpi_rma_communication";
  for (const std::string& name : call.list("rma")) {
    const Request& request = requests.at(name);
    if (std::ranges::find(open, request.lock) == open.end()) continue;
    Lock& lock = all[request.lock];
    if (waits) lock.calls.push_back(&call);
    if (!request.result) continue;
    int& outstanding = lock.open[request.target];
    if (outstanding > 0) --outstanding;
    lock.proof.emplace(request.target, std::pair(call.enter, call.exit));
    if (!waits) continue;
    needs.window = lock.window;
    double& issued = needs.targets[request.target];
    issued = std::max(issued, request.issued);
  }
  needing.push_back(needs);
}

// Those that have nothing outstanding: of all that the epoch locked, or one target.
Needing idle_of(const Call& call, const std::string& kind, const Lock& lock, int target,
                int ranks) {
  Needing needs{&call, kind, {}, lock.window};
  for (int t = 0; t < ranks; ++t) {
    if (!covers(lock, t) || (target >= 0 && t != target)) continue;
    const auto open = lock.open.find(t);
    if (open == lock.open.end() || open->second == 0) needs.targets[t] = call.enter;
  }
  return needs;
}

// The epochs of one process, and its calls that need others.
void read_locks(const std::vector<Call>& calls, int ranks, std::vector<Lock>& all,
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
      Needing needs{&call, "lock", {}, window, lock.nocheck};
      for (int t = 0; t < ranks; ++t) {
        if (lock.target < 0 || lock.target == t) needs.targets[t] = call.enter;
      }
      needing.push_back(needs);
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
        needing.push_back(idle_of(call, "idle unlock", lock, -1, ranks));
        needing.push_back(needs);
        std::erase(open, i);
        break;
      }
    } else if (call.has("flush_local")) {  // of puts: it proves nothing, but may wait for them
      const int target = static_cast<int>(call.number("flush_local"));
      Needing needs{&call, "flush_local", {}};
      for (const std::size_t i : open) {
        if (all[i].window != window || !covers(all[i], target)) continue;
        all[i].calls.push_back(&call);
        if (all[i].open[target] != 0) needs.targets[target] = all[i].issued[target];
      }
      needing.push_back(needs);
    } else if (f.starts_with("MPI_Win_flush")) {
      const int target = call.has("flush") ? static_cast<int>(call.number("flush")) : -1;
      Needing needs{&call, "flush", {}};
      for (const std::size_t i : open) {
        Lock& lock = all[i];
        if (lock.window != window || !covers(lock, target)) continue;
        lock.calls.push_back(&call);
        needing.push_back(idle_of(call, "idle flush", lock, target, ranks));
        for (auto& [t, count] : lock.open) {
          if (count == 0 || (target >= 0 && t != target)) continue;
          lock.proof.emplace(t, std::pair(call.enter, call.exit));
          needs.targets[t] = lock.issued[t];
          count = 0;
        }
      }
      needing.push_back(needs);
    } else if (f == "MPI_Win_start") {
      started[window] = true;
    } else if (f == "MPI_Win_complete") {
      Needing needs{&call, "complete", {}, window};
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
        needing.push_back({&call, "passive transfer", {{target, call.enter}}, window});
      } else if (started[window]) {
        access[window].push_back(&call);
        needing.push_back({&call, "access transfer", {{target, call.enter}}, window});
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
  const int ranks = static_cast<int>(run.calls.size());
  for (const auto& calls : run.calls) read_locks(calls, ranks, locks, needing);

  // Who was outside MPI is known only if the program noted all its calls.
  const bool all_noted = std::ranges::any_of(run.calls, [](const auto& calls) {
    return std::ranges::any_of(calls, [](const Call& c) { return c.has("all_noted"); });
  });
  std::vector<Times> away(run.calls.size());
  if (all_noted) std::ranges::transform(run.calls, away.begin(), outside);
  // Calls that ended while their target was away, as it had been ever since; and locks that ended
  // only after it had come back.
  std::set<std::pair<std::string, std::string>> asynchronous;  // window, kind
  std::set<std::string> locks_waited;
  for (const Needing& n : needing) {
    if (n.kind.ends_with("transfer") || n.kind == "flush_local" || n.nocheck) continue;
    for (const auto& [t, issued] : n.targets) {
      if (t == n.call->rank) continue;
      for (const auto& [begin, end] : away[static_cast<std::size_t>(t)]) {
        if (begin > issued) continue;
        if (n.call->exit < end) {
          asynchronous.insert({n.on(), n.kind});
        } else if (n.kind == "lock" && n.call->enter < end) {
          locks_waited.insert(n.on());
        }
      }
    }
  }
  const auto needs_nobody = [&](const std::string& window, const std::string& kind) {
    const auto seen = [&](const char* k) { return asynchronous.contains({window, k}); };
    if (kind == "access transfer") return seen("complete");
    // That data need nobody says nothing of locks that wait.
    if (kind == "lock" && locks_waited.contains(window) && !seen("lock")) return false;
    if (kind == "passive transfer" || kind == "lock" || kind == "flush_local") {
      return seen("flush") || seen("unlock") || seen("get wait");
    }
    return seen(kind.c_str());
  };

  // When somebody can have held its lock: a target that was outside MPI has not granted it.
  const auto held = [&](const Turn& h, int t) {
    const Times whole{{h.since, h.release}};
    if (t == h.origin || needs_nobody(h.lock->window, "lock")) return whole;
    double left = kNever, locking = -kNever, first = -kNever, last = -kNever;
    for (const auto& [begin, end] : away[static_cast<std::size_t>(t)]) {
      if (end <= h.asked || h.proof < end) continue;
      if (left == kNever) {
        left = begin;
        first = end;
      }
      if (end <= h.locked) locking = end;
      last = end;
    }
    const double granted = locking > -kNever ? locking : first <= h.proving ? first : last;
    return Times{{h.since, std::min(left, h.release)}, {std::max(granted, h.since), h.release}};
  };

  std::map<const Call*, Times> taken = taken_before;
  std::map<const Call*, Times> contention;
  std::set<std::pair<std::string, int>> places;  // window, target
  for (const Lock& e : locks) {
    for (int t = 0; t < ranks; ++t) {
      if (!e.nocheck && (e.target < 0 || e.target == t)) places.insert({e.window, t});
    }
  }
  for (const auto& [window, t] : places) {
    std::vector<Turn> all;
    for (const Lock& e : locks) {
      if (e.nocheck || e.window != window || (e.target >= 0 && e.target != t)) continue;
      Turn turn{&e, e.exclusive, e.origin, e.lock->enter, e.lock->exit};
      turn.letting_go = turn.proving = e.unlock->enter;
      turn.gone = turn.proof = e.unlock->exit;
      const auto proof = e.proof.find(t);
      if (proof != e.proof.end() && proof->second.second < turn.gone) {
        std::tie(turn.proving, turn.proof) = proof->second;
      }
      all.push_back(turn);
    }
    const std::vector<Turn> turns = turns_of(all);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const Turn& e = turns[i];
      for (std::size_t k = 0; k < i; ++k) {
        if (!e.conflicts(turns[k])) continue;
        for (const auto& [begin, end] : held(turns[k], t)) {
          const double from = std::max(begin, e.asked), to = std::min(end, e.proof);
          if (!(from < to)) continue;
          for (const Call* c : e.lock->calls) contention[c].emplace_back(from, to);
        }
      }
    }
  }
  for (const auto& [c, waits] : contention) {
    add(metric_of(*c, "lock_contention"), *c, within(*c, waits));
    taken[c].insert(taken[c].end(), waits.begin(), waits.end());
  }

  if (!all_noted) {
    for (auto it = values_.begin(); it != values_.end();)
      it = std::get<0>(it->first).ends_with("_wait_for_progress") ? values_.erase(it)
                                                                  : std::next(it);
    return;
  }
  for (const Needing& n : needing) {
    if (needs_nobody(n.on(), n.kind)) continue;
    Times waits;
    for (const auto& [t, issued] : n.targets) {
      if (t == n.call->rank) continue;
      for (const auto& [begin, end] : away[static_cast<std::size_t>(t)]) {
        if (end <= n.call->exit) waits.emplace_back(begin, end);
      }
    }
    waits = without(waits, taken[n.call]);
    add(metric_of(*n.call, "wait_for_progress"), *n.call, within(*n.call, waits));
    if (n.kind.starts_with("idle"))
      taken[n.call].insert(taken[n.call].end(), waits.begin(), waits.end());
    // Who waits for its end waits for that progress, too.
    for (const auto& [wait, complete] : completed_by_) {
      if (complete != n.call) continue;
      Times during;
      for (const auto& [begin, end] : waits) {
        during.emplace_back(std::max(begin, complete->enter), std::min(end, complete->exit));
      }
      add("mpi_rma_indirectwait", *wait, within(*wait, during));
      add("mpi_rma_earlywait", *wait, within(*wait, during));
    }
  }
}

}  // namespace kojak::oracle
