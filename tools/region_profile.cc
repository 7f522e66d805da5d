#include "tools/region_profile.h"

#include <algorithm>
#include <cmath>

#include "epilog/format/verify.h"

namespace kojak {
namespace {

// TRACING and PAUSING have records of their own; their definitions, where there are any, mean the
// same.
constexpr RegionId kTracing = static_cast<RegionId>(kAbsent),
                   kPausing = static_cast<RegionId>(kAbsent - 1),
                   kNoRegion = static_cast<RegionId>(kAbsent - 2);

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
      if (progress_ && (++seen_ & 0xFFFF) == 0) progress_(record.offset);
    }
    profile_.truncated = next == TraceReader::Next::kDamaged;
    finish();
    return std::move(profile_);
  }

 private:
  struct Open {
    RegionId region;
    double enter;
    double inside;  // time in the regions called from it
  };
  struct Location {
    std::vector<Open> open;
    std::map<RegionId, std::uint32_t> depth;  // open instances of a region
    double last = 0;
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
        if (decoded.kind == Byte{5}) sent64_ = raw(decoded.value);
        if (decoded.kind == Byte{6}) received64_ = raw(decoded.value);
      } else if constexpr (R::kKind == RecordKind::kEvent) {
        good = event(decoded);
        sent64_ = received64_ = kAbsent;
      }
    });
    if (!known) ++profile_.unknown;
    if (!good) ++profile_.damaged;
  }

  RegionTotals& totals(RegionId id) { return totals_[id]; }
  std::uint64_t bytes(Bytes count, std::uint64_t wide) const {
    return is_absent(count) ? wide : raw(count);
  }

  void enter(Location& location, RegionId region, double time) {
    location.open.push_back({region, time, 0});
    ++location.depth[region];
    ++totals(region).calls;
  }
  bool leave(Location& location, double time) {
    if (location.open.empty()) return false;
    const Open top = location.open.back();
    location.open.pop_back();
    const double took = time - top.enter;
    RegionTotals& region = totals(top.region);
    region.exclusive += took - top.inside;
    if (--location.depth[top.region] == 0) region.inclusive += took;
    if (!location.open.empty()) location.open.back().inside += took;
    return true;
  }

  template <class R>
  bool event(const R& e) {
    if (!std::isfinite(e.time.value)) return false;
    const double time = e.time.value;
    if (!begun_) profile_.first = time;
    begun_ = true;
    double end = time;
    Location& location = locations_[e.lid];
    bool good = true;
    if constexpr (std::is_same_v<R, Enter>) {
      enter(location, e.rid, time);
    } else if constexpr (std::is_same_v<R, EnterCs>) {
      const CallSiteDef* site = definitions_.call_sites.find(e.csid);
      enter(location, site == nullptr ? kNoRegion : site->entered, time);
    } else if constexpr (std::is_same_v<R, EnterTracing>) {
      enter(location, kTracing, time);
    } else if constexpr (std::is_same_v<R, LogOff>) {
      enter(location, kPausing, time);
    } else if constexpr (requires { e.exit; }) {  // a whole call
      if (!std::isfinite(e.exit.value)) return false;
      end = e.exit.value;
      enter(location, e.rid, time);
      if constexpr (std::is_same_v<R, MpiRmaCall>) whole_transfer(e);
      leave(location, end);
    } else if constexpr (std::is_same_v<R, Exit> || std::is_same_v<R, MpiCollExit> ||
                         std::is_same_v<R, OmpCollExit> || std::is_same_v<R, MpiWinExit> ||
                         std::is_same_v<R, MpiWinCollExit> || std::is_same_v<R, CollExit> ||
                         std::is_same_v<R, LogOn> || std::is_same_v<R, ExitTracing>) {
      if constexpr (std::is_same_v<R, MpiCollExit> || std::is_same_v<R, CollExit>) {
        move(location, bytes(e.sent, sent64_), bytes(e.recvd, received64_));
      }
      good = leave(location, time);
    } else {
      transfer(location, e);
    }
    location.last = end;
    profile_.last = std::max(profile_.last, end);
    return good;
  }

  void move(const Location& location, std::uint64_t sent, std::uint64_t received) {
    if (location.open.empty()) return;
    RegionTotals& region = totals(location.open.back().region);
    region.sent += sent;
    region.received += received;
  }
  void whole_transfer(const MpiRmaCall& e) {
    RegionTotals& region = totals(e.rid);
    if (e.kind == Byte{2}) {
      region.received += raw(e.bytes);
    } else {
      region.sent += raw(e.bytes);
      region.received += raw(e.got);
    }
  }

  template <class R>
  void transfer(Location& location, const R& e) {
    if constexpr (std::is_same_v<R, MpiSend> || std::is_same_v<R, MpiPut1ts> ||
                  std::is_same_v<R, Put1ts>) {
      move(location, bytes(e.sent, sent64_), 0);
    } else if constexpr (std::is_same_v<R, MpiRecv>) {
      if (reader_.dialect().native()) move(location, 0, bytes(e.recvd, received64_));
    } else if constexpr (std::is_same_v<R, MpiGet1to>) {
      if (!location.open.empty()) gets_[{e.lid, e.rmaid}] = location.open.back().region;
    } else if constexpr (std::is_same_v<R, MpiGet1ts> || std::is_same_v<R, Get1ts>) {
      const auto it = gets_.find({static_cast<LocationId>(raw(e.dlid)), e.rmaid});
      if (it == gets_.end()) return;
      totals(it->second).received += bytes(e.sent, sent64_);
      gets_.erase(it);
    } else if constexpr (std::is_same_v<R, MpiGet1tsRemote> || std::is_same_v<R, Get1tsRemote>) {
      move(location, 0, bytes(e.sent, sent64_));
    }
  }

  void finish() {
    definitions_.finish();
    for (auto& [lid, location] : locations_) {
      while (leave(location, location.last)) {
      }
    }
    profile_.locations = definitions_.locations.size();
    std::map<std::string, RegionTotals> by_name;  // one region may have several definitions
    for (const auto& [id, region] : totals_) {
      std::string name = id == kTracing ? "TRACING" : id == kPausing ? "PAUSING" : "";
      if (const RegionDef* definition = definitions_.regions.find(id)) name = definition->name;
      if (name.empty()) name = id == kNoRegion ? "(unknown)" : "region " + std::to_string(raw(id));
      RegionTotals& sum = by_name[name];
      sum.name = name;
      sum.calls += region.calls;
      sum.inclusive += region.inclusive;
      sum.exclusive += region.exclusive;
      sum.sent += region.sent;
      sum.received += region.received;
    }
    for (auto& [name, region] : by_name) profile_.regions.push_back(std::move(region));
    std::stable_sort(
        profile_.regions.begin(), profile_.regions.end(),
        [](const RegionTotals& a, const RegionTotals& b) { return a.exclusive > b.exclusive; });
    for (const auto& [type, count] : counts_) {
      const std::string_view name = record_name(type);
      profile_.records[name.empty() ? "type " + std::to_string(type) : std::string(name)] = count;
    }
  }

  TraceReader& reader_;
  const std::function<void(std::uint64_t)>& progress_;
  TraceProfile profile_;
  Definitions definitions_;
  std::map<LocationId, Location> locations_;
  std::map<RegionId, RegionTotals> totals_;
  std::map<std::pair<LocationId, RmaId>, RegionId> gets_;  // from GET_1TO to GET_1TS
  std::map<std::uint8_t, std::uint64_t> counts_;
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
