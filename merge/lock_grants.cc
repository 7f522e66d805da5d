#include "merge/lock_grants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "merge/correct_clocks.h"
#include "merge/time_order.h"
#include "merge/transfer_ends.h"

namespace kojak::merge {
namespace {

// Of more, the corrected clocks do not know.
constexpr std::size_t kMostEdges = 200'000;
// Request-based gets whose completion would prove a lock; of more, the flush or unlock proves it.
constexpr std::size_t kMostRequests = 65'536;

// Operations of an epoch to one target.
struct Outstanding {
  std::uint64_t all = 0, gets = 0;
  LockEpoch epoch;
  bool proved = false;
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
      Stream& s = streams.emplace_back(in_.files, in_.traces[i], in_.buffer);
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
    for (auto& [place, order] : orders_) settle(order, true);
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
    for (const Stream& s : streams) done += s.input.offset();
    in_.progress(done);
  }
  struct Process {
    std::uint32_t threads = 0;  // whose traces have not ended
    std::vector<OpenEpoch> open;
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> requests;
  };

  void event(Stream& s) {
    Location& l = locations_[s.index];
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kEnter:
      case RecordType::kEnterCs:
        enter(s, l);
        break;
      case RecordType::kLogOff:
        forget_all(s.rank);
        [[fallthrough]];
      case RecordType::kEnterTracing:
        l.stack.push_back({});
        break;
      case RecordType::kMpiAssert: {
        MpiAssert r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) l.assertion = raw(r.assertion);
        break;
      }
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
          unlock(s, l, window_of(s, r.wid), 0, true, LockEpoch::kNoRecord);
        }
        break;
      }
      case RecordType::kMpiWinFlush: {
        MpiWinFlush r;
        if (decode(s.raw_record(), s.dialect, r) == nullptr) {
          flush(s, window_of(s, r.wid), raw(r.tlid), raw(r.local) != 0);
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
        if (decode(s.raw_record(), s.dialect, r) == nullptr) request_done(s, raw(r.rmaid));
        break;
      }
      default:
        if (region_effect(s.type) == RegionEffect::kLeaves) leave(l);
    }
  }

  std::uint32_t window_of(const Stream& s, WindowId id) const {
    return s.translation->windows[raw(id)];
  }
  static std::uint64_t next_record(Location& l) {
    if (l.times != nullptr) l.times->append(std::numeric_limits<double>::quiet_NaN());
    return l.records++;
  }
  void enter(Stream& s, Location& l) {
    Location::Open open;
    std::uint32_t id;
    std::memcpy(&id, s.record + 14, 4);
    if (s.dialect.swapped()) id = byte_swapped(id);
    if (s.type == type_of(RecordType::kEnter)) {
      open.region = s.translation->regions[id];
    } else if (const std::uint32_t site = s.translation->call_sites[id]; site != kAbsent) {
      open.region = defs_.call_sites[site].entered;
    }
    open.time = s.time;
    open.position = s.position();
    if (is_lock(open.region)) calls_.insert(open.time);
    l.stack.push_back(open);
  }
  bool is_lock(std::uint32_t region) const {
    if (region == kAbsent) return false;
    const MpiRole role = defs_.regions[region].role;
    return role == MpiRole::kWinLock || role == MpiRole::kWinLockAll;
  }
  void leave(Location& l) {
    l.assertion = 0;
    if (l.stack.empty()) return;
    if (is_lock(l.stack.back().region)) calls_.erase(calls_.find(l.stack.back().time));
    l.stack.pop_back();
  }

  using OrderKey = std::pair<std::uint32_t, std::uint32_t>;  // window, target
  LockOrder& order(std::uint32_t window, std::uint32_t target) { return orders_[{window, target}]; }
  LockEpoch begin_epoch(const Stream& s, const Location& l) const {
    LockEpoch e;
    e.origin = s.rank;
    e.lock_enter = l.stack.empty() ? s.time : l.stack.back().time;
    e.lock_exit = s.time;
    return e;
  }
  void lock(Stream& s, Location& l, const MpiWinLock& r, std::uint64_t record) {
    OpenEpoch open;
    open.window = window_of(s, r.wid);
    open.target = raw(r.llid);
    open.known = (l.assertion & kAssertNoCheck) == 0 && open.window != kAbsent &&
                 defs_.windows[open.window].paired();
    open.one.epoch = begin_epoch(s, l);
    open.one.epoch.exclusive = raw(r.ltype) != 0;
    open.one.epoch.lock_trace = s.index;
    open.one.epoch.lock_record = record;
    if (open.known) order(open.window, open.target).open(open.one.epoch.lock_enter);
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
        order(window, target).open(to->epoch.lock_enter);
      }
    }
    ++to->all;
    if (!get) return;
    ++to->gets;
    auto& requests = processes_[s.rank].requests;
    if (!to->proved && requests.size() < kMostRequests) requests[rmaid] = {window, target};
  }
  static void prove(const Stream& s, Outstanding& to) {
    if (to.proved) return;
    to.proved = true;
    to.epoch.proof = s.time;
    to.epoch.proof_place = {s.index, s.position()};
  }
  void flush(Stream& s, std::uint32_t window, std::uint32_t target, bool local) {
    const auto one = [&](Outstanding& to) {
      if ((local ? to.gets : to.all) != 0) prove(s, to);
      to.gets = 0;
      if (!local) to.all = 0;
    };
    for (OpenEpoch& open : processes_[s.rank].open) {
      if (open.window != window) continue;
      if (!open.all) {
        if (target == kAbsent || target == open.target) one(open.one);
      } else if (target == kAbsent) {
        for (auto& [rank, to] : open.targets) one(to);
      } else if (const auto at = open.targets.find(target); at != open.targets.end()) {
        one(at->second);
      }
    }
  }
  void request_done(Stream& s, std::uint32_t rmaid) {
    auto& requests = processes_[s.rank].requests;
    const auto at = requests.find(rmaid);
    if (at == requests.end()) return;
    const auto [window, target] = at->second;
    requests.erase(at);
    OpenEpoch* open = find(s.rank, window, target);
    if (open == nullptr) return;
    if (!open->all) {
      prove(s, open->one);
    } else if (const auto to = open->targets.find(target); to != open->targets.end()) {
      prove(s, to->second);
    }
  }

  void unlock(Stream& s, Location& l, std::uint32_t window, std::uint32_t target, bool all,
              std::uint64_t record) {
    std::vector<OpenEpoch>& open = processes_[s.rank].open;
    const auto at = std::find_if(open.begin(), open.end(), [&](const OpenEpoch& o) {
      return o.window == window && o.all == all && (all || o.target == target);
    });
    if (at == open.end()) return;
    const auto end = [&](Outstanding& to, std::uint32_t to_target) {
      LockEpoch& e = to.epoch;
      e.unlock_enter = l.stack.empty() ? s.time : l.stack.back().time;
      e.unlock_exit = s.time;
      e.unlock_place = {s.index, l.stack.empty() ? s.position() : l.stack.back().position};
      e.unlock_trace = s.index;
      e.unlock_record = record;
      prove(s, to);
      LockOrder& o = order(window, to_target);
      o.close(e);
      ++grants_.epochs;
      if (o.worth_settling()) settle(o, false);
    };
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
      if (!open.all) order(open.window, open.target).forget(open.one.epoch.lock_enter);
      for (auto& [target, to] : open.targets) {
        order(open.window, target).forget(to.epoch.lock_enter);
      }
      open.targets.clear();
    }
    processes_[rank].requests.clear();
  }
  void settle(LockOrder& order, bool last) {
    result_.settled.clear();
    result_.followers.clear();
    const double forever = std::numeric_limits<double>::infinity();
    order.settle(last || calls_.empty() ? forever : *calls_.begin(), result_);
    for (const LockOrder::Settled& settled : result_.settled) {
      const LockEpoch& e = settled.epoch;
      set(e.lock_trace, e.lock_record, settled.grant);
      set(e.unlock_trace, e.unlock_record, settled.release);
    }
    for (const auto& [first, next] : result_.followers) {
      if (grants_.edges.size() == kMostEdges) {
        ++grants_.without_edge;
        continue;
      }
      grants_.edges.push_back({first.unlock_place.trace, next.proof_place.trace,
                               first.unlock_place.position, next.proof_place.position});
    }
    grants_.circular = result_.circular;
  }
  void set(std::uint32_t trace, std::uint64_t record, double time) {
    if (trace == kAbsent || record == LockEpoch::kNoRecord || !grants_.times[trace]) return;
    grants_.times[trace]->update(record, [&](double& t) { t = time; });
  }

  const LockInputs& in_;
  const MergedDefinitions& defs_;
  std::vector<Process> processes_;
  std::vector<Location> locations_;
  std::map<OrderKey, LockOrder> orders_;
  std::multiset<double> calls_;  // beginnings of lock calls that have not ended
  LockOrder::Result result_;
  LockGrants grants_;
};

}  // namespace

Result<LockGrants> find_lock_grants(const LockInputs& in) {
  return GrantFinder(in).run();
}

}  // namespace kojak::merge
