#include "expert/html/thin.h"

#include <algorithm>
#include <map>
#include <utility>

#include "expert/html/condense.h"

namespace kojak::html {
namespace {

// Below this a part is not worth thinning.
constexpr std::size_t kFew = 64;

template <class T>
std::size_t all_of(const std::vector<std::vector<T>>& rows) {
  std::size_t total = 0;
  for (const auto& row : rows) total += row.size();
  return total;
}

// Two of three.
template <class T>
void leave_out_some(std::vector<T>& things) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (i % 3 != 2) std::swap(things[kept++], things[i]);
  }
  things.resize(kept);
}

void leave_out_short(std::vector<std::vector<Band>>& rows) {
  std::vector<Nanoseconds> lengths;
  for (const auto& row : rows) {
    for (const Band& band : row) lengths.push_back(band.end - band.begin);
  }
  const auto third = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 3);
  std::nth_element(lengths.begin(), third, lengths.end());
  const Nanoseconds shortest = *third;
  // Of equally short ones only as many as needed.
  std::size_t left = lengths.size() / 3;
  for (auto& row : rows) {
    std::erase_if(row, [&](const Band& band) {
      if (left == 0 || band.end - band.begin > shortest) return false;
      --left;
      return true;
    });
  }
}

std::string of_many(std::uint64_t all, std::size_t shown, const char* what) {
  return "Of " + std::to_string(all) + " " + what + " " + std::to_string(shown) + " are drawn.";
}

}  // namespace

Thinner::Thinner(TraceContent& content) : content_(content) {
  for (std::size_t part = 0; part < kParts; ++part) {
    before_[part] = amount(static_cast<Part>(part));
  }
  boxes_ = before_[kBoxes];
}

std::size_t Thinner::amount(Part part) const {
  switch (part) {
    case kBoxes:
      return all_of(content_.boxes);
    case kBands:
      return all_of(content_.bands);
    case kMessages:
      return content_.messages.size();
    case kTransfers:
      return content_.transfers.size();
    case kFences:
      return content_.fences.size();
    case kTraffic:
      return content_.traffic.size();
    case kParts:
      break;
  }
  return 0;
}

bool Thinner::thin(Part part) {
  if (amount(part) < kFew) return false;
  switch (part) {
    case kBoxes:
      boxes_ = boxes_ * 7 / 10;
      if (boxes_ < kFew) return false;
      condense_to(content_.boxes, boxes_, threshold_);
      return true;
    case kBands:
      leave_out_short(content_.bands);
      return true;
    case kMessages:
      leave_out_some(content_.messages);
      return true;
    case kTransfers:
      leave_out_some(content_.transfers);
      return true;
    case kFences:
      leave_out_some(content_.fences);
      return true;
    case kTraffic:
      coarsen_traffic(content_.traffic);
      content_.ranks_per_block *= 2;
      return true;
    case kParts:
      break;
  }
  return false;
}

std::vector<std::string> Thinner::omissions() const {
  std::vector<std::string> texts;
  if (threshold_ > 0) {
    texts.push_back("To keep this file small, calls that follow one another within " +
                    std::to_string(threshold_ / 1000) + " microseconds are drawn as one box.");
  }
  if (content_.messages_seen > content_.messages.size()) {
    texts.push_back(of_many(content_.messages_seen, content_.messages.size(), "messages"));
  }
  if (content_.transfers_seen > content_.transfers.size()) {
    texts.push_back(of_many(content_.transfers_seen, content_.transfers.size(), "transfers"));
  }
  if (const std::size_t bands = amount(kBands); bands < before_[kBands]) {
    texts.push_back("Of " + std::to_string(before_[kBands]) + " epochs the " +
                    std::to_string(bands) + " longest are drawn.");
  }
  if (const std::size_t fences = amount(kFences); fences < before_[kFences]) {
    texts.push_back(of_many(before_[kFences], fences, "fences"));
  }
  return texts;
}

void coarsen_traffic(std::vector<Traffic>& traffic) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Traffic> sums;
  for (const Traffic& cell : traffic) {
    Traffic& sum = sums[{cell.from / 2, cell.to / 2}];
    sum.from = cell.from / 2;
    sum.to = cell.to / 2;
    sum.message_bytes += cell.message_bytes;
    sum.messages += cell.messages;
    sum.put_bytes += cell.put_bytes;
    sum.puts += cell.puts;
    sum.get_bytes += cell.get_bytes;
    sum.gets += cell.gets;
  }
  traffic.clear();
  for (const auto& [pair, sum] : sums) traffic.push_back(sum);
}

}  // namespace kojak::html
