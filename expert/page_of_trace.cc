#include "expert/page_of_trace.h"

#include "earl/file_gaps.h"
#include "epilog/format/text/counts.h"
#include "expert/analysis.h"
#include "expert/causes/cause_metrics.h"
#include "expert/profile/from_analysis.h"

namespace kojak::html {
namespace {

Error of_another_run(const std::string& path, const cube::Report& report, std::size_t locations) {
  Error error;
  error.file = path;
  error.reason = "has " + counted(locations, "location", "locations") + ", and the report " +
                 std::to_string(report.locations());
  error.remedy = "give the trace that the report was made of";
  return error;
}

}  // namespace

Result<PageOfTrace> read_page_of_trace(const std::string& path, const cube::Report& report,
                                       std::size_t max_bytes,
                                       const std::function<void(std::uint64_t events)>& progress) {
  Result<earl::Trace> trace = earl::Trace::open(path);
  if (!trace) return trace.error();
  if (trace->location_count() != report.locations()) {
    return of_another_run(path, report, trace->location_count());
  }
  TimelineReader reader(limits_for(max_bytes));
  expert::AnalysisOptions options;
  options.progress = progress;
  options.root_causes =
      report.find_metric(expert::kDelayMetric) != cube::kNone;  // as the report was made
  options.page = &reader;
  const expert::Report analysis = expert::analyse(*trace, options);
  PageOfTrace page{expert::profile_of(analysis), {}};
  expert::add_severities(analysis, page.report);
  page.report.file = report.file;
  page.report.mirrors = report.mirrors;
  page.part = trace_part(analysis, reader.finish(), page.report, max_bytes);
  page.part.gaps = earl::gaps_of(*trace);
  return page;
}

}  // namespace kojak::html
