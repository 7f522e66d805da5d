#include "tools/region_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "epilog/format/check/verify.h"
#include "epilog/format/field_values.h"

namespace kojak {
namespace {

// TRACING and PAUSING have records of their own; their definitions, where there are any, mean the
// same.
constexpr RegionId kTracing = static_cast<RegionId>(kAbsent),
                   kPausing = static_cast<RegionId>(kAbsent - 1),
                   kNoRegion = static_cast<RegionId>(kAbsent - 2);

template <class R>
constexpr bool is_put_start() {
  return std::is_same_v<R, MpiPut1ts> || std::is_same_v<R, Put1ts>;
}
// At the target in merged traces, at the origin in local ones.
template <class R>
constexpr bool is_get_start() {
  return std::is_same_v<R, MpiGet1ts> || std::is_same_v<R, Get1ts>;
}
template <class R>
constexpr bool is_get_start_at_origin() {
  return std::is_same_v<R, MpiGet1tsRemote> || std::is_same_v<R, Get1tsRemote>;
}

class Profiler {
 public:
  Profiler(TraceReader& reader, const std::function<void(std::uint64_t)>& progress)
      : reader_(reader), progress_(progress) {}

  Result<TraceProfile> run() {
    RawRecord record;
    TraceReader::Next next;
    while ((next = reader_.next(record)) == TraceReader::Next::kRecord) {
      if (is_event(record.type) && !reader_.dialect().native() && !definitions_.last_def) {
        return classic_local_archive(reader_.path(), record.offset);
      }
      one(record);
      if (progress_ && (++seen_ & 0xFFFF) == 0) progress_(reader_.progress());
    }
    profile_.truncated = next == TraceReader::Next::kDamaged;
    profile_.undefined = !definitions_.last_def && !definitions_.local_run;
    profile_.gaps = gaps_of(profile_.bad, definitions_);
    finish();
    return std::move(profile_);
  }

 private:
  struct Totals {
    std::uint64_t calls = 0, sent = 0, received = 0, failed = 0;
    double inclusive = 0, exclusive = 0;
    std::uint32_t depth = 0;  // open instances
  };
  struct Open {
    RegionId region;
    double enter;
    double inside;          // time in the regions called from it
    std::uint32_t callers;  // entered with it, and left with it
    bool failed = false;
  };
  struct Location {
    std::vector<Open> open;
    IdTable<RegionId, Totals> totals;
    double last = 0;
    std::uint64_t entered = 0;  // polls of its latest series that an ENTER has counted

    Totals& of(RegionId region) {
      Totals* known = totals.find(region);
      return known != nullptr ? *known : totals.set(region, {});
    }
  };
  struct Issued {  // the latest GET_1TO of a process: its data start next
    RmaId rmaid = absent<RmaId>();
    LocationId lid{};
    RegionId region{};
  };

  void one(const RawRecord& record) {
    ++counts_[record.type];
    if (is_event(record.type)) ++profile_.events;
    bool good = true;
    const bool known = dispatch_record(record.type, [&]<class R>() {
      R decoded;
      if (decode(record, reader_.dialect(), decoded) != nullptr) {
        good = false;
      } else if constexpr (R::kKind == RecordKind::kDefinition) {
        good = definitions_.add(record, reader_.dialect()).ok();
      } else if constexpr (std::is_same_v<R, AttrUi8>) {
        if (decoded.kind == kAttrBytesSent) sent64_ = raw(decoded.value);
        if (decoded.kind == kAttrBytesReceived) received64_ = raw(decoded.value);
      } else if constexpr (R::kKind == RecordKind::kEvent) {
        good = event(decoded);
        sent64_ = received64_ = kAbsent;
      }
    });
    if (!known) ++profile_.bad.unknown;
    if (!good) ++(is_definition(record.type) ? profile_.bad.definitions : profile_.bad.damaged);
  }

