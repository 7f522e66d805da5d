// Damaged local traces of random programs, merged in every way there is: nothing crashes, nothing
// hangs, and what is written is a whole trace with the events that it counts, in the order of time.
// KOJAK_PROPERTY_PROGRAMS sets how many merges.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "epilog/format/io/reader.h"
#include "tests/support/clock_program.h"
#include "tests/support/lock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

std::uint64_t merges() {
  const char* text = std::getenv("KOJAK_PROPERTY_PROGRAMS");
  return text != nullptr ? std::min<std::uint64_t>(1000, std::strtoull(text, nullptr, 10)) : 1000;
}

void fill(LocalRun& run, const std::vector<std::string>& texts) {
  for (std::uint32_t rank = 0; rank < texts.size(); ++rank) run.add(rank, texts[rank]);
}

std::unique_ptr<LocalRun> random_run(std::uint64_t seed) {
  std::unique_ptr<LocalRun> run;
  if (seed % 3 == 0) {
    const auto program = support::clock_program(seed);
    run = std::make_unique<LocalRun>(static_cast<std::uint32_t>(program.traces.size()));
    fill(*run, program.traces);
  } else if (seed % 3 == 1) {
    const auto program = support::lock_program(seed, 0.1);
    run = std::make_unique<LocalRun>(static_cast<std::uint32_t>(program.traces.size()));
    fill(*run, program.traces);
  } else {
    const auto program = support::random_program(seed);
    run = std::make_unique<LocalRun>(program.processes);
    for (const auto& trace : program.traces) {
      run->add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                     trace.bytes);
    }
  }
  return run;
}

// Found by fuzzing. A METRIC record that is cut defines nothing, but events still have a value for
// it: what stands behind that value is where it was.
TEST(MergeDamageOptions, ACounterWithoutADefinitionMovesNoField) {
  const auto text = [](const std::string& rank, const std::string& metric, const char* values) {
    return metric + "ENTER lid=" + rank + " time=1 region=MPI_Barrier" + values +
           "\nMPI_COLLEXIT lid=" + rank + " time=2" + values + " cid=0\n";
  };
  LocalRun run(2);
  run.add(0, text("0", "", ""));
  run.add(1, text("1", "METRIC metid=0 metnid=\"PAPI_FP_OPS\"\n", " metv=[77]"));
  std::vector<std::byte> cut(run.locals[1].begin(), run.locals[1].begin() + kHeaderSize);
  std::size_t metrics = 0;
  for (std::size_t at = kHeaderSize; at < run.locals[1].size();) {
    const std::size_t length = static_cast<std::size_t>(run.locals[1][at]);
    const bool metric = run.locals[1][at + 1] == std::byte{10};
    const auto record = run.locals[1].begin() + static_cast<std::ptrdiff_t>(at);
    cut.insert(cut.end(), record, record + static_cast<std::ptrdiff_t>(2 + (metric ? 0 : length)));
    if (metric) cut[cut.size() - 2] = std::byte{0};
    metrics += metric ? 1 : 0;
    at += 2 + length;
  }
  ASSERT_EQ(metrics, 1u);
  write_file(run.paths[1], cut);
  const merge::Summary summary = run.merge();
  EXPECT_EQ(summary.events, 4u);
  EXPECT_EQ(summary[merge::Finding::kShortRecord].count, 0u);
  const auto printed = trace_to_text(run.merged);
  ASSERT_TRUE(printed);
  std::size_t exits = 0;
  for (std::size_t at = 0; (at = printed->find("MPI_COLLEXIT lid=", at)) != std::string::npos;
       ++exits) {
    const std::string line = printed->substr(at, printed->find('\n', at) - at);
    EXPECT_EQ(line.substr(line.find(" rlid=")), " rlid=absent cid=0 sent=0 recvd=0");
    at += line.size();
  }
  EXPECT_EQ(exits, 2u);
}

