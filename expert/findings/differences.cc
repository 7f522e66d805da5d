#include "expert/findings/differences.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "epilog/format/text/counts.h"
#include "expert/findings/rules.h"

namespace kojak::expert {
namespace {

std::string number(double value, int significant) {
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(value)));
  return fixed(value, std::clamp(significant - 1 - digits, 0, 6));
}

// "(3.6 s, not 8.6 s)", with as many digits as tell them apart.
std::string now_not(double before, double after) {
  int significant = 2;
  while (significant < 9 && before != after &&
         number(after, significant) == number(before, significant))
    ++significant;
  return " (" + number(after, significant) + " s, not " + number(before, significant) + " s)";
}

std::string share(double part) {
  return fixed(100 * part, part < 0.0995 ? 1 : 0) + " %";
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

bool beyond_noise(double before, double after, double run) {
  const double change = std::abs(after - before);
  return change >= kNoiseOfRun * run && change >= kNoiseOfValue * std::max(before, after) &&
         change > 0;
}

std::string difference_words(const ComparedRun& before, const ComparedRun& after,
                             const std::vector<std::string>& titles, bool of_each) {
  const double run = std::max(before.total, after.total);
  const std::string each = of_each ? " a process" : "";
  std::string words = after.name;
  const double part = before.time > 0 ? (after.time - before.time) / before.time : 0;
  if (std::abs(part) < kNoiseOfRun) {
    words += " takes as long as " + before.name + " (" + number(after.time, 2) + " s, within 1 %)";
  } else {
    words += " is " + share(std::abs(part)) + (part < 0 ? " faster" : " slower") + " than " +
             before.name + now_not(before.time, after.time);
  }
  const double waited = sum(before.waits), waits = sum(after.waits);
  const auto more_or_less = [&](double old, double now) {
    return number(std::abs(now - old), 2) + " s" + each + (now < old ? " less" : " more");
  };
  if (beyond_noise(waited, waits, run)) {
    words += "; it waits " + more_or_less(waited, waits);
  } else {
    words += waited > 0 || waits > 0 ? "; it waits as much" : "; neither waits";
  }
  if (beyond_noise(before.outside, after.outside, run))
    words += "; it spends " + more_or_less(before.outside, after.outside) + " outside of MPI";

  std::vector<std::size_t> worse;
  for (std::size_t w = 0; w < titles.size(); ++w) {
    if (after.waits[w] > before.waits[w] && beyond_noise(before.waits[w], after.waits[w], run))
      worse.push_back(w);
  }
  std::stable_sort(worse.begin(), worse.end(), [&](std::size_t a, std::size_t b) {
    return after.waits[a] - before.waits[a] > after.waits[b] - before.waits[b];
  });
  if (worse.empty()) return words + "; no kind of waiting got worse by more than noise.";
  constexpr std::size_t kNamed = 2;
  words += "; got worse" + each + ": ";
  for (std::size_t i = 0; i < std::min(worse.size(), kNamed); ++i) {
    words += (i == 0 ? "" : ", ") + titles[worse[i]] +
             now_not(before.waits[worse[i]], after.waits[worse[i]]);
  }
  if (worse.size() > kNamed) words += " and " + std::to_string(worse.size() - kNamed) + " more";
  return words + ".";
}

}  // namespace kojak::expert