  std::uint64_t bytes(Bytes count, std::uint64_t wide) const {
    return is_absent(count) ? wide : raw(count);
  }
  Location& location(LocationId lid) {
    Location* known = locations_.find(lid);
    return known != nullptr ? *known : locations_.set(lid, {});
  }
  std::uint32_t rank(LocationId lid) const {
    const LocationDef* definition = definitions_.locations.find(lid);
    return definition == nullptr ? raw(lid) : raw(definition->process);
  }
  ProcessTotals& process(std::uint32_t rank) {
    if (last_process_ == nullptr || last_process_->rank != rank) {
      last_process_ = &processes_[rank];
      last_process_->rank = rank;
    }
    return *last_process_;
  }
  Flow& flow(std::uint32_t from, std::uint32_t to) {
    if (last_flow_ == nullptr || last_flow_->from != from || last_flow_->to != to) {
      last_flow_ = &flows_[std::uint64_t{from} << 32 | to];
      last_flow_->from = from;
      last_flow_->to = to;
    }
    return *last_flow_;
  }

  // A function of a path is left and entered again around each call site: that is no call of it.
  enum class As : std::uint8_t { kCall, kPath };
  void enter(Location& at, RegionId region, double time, As how = As::kCall,
             std::uint32_t callers = 0) {
    at.open.push_back({region, time, 0, callers});
    Totals& totals = at.of(region);
    ++totals.depth;
    totals.calls += how == As::kCall ? 1 : 0;
  }
  // A call site, below the functions that led to it.
  void enter_site(Location& at, const CallSiteDef& site, double time) {
    std::array<RegionId, kMostSiteCallers> functions;  // innermost first
    std::uint32_t count = 0;
    definitions_.for_each_caller(
        site, [&](CallSiteId, const CallSiteDef& caller) { functions[count++] = caller.entered; });
    for (std::uint32_t i = count; i-- != 0;) enter(at, functions[i], time, As::kPath);
    enter(at, site.entered, time, As::kCall, count);
  }
  bool leave(Location& at, double time) {
    if (at.open.empty()) return false;
    const std::uint32_t callers = at.open.back().callers;
    for (std::uint32_t i = 0; i <= callers; ++i) leave_one(at, time);
    return true;
  }
  void leave_one(Location& at, double time) {
    const Open top = at.open.back();
    at.open.pop_back();
    const double took = time - top.enter;
    Totals& totals = at.of(top.region);
    totals.exclusive += took - top.inside;
    if (--totals.depth == 0) totals.inclusive += took;
    if (!at.open.empty()) at.open.back().inside += took;
  }

  template <class R>
  bool event(const R& e) {
    if (!std::isfinite(e.time.value)) return false;
    const double time = e.time.value;
    if (!begun_) profile_.first = time;
    begun_ = true;
    double end = time;
    Location& at = location(e.lid);
    bool good = true;
    if constexpr (std::is_same_v<R, Enter>) {
      enter(at, e.rid, time);
    } else if constexpr (std::is_same_v<R, EnterCs>) {
      const CallSiteDef* site = definitions_.call_sites.find(e.csid);
      if (site == nullptr) {
        enter(at, kNoRegion, time);
      } else {
        enter_site(at, *site, time);
      }
    } else if constexpr (std::is_same_v<R, EnterTracing>) {
      enter(at, kTracing, time);
    } else if constexpr (std::is_same_v<R, LogOff>) {
      enter(at, kPausing, time);
    } else if constexpr (kEffect<R> == RegionEffect::kEntersAndLeaves) {
      if (!std::isfinite(e.exit.value)) return false;
      end = e.exit.value;
      enter(at, e.rid, time);
      if constexpr (std::is_same_v<R, MpiRmaCall> || std::is_same_v<R, ShmemRmaCall>) {
        const bool puts = (raw(e.kind) & kCallPut) != 0, gets = (raw(e.kind) & kCallGet) != 0;
        if (puts) put(at, e.lid, e.dlid, raw(e.bytes));
        if (gets) get(at.of(e.rid), rank(e.lid), raw(e.dlid), raw(puts ? e.got : e.bytes));
      }
      double left = end;
      if constexpr (std::is_same_v<R, MpiPollCall>) {
        at.entered = 1;
        polls(at, e.rid, raw(e.polls));
        // What is computed between polls is none of theirs.
        if (raw(e.judged) == raw(PollClass::kWorks)) left = std::min(end, time + e.called.value);
      }
      leave(at, left);
    } else if constexpr (kLeaves<R>) {
      if constexpr (std::is_same_v<R, MpiCollExit> || std::is_same_v<R, CollExit>) {
        move(at, bytes(e.sent, sent64_), bytes(e.recvd, received64_));
      }
      good = leave(at, time);
    } else {
      transfer(at, e);
    }
    at.last = end;
    profile_.last = std::max(profile_.last, end);
    return good;
  }

