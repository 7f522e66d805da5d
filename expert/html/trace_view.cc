#include "expert/html/trace_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "expert/catalogue.h"
#include "expert/html/blob.h"
#include "expert/html/condense.h"
#include "expert/html/json.h"
#include "expert/html/names.h"
#include "expert/html/thin.h"

namespace kojak::html {
namespace {

using Column = std::vector<std::uint64_t>;

// Distances of times from `origin`, which may be negative where clocks disagree: zigzag.
std::uint64_t distance(Nanoseconds time, Nanoseconds origin) {
  const auto step = static_cast<std::int64_t>(time - origin);
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}

// The things of all rows: how many each row has, begins as distances from the one before, lengths;
// `each` takes what else they have.
template <class Thing, class Each>
void add_spans(Blob& blob, const std::string& name, const std::vector<std::vector<Thing>>& rows,
               Each&& each) {
  Column counts, begins, lengths;
  for (const std::vector<Thing>& things : rows) {
    counts.push_back(things.size());
    Nanoseconds last = 0;
    for (const Thing& thing : things) {
      begins.push_back(thing.begin - last);
      last = thing.begin;
      lengths.push_back(thing.end - thing.begin);
      each(thing);
    }
  }
  blob.varints(name + "Counts", counts);
  blob.varints(name + "Begins", begins);
  blob.varints(name + "Lengths", lengths);
}

void add_boxes(Blob& blob, const TraceContent& content) {
  Column paths, calls;
  add_spans(blob, "box", content.boxes, [&](const Box& box) {
    paths.push_back(box.path);
    calls.push_back(box.calls);
  });
  blob.varints("boxPaths", paths);
  blob.varints("boxCalls", calls);
}

void add_waits(Blob& blob, const TraceContent& content) {
  Column others, metrics, awaited, ended, waits;
  add_spans(blob, "wait", content.waits, [&](const WaitBox& wait) {
    const Nanoseconds length = wait.end - wait.begin;
    const bool known = wait.awaited != WaitBox::kNobody;
    others.push_back(length - std::min(length, wait.waited));
    metrics.push_back(wait.metric);
    awaited.push_back(known ? std::uint64_t{wait.awaited} + 1 : 0);
    ended.push_back(known ? distance(wait.ended, wait.end) : 0);
    waits.push_back(wait.waits);
  });
  blob.varints("waitOthers", others);
  blob.varints("waitMetrics", metrics);
  blob.varints("waitAwaited", awaited);
  blob.varints("waitEnded", ended);
  blob.varints("waitWaits", waits);
}

void add_stripes(Blob& blob, const TraceContent& content) {
  Column without;
  add_spans(blob, "stripe", content.stripes,
            [&](const Stripe& stripe) { without.push_back(stripe.without); });
  blob.varints("stripeWithout", without);
}

void add_density(Blob& blob, const TraceContent& content) {
  blob.bytes("densityWaiting", content.density.waiting);
  blob.bytes("densityMpi", content.density.mpi);
}

void add_bands(Blob& blob, const TraceContent& content) {
  Column windows;
  std::vector<std::uint8_t> kinds;
  add_spans(blob, "band", content.bands, [&](const Band& band) {
    windows.push_back(band.window);
    kinds.push_back(static_cast<std::uint8_t>(band.kind));
  });
  blob.varints("bandWindows", windows);
  blob.bytes("bandKinds", kinds);
}

void add_messages(Blob& blob, const TraceContent& content) {
  Column from, to, sent, received, bytes;
  for (const MessageArrow& message : content.messages) {
    from.push_back(message.from);
    to.push_back(message.to);
    sent.push_back(message.sent);
    received.push_back(distance(message.received, message.sent));
    bytes.push_back(message.bytes);
  }
  blob.varints("messageFrom", from);
  blob.varints("messageTo", to);
  blob.deltas("messageSent", sent);
  blob.varints("messageReceived", received);
  blob.varints("messageBytes", bytes);
}

void add_transfers(Blob& blob, const TraceContent& content) {
  Column origins, targets, windows, bytes, requests, starts, ends, origin_syncs, target_syncs,
      lengths;
  std::vector<std::uint8_t> kinds;
  for (const TransferArrow& arrow : content.transfers) {
    kinds.push_back(static_cast<std::uint8_t>((arrow.get ? 1 : 0) | (arrow.passive ? 2 : 0) |
                                              (arrow.origin_sync != 0 ? 4 : 0) |
                                              (arrow.target_sync != 0 ? 8 : 0)));
    origins.push_back(arrow.origin);
    targets.push_back(arrow.target);
    windows.push_back(arrow.window);
    bytes.push_back(arrow.bytes);
    requests.push_back(arrow.request);
    starts.push_back(distance(arrow.start, arrow.request));
    ends.push_back(distance(arrow.end, arrow.request));
    origin_syncs.push_back(arrow.origin_sync != 0 ? distance(arrow.origin_sync, arrow.request) : 0);
    lengths.push_back(arrow.origin_sync_length);
    target_syncs.push_back(arrow.target_sync != 0 ? distance(arrow.target_sync, arrow.request) : 0);
  }
  blob.bytes("transferKinds", kinds);
  blob.varints("transferOrigins", origins);
  blob.varints("transferTargets", targets);
  blob.varints("transferWindows", windows);
  blob.varints("transferBytes", bytes);
  blob.deltas("transferRequests", requests);
  blob.varints("transferStarts", starts);
  blob.varints("transferEnds", ends);
  blob.varints("transferOriginSyncs", origin_syncs);
  blob.varints("transferSyncLengths", lengths);
  blob.varints("transferTargetSyncs", target_syncs);
}

void add_fences(Blob& blob, const TraceContent& content) {
  Column sizes, windows, rows, enters, exits;
  for (const FenceInstance& fence : content.fences) {
    sizes.push_back(fence.rows.size());
    windows.push_back(fence.window);
    rows.insert(rows.end(), fence.rows.begin(), fence.rows.end());
    enters.insert(enters.end(), fence.enters.begin(), fence.enters.end());
    exits.insert(exits.end(), fence.exits.begin(), fence.exits.end());
  }
  blob.varints("fenceSizes", sizes);
  blob.varints("fenceWindows", windows);
  blob.varints("fenceRows", rows);
  blob.deltas("fenceEnters", enters);
  blob.deltas("fenceExits", exits);
}

void add_traffic(Blob& blob, const TraceContent& content) {
  Column from, to, windows, regions, amounts, counts;
  std::vector<std::uint8_t> kinds;
  const auto or_zero = [](std::uint32_t number) {
    return number == Traffic::kNone ? 0 : std::uint64_t{number} + 1;
  };
  for (const Traffic& cell : content.traffic) {
    from.push_back(cell.from);
    to.push_back(or_zero(cell.to));
    kinds.push_back(static_cast<std::uint8_t>(cell.kind));
    windows.push_back(or_zero(cell.window));
    regions.push_back(or_zero(cell.region));
    amounts.push_back(cell.amount);
    counts.push_back(cell.count);
  }
  blob.varints("trafficFrom", from);
  blob.varints("trafficTo", to);
  blob.bytes("trafficKinds", kinds);
  blob.varints("trafficWindows", windows);
  blob.varints("trafficRegions", regions);
  blob.varints("trafficAmounts", amounts);
  blob.varints("trafficCounts", counts);
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
    json.value(window.id == kAbsent ? "symmetric memory" : "window " + std::to_string(window.id));
  }
  json.end_array().key("windowSites").begin_array();
  for (const WindowName& window : content.windows) json.value(window.site);
  json.end_array().key("communicators").begin_array();
  for (const ProcessGroup& group : content.communicators) {
    json.begin_object().member("number", group.id).member("site", group.site);
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
    PackedTrace packed;
    packed.data = blob.compressed();
    packed.omitted = omissions(content);
    content.omitted.insert(content.omitted.end(), packed.omitted.begin(), packed.omitted.end());
    packed.json = describe(content, report, blob.directory());
    return packed;
  }
}

}  // namespace kojak::html
