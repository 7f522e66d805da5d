#include "expert/causes/solve/critical_path.h"

#include <algorithm>
#include <tuple>

#include "expert/causes/solve/place_numbers.h"

namespace kojak::expert {

void follow_critical_path(CauseLog& log, const std::vector<Amount>& done, RootCauses& results) {
  LocationIndex at = 0;
  for (LocationIndex l = 0; l < log.timelines.size(); ++l) {
    if (log.timelines[l].end() > log.timelines[at].end()) at = l;
  }
  if (log.timelines.empty()) return;
  Ticks time = log.timelines[at].end();
  results.path_length = in_seconds(Amount{time});
  PlaceNumbers numbers;
  std::vector<Amount> shares;
  constexpr std::size_t kPiecesOfJump = 1024;  // memory gets what lies around them, too
  std::size_t jumps = 0;                       // since time moved last
  bool all_parts = true;                       // so far
  while (const Piece* piece = log.timelines[at].before(time)) {
    if (piece->wait != kNoWait && jumps <= log.timelines.size()) {
      const CauseLog::WaitRecord& wait = log.waits[piece->wait];
      // Who serves is no part of the work.
      const bool serves = wait.known == CauseLog::Known::kService;
      if (wait.by != kNoLocation && wait.by != at && !serves && time <= wait.end) {
        at = wait.by;
        ++jumps;
        log.rest_after(kPiecesOfJump);
        time = std::min(time, log.timelines[at].end());
        continue;
      }
    }
    const Ticks begin = log.timelines[at].begin_of(*piece);
    if (all_parts) {
      std::vector<PathPart>& parts = results.path_parts;
      if (!parts.empty() && parts.back().location == at) {
        parts.back().begin = log.seconds_at(begin);
      } else if (parts.size() < kPathParts) {
        parts.push_back({at, log.seconds_at(begin), log.seconds_at(time)});
      } else {
        all_parts = false;  // what comes back to the earliest one is another part
      }
    }
    const std::uint32_t number = numbers.number(at, piece->stretch);
    if (number == shares.size()) shares.push_back(0);
    shares[number] += time - begin;
    log.rest_after(1);
    time = begin;
    jumps = 0;
    // Before a thread's team was made it had nothing to do but to wait for that.
    const std::vector<Start>& starts = log.starts[at];
    const auto start = std::lower_bound(starts.begin(), starts.end(), begin,
                                        [](const Start& s, Ticks t) { return s.made < t; });
    if (start != starts.end() && start->made == begin &&
        begin <= log.timelines[start->master].end()) {
      at = start->master;
    }
  }
  std::reverse(results.path_parts.begin(), results.path_parts.end());
  // What the processes do of each stretch on the average, and what of it is on the path.
  std::vector<Amount> on_path(log.stretches.size(), 0);
  for (std::size_t i = 0; i < shares.size(); ++i) on_path[numbers.what(i)] += shares[i];
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const StretchId stretch = numbers.what(i);
    const double mean = in_seconds(done[stretch]) / static_cast<double>(log.workers());
    const double path = in_seconds(on_path[stretch]), seconds = in_seconds(shares[i]);
    results.critical_path.push_back({numbers.location(i), log.stretches[stretch], seconds,
                                     seconds * std::max(0.0, 1 - mean / path)});
  }
  std::sort(results.critical_path.begin(), results.critical_path.end(),
            [](const PathShare& a, const PathShare& b) {
              if (a.seconds != b.seconds) return a.seconds > b.seconds;
              return std::tuple(a.location, a.stretch.place()) <
                     std::tuple(b.location, b.stretch.place());
            });
}

}  // namespace kojak::expert