  // Calls that make no events of their own.
  static void polls(Location& at, RegionId region, std::uint64_t count) {
    const std::uint64_t entered = std::min(at.entered, count);
    at.entered -= entered;
    if (!is_absent(region)) at.of(region).calls += count - entered;
  }
  // Bytes of the region that the location is in.
  static void move(Location& at, std::uint64_t sent, std::uint64_t received) {
    if (at.open.empty()) return;
    Totals& totals = at.of(at.open.back().region);
    totals.sent += sent;
    totals.received += received;
  }
  void put(Location& at, LocationId lid, PeerId target, std::uint64_t count) {
    move(at, count, 0);
    const std::uint32_t origin = rank(lid);
    ProcessTotals& p = process(origin);
    ++p.operations;
    p.put += count;
    Flow& f = flow(origin, raw(target));
    ++f.transfers;
    f.transfer_bytes += count;
  }
  void get(Totals& region, std::uint32_t origin, std::uint32_t target, std::uint64_t count) {
    region.received += count;
    ProcessTotals& p = process(origin);
    ++p.operations;
    p.got += count;
    Flow& f = flow(target, origin);
    ++f.transfers;
    f.transfer_bytes += count;
  }

  template <class R>
  void transfer(Location& at, const R& e) {
    if constexpr (std::is_same_v<R, MpiSend>) {
      const std::uint64_t count = bytes(e.sent, sent64_);
      move(at, count, 0);
      ProcessTotals& p = process(rank(e.lid));
      ++p.messages;
      p.sent += count;
      Flow& f = flow(p.rank, raw(e.dlid));
      ++f.messages;
      f.message_bytes += count;
    } else if constexpr (std::is_same_v<R, MpiRecv>) {
      if (!reader_.dialect().native()) return;
      const std::uint64_t count = bytes(e.recvd, received64_);
      move(at, 0, count);
      process(rank(e.lid)).received += count;
    } else if constexpr (std::is_same_v<R, MpiPolled>) {
      at.entered = (raw(e.flags) & kPollAlone) != 0 ? 1 : 0;
    } else if constexpr (std::is_same_v<R, MpiPoll>) {
      polls(at, e.rid, raw(e.count));
    } else if constexpr (std::is_same_v<R, MpiError>) {
      if (at.open.empty() || at.open.back().failed) return;
      at.open.back().failed = true;
      ++at.of(at.open.back().region).failed;
    } else if constexpr (is_put_start<R>()) {
      put(at, e.lid, e.dlid, bytes(e.sent, sent64_));
    } else if constexpr (std::is_same_v<R, MpiGet1to>) {
      const RegionId region = at.open.empty() ? kNoRegion : at.open.back().region;
      issued_[rank(e.lid)] = {e.rmaid, e.lid, region};
    } else if constexpr (is_get_start<R>()) {
      // The call is the one that stands before; without it, the bytes have no region.
      const std::uint32_t origin = raw(e.dlid);
      const auto it = issued_.find(origin);
      Totals none;
      Totals* region = &none;
      if (it != issued_.end() && it->second.rmaid == e.rmaid) {
        Location& caller = location(it->second.lid);
        if (!caller.open.empty()) region = &caller.of(it->second.region);
      }
      get(*region, origin, rank(e.lid), bytes(e.sent, sent64_));
    } else if constexpr (is_get_start_at_origin<R>()) {
      Totals none;
      Totals& region = at.open.empty() ? none : at.of(at.open.back().region);
      get(region, rank(e.lid), raw(e.dlid), bytes(e.sent, sent64_));
    }
  }

