#include <cmath>
#include <cstring>

#include "earl/access/archive.h"
#include "earl/trace.h"
#include "expert/analysis.h"
#include "tests/fuzz/checks.h"
#include "tests/support/compact_items.h"

namespace kojak::fuzz {

void check_random_access(const Bytes& trace) {
  const auto archive = earl::Archive::from(trace, "input");
  if (!archive) return;
  const auto records = earl::Archive::from(support::unpacked(trace), "input");
  expect(records.ok(), "compact records are a trace, and what they stand for is none");
  expect(archive->size() == records->size(), "other events in blocks than one after the other");
  const std::uint64_t size = archive->size();
  const std::uint64_t step = 1 + size / 64;  // from behind, then anywhere
  for (std::uint64_t n = 0; n < size; n += step) {
    const std::uint64_t pos = size - 1 - n * 7 % size;
    const earl::Event one = (*archive)[pos], other = (*records)[pos];
    expect(one.pos == pos && one.type == other.type && one.loc == other.loc &&
               one.enterptr == other.enterptr && one.reg == other.reg,
           "another event in its block than one after the other");
    expect(std::memcmp(&one.time, &other.time, sizeof one.time) == 0, "another time in its block");
    expect(archive->values(pos) == records->values(pos), "other counters in its block");
    expect(archive->sendptr(pos) == records->sendptr(pos) &&
               archive->cnodeptr(pos) == records->cnodeptr(pos),
           "other pointers in its block");
    if (n % (step * 16) == 0) {
      (void)archive->state(pos);
      for (std::uint32_t l = 0; l < archive->trace().location_count() && l < 4; ++l) {
        (void)archive->stack(pos, l);
      }
    }
  }
}

void check_analysis(const Bytes& bytes) {
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "input");
  if (!trace.ok()) return;
  const expert::Report report = expert::analyse(*trace);
  std::vector<double> row(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, row)) continue;
      for (const double value : row) {
        expect(std::isfinite(value) && value >= 0,
               std::string(report.metrics()[m].metric.name) + " is " + std::to_string(value));
      }
    }
  }
}

}  // namespace kojak::fuzz
