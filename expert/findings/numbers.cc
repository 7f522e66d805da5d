#include "expert/findings/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "epilog/format/text/counts.h"

namespace kojak::expert {
namespace {

struct ShortUnit {
  double seconds;
  const char* name;
};

ShortUnit unit_of(double seconds) {
  if (seconds >= 7200) return {3600, " h"};
  if (seconds >= 600) return {60, " min"};
  if (seconds >= 0.9995e-3 || seconds <= 0) return {1, " s"};
  return seconds >= 0.95e-4 ? ShortUnit{1e-3, " ms"} : ShortUnit{1e-6, " us"};
}

// Two significant digits, three decimals at most. What would round to the next power has one less.
std::string two_digits(double value) {
  if (value >= 9.95) return fixed(value, 0);
  if (value >= 0.995) return fixed(value, 1);
  return fixed(value, value >= 0.0995 ? 2 : 3);
}

std::string in_unit(double seconds, const ShortUnit& unit) {
  const double value = seconds / unit.seconds;
  if (unit.seconds == 1e-3) return fixed(value, 1);
  return unit.seconds == 1e-6 ? fixed(value, 0) : two_digits(value);
}

}  // namespace

std::string short_time(double seconds) {
  if (!(seconds > 0)) return "0 s";
  const ShortUnit unit = unit_of(seconds);
  return in_unit(seconds, unit) + unit.name;
}

std::string short_times(double part, double whole) {
  const ShortUnit unit = unit_of(whole);
  return in_unit(part, unit) + " of " + in_unit(whole, unit) + unit.name;
}

std::string short_share(double part, double whole) {
  if (!(whole > 0)) return "0 %";
  const double share = 100 * part / whole;
  if (share <= 0) return "0 %";
  if (share < 0.5) return "<1 %";
  if (share >= 99.5 && part < whole) return ">99 %";
  return fixed(share, 0) + " %";
}

bool is_unit(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kUnits{"s", "ms", "us", "min", "h", "%"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

std::vector<unsigned> whole_parts(std::span<const double> parts, unsigned whole, double least) {
  std::vector<unsigned> shares(parts.size());
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!(all > 0)) return shares;
  double kept = 0;
  for (const double p : parts) kept += p >= least * all ? p : 0;
  if (!(kept > 0)) return shares;
  std::vector<std::pair<double, std::size_t>> rest;
  unsigned given = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i] >= least * all) || !(parts[i] > 0)) continue;
    const double exact = parts[i] / kept * whole;
    shares[i] = std::max(1U, static_cast<unsigned>(exact));
    given += shares[i];
    rest.emplace_back(exact - shares[i], i);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; given < whole && !rest.empty(); ++i, ++given) {
    ++shares[rest[i % rest.size()].second];
  }
  // The least ones may have got more than is theirs: the largest give it.
  while (given > whole) {
    const auto most = std::max_element(shares.begin(), shares.end());
    if (*most <= 1) break;
    --*most;
    --given;
  }
  return shares;
}

}  // namespace kojak::expert
