// Local traces whose clocks are corrected by their causes, and what that should find, as a row.
//
// For tests only; a fixture to derive from.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/support/merge_runs.h"

namespace kojak::test {

// What is not said is not compared.
struct ClockRow {
  std::optional<std::uint64_t> checked, before = {}, unchecked = {};  // dependencies; violations
  std::optional<double> worst = {};                                   // of the violations
  bool stays = false;                                                 // nothing moves
};

class ClockRun : public ::testing::Test {
 protected:
  // Communicator 0, of all processes.
  static std::string world(std::uint32_t size) {
    std::string ranks;
    for (std::uint32_t p = 0; p < size; ++p) ranks += (p == 0 ? "" : ",") + std::to_string(p);
    return "MPI_GROUP gid=0 ranks=[" + ranks +
           "]\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n";
  }
  // By rank; an empty text is a process without a trace.
  void merge(const std::vector<std::string>& traces) {
    run = std::make_unique<LocalRun>(static_cast<std::uint32_t>(traces.size()));
    for (std::uint32_t p = 0; p < traces.size(); ++p) {
      if (!traces[p].empty()) run->add(p, traces[p]);
    }
    merge::MergeOptions options = run->options();
    options.clock = merge::ClockCorrection::kControlled;
    clocks = run->merge(options).clocks.value();
    EXPECT_EQ(clocks.violations_after, 0u);
  }
  void expect(const ClockRow& row, int line = __builtin_LINE()) const {
    SCOPED_TRACE("the row of line " + std::to_string(line));
    if (row.checked) {
      EXPECT_EQ(clocks.checked, *row.checked);
    }
    if (row.before) {
      EXPECT_EQ(clocks.violations_before, *row.before);
    }
    if (row.worst) {
      EXPECT_NEAR(clocks.worst_before, *row.worst, 1e-12);
    }
    if (row.unchecked) {
      EXPECT_EQ(clocks.unchecked, *row.unchecked);
    }
    if (row.stays) {
      EXPECT_EQ(clocks.largest_shift, 0);
    }
  }

  std::unique_ptr<LocalRun> run;
  merge::ClockReport clocks;
};

}  // namespace kojak::test
