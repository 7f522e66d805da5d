// What the time of a run went into: the parts of the bar that terminal, page and JSON show.
//
// The base is all threads' time between MPI_Init and MPI_Finalize, as of all shares (run_time.h);
// the parts are disjoint and add up to it exactly. Pure functions; nothing fails; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "expert/profile/report.h"

namespace kojak::expert {

struct Bar {
  enum Part : std::uint8_t {
    kComputing,
    kMpi,          // calls of MPI, SHMEM and OpenMP without their waits
    kWaiting,      // also where there was no processor then
    kBlocked,      // outside of calls
    kNoProcessor,  // outside of calls
    kMeasurement,
    kParts
  };
  // As JSON has them.
  static constexpr std::array<std::string_view, kParts> kNames{
      "computing", "mpi", "waiting", "blocked", "no_processor", "measurement"};
  std::array<Ticks, kParts> parts{};
  Ticks base = 0;

  double seconds(Part part) const { return in_seconds(parts[part]); }
  double whole() const { return in_seconds(base); }
};

Bar bar_of(const Report& report);
// In whole per cent, which add up to 100: as they are printed. Small parts have none.
std::array<unsigned, Bar::kParts> shares_of(const Bar& bar);
// "66 %", ">99 %" where it is not all.
std::string share_words(const Bar& bar, Bar::Part part);
// As people read it: "no processor", and the library for its calls.
std::string name_of(Bar::Part part, const Report& report);

// Of one thread: its time outside of calls, and how much of that it was blocked and had no
// processor. Where nobody looked there (ProcessorUse), the latter is what the kernel counted, as
// spread evenly over what that covers, and at least (had it had none in all its calls).
struct OutsideOfCalls {
  double seconds = 0, blocked = 0, without_processor = 0, at_least = 0;
  bool exact = false;
};
// By thread.
std::vector<OutsideOfCalls> outside_of_calls(const Report& report);
// What the calls belong to: "MPI", "SHMEM", "MPI and ARMCI".
std::string library_of(const Report& report);

}  // namespace kojak::expert
