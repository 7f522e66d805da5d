#include "expert/parallel/slices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "epilog/format/service.h"
#include "expert/patterns/openmp/teams.h"

namespace kojak::parallel {

const char* why_alone(const Definitions& definitions, const Dialect& dialect) {
  if (any_service(definitions)) return "a process serves the others";
  if (!dialect.native()) return "the trace is a classic one";
  if (!definitions.metrics.empty()) return "hardware counters are not added up yet";
  if (expert::OmpTeams::concerns(definitions)) return "OpenMP is not added up yet";
  std::set<std::uint32_t> processes;
  bool threads = false;
  definitions.locations.for_each([&](LocationId, const LocationDef& def) {
    threads = threads || !processes.insert(raw(def.process)).second;
  });
  return threads ? "a process has several threads" : nullptr;
}

// Where a part of the events begins that is no longer than others.
std::string Slices::cut_evenly(std::size_t parts) {
  std::size_t from = 0;
  for (std::size_t k = 1; k < parts; ++k) {
    const double wanted =
        static_cast<double>(length_) * static_cast<double>(k) / static_cast<double>(parts);
    const auto off = [&](std::size_t m) {
      return std::abs(static_cast<double>(meetings_[m].done) - wanted);
    };
    std::optional<std::size_t> best;
    for (std::size_t m = from; m < meetings_.size(); ++m) {
      if (meetings_[m].at_rest() && (!best || off(m) < off(*best))) best = m;
    }
    if (!best) break;
    cuts_.push_back(*best);
    from = *best + 1;
  }
  return cuts_.empty() ? "no meeting is at rest" : "";
}

std::string Slices::cut_at(const std::string& at) {
  if (at == "all") {
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      if (meetings_[i].at_rest()) cuts_.push_back(i);
    }
    return cuts_.empty() ? "no meeting is at rest" : "";
  }
  if (std::size_t parts = 0; at.starts_with('/')) {
    std::from_chars(at.data() + 1, at.data() + at.size(), parts);
    return cut_evenly(parts);
  }
  std::istringstream words(at);
  for (std::string word; std::getline(words, word, ',');) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number >= meetings_.size())
      return "there is no meeting \"" + word + "\"";
    if (!meetings_[number].at_rest())
      return "at meeting " + word + " are open: " + why_not(meetings_[number]);
    cuts_.push_back(number);
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  return cuts_.empty() ? "no meeting is at rest" : "";
}

std::uint64_t Slices::percent_of_longest() const {
  std::uint64_t longest = 0, before = 0;
  for (const std::size_t cut : cuts_) {
    longest = std::max(longest, meetings_[cut].done - before);
    before = meetings_[cut].done;
  }
  longest = std::max(longest, length_ - before);
  return length_ == 0 ? 100 : longest * 100 / length_;
}

}  // namespace kojak::parallel
