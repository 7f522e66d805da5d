#include "merge/clock/lock_grants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "epilog/model/lock_proof.h"
#include "merge/clock/correct_clocks.h"
#include "merge/clock/time_order.h"
#include "merge/complete/transfer_ends.h"
#include "merge/complete/walk.h"

namespace kojak::merge {
namespace {

// The corrected clocks do not know of more.
constexpr std::size_t kMostEdges = 200'000;
// Request-based gets whose completion would prove a lock; of more, the flush or unlock proves it.
constexpr std::size_t kMostRequests = 65'536;

constexpr std::uint64_t kNoRecord = ~std::uint64_t{0};

// A record of a trace.
struct TracePlace {
  std::uint32_t trace = kAbsent;
  std::uint64_t position = 0;
};

// An epoch on one target, and where its records are.
struct Epoch {
  model::LockHold hold;
  // The lock and unlock records, by their number among those of their traces.
  std::uint32_t lock_trace = kAbsent, unlock_trace = kAbsent;
  std::uint64_t lock_record = kNoRecord, unlock_record = kNoRecord;
  TracePlace proof_place, unlock_place;  // of the unlock's ENTER
};

// Operations of an epoch to one target.
struct Outstanding : model::LockOperations {
  Epoch epoch;
  bool proved = false;
  model::LockOrder::Proof proof = model::LockOrder::kNoProof;
};

// One target of one window.
struct Board {
  // Whoever held the lock, for those that come next.
  struct Holder {
    std::uint32_t origin = 0;
    Seconds left;
    TracePlace unlock_place;
    bool any = false;
  };
  model::LockOrder order;
  std::uint32_t open[2] = {0, 0};  // epochs: shared, exclusive
  Holder exclusive;                // the last
  std::vector<Holder> shared;      // since then, the last of each origin
};

struct OpenEpoch {
  std::uint32_t window = 0;
  std::uint32_t target = 0;  // of Win_lock
  bool all = false;          // lock_all
  bool known = true;         // false: takes no part
  Outstanding one;
  std::map<std::uint32_t, Outstanding> targets;  // of lock_all: those with operations
};

struct Location {
  struct Open {
    std::uint32_t region = kAbsent;
    double time = 0;
    std::uint64_t position = 0;
  };
  std::size_t trace = 0;
  std::vector<Open> stack;
  std::uint32_t assertion = 0;
  std::uint64_t records = 0;  // lock and unlock records so far
  LockTimes* times = nullptr;
};

class GrantFinder {
 public:
  explicit GrantFinder(const LockInputs& in)
      : in_(in), defs_(in.survey.definitions), processes_(in.survey.processes.size()) {}

  Result<LockGrants> run() {
    grants_.times.resize(in_.traces.size());
    std::vector<Stream> streams;
    streams.reserve(in_.traces.size());
    for (std::size_t i = 0; i < in_.traces.size(); ++i) {
      Stream& s = streams.emplace_back(in_.files, in_.traces[i], in_.buffers);
      s.index = static_cast<std::uint32_t>(i);
      s.rank = in_.traces[i].rank;
      s.clock = in_.clocks[i];
      s.translation = in_.survey.traces[i].translation.get();
      if (in_.corrected != nullptr) s.correct(*in_.corrected, i);
      Location location;
      location.trace = i;
      if (in_.survey.traces[i].locks) {
        grants_.times[i] = std::make_unique<LockTimes>(in_.files);
        location.times = grants_.times[i].get();
      }
      locations_.push_back(location);
      ++processes_[s.rank].threads;
    }
    std::uint64_t events = 0;
    read_in_time_order(
        streams,
        [&](Stream& s) {
          if ((++events & 0xFFFF) == 0) report(streams);
          event(s);
        },
        [&](Stream& s) {
          if (--processes_[s.rank].threads == 0) forget_all(s.rank);
        });
    for (auto& [place, board] : boards_) settle(board, model::kNever);
    for (auto& times : grants_.times) {
      if (!times) continue;
      times->close();
      if (times->error()) return *times->error();
    }
    return std::move(grants_);
  }

 private:
  void report(const std::vector<Stream>& streams) {
    if (!in_.progress) return;
    std::uint64_t done = 0;
    for (const Stream& s : streams) done += s.input.progress();
    in_.progress(done);
  }
  struct Process {
    std::uint32_t threads = 0;  // whose traces have not ended
    std::vector<OpenEpoch> open;
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> requests;
  };