  std::string name(RegionId id) const {
    if (id == kTracing) return "TRACING";
    if (id == kPausing) return "PAUSING";
    if (id == kNoRegion) return "(unknown)";
    const RegionDef* definition = definitions_.regions.find(id);
    return definition != nullptr && !definition->name.empty() ? definition->name
                                                              : "region " + std::to_string(raw(id));
  }
  using ByName = std::map<std::string, RegionTotals>;  // one region may have several definitions
  static void add(ByName& to, const std::string& name, const Totals& totals) {
    RegionTotals& sum = to[name];
    sum.name = name;
    sum.calls += totals.calls;
    sum.inclusive += totals.inclusive;
    sum.exclusive += totals.exclusive;
    sum.sent += totals.sent;
    sum.received += totals.received;
    sum.failed += totals.failed;
  }
  static std::vector<RegionTotals> longest_first(ByName& by_name) {
    std::vector<RegionTotals> result;
    for (auto& [name, region] : by_name) result.push_back(std::move(region));
    std::stable_sort(
        result.begin(), result.end(),
        [](const RegionTotals& a, const RegionTotals& b) { return a.exclusive > b.exclusive; });
    return result;
  }

  void finish() {
    definitions_.finish();
    profile_.locations = definitions_.locations.size();
    ByName all;
    std::map<std::uint32_t, ByName> of_process;
    locations_.for_each([&](LocationId lid, const Location&) {
      Location& at = *locations_.find(lid);
      while (leave(at, at.last)) {
      }
      ProcessTotals& p = process(rank(lid));
      ByName& mine = of_process[p.rank];
      at.totals.for_each([&](RegionId id, const Totals& totals) {
        const std::string region = name(id);
        add(all, region, totals);
        add(mine, region, totals);
        p.time += totals.exclusive;
        if (find_mpi_function(region) != nullptr) p.mpi += totals.exclusive;
      });
    });
    profile_.regions = longest_first(all);
    for (auto& [rank, regions] : of_process) processes_[rank].regions = longest_first(regions);
    for (const auto& [key, flow] : flows_) {
      profile_.flows.push_back(flow);
      // Classic traces do not tell the length of a message where it is received.
      const auto receiver = processes_.find(flow.to);
      if (!reader_.dialect().native() && receiver != processes_.end()) {
        receiver->second.received += flow.message_bytes;
      }
    }
    for (auto& [rank, totals] : processes_) profile_.processes.push_back(std::move(totals));
    std::sort(profile_.flows.begin(), profile_.flows.end(), [](const Flow& a, const Flow& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    for (std::size_t type = 0; type < 256; ++type) {
      if (counts_[type] == 0) continue;
      const std::string_view known = record_name(static_cast<std::uint8_t>(type));
      profile_.records[known.empty() ? "type " + std::to_string(type) : std::string(known)] =
          counts_[type];
    }
  }

  TraceReader& reader_;
  const std::function<void(std::uint64_t)>& progress_;
  TraceProfile profile_;
  Definitions definitions_;
  IdTable<LocationId, Location> locations_;
  std::map<std::uint32_t, ProcessTotals> processes_;
  std::unordered_map<std::uint64_t, Flow> flows_;
  ProcessTotals* last_process_ = nullptr;
  Flow* last_flow_ = nullptr;
  std::unordered_map<std::uint32_t, Issued> issued_;  // by process
  std::uint64_t counts_[256] = {};
  std::uint64_t sent64_ = kAbsent, received64_ = kAbsent;  // of the ATTR_UI8 before the event
  std::uint64_t seen_ = 0;
  bool begun_ = false;
};

}  // namespace

Result<TraceProfile> profile_trace(TraceReader& reader,
                                   const std::function<void(std::uint64_t)>& progress) {
  return Profiler(reader, progress).run();
}

}  // namespace kojak