// Found by fuzzing. Of three attributes of an event one is cut: it is left out, the others stay, in
// either byte order.
TEST(MergeDamageOptions, AnAttributeThatIsTooShortIsLeftOut) {
  for (const char* header : {"EPILOG 2.0 little\n", "EPILOG 2.0 big\n"}) {
    const auto bytes = text_to_trace(std::string(header) + R"(
LOCAL_RUN run_hi=1 run_lo=7 size=1 pid=0 tid=0
ENTER lid=0 time=1 region=MPI_Barrier
ATTR_UI8 kind=5 value=9
UNKNOWN type=61 body=[2]
ATTR_UI4 kind=3 value=4
MPI_COLLEXIT lid=0 time=2 cid=0
)");
    ASSERT_TRUE(bytes) << bytes.error().message();
    LocalRun run(1);
    run.add_bytes("0.0.elg", *bytes);
    const merge::Summary summary = run.merge();
    EXPECT_EQ(summary[merge::Finding::kShortRecord].count, 1u) << header;
    const auto printed = trace_to_text(run.merged);
    ASSERT_TRUE(printed);
    EXPECT_NE(printed->find("\nATTR_UI8 kind=5 value=9\nATTR_UI4 kind=3 value=4\nMPI_COLLEXIT"),
              std::string::npos)
        << *printed;
    EXPECT_EQ(printed->find("UNKNOWN"), std::string::npos);
  }
}

// Found by fuzzing. For an output that cannot be corrected, pass 2 runs twice, and both runs must
// go by what pass 1 found. Rank 0's first record stands before its window's definition: only pass 2
// knows the window, and learns of five fences when rank 1's put has been placed.
TEST(MergeDamageOptions, APipeGetsWhatAFileGets) {
  LocalRun run(2);
  const std::string fence = "region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=";
  run.add(0,
          "ENTER lid=0 time=0 region=main\n"
          "WIN_STATE lid=0 time=10 wid=0 fences=5 open=1\n"
          "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=3 lo=4 flags=0 flavour=1 model=2\n"
          "ENTER lid=0 time=11 " +
              fence +
              "0 time=12 wid=0\n"
              "ENTER lid=0 time=19 region=MPI_Win_free\nMPI_WINCOLLEXIT lid=0 time=20 wid=0\n"
              "EXIT lid=0 time=21\n");
  run.add(1,
          "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=3 lo=4 flags=0 flavour=1 model=2\n"
          "ENTER lid=1 time=0 region=main\n"
          "ENTER lid=1 time=1 " +
              fence +
              "1 time=1.5 wid=0\n"
              "ENTER lid=1 time=2 " +
              fence +
              "1 time=2.5 wid=0\n"
              "MPI_RMA_CALL lid=1 time=5 exit=6 region=MPI_Put dlid=0 wid=0 rmaid=0 bytes=8 got=0 "
              "kind=1\n"
              "ENTER lid=1 time=7 " +
              fence +
              "1 time=7.5 wid=0\n"
              "EXIT lid=1 time=21\n");
  run.merge();
  merge::MergeOptions options = run.options();
  options.output = run.dir.file("pipe");
  ASSERT_EQ(::mkfifo(options.output.c_str(), 0600), 0);
  std::vector<std::byte> piped;
  std::thread reader([&] { piped = read_bytes(options.output); });
  const auto summary = merge::merge_traces(options);
  reader.join();
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(piped, run.merged);
}

// Writes one of the local traces anew with fewer than `most` bytes changed, and maybe cut off;
// which one.
std::size_t damage_one(const LocalRun& run, std::uint64_t most, std::mt19937_64& random) {
  const std::size_t victim = random() % run.paths.size();
  std::vector<std::byte> bytes = run.locals[victim];
  for (std::uint64_t n = random() % most; n > 0; --n) {
    bytes[kHeaderSize + random() % (bytes.size() - kHeaderSize)] =
        static_cast<std::byte>(random() & 0xFF);
  }
  if (random() % 4 == 0) bytes.resize(kHeaderSize + random() % (bytes.size() - kHeaderSize));
  write_file(run.paths[victim], bytes);
  return victim;
}

