#include "expert/page/thin.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "epilog/format/text/counts.h"
#include "expert/page/density.h"
#include "expert/page/kept/box_rows.h"
#include "expert/page/kept/cells.h"

namespace kojak::html {
namespace {

// Below this a part is not worth thinning.
constexpr std::size_t kFew = 64;

// Evenly: of many as many as the limit allows.
template <class T>
void leave_out_some(std::vector<T>& things, std::size_t limit) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if ((i + 1) * limit / things.size() != i * limit / things.size()) {
      std::swap(things[kept++], things[i]);
    }
  }
  things.resize(kept);
}

template <class T>
std::size_t count_all(const std::vector<std::vector<T>>& rows) {
  std::size_t total = 0;
  for (const auto& row : rows) total += row.size();
  return total;
}

// Those of one kind that begin in one cell become one.
template <class T>
void join_short(std::vector<std::vector<T>>& rows, std::size_t limit, Nanoseconds& cell) {
  Scale scale = Scale::of(cell);
  condense_to(rows, limit, scale);
  cell = scale.cell();
}

std::string in_words(Nanoseconds time) {
  if (time < 10'000) return grouped(time) + " ns";
  if (time < 10'000'000) return grouped(time / 1000) + " us";
  return grouped(time / 1'000'000) + " ms";
}

}  // namespace

std::size_t Thinner::amount(Part part) const {
  switch (part) {
    case kBoxes:
      return drawn(content_);
    case kWaits:
      return count_all(content_.waits);
    case kBands:
      return count_all(content_.bands);
    case kMessages:
      return content_.messages.size();
    case kTransfers:
      return content_.transfers.size();
    case kFences:
      return content_.fences.size();
    case kTraffic:
      return content_.traffic.size();
    case kStripes:
      return count_all(content_.stripes);
    case kDensity:
      return content_.density.waiting.size();
    case kParts:
      break;
  }
  return 0;
}

bool Thinner::thin(Part part, double share) {
  const std::size_t now = amount(part);
  if (now < kFew) return false;
  const auto limit = static_cast<std::size_t>(static_cast<double>(now) * share);
  switch (part) {
    case kBoxes:
      if (limit < kFew) return false;
      condense_to(content_, limit);
      return amount(part) < now;
    case kWaits:
      if (limit < kFew) return false;
      join_short(content_.waits, limit, content_.waits_within);
      return amount(part) < now;
    case kBands:
      join_short(content_.bands, limit, content_.bands_within);
      return amount(part) < now;
    case kMessages:
      leave_out_some(content_.messages, limit);
      return true;
    case kTransfers:
      leave_out_some(content_.transfers, limit);
      return true;
    case kFences:
      leave_out_some(content_.fences, limit);
      return true;
    case kTraffic:
      coarsen_traffic(content_);
      return true;
    case kStripes:
      join_short(content_.stripes, limit, content_.stripes_within);
      return amount(part) < now;
    case kDensity:
      if (content_.density.columns < 32) return false;
      halve(content_.density);
      return true;
    case kParts:
      break;
  }
  return false;
}

std::vector<std::string> omissions(const TraceContent& content) {
  std::vector<std::string> texts;
  const auto merged = [&](Nanoseconds within, const char* what, const char* further = "") {
    if (within == 0) return;
    texts.push_back(std::string(what) + " that follow one another within " + in_words(within) +
                    " are drawn as one box" + further + ".");
  };
  const auto fewer = [&](std::uint64_t all, std::size_t shown, const char* what) {
    if (all <= shown) return;
    texts.push_back("Of " + grouped(all) + " " + what + " " + grouped(shown) + " are drawn.");
  };
  merged(content.calls_within, "Calls");
  merged(content.waits_within, "Waits", ", for the process that the longest of them was for");
  merged(content.bands_within, "Epochs of one kind");
  merged(content.stripes_within, "Times without a processor");
  fewer(content.messages_seen, content.messages.size(), "messages");
  fewer(content.transfers_seen, content.transfers.size(), "transfers");
  fewer(content.fences_seen, content.fences.size(), "fences");
  if (!content.traffic_by_function) {
    texts.emplace_back("The matrix does not tell windows and functions apart.");
  }
  if (!texts.empty()) texts.emplace_back("kojak html --trace with a larger --max-size shows more.");
  if (content.communicators_seen > content.communicators.size()) {
    texts.push_back("Of " + grouped(content.communicators_seen) + " communicators the first " +
                    grouped(content.communicators.size()) + " can be chosen.");
  }
  return texts;
}

void coarsen_traffic(TraceContent& content) {
  const bool blocks = !content.traffic_by_function;
  if (blocks) content.ranks_per_block *= 2;
  content.traffic_by_function = false;
  std::map<std::tuple<std::uint32_t, std::uint32_t, TrafficKind>, Traffic> sums;
  for (const Traffic& cell : content.traffic) {
    const std::uint32_t from = blocks ? cell.from / 2 : cell.from;
    const std::uint32_t to = blocks && cell.to != Traffic::kNone ? cell.to / 2 : cell.to;
    Traffic& sum = sums[{from, to, cell.kind}];
    sum.from = from;
    sum.to = to;
    sum.kind = cell.kind;
    sum.amount += cell.amount;
    sum.count += cell.count;
  }
  content.traffic.clear();
  for (const auto& [key, sum] : sums) content.traffic.push_back(sum);
}

}  // namespace kojak::html
