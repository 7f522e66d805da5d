// Random programs, merged, through all relations of metamorphic_relations.h; and both models of one
// run, whose reports must have the same severities.
//
// Three generators: one-sided programs of all kinds with pauses, cuts and missing traces
// (merge_program.h), locks granted by a lock manager (lock_program.h), messages, collectives and
// epochs under wrong clocks (clock_program.h). KOJAK_METAMORPHIC_PROGRAMS sets how many of each,
// KOJAK_PROPERTY_SEED the first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/clock_program.h"
#include "tests/support/lock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"
#include "tests/support/trace_parts.h"
#include "tests/unit/metamorphic_relations.h"

namespace kojak::metamorphic {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Merged {
  TraceBytes extended, basic;
};
Merged merged(test::LocalRun& run, merge::ClockCorrection clock) {
  merge::MergeOptions options = run.options();
  options.clock = clock;
  Merged result;
  run.merge(options);
  result.extended = run.merged;
  options.model = merge::Model::kBasic;
  run.merge(options);
  result.basic = run.merged;
  return result;
}

class Programs : public ::testing::Test {
 protected:
  // `make` gives the merged traces of a seed; none if there is nothing to merge.
  template <class Make>
  void check(std::uint64_t programs, Make&& make) {
    const std::uint64_t first = setting("KOJAK_PROPERTY_SEED", 1);
    programs = setting("KOJAK_METAMORPHIC_PROGRAMS", programs);
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
      const Merged traces = make(seed);
      if (traces.extended.empty()) continue;
      std::vector<std::string> wrong = check_relations(traces.extended, seed, tally);
      // The basic model leaves all ends at their calls, so that nothing is marked there: only where
      // every end could be placed do both models know the same.
      const Outcome extended = analysed(traces.extended);
      if (!support::has_marks(traces.extended)) {
        for (const std::string& line : differences(extended, analysed(traces.basic), 1e-9)) {
          wrong.push_back("basic: " + line);
        }
        tally.add("basic", extended.waits());
      }
      std::string text;
      for (std::size_t i = 0; i < wrong.size() && i < 10; ++i) text += "\n  " + wrong[i];
      EXPECT_TRUE(wrong.empty()) << "seed " << seed << ":" << text;
      if (!wrong.empty() && ++failed == 5) break;
    }
    std::cout << tally.table();
    if (programs < 50) return;
    for (const char* relation : {"shifted", "scaled", "identifiers", "ranks", "idle"}) {
      EXPECT_GT(tally[relation].with_waits * 2, programs) << relation;
    }
    EXPECT_GT(tally["basic"].with_waits * 5, programs);
  }
  Tally tally;
  int failed = 0;
};

TEST_F(Programs, OneSided) {
  check(150, [](std::uint64_t seed) -> Merged {
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) return {};
    test::LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    return merged(
        run, program.corrected ? merge::ClockCorrection::kLinear : merge::ClockCorrection::kNone);
  });
}

TEST_F(Programs, Locks) {
  check(100, [](std::uint64_t seed) {
    const support::LockProgram program = support::lock_program(seed, 0);
    test::LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    return merged(run, merge::ClockCorrection::kNone);
  });
}

TEST_F(Programs, MessagesAndCollectives) {
  check(100, [](std::uint64_t seed) {
    const support::ClockProgram program = support::clock_program(seed);
    test::LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    return merged(run, merge::ClockCorrection::kControlled);
  });
}

}  // namespace
}  // namespace kojak::metamorphic
