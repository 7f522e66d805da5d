// What a merge's reader gets is what it writes; a merge that fails, or whose reader leaves, ends.
#include <gtest/gtest.h>

#include "merge/stream.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

// Two processes, each with so many calls.
struct Calls : LocalRun {
  explicit Calls(int calls) : LocalRun(2), count(calls) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      std::string text;
      const std::string lid = "lid=" + std::to_string(rank);
      for (int i = 0; i < count; ++i) {
        const std::string time = " time=" + std::to_string(i) + '.' + std::to_string(rank + 1);
        text += "ENTER " + lid + time + " region=work\nEXIT " + lid + time + "5\n";
      }
      add(rank, text);
    }
  }
  const int count;
};

// Made once for all tests: 160,000 events, some 3 MB, of several blocks; and 8 MB, more than waits
// in between.
Calls& several_blocks() {
  static Calls run(40'000);
  return run;
}
Calls& more_than_waits() {
  static Calls run(100'000);
  return run;
}

std::vector<std::byte> all_of(ByteSource& source, bool& failed) {
  std::vector<std::byte> bytes, part(10'000);
  for (;;) {
    const std::ptrdiff_t n = source.read(part.data(), part.size());
    failed = n < 0;
    if (n <= 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + n);
  }
}

// The number in NUM_EVENTS (length 4, type 14), and the trace without it.
std::uint32_t take_count(std::vector<std::byte>& trace) {
  for (std::size_t at = kHeaderSize; at + 6 <= trace.size();) {
    if (trace[at + 1] == std::byte{14}) {
      std::uint32_t count = 0;
      std::memcpy(&count, &trace[at + 2], 4);
      trace.erase(trace.begin() + static_cast<std::ptrdiff_t>(at + 2),
                  trace.begin() + static_cast<std::ptrdiff_t>(at + 6));
      return count;
    }
    at += 2 + static_cast<std::size_t>(trace[at]);
  }
  return 0;
}

TEST(MergedStream, GivesTheMergedTraceButForTheNumberOfEvents) {
  Calls none(0), one(1);
  for (Calls* const calls : {&none, &one, &several_blocks()}) {
    Calls& run = *calls;
    const int count = run.count;
    const merge::Summary written = run.merge();
    merge::MergeOptions options = run.options();
    options.output.clear();
    merge::MergedStream stream(options);
    bool failed = false;
    std::vector<std::byte> bytes = all_of(*stream.source(), failed);
    const auto merged = stream.finish();
    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_FALSE(failed);
    EXPECT_EQ(merged->events, static_cast<std::uint64_t>(4 * count));  // two calls, two events each
    EXPECT_EQ(stream.expected_events(), static_cast<std::uint64_t>(4 * count));
    EXPECT_EQ(merge::summary_text(*merged), merge::summary_text(written));
    std::vector<std::byte> file = run.merged;
    EXPECT_EQ(take_count(bytes), kAbsent);
    EXPECT_EQ(take_count(file), static_cast<std::uint32_t>(4 * count));
    EXPECT_TRUE(bytes == file);
  }
}

TEST(MergedStream, AKeptFileIsTheOneThatIsMergedWithoutAReader) {
  Calls one(1);
  for (Calls* const calls : {&one, &several_blocks()}) {
    Calls& run = *calls;
    run.merge();
    merge::MergeOptions options = run.options();
    options.output = run.dir.file("kept.elg");
    merge::MergedStream stream(options);
    bool failed = false;
    std::vector<std::byte> bytes = all_of(*stream.source(), failed);
    ASSERT_TRUE(stream.finish());
    EXPECT_FALSE(failed);
    std::vector<std::byte> file = read_bytes(options.output);
    EXPECT_TRUE(file == run.merged);
    take_count(bytes);
    take_count(file);
    EXPECT_TRUE(bytes == file);
  }
}

TEST(MergedStream, AReaderThatLeavesEndsTheMergeAndLeavesNoFile) {
  const Calls& run = more_than_waits();
  merge::MergeOptions options = run.options();
  merge::MergedStream stream(options);
  {
    std::byte one{};
    EXPECT_EQ(stream.source()->read(&one, 1), 1);
  }
  EXPECT_FALSE(stream.finish());
  EXPECT_TRUE(stream.abandoned());
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST(MergedStream, AStreamThatNobodyReadsEnds) {
  merge::MergeOptions options = more_than_waits().options();
  options.output.clear();
  const merge::MergedStream stream(options);
}

TEST(MergedStream, AMergeThatFailsEndsTheReading) {
  const Calls& run = several_blocks();
  merge::MergeOptions options = run.options();
  options.inputs = {run.dir.file("missing")};
  merge::MergedStream nothing(options);
  bool failed = false;
  EXPECT_TRUE(all_of(*nothing.source(), failed).empty());
  EXPECT_TRUE(failed);
  const auto merged = nothing.finish();
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ExitCode::kBadInput);
  EXPECT_FALSE(nothing.abandoned());

  // A disk that is full: it is found out while the reader is at work.
  options = run.options();
  options.output = "/dev/full";
  merge::MergedStream full(options);
  all_of(*full.source(), failed);
  EXPECT_TRUE(failed);
  const auto stopped = full.finish();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ExitCode::kOutputFailed);
  EXPECT_EQ(stopped.error().file, "/dev/full");
}

TEST(MergedStream, OtherOutputsReplaceNoLocalTrace) {
  Calls run(1);
  merge::MergeOptions options = run.options();
  options.output.clear();
  options.others = {run.dir.file("report"), run.paths[1]};
  merge::MergedStream stream(options);
  const auto merged = stream.finish();
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ExitCode::kUsage);
}

}  // namespace
}  // namespace kojak::test
