#include "expert/page/kept/trace_sums.h"

#include <algorithm>
#include <utility>

namespace kojak::html {

TraceSums::TraceSums(std::size_t rows, std::uint32_t processes, const TraceLimits& limits)
    : boxes(rows, limits.boxes),
      waits(rows, limits.waits),
      bands(rows, limits.bands),
      stripes(rows, limits.stripes),
      messages(limits.arrows),
      fences(std::max<std::size_t>(limits.fence_members / std::max(processes, 1U), 1)),
      transfers(limits.arrows),
      traffic(limits.pairs, processes),
      density(rows, limits.cells) {}

void TraceSums::add(TraceSums& behind, std::span<const std::uint32_t> paths) {
  for (const auto& [epoch, last] : behind.first_ends) {
    const auto first = since.find(epoch);
    if (first == since.end()) continue;
    bands.add(last.row, {first->second, last.end, epoch.window, epoch.kind});
    since.erase(first);
  }
  for (const auto& [epoch, time] : behind.since) since[epoch] = time;
  boxes.add(behind.boxes, paths);
  waits.add(behind.waits, [&](WaitBox wait) {
    wait.path = paths[wait.path];
    return wait;
  });
  bands.add(behind.bands, [](const Band& band) { return band; });
  stripes.add(behind.stripes, [](const Stripe& stripe) { return stripe; });
  messages.add(behind.messages);
  fences.add(behind.fences);
  transfers.add(behind.transfers);
  traffic.add(behind.traffic, paths);
  density.add(behind.density);
  for (std::size_t p = 0; p < behind.path_regions.size(); ++p) {
    if (behind.path_regions[p] == kUnseen) continue;
    if (paths[p] >= path_regions.size()) path_regions.resize(paths[p] + 1, kUnseen);
    path_regions[paths[p]] = behind.path_regions[p];
  }
  end = std::max(end, behind.end);
}

void TraceSums::finish(Nanoseconds length, TraceContent& content) {
  content.begin = begin;
  content.end = end;
  boxes.finish(length, content);
  content.waits = waits.finish();
  content.waits_within = waits.scale().cell();
  content.bands = bands.finish();
  content.bands_within = bands.scale().cell();
  content.stripes = stripes.finish();
  content.stripes_within = stripes.scale().cell();
  traffic.finish(path_regions, kUnseen, content);
  content.paths = std::move(path_regions);
  std::replace(content.paths.begin(), content.paths.end(), kUnseen, 0U);
  content.density = density.finish(length);
  content.messages_seen = messages.seen();
  content.messages = messages.finish(
      [](const MessageArrow& m) { return std::tuple(m.sent, m.from, m.to, m.received, m.bytes); });
  content.transfers = transfers.finish();
  content.transfers_seen = transfers.seen();
  content.fences_seen = fences.seen();
  content.fences = fences.finish([](const FenceInstance& fence) {
    const auto last = std::max_element(fence.enters.begin(), fence.enters.end());
    return std::tuple(last == fence.enters.end() ? 0 : *last, fence.window);
  });
}

}  // namespace kojak::html