TEST(MergeDamageOptions, NothingCrashes) {
  std::mt19937_64 random(1);
  std::uint64_t merged = 0;
  std::unique_ptr<LocalRun> run;
  for (std::uint64_t i = 0; i < merges(); ++i) {
    if (i % 8 == 0) run = random_run(i / 8);
    if (run->paths.empty()) continue;
    const std::size_t victim = damage_one(*run, 4, random);
    merge::MergeOptions options = run->options();
    std::filesystem::remove(options.output);
    options.clock =
        i % 2 == 0 ? merge::ClockCorrection::kControlled : merge::ClockCorrection::kLinear;
    options.lock_grants = i % 4 < 2;
    options.format = i % 8 < 2 ? merge::Format::kClassic : merge::Format::kNative;
    options.pool = i % 3;
    const auto summary = merge::merge_traces(options);
    write_file(run->paths[victim], run->locals[victim]);
    if (!summary) {
      EXPECT_FALSE(std::filesystem::exists(options.output)) << i;
      EXPECT_FALSE(summary.error().reason.empty()) << i;
      continue;
    }
    ++merged;
    auto reader = TraceReader::open(options.output);
    ASSERT_TRUE(reader) << i;
    RawRecord record;
    std::uint64_t events = 0, counted = 0;
    double last = 0;
    TraceReader::Next next;
    while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
      NumEvents count;
      if (record.type == 14 && decode(record, reader->dialect(), count) == nullptr) {
        counted = raw(count.eventc);
      }
      if (!is_event(record.type)) continue;
      ++events;
      const double time = event_time(record, reader->dialect().swapped()).value;
      EXPECT_GE(time, last) << i;
      last = time;
    }
    EXPECT_EQ(next, TraceReader::Next::kEnd) << i;
    EXPECT_EQ(counted, events) << i;
  }
  EXPECT_GT(merged * 2, merges());
}

// What a merge has written and said.
struct Outcome {
  std::vector<std::byte> merged;
  std::string said;
};

Outcome outcome(const merge::MergeOptions& options) {
  std::filesystem::remove(options.output);
  Outcome outcome;
  const auto summary = merge::merge_traces(options);
  if (!summary) {
    outcome.said = summary.error().message();
    return outcome;
  }
  outcome.merged = read_bytes(options.output);
  outcome.said = merge::summary_text(*summary);
  for (const merge::Message& message : merge::messages_of(*summary)) {
    outcome.said += message.text + "\n";
  }
  return outcome;
}

// Compact traces, damaged or not: with any number of threads the output is the same, and so is what
// is said of the damage and where it stands.
TEST(MergeDamageOptions, ThreadsChangeNothing) {
  std::mt19937_64 random(2);
  std::uint64_t damaged = 0, tried = 0;
  std::unique_ptr<LocalRun> run;
  for (std::uint64_t i = 0; i < merges() / 4; ++i) {
    if (i % 8 == 0) {
      run = random_run(i / 8);
      const auto blocks = i % 16 == 0 ? compact::Blocks::kChecked : compact::Blocks::kPlain;
      for (std::size_t t = 0; t < run->paths.size(); ++t) {
        run->locals[t] = compact::pack(run->locals[t], blocks);
        write_file(run->paths[t], run->locals[t]);
      }
    }
    if (run->paths.empty()) continue;
    const std::size_t victim = damage_one(*run, 3, random);
    merge::MergeOptions options = run->options();
    options.clock =
        i % 2 == 0 ? merge::ClockCorrection::kControlled : merge::ClockCorrection::kLinear;
    options.lock_grants = i % 4 < 2;
    options.format = i % 3 == 0 ? merge::Format::kNative : merge::Format::kCompact;
    options.open_files = i % 5 == 0 ? 1 : 0;
    options.least_for_threads = 0;
    options.threads = 1;
    const Outcome alone = outcome(options);
    for (const unsigned threads : {2u, 16u}) {
      options.threads = threads;
      const Outcome several = outcome(options);
      EXPECT_EQ(several.said, alone.said) << i << ", " << threads << " threads";
      EXPECT_TRUE(several.merged == alone.merged) << i << ", " << threads << " threads";
    }
    write_file(run->paths[victim], run->locals[victim]);
    ++tried;
    if (alone.said.find("offset") != std::string::npos) ++damaged;
  }
  EXPECT_GT(damaged * 8, tried);  // (Of what is found, the place is compared.)
}

}  // namespace
}  // namespace kojak::test
