// What expert says of a trace in memory, for the tests of cuts.
//
// For tests only: a metric that does not exist is an exception. No state but the trace's.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/findings/trace_findings.h"
#include "tests/support/kept_runs.h"
#include "tests/unit/filter_support.h"

namespace kojak::test {

class Severities {
 public:
  explicit Severities(const Bytes& bytes)
      : trace_(open_trace(bytes)), report_(expert::analyse(trace_)) {}
  // Of a metric in the calls of a region, on one location.
  double operator()(const char* metric, const char* region, std::uint32_t lid) const {
    const std::size_t m = report_.find_metric(metric);
    if (m == expert::kNone) throw std::runtime_error(std::string("no metric ") + metric);
    std::vector<double> row(report_.threads());
    double sum = 0;
    for (std::size_t c = 0; c < report_.call_paths().size(); ++c) {
      if (report_.region_name(report_.call_paths()[c].region) != region) continue;
      if (!report_.row(m, c, row)) continue;
      sum += row[report_.thread_of(LocationId{lid})];
    }
    return sum;
  }
  double total(const char* metric) const {
    const std::size_t m = report_.find_metric(metric);
    if (m == expert::kNone) throw std::runtime_error(std::string("no metric ") + metric);
    return report_.total(m);
  }
  // A model of which the trace has no calls has no metrics.
  double total_or_none(const char* metric) const {
    return report_.find_metric(metric) == expert::kNone ? 0 : total(metric);
  }
  // For the independent analysis; `bytes`: the trace.
  void keep(const std::string& name, const Bytes& bytes) const {
    const TempDir folder;
    const std::string path = folder.file("a.cube");
    const Status written = expert::write_cube(report_, path, {.doc_url = "file:///docs/"});
    if (!written.ok()) throw std::runtime_error(written.error().message());
    support::keep_run(name, bytes, path);
  }
  bool suspect() const { return expert::any_suspect(report_.findings()); }

 private:
  earl::Trace trace_;
  expert::Report report_;
};

inline constexpr double kTolerance = 1e-12;

}  // namespace kojak::test
