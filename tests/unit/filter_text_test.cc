// The text of a merged trace, as elg_print prints it, read back gives the same bytes.
#include <gtest/gtest.h>

#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"
#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

void expect_round_trip(const Bytes& bytes, const std::string& what) {
  const auto text = trace_to_text(bytes);
  ASSERT_TRUE(text.ok()) << what;
  const auto again = text_to_trace(*text);
  ASSERT_TRUE(again.ok()) << what << ": " << again.error().message();
  EXPECT_TRUE(*again == bytes) << what;
}

TEST(TextOfMergedTraces, ReadsBackToTheSameBytes) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    if (run.paths.empty()) continue;
    run.merge();
    expect_round_trip(run.merged, "program " + std::to_string(seed));
    expect_round_trip(cut(run.merged, window(1, 20)), "cut of program " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace kojak::test
