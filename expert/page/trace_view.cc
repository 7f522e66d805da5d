#include "expert/page/trace_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "expert/output/json.h"
#include "expert/page/blob.h"
#include "expert/page/kept/box_rows.h"
#include "expert/page/names.h"
#include "expert/page/tables.h"
#include "expert/page/thin.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/process_word.h"

namespace kojak::html {
namespace {

void add_boxes(Blob& blob, const TraceContent& content) {
  TraceContent drawn;
  drawn.boxes = drawn_boxes(content);
  add_box(blob, drawn);
}

void add_fences(Blob& blob, const TraceContent& content) {
  add_fence(blob, content);
  add_fenceMember(blob, content);
}

void add_density(Blob& blob, const TraceContent& content) {
  add_densityWaiting(blob, content);
  add_densityMpi(blob, content);
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
  json.member("processWord", cube::process_word(report));
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
  static constexpr AddTable kAdd[Thinner::kParts] = {add_boxes,   add_wait,     add_band,
                                                     add_message, add_transfer, add_fences,
                                                     add_traffic, add_stripe,   add_density};
  content.messages_seen = std::max<std::uint64_t>(content.messages_seen, content.messages.size());
  content.transfers_seen =
      std::max<std::uint64_t>(content.transfers_seen, content.transfers.size());
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
    for (const AddTable add : kAdd) add(blob, content);
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
    for (const AddTable add : kAdd) add(blob, content);
    return pack(blob);
  }
}

}  // namespace kojak::html
