// The time that is 100 % when a report names shares: that of all processes between MPI_Init and
// MPI_Finalize, or between start and end of SHMEM.
//
// Starting and ending them says nothing about the program and is more than half of a short run, so
// it is left out. What processes wait in MPI_Finalize for others that still work stays in. The
// terminal and the page ask here, so that both name the same shares.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/shmem_functions.h"
#include "epilog/format/text/counts.h"
#include "expert/patterns/mpi/mpi.h"
#include "expert/patterns/rma/group_calls.h"
#include "expert/patterns/shmem/in_model.h"
#include "expert/patterns/shmem/shmem.h"
#include "expert/patterns/shmem/shmem_waits.h"
#include "expert/patterns/time.h"

namespace kojak::expert {

// What starting and ending a library takes, and what of it is waiting for others that still work.
struct StartAndEnd {
  const Metric *whole, *waiting;
};
// By PgasModel.
inline constexpr StartAndEnd kStartAndEnd[kPgasModels] = {
    {&ShmemInitExit::kMetric, &ShmemFinalizeWait::kMetric},
    {&InArmci<ShmemInitExit>::kMetric, &InArmci<ShmemFinalizeWait>::kMetric},
    {&InUpc<ShmemInitExit>::kMetric, &InUpc<ShmemFinalizeWait>::kMetric}};

struct RunTime {
  double whole = 0;                             // seconds that shares are of
  double left_out = 0;                          // seconds of starting and ending the libraries
  double mpi = 0;                               // of these MPI's
  std::array<double, kPgasModels> of_models{};  // and those of the other models

  double of(PgasModel model) const { return of_models[index_of(model)]; }

  // `total` gives the sum of a metric over all calls and processes, 0 if the report has none.
  template <class Total>
  static RunTime of(Total&& total) {
    const double time = total(Time::kMetric.name) - total(Service::kMetric.name);
    const double mpi = total(InitExit::kMetric.name) - total(FinalizeWait::kMetric.name);
    std::array<double, kPgasModels> models{};
    double start = mpi;
    for (std::size_t m = 0; m < kPgasModels; ++m) {
      models[m] = total(kStartAndEnd[m].whole->name) - total(kStartAndEnd[m].waiting->name);
      start += models[m];
    }
    if (!(start > 0) || start >= time) return {time};
    return {time - start, start, mpi, models};
  }

  // For the reader; empty if nothing was left out.
  std::string words() const {
    if (!(left_out > 0)) return {};
    const std::string seconds = fixed(left_out, 3);
    if (of(PgasModel::kUpc) > 0 && !(of(PgasModel::kUpc) < left_out)) {
      return "Shares are of the time up to upc_exit: the " + seconds +
             " s in which UPC ends are not in them.";
    }
    if (!(of(PgasModel::kShmem) > 0)) {
      return "Shares are of the time between MPI_Init and MPI_Finalize: the " + seconds +
             (of(PgasModel::kArmci) > 0 ? " s in which MPI and ARMCI start and end are not in them."
                                        : " s in which MPI starts and ends are not in them.");
    }
    return "Shares are of the time between shmem_init and shmem_finalize: the " + seconds +
           " s in which " + (mpi > 0 ? "MPI and SHMEM start and end" : "SHMEM starts and ends") +
           " are not in them.";
  }
};

// The same of each thread, without these metrics' time, too. `of_threads` gives a metric's sums
// over all calls, nothing if the report has none.
template <class OfThreads>
std::vector<double> run_times(OfThreads&& of_threads, std::initializer_list<const Metric*> too) {
  std::vector<double> times = of_threads(Time::kMetric.name);
  const auto add = [&](const Metric& metric, double sign) {
    const std::vector<double> sums = of_threads(metric.name);
    for (std::size_t t = 0; t < sums.size(); ++t) times[t] += sign * sums[t];
  };
  const double whole = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  const std::vector<double> all = times;
  add(InitExit::kMetric, -1);
  for (const StartAndEnd& model : kStartAndEnd) add(*model.whole, -1);
  add(Service::kMetric, -1);
  for (const Metric* left_out : too) add(*left_out, -1);
  add(FinalizeWait::kMetric, 1);
  for (const StartAndEnd& model : kStartAndEnd) add(*model.waiting, 1);
  const bool some = !times.empty() && *std::max_element(times.begin(), times.end()) > 1e-9 * whole;
  return some ? times : all;  // all of a trace that has nothing else
}

// For efficiencies, which are about the program: without the measurement's own time.
template <class OfThreads>
std::vector<double> own_times(OfThreads&& of_threads) {
  return run_times(of_threads, {&Overhead::kMetric});
}

// Whether a function starts or ends MPI or another model of communication.
inline bool starts_or_ends_library(std::string_view region_name) {
  const MpiFunction* const function = find_mpi_function(region_name);
  if (function != nullptr) return function->cls == MpiClass::kInitExit;
  const ShmemFunction* const shmem = find_shmem_function(region_name);
  return shmem != nullptr &&
         (shmem->role == ShmemRole::kInit || shmem->role == ShmemRole::kFinalize);
}

}  // namespace kojak::expert
