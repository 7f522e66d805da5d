#include "expert/profile/services.h"

#include "epilog/format/service.h"
#include "expert/patterns/time.h"

namespace kojak::expert {
namespace {

// Recorded by a front: the call by which the program begins with the library.
bool starts_library(const Report& report, std::size_t call_path) {
  const RegionDef* const region =
      report.definitions().regions.find(report.call_paths()[call_path].region);
  return region != nullptr && region->shmem != nullptr &&
         region->shmem->model == PgasModel::kArmci && region->shmem_role() == ShmemRole::kInit;
}

}  // namespace

std::vector<ServingThread> serving_threads(const Report& report) {
  std::vector<ServingThread> serving;
  const std::size_t metric = report.find_metric(Service::kMetric.name);
  if (metric == kNone) return serving;
  const std::vector<double> seconds = report.by_thread(metric);
  std::vector<double> most(report.threads()), row(report.threads());
  std::vector<std::size_t> calls(report.threads(), kNone);
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    std::size_t library = report.library_call(c);
    if (library == kNone && starts_library(report, c)) library = c;
    if (library == kNone || !report.row(metric, c, row)) continue;
    for (std::size_t t = 0; t < row.size(); ++t) {
      if (!(row[t] > most[t])) continue;
      most[t] = row[t];
      calls[t] = library;
    }
  }
  for (std::size_t t = 0; t < seconds.size(); ++t) {
    const LocationDef* const location =
        seconds[t] > 0 ? report.definitions().locations.find(report.thread_location(t)) : nullptr;
    if (location == nullptr) continue;
    const auto since = service_since(report.definitions(), *location);
    if (since) serving.push_back({t, calls[t], since->value, seconds[t]});
  }
  return serving;
}

}  // namespace kojak::expert
