#include "expert/page/thin.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "epilog/format/text/counts.h"
#include "expert/page/condense.h"
#include "expert/page/density.h"

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

std::string in_words(Nanoseconds time) {
  if (time < 10'000) return grouped(time) + " ns";
  if (time < 10'000'000) return grouped(time / 1000) + " us";
  return grouped(time / 1'000'000) + " ms";
}

}  // namespace

void keep_longest(std::vector<std::vector<Band>>& rows, std::size_t limit) {
  std::vector<Nanoseconds> lengths;
  for (const auto& row : rows) {
    for (const Band& band : row) lengths.push_back(band.end - band.begin);
  }
  if (lengths.size() <= limit) return;
  // Of equally short ones only as many as needed.
  std::size_t left = lengths.size() - limit;
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(left - 1);
  std::nth_element(lengths.begin(), last, lengths.end());
  const Nanoseconds shortest = *last;
  left -= static_cast<std::size_t>(
      std::count_if(lengths.begin(), last, [&](Nanoseconds length) { return length < shortest; }));
  for (auto& row : rows) {
    std::erase_if(row, [&](const Band& band) {
      const Nanoseconds length = band.end - band.begin;
      if (length < shortest) return true;
      if (length > shortest || left == 0) return false;
      --left;
      return true;
    });
  }
}

void pair_up(std::vector<Stripe>& stripes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < stripes.size(); i += 2) {
    Stripe both = stripes[i];
    if (i + 1 < stripes.size()) {
      both.end = stripes[i + 1].end;
      both.without += stripes[i + 1].without;
    }
    stripes[kept++] = both;
  }
  stripes.resize(kept);
}

std::size_t Thinner::amount(Part part) const {
  switch (part) {
    case kBoxes:
      return count_all(content_.boxes);
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
    case kWaits:
      if (limit < kFew) return false;
      part == kBoxes ? condense_to(content_.boxes, content_.waits, limit, content_.calls_within)
                     : condense_to(content_.waits, limit, content_.waits_within);
      return amount(part) < now;
    case kBands:
      keep_longest(content_.bands, limit);
      return true;
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
      for (auto& stripes : content_.stripes) pair_up(stripes);
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
  const auto fewer = [&](std::uint64_t all, std::size_t shown, const char* what,
                         const char* which = "") {
    if (all <= shown) return;
    texts.push_back("Of " + grouped(all) + " " + what + " " + which + grouped(shown) +
                    " are drawn.");
  };
  merged(content.calls_within, "Calls");
  merged(content.waits_within, "Waits", ", for the process that the longest of them was for");
  fewer(content.messages_seen, content.messages.size(), "messages");
  fewer(content.transfers_seen, content.transfers.size(), "transfers");
  fewer(content.bands_seen, count_all(content.bands), "epochs", "the longest ");
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
