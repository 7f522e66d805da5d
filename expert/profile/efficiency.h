// How well a run uses its processes, in the terms of the European performance centres (POP).
//
//   parallel efficiency       = load balance x communication efficiency
//   load balance              = mean computing time of a process / the longest one
//   communication efficiency  = the longest computing time / run time
//                             = serialisation x transfer
//   serialisation             = C / (C + W), C and W the computing and the waiting of the process
//                               that computes longest
//   transfer                  = (C + W) / run time: what is left is time in MPI without waiting
//
// Computing is all time outside MPI, SHMEM, OpenMP constructs and the measurement. The run time is
// that between MPI_Init and MPI_Finalize, as other shares are (run_time.h), without the
// measurement's own: how long MPI takes to start says nothing about the program. POP gets the last
// two by simulating an ideal network; here the patterns' waits take its place. Threads count
// as processes do. Pure function. Source: POP standard metrics, pop-coe.eu.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "expert/profile/report.h"

namespace kojak::expert {

struct Efficiency {
  double run_time = 0;  // seconds: of the thread that has most
  double load_balance = 1, serialisation = 1, transfer = 1;
  double communication() const { return serialisation * transfer; }
  double parallel() const { return load_balance * communication(); }
};

// Of each thread: execution without all that stands below it. Empty if the report has no execution.
std::vector<double> computing_of(const Report& report);

// None for a trace without time, or whose report leaves out what it takes (--select).
std::optional<Efficiency> efficiency_of(const Report& report);

// The same as rows of a tree, with what each is of.
struct EfficiencyRow {
  unsigned depth;  // below the first one
  std::string_view name, words;
  double value;  // 1: nothing is lost
};
std::vector<EfficiencyRow> efficiency_rows(const Efficiency& efficiency);

}  // namespace kojak::expert
