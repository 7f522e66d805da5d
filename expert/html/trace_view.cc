#include "expert/html/trace_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "expert/html/blob.h"
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

void add_boxes(Blob& blob, const TraceContent& content) {
  Column counts, begins, lengths, regions, calls;
  for (const std::vector<Box>& boxes : content.boxes) {
    counts.push_back(boxes.size());
    Nanoseconds last = 0;
    for (const Box& box : boxes) {
      begins.push_back(box.begin - last);
      last = box.begin;
      lengths.push_back(box.end - box.begin);
      regions.push_back(box.region);
      calls.push_back(box.calls);
    }
  }
  blob.varints("boxCounts", counts);
  blob.varints("boxBegins", begins);
  blob.varints("boxLengths", lengths);
  blob.varints("boxRegions", regions);
  blob.varints("boxCalls", calls);
}

void add_bands(Blob& blob, const TraceContent& content) {
  Column counts, begins, lengths, windows;
  std::vector<std::uint8_t> kinds;
  for (const std::vector<Band>& bands : content.bands) {
    counts.push_back(bands.size());
    Nanoseconds last = 0;
    for (const Band& band : bands) {
      begins.push_back(band.begin - last);
      last = band.begin;
      lengths.push_back(band.end - band.begin);
      windows.push_back(band.window);
      kinds.push_back(static_cast<std::uint8_t>(band.kind));
    }
  }
  blob.varints("bandCounts", counts);
  blob.varints("bandBegins", begins);
  blob.varints("bandLengths", lengths);
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
  Column from, to, columns[6];
  for (const Traffic& cell : content.traffic) {
    from.push_back(cell.from);
    to.push_back(cell.to);
    const std::uint64_t values[6] = {cell.message_bytes, cell.messages,  cell.put_bytes,
                                     cell.puts,          cell.get_bytes, cell.gets};
    for (std::size_t i = 0; i < 6; ++i) columns[i].push_back(values[i]);
  }
  blob.varints("trafficFrom", from);
  blob.varints("trafficTo", to);
  const char* const kNames[6] = {"trafficMessageBytes", "trafficMessages", "trafficPutBytes",
                                 "trafficPuts",         "trafficGetBytes", "trafficGets"};
  for (std::size_t i = 0; i < 6; ++i) blob.varints(kNames[i], columns[i]);
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
  json.end_array().end_object().key("windows").begin_array();
  for (const std::string& name : content.windows) json.value(name);
  json.end_array().key("omitted").begin_array();
  for (const std::string& text : content.omitted) json.value(text);
  json.end_array().key("columns").raw(directory).end_object();
  return json.text();
}

}  // namespace

PackedTrace pack_trace(TraceContent content, const cube::Report& report, std::size_t max_bytes) {
  using Add = void (*)(Blob&, const TraceContent&);
  static constexpr Add kAdd[Thinner::kParts] = {add_boxes,     add_bands,  add_messages,
                                                add_transfers, add_fences, add_traffic};
  Thinner thinner(content);
  while (true) {
    Blob blob;
    std::vector<std::pair<std::size_t, Thinner::Part>> sizes;
    for (std::size_t part = 0; part < Thinner::kParts; ++part) {
      const std::size_t before = blob.size();
      kAdd[part](blob, content);
      sizes.emplace_back(blob.size() - before, static_cast<Thinner::Part>(part));
    }
    PackedTrace packed;
    packed.data = blob.compressed();
    // What needs most of the room gives some of it back; if it cannot, the next.
    std::sort(sizes.rbegin(), sizes.rend());
    const bool fits = packed.data.size() <= max_bytes;
    if (!fits && std::any_of(sizes.begin(), sizes.end(),
                             [&](const auto& size) { return thinner.thin(size.second); })) {
      continue;
    }
    for (std::string& text : thinner.omissions()) content.omitted.push_back(std::move(text));
    packed.json = describe(content, report, blob.directory());
    return packed;
  }
}

}  // namespace kojak::html