  void event(Stream& s) {
    Location& l = locations_[s.index];
    if (const Step step = step_of(s.type); step != Step::kPlain) {
      Visitor visitor{*this, s, l};
      walk(step, s.raw_record(), s.dialect, visitor);
    }
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kMpiWinLock: {
        const std::uint64_t record = next_record(l);
        MpiWinLock r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) lock(s, l, r, record);
        break;
      }
      case RecordType::kMpiWinLockAll: {
        MpiWinLockAll r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) lock_all(s, l, r);
        break;
      }
      case RecordType::kMpiWinUnlock: {
        const std::uint64_t record = next_record(l);
        MpiWinUnlock r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          unlock(s, l, window_of(s, r.wid), raw(r.llid), false, record);
        }
        break;
      }
      case RecordType::kMpiWinUnlockAll: {
        MpiWinUnlockAll r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          unlock(s, l, window_of(s, r.wid), 0, true, kNoRecord);
        }
        break;
      }
      case RecordType::kMpiWinFlush: {
        MpiWinFlush r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          flush(s, l, window_of(s, r.wid), raw(r.tlid), raw(r.local) != 0);
        }
        break;
      }
      case RecordType::kMpiRmaCall: {
        MpiRmaCall r;
        if (processes_[s.rank].open.empty() || decode(s.raw_record(), s.dialect, r) != nullptr) {
          break;
        }
        operation(s, window_of(s, r.wid), raw(r.dlid), (raw(r.kind) & kCallGet) != 0, raw(r.rmaid));
        break;
      }
      case RecordType::kMpiPut1ts: {
        MpiPut1ts r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          operation(s, window_of(s, r.wid), raw(r.dlid), false, raw(r.rmaid));
        }
        break;
      }
      case RecordType::kMpiGet1tsRemote: {
        MpiGet1tsRemote r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          operation(s, window_of(s, r.wid), raw(r.dlid), true, raw(r.rmaid));
        }
        break;
      }
      case RecordType::kMpiRmaComplete: {
        MpiRmaComplete r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) request_done(s, l, raw(r.rmaid));
        break;
      }
      default:
        break;
    }
  }
  // What an event means to the regions (walk.h); windows are looked at record by record.
  struct Visitor {
    GrantFinder& finder;
    Stream& s;
    Location& l;
    void enter(std::uint32_t id, bool call_site) { finder.enter(s, l, id, call_site); }
    void open() { l.stack.push_back({}); }
    void pause() {
      finder.forget_all(s.rank);
      open();
    }
    void sync(const RawRecord&, const Dialect&) {}
    void leave() { finder.leave(s, l); }
    void assertion(std::uint32_t bits) { l.assertion = bits; }
  };

  std::uint32_t window_of(const Stream& s, WindowId id) const {
    return s.translation->windows[raw(id)];
  }
  static std::uint64_t next_record(Location& l) {
    if (l.times != nullptr) l.times->append(std::numeric_limits<double>::quiet_NaN());
    return l.records++;
  }
  void enter(Stream& s, Location& l, std::uint32_t id, bool call_site) {
    Location::Open open;
    open.region = entered_region(*s.translation, defs_, id, call_site);
    open.time = s.time;
    open.position = s.position();
    if (is_unlock(open.region)) unlocks_.enter(s.rank, Seconds{open.time});
    l.stack.push_back(open);
  }
  bool is_unlock(std::uint32_t region) const {
    if (region == kAbsent) return false;
    const MpiRole role = defs_.regions[region].role();
    return role == MpiRole::kWinUnlock || role == MpiRole::kWinUnlockAll;
  }
  void leave(Stream& s, Location& l) {
    l.assertion = 0;
    if (l.stack.empty()) return;
    if (is_unlock(l.stack.back().region)) unlocks_.leave(s.rank);
    l.stack.pop_back();
  }

  using BoardKey = std::pair<std::uint32_t, std::uint32_t>;  // window, target
  Board& board(std::uint32_t window, std::uint32_t target) { return boards_[{window, target}]; }
  Epoch begin_epoch(const Stream& s, const Location& l) const {
    Epoch e;
    e.hold.origin = s.rank;
    e.hold.lock_enter = Seconds{l.stack.empty() ? s.time : l.stack.back().time};
    e.hold.lock_exit = Seconds{s.time};
    return e;
  }
  void lock(Stream& s, Location& l, const MpiWinLock& r, std::uint64_t record) {
    OpenEpoch open;
    open.window = window_of(s, r.wid);
    open.target = raw(r.llid);
    open.known = (l.assertion & kAssertNoCheck) == 0 && open.window != kAbsent &&
                 defs_.windows[open.window].paired();
    open.one.epoch = begin_epoch(s, l);
    open.one.epoch.hold.exclusive = raw(r.ltype) != 0;
    open.one.epoch.lock_trace = s.index;
    open.one.epoch.lock_record = record;
    if (open.known) ++board(open.window, open.target).open[open.one.epoch.hold.exclusive];
    processes_[s.rank].open.push_back(std::move(open));
  }
  void lock_all(Stream& s, Location& l, const MpiWinLockAll& r) {
    OpenEpoch open;
    open.window = window_of(s, r.wid);
    open.all = true;
    open.known = (l.assertion & kAssertNoCheck) == 0 && open.window != kAbsent &&
                 defs_.windows[open.window].paired();
    open.one.epoch = begin_epoch(s, l);
    processes_[s.rank].open.push_back(std::move(open));
  }
  OpenEpoch* find(std::uint32_t rank, std::uint32_t window, std::uint32_t target) {
    OpenEpoch* covering = nullptr;
    for (OpenEpoch& open : processes_[rank].open) {
      if (open.window != window) continue;
      if (!open.all && open.target == target) return &open;
      if (open.all) covering = &open;
    }
    return covering;
  }
  void operation(Stream& s, std::uint32_t window, std::uint32_t target, bool get,
                 std::uint32_t rmaid) {
    OpenEpoch* open = find(s.rank, window, target);
    if (open == nullptr || !open->known) return;
    Outstanding* to = &open->one;
    if (open->all) {
      const auto [at, fresh] = open->targets.try_emplace(target);
      to = &at->second;
      if (fresh) {
        to->epoch = open->one.epoch;
        ++board(window, target).open[0];
      }
    }
    to->issue(get);
    if (!get) return;
    auto& requests = processes_[s.rank].requests;
    if (!to->proved && requests.size() < kMostRequests) requests[rmaid] = {window, target};
  }
  // The innermost call of the location proves the lock by its end.
  static void prove(const Stream& s, const Location& l, Outstanding& to) {
    if (to.proved) return;
    to.proved = true;
    to.epoch.hold.proof_enter = Seconds{l.stack.empty() ? s.time : l.stack.back().time};
    to.epoch.hold.proof = Seconds{s.time};
    to.epoch.proof_place = {s.index, s.position()};
  }
  void prove_open(const Stream& s, const Location& l, std::uint32_t window, std::uint32_t target,
                  Outstanding& to) {
    if (to.proved) return;
    prove(s, l, to);
    const model::LockHold& hold = to.epoch.hold;
    to.proof = board(window, target).order.prove(hold.origin, hold.exclusive, hold.proof);
  }
  void flush(Stream& s, const Location& l, std::uint32_t window, std::uint32_t target, bool local) {
    const auto one = [&](Outstanding& to, std::uint32_t at) {
      if (to.flush(local)) prove_open(s, l, window, at, to);
    };
    for (OpenEpoch& open : processes_[s.rank].open) {
      if (open.window != window || !open.known) continue;
      if (!open.all) {
        if (target == kAbsent || target == open.target) one(open.one, open.target);
      } else if (target == kAbsent) {
        for (auto& [rank, to] : open.targets) one(to, rank);
      } else if (const auto at = open.targets.find(target); at != open.targets.end()) {
        one(at->second, target);
      }
    }
  }
  void request_done(Stream& s, const Location& l, std::uint32_t rmaid) {
    auto& requests = processes_[s.rank].requests;
    const auto at = requests.find(rmaid);
    if (at == requests.end()) return;
    const auto [window, target] = at->second;
    requests.erase(at);
    OpenEpoch* open = find(s.rank, window, target);
    if (open == nullptr || !open->known) return;
    Outstanding* to = &open->one;
    if (open->all) {
      const auto at_target = open->targets.find(target);
      if (at_target == open->targets.end()) return;
      to = &at_target->second;
    }
    if (to->complete_get()) prove_open(s, l, window, target, *to);
  }

  void unlock(Stream& s, Location& l, std::uint32_t window, std::uint32_t target, bool all,
              std::uint64_t record) {
    std::vector<OpenEpoch>& open = processes_[s.rank].open;
    const auto at = std::find_if(open.begin(), open.end(), [&](const OpenEpoch& o) {
      return o.window == window && o.all == all && (all || o.target == target);
    });
    if (at == open.end()) return;
    const Seconds enter{l.stack.empty() ? s.time : l.stack.back().time};
    const auto end = [&](Outstanding& to, std::uint32_t to_target) {
      Epoch& e = to.epoch;
      e.hold.unlock_enter = enter;
      e.hold.unlock_exit = Seconds{s.time};
      e.unlock_place = {s.index, l.stack.empty() ? s.position() : l.stack.back().position};
      e.unlock_trace = s.index;
      e.unlock_record = record;
      prove(s, l, to);
      e.hold.tag = keep(e);
      Board& b = board(window, to_target);
      --b.open[e.hold.exclusive];
      b.order.close(e.hold, to.proof);
      ++grants_.epochs;
      settle(b, Seconds{s.time});
    };
    // This call ends with the record: it keeps nobody waiting.
    if (!l.stack.empty() && is_unlock(l.stack.back().region)) {
      unlocks_.leave(s.rank);
      l.stack.back().region = kAbsent;
    }
    if (at->known && !all) end(at->one, target);
    if (at->known && all) {
      for (auto& [rank, to] : at->targets) end(to, rank);
    }
    open.erase(at);
    if (open.empty()) processes_[s.rank].requests.clear();
  }
  // What is open now will not be known whole.
  void forget_all(std::uint32_t rank) {
    for (OpenEpoch& open : processes_[rank].open) {
      if (!open.known) continue;
      open.known = false;
      const auto one = [&](Outstanding& to, std::uint32_t target) {
        Board& b = board(open.window, target);
        b.order.withdraw(std::exchange(to.proof, model::LockOrder::kNoProof));
        --b.open[to.epoch.hold.exclusive];
      };
      if (!open.all) one(open.one, open.target);
      for (auto& [target, to] : open.targets) one(to, target);
      open.targets.clear();
    }
    processes_[rank].requests.clear();
    if (processes_[rank].threads == 0) unlocks_.forget(rank);
  }
  std::uint64_t keep(const Epoch& e) {
    if (free_.empty()) {
      closed_.push_back(e);
      return closed_.size() - 1;
    }
    const std::size_t at = free_.back();
    free_.pop_back();
    closed_[at] = e;
    return at;
  }
  void settle(Board& b, Seconds now) {
    b.order.settle(now, unlocks_, {b.open[0] != 0, b.open[1] != 0},
                   [&](const model::LockOrder::Placed& placed) {
                     const Epoch& e = closed_[placed.hold.tag];
                     grants_.decisions.add(placed.decision);
                     set(e.lock_trace, e.lock_record, placed.grant.value);
                     set(e.unlock_trace, e.unlock_record, placed.release.value);
                     place(b, e);
                     free_.push_back(placed.hold.tag);
                   });
  }
  // What comes next on a target depends on who held its lock before, as far as they met.
  void place(Board& b, const Epoch& e) {
    const auto follow = [&](const Board::Holder& first) {
      if (!first.any || first.origin == e.hold.origin || first.left < e.hold.lock_enter) return;
      if (grants_.edges.size() == kMostEdges) {
        ++grants_.without_edge;
        return;
      }
      grants_.edges.push_back({first.unlock_place.trace, e.proof_place.trace,
                               first.unlock_place.position, e.proof_place.position});
    };
    follow(b.exclusive);
    const Board::Holder holder{e.hold.origin, e.hold.unlock_exit, e.unlock_place, true};
    if (e.hold.exclusive) {
      for (const Board::Holder& first : b.shared) follow(first);
      b.shared.clear();
      b.exclusive = holder;
      return;
    }
    for (Board::Holder& known : b.shared) {
      if (known.origin != holder.origin) continue;
      known = holder;
      return;
    }
    b.shared.push_back(holder);
  }
  void set(std::uint32_t trace, std::uint64_t record, double time) {
    if (trace == kAbsent || record == kNoRecord || !grants_.times[trace]) return;
    grants_.times[trace]->update(record, [&](double& t) { t = time; });
  }

  const LockInputs& in_;
  const MergedDefinitions& defs_;
  std::vector<Process> processes_;
  std::vector<Location> locations_;
  std::map<BoardKey, Board> boards_;
  model::UnlockCalls unlocks_;
  std::vector<Epoch> closed_;  // that wait for their place
  std::vector<std::uint64_t> free_;
  LockGrants grants_;
};

}  // namespace

Result<LockGrants> find_lock_grants(const LockInputs& in) {
  return GrantFinder(in).run();
}

}  // namespace kojak::merge
