#include "expert/page/trace_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "expert/output/json.h"
#include "expert/page/blob.h"
#include "expert/page/condense.h"
#include "expert/page/names.h"
#include "expert/page/thin.h"
#include "expert/patterns/catalogue.h"

namespace kojak::html {
namespace {

// Distances of times from `origin`, which may be negative where clocks disagree: zigzag.
std::uint64_t distance(Nanoseconds time, Nanoseconds origin) {
  const auto step = static_cast<std::int64_t>(time - origin);
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}

// A column of what the things of all rows say, row after row.
template <class Thing, class Value>
void add_column(Blob& blob, std::string_view name, const std::vector<std::vector<Thing>>& rows,
                Value&& value) {
  blob.fill_varints(name, [&](auto&& put) {
    for (const std::vector<Thing>& things : rows) {
      for (const Thing& thing : things) put(value(thing));
    }
  });
}
// The same of a list.
template <class Thing, class Value>
void add_column(Blob& blob, std::string_view name, const std::vector<Thing>& things,
                Value&& value) {
  blob.fill_varints(name, [&](auto&& put) {
    for (const Thing& thing : things) put(value(thing));
  });
}
template <class Thing, class Value>
void add_deltas(Blob& blob, std::string_view name, const std::vector<Thing>& things,
                Value&& value) {
  blob.fill_deltas(name, [&](auto&& put) {
    for (const Thing& thing : things) put(value(thing));
  });
}

// The things of all rows: how many each row has, begins as distances from the one before, lengths.
template <class Thing>
void add_spans(Blob& blob, const std::string& name, const std::vector<std::vector<Thing>>& rows) {
  blob.fill_varints(name + "Counts", [&](auto&& put) {
    for (const std::vector<Thing>& things : rows) put(things.size());
  });
  blob.fill_varints(name + "Begins", [&](auto&& put) {
    for (const std::vector<Thing>& things : rows) {
      Nanoseconds last = 0;
      for (const Thing& thing : things) {
        put(thing.begin - last);
        last = thing.begin;
      }
    }
  });
  add_column(blob, name + "Lengths", rows, [](const Thing& t) { return t.end - t.begin; });
}

void add_boxes(Blob& blob, const TraceContent& content) {
  add_spans(blob, "box", content.boxes);
  add_column(blob, "boxPaths", content.boxes, [](const Box& box) { return box.path; });
  add_column(blob, "boxCalls", content.boxes, [](const Box& box) { return box.calls; });
  add_column(blob, "boxPolls", content.boxes,
             [](const Box& box) { return box.joined | box.sleeping << 1; });
}

void add_waits(Blob& blob, const TraceContent& content) {
  const auto& waits = content.waits;
  const auto known = [](const WaitBox& wait) { return wait.awaited != WaitBox::kNobody; };
  add_spans(blob, "wait", waits);
  add_column(blob, "waitOthers", waits, [](const WaitBox& wait) {
    const Nanoseconds length = wait.end - wait.begin;
    return length - std::min(length, wait.waited);
  });
  add_column(blob, "waitMetrics", waits, [](const WaitBox& wait) { return wait.metric; });
  add_column(blob, "waitAwaited", waits, [&](const WaitBox& wait) {
    return known(wait) ? std::uint64_t{wait.awaited} + 1 : 0;
  });
  add_column(blob, "waitEnded", waits,
             [&](const WaitBox& wait) { return known(wait) ? distance(wait.ended, wait.end) : 0; });
  add_column(blob, "waitWaits", waits, [](const WaitBox& wait) { return wait.waits; });
}

void add_stripes(Blob& blob, const TraceContent& content) {
  add_spans(blob, "stripe", content.stripes);
  add_column(blob, "stripeWithout", content.stripes, [](const Stripe& s) { return s.without; });
}

void add_density(Blob& blob, const TraceContent& content) {
  blob.bytes("densityWaiting", content.density.waiting);
  blob.bytes("densityMpi", content.density.mpi);
}

void add_bands(Blob& blob, const TraceContent& content) {
  add_spans(blob, "band", content.bands);
  add_column(blob, "bandWindows", content.bands, [](const Band& band) { return band.window; });
  std::vector<std::uint8_t> kinds;
  for (const std::vector<Band>& bands : content.bands) {
    for (const Band& band : bands) kinds.push_back(static_cast<std::uint8_t>(band.kind));
  }
  blob.bytes("bandKinds", kinds);
}

void add_messages(Blob& blob, const TraceContent& content) {
  using Arrow = MessageArrow;
  const auto& messages = content.messages;
  add_column(blob, "messageFrom", messages, [](const Arrow& m) { return m.from; });
  add_column(blob, "messageTo", messages, [](const Arrow& m) { return m.to; });
  add_deltas(blob, "messageSent", messages, [](const Arrow& m) { return m.sent; });
  add_column(blob, "messageReceived", messages,
             [](const Arrow& m) { return distance(m.received, m.sent); });
  add_column(blob, "messageBytes", messages, [](const Arrow& m) { return m.bytes; });
}

void add_transfers(Blob& blob, const TraceContent& content) {
  using Arrow = TransferArrow;
  const auto& transfers = content.transfers;
  std::vector<std::uint8_t> kinds;
  for (const Arrow& arrow : transfers) {
    kinds.push_back(static_cast<std::uint8_t>((arrow.get ? 1 : 0) | (arrow.passive ? 2 : 0) |
                                              (arrow.origin_sync != 0 ? 4 : 0) |
                                              (arrow.target_sync != 0 ? 8 : 0)));
  }
  blob.bytes("transferKinds", kinds);
  const auto since_request = [](Nanoseconds Arrow::*time) {
    return [time](const Arrow& t) { return t.*time != 0 ? distance(t.*time, t.request) : 0; };
  };
  add_column(blob, "transferOrigins", transfers, [](const Arrow& t) { return t.origin; });
  add_column(blob, "transferTargets", transfers, [](const Arrow& t) { return t.target; });
  add_column(blob, "transferWindows", transfers, [](const Arrow& t) { return t.window; });
  add_column(blob, "transferBytes", transfers, [](const Arrow& t) { return t.bytes; });
  add_deltas(blob, "transferRequests", transfers, [](const Arrow& t) { return t.request; });
  add_column(blob, "transferStarts", transfers,
             [](const Arrow& t) { return distance(t.start, t.request); });
  add_column(blob, "transferEnds", transfers,
             [](const Arrow& t) { return distance(t.end, t.request); });
  add_column(blob, "transferOriginSyncs", transfers, since_request(&Arrow::origin_sync));
  add_column(blob, "transferSyncLengths", transfers,
             [](const Arrow& t) { return t.origin_sync_length; });
  add_column(blob, "transferTargetSyncs", transfers, since_request(&Arrow::target_sync));
}

void add_fences(Blob& blob, const TraceContent& content) {
  const auto& fences = content.fences;
  const auto of_members = [&](auto list) {
    return [&fences, list](auto&& put) {
      for (const FenceInstance& fence : fences) {
        for (const auto value : fence.*list) put(value);
      }
    };
  };
  add_column(blob, "fenceSizes", fences, [](const FenceInstance& f) { return f.rows.size(); });
  add_column(blob, "fenceWindows", fences, [](const FenceInstance& f) { return f.window; });
  blob.fill_varints("fenceRows", of_members(&FenceInstance::rows));
  blob.fill_deltas("fenceEnters", of_members(&FenceInstance::enters));
  blob.fill_deltas("fenceExits", of_members(&FenceInstance::exits));
}

void add_traffic(Blob& blob, const TraceContent& content) {
  const auto& traffic = content.traffic;
  std::vector<std::uint8_t> kinds;
  for (const Traffic& cell : traffic) kinds.push_back(static_cast<std::uint8_t>(cell.kind));
  const auto or_zero = [](std::uint32_t Traffic::*number) {
    return [number](const Traffic& cell) {
      return cell.*number == Traffic::kNone ? 0 : std::uint64_t{cell.*number} + 1;
    };
  };
  add_column(blob, "trafficFrom", traffic, [](const Traffic& cell) { return cell.from; });
  add_column(blob, "trafficTo", traffic, or_zero(&Traffic::to));
  blob.bytes("trafficKinds", kinds);
  add_column(blob, "trafficWindows", traffic, or_zero(&Traffic::window));
  add_column(blob, "trafficRegions", traffic, or_zero(&Traffic::region));
  add_column(blob, "trafficAmounts", traffic, [](const Traffic& cell) { return cell.amount; });
  add_column(blob, "trafficCounts", traffic, [](const Traffic& cell) { return cell.count; });
}

// "0-3,8": ascending ranks.
std::string ranges(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (last > i) text += '-' + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

// The report's location with this rank and thread, for each row.
std::vector<long> locations_of(const TraceContent& content, const cube::Report& report) {
  std::map<std::pair<long, std::uint32_t>, long> known;
  std::map<std::size_t, std::uint32_t> threads;  // seen of each process
  for (std::size_t i = 0; i < report.locations(); ++i) {
    const std::size_t process = report.system[report.threads[i]].parent;
    const long rank = process == cube::kNone ? -1 : report.system[process].rank;
    known.try_emplace({rank, threads[process]++}, static_cast<long>(i));
  }
  std::vector<long> locations;
  for (const TraceRow& row : content.rows) {
    const auto found = known.find({static_cast<long>(row.rank), row.thread});
    locations.push_back(found == known.end() ? -1 : found->second);
  }
  return locations;
}

std::string describe(const TraceContent& content, const cube::Report& report,
                     const std::string& directory) {
  Json json;
  json.begin_object().member("file", content.file);
  json.member("begin", content.begin).member("end", content.end).member("events", content.events);
  json.member("processes", content.processes).member("ranksPerBlock", content.ranks_per_block);
  const std::vector<long> locations = locations_of(content, report);
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    json.begin_object().member("name", content.rows[i].name).member("rank", content.rows[i].rank);
    json.member("location", locations[i]).end_object();
  }
  json.end_array().key("regions").begin_object().key("name").begin_array();
  const std::size_t longest = longest_name(report);
  for (const std::string& name : content.regions) json.value(fitting_name(name, longest));
  json.end_array().key("kind").begin_array();
  for (const RegionKind kind : content.region_kinds) json.value(static_cast<int>(kind));
  json.end_array().end_object().key("paths").begin_object().key("region").begin_array();
  for (const std::uint32_t region : content.paths) json.value(region);
  json.end_array().key("call").begin_array();
  for (std::size_t path = 0; path < content.paths.size(); ++path) {
    const std::size_t node =
        path < content.path_nodes.size() ? content.path_nodes[path] : cube::kNone;
    json.value(node == cube::kNone ? -1L : static_cast<long>(node));
  }
  json.end_array().end_object().key("metrics").begin_array();
  for (const expert::Metric& metric : expert::all_metrics()) json.value(metric.name);
  json.end_array().member("columnsOfDensity", content.density.columns).key("windows").begin_array();
  for (const WindowName& window : content.windows) {
    json.value(window.id == kAbsent ? "symmetric memory" : window.name);
  }
  json.end_array().key("windowSites").begin_array();
  for (const WindowName& window : content.windows) json.value(window.site);
  json.end_array().key("communicators").begin_array();
  for (const ProcessGroup& group : content.communicators) {
    json.begin_object().member("name", group.name).member("site", group.site);
    json.member("ranks", ranges(group.ranks)).end_object();
  }
  json.end_array().key("omitted").begin_array();
  for (const std::string& text : content.omitted) json.value(text);
  json.end_array().key("columns").raw(directory).end_object();
  return json.text();
}

// How much room a part may take beside the others: waits and calls more than arrows.
constexpr double kWorth[Thinner::kParts] = {3, 3, 1, 1, 1.5, 0.5, 0.5, 0.5, 1.5};

// The room of a part of worth 1, so that all together take `room`: what needs less leaves the rest
// to the others.
double fair_share(const std::size_t (&sizes)[Thinner::kParts], double room) {
  bool whole[Thinner::kParts] = {};
  while (true) {
    double left = room, worth = 0;
    for (std::size_t part = 0; part < Thinner::kParts; ++part) {
      if (whole[part])
        left -= static_cast<double>(sizes[part]);
      else
        worth += kWorth[part];
    }
    const double share = std::max(left, room / 100) / std::max(worth, 0.5);
    bool changed = false;
    for (std::size_t part = 0; part < Thinner::kParts; ++part) {
      if (whole[part] || static_cast<double>(sizes[part]) > share * kWorth[part]) continue;
      whole[part] = changed = true;
    }
    if (!changed) return share;
  }
}

}  // namespace

PackedTrace pack_trace(TraceContent content, const cube::Report& report, std::size_t max_bytes) {
  using Add = void (*)(Blob&, const TraceContent&);
  static constexpr Add kAdd[Thinner::kParts] = {add_boxes,    add_waits,     add_bands,
                                                add_messages, add_transfers, add_fences,
                                                add_traffic,  add_stripes,   add_density};
  content.messages_seen = std::max<std::uint64_t>(content.messages_seen, content.messages.size());
  content.transfers_seen =
      std::max<std::uint64_t>(content.transfers_seen, content.transfers.size());
  content.bands_seen = std::max<std::uint64_t>(content.bands_seen, count_all(content.bands));
  content.fences_seen = std::max<std::uint64_t>(content.fences_seen, content.fences.size());
  Thinner thinner(content);
  std::size_t sizes[Thinner::kParts] = {};  // compressed
  const auto measure = [&](std::size_t part) {
    Blob blob;
    kAdd[part](blob, content);
    sizes[part] = blob.compressed().size();
  };
  const auto pack = [&](Blob& blob) {
    PackedTrace packed;
    packed.data = blob.compressed();
    packed.omitted = omissions(content);
    content.omitted.insert(content.omitted.end(), packed.omitted.begin(), packed.omitted.end());
    packed.json = describe(content, report, blob.directory());
    return packed;
  };
  {
    Blob blob;
    for (const Add add : kAdd) add(blob, content);
    if (blob.size() <= max_bytes) return pack(blob);  // and the more so compressed
  }
  for (std::size_t part = 0; part < Thinner::kParts; ++part) measure(part);
  while (true) {
    const std::size_t whole = std::accumulate(std::begin(sizes), std::end(sizes), std::size_t{0});
    bool thinned = false;
    if (whole > max_bytes) {
      const double most = fair_share(sizes, static_cast<double>(max_bytes) * 0.98);
      for (std::size_t part = 0; part < Thinner::kParts; ++part) {
        const double room = most * kWorth[part];
        if (static_cast<double>(sizes[part]) <= room) continue;
        if (!thinner.thin(static_cast<Thinner::Part>(part),
                          room / static_cast<double>(sizes[part]))) {
          continue;
        }
        measure(part);
        thinned = true;
      }
    }
    if (thinned) continue;
    Blob blob;
    for (const Add add : kAdd) add(blob, content);
    return pack(blob);
  }
}

}  // namespace kojak::html
