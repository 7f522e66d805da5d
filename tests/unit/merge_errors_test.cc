// Long because each way in which a folder can be damaged is a short test of its own.
// Input that cannot be merged is refused by name and leaves nothing behind; input that is damaged
// in parts is merged around the damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "epilog/format/definitions.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/format/io/reader.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

namespace fs = std::filesystem;
using merge::Finding;
using support::check_merge;

const char* const kTrace0 = R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=2 wid=0
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Put dlid=1 wid=0 rmaid=0 bytes=8 got=0 kind=1
ENTER lid=0 time=5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=6 wid=0
EXIT lid=0 time=10
)";
const char* const kTrace1 = R"(
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=1 time=2 wid=0
MPI_RMA_CALL lid=1 time=3 exit=3.5 region=MPI_Get dlid=0 wid=0 rmaid=0 bytes=8 got=0 kind=2
ENTER lid=1 time=5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=1 time=6.5 wid=0
EXIT lid=1 time=10
)";

class MergeErrors : public ::testing::Test {
 protected:
  MergeErrors() {
    run.add(0, kTrace0);
    run.add(1, kTrace1);
  }
  Error failure(const merge::MergeOptions& options) {
    const auto before = files();
    auto summary = merge::merge_traces(options);
    EXPECT_FALSE(summary) << "merged after all";
    EXPECT_EQ(files(), before) << "a failed merge left something behind";
    return summary ? Error{} : summary.error();
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(run.dir.path())) {
      names.insert(entry.path().string());
    }
    return names;
  }
  static bool names(const Error& error, const std::string& text) {
    return error.message().find(text) != std::string::npos;
  }
  LocalRun run{2};
};

TEST_F(MergeErrors, DirectoryWithoutTraces) {
  const std::string empty = run.dir.file("empty");
  fs::create_directory(empty);
  merge::MergeOptions options = run.options();
  options.inputs = {empty};
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, empty)) << error.message();
  EXPECT_FALSE(error.remedy.empty());
}

TEST_F(MergeErrors, NothingThere) {
  merge::MergeOptions options = run.options();
  options.inputs = {run.dir.file("nowhere")};
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, "nowhere")) << error.message();
}

TEST_F(MergeErrors, FileThatIsNoTrace) {
  const std::string path = run.dir.file("notes.elg");
  write_file(path, std::string("this is a shopping list"));
  merge::MergeOptions options = run.options();
  options.inputs.push_back(path);
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, path)) << error.message();
  // In a directory it is left out, with a warning.
  options.inputs = {run.dir.path().string()};
  const merge::Summary summary = run.merge(options);
  EXPECT_EQ(summary[Finding::kNoTrace].count, 1u);
  EXPECT_TRUE(summary.suspect());
}

TEST_F(MergeErrors, OutputThatIsAnInput) {
  merge::MergeOptions options = run.options();
  options.output = run.paths[1];
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kUsage);
  EXPECT_TRUE(names(error, run.paths[1])) << error.message();
  EXPECT_EQ(read_bytes(run.paths[1]), run.locals[1]);
  // Also by another name.
  options.inputs = {run.dir.path().string()};
  options.output = run.dir.file("link.txt");
  fs::create_hard_link(run.paths[0], options.output);
  EXPECT_EQ(failure(options).code, ExitCode::kUsage);
  EXPECT_EQ(read_bytes(run.paths[0]), run.locals[0]);
}

// The trace with a LOCAL_PART behind its LOCAL_RUN.
std::vector<std::byte> with_part(const std::vector<std::byte>& trace, std::uint64_t length) {
  const auto at = static_cast<std::ptrdiff_t>(kHeaderSize + 2 +
                                              std::to_integer<std::size_t>(trace[kHeaderSize]));
  std::byte record[kMaxRecord];
  const std::size_t size = encode(LocalPart{Count64{length}}, Dialect{}, record);
  std::vector<std::byte> result = trace;
  result.insert(result.begin() + at, record, record + size);
  return result;
}

// One file of both.
std::vector<std::byte> shared(const std::vector<std::byte>& one, const std::vector<std::byte>& two,
                              bool compact) {
  const auto part = [compact](const std::vector<std::byte>& trace) {
    const auto made = [&](std::uint64_t length) {
      const std::vector<std::byte> plain = with_part(trace, length);
      return compact ? compact::pack(plain, compact::Blocks::kPlain) : plain;
    };
    return made(made(0).size() - kHeaderSize);
  };
  std::vector<std::byte> both = part(one);
  const std::vector<std::byte> second = part(two);
  both.insert(both.end(), second.begin() + kHeaderSize, second.end());
  return both;
}

// Threads that recorded little share a file: merged, that is the same as files of their own.
TEST_F(MergeErrors, ThreadsThatShareAFile) {
  const char* const kThread = R"(
THREAD tid=1 pid=0 tnid="helper"
LOCATION lid=0 mid=0 nid=0 pid=0 tid=1
ENTER lid=0 time=3 region=work
MPI_CALL lid=0 time=4 exit=4.5 region=MPI_Iprobe
EXIT lid=0 time=5
)";
  std::string later = kThread;  // begins while the other one runs
  later.replace(later.find("tid=1 pid"), 5, "tid=2");
  later.replace(later.find("pid=0 tid=1\n"), 11, "pid=0 tid=2");
  later.replace(later.find("time=3"), 6, "time=2");
  run.add(0, kThread, 1);
  run.add(0, later, 2);
  run.merge();
  const std::vector<std::byte> expected = run.merged;
  const std::vector<std::byte> one = run.locals[2], two = run.locals[3];
  merge::MergeOptions options = run.options();
  options.inputs = {run.paths[0], run.paths[1], run.dir.file("0.2.elg")};
  fs::remove(run.paths[2]);
  for (const bool compact : {false, true}) {
    const std::vector<std::byte> both = shared(one, two, compact);
    write_file(options.inputs[2], both);
    EXPECT_FALSE(run.merge(options).suspect());
    EXPECT_EQ(run.merged, expected) << "compact: " << compact;

    // A process that was killed in the middle of leaving its small buffer has the thread twice.
    merge::MergeOptions twice = options;
    twice.inputs.push_back(run.dir.file("0.1.elg"));
    write_file(twice.inputs[3], with_part(one, 0));
    EXPECT_FALSE(run.merge(twice).suspect());
    EXPECT_EQ(run.merged, expected);
    fs::remove(twice.inputs[3]);

    // Cut anywhere: what is there is merged, or it is said that there is nothing.
    for (std::size_t size = 0; size < both.size(); size += 7) {
      write_file(
          options.inputs[2],
          std::vector<std::byte>(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(size)));
      const auto summary = merge::merge_traces(options);
      EXPECT_TRUE(summary || size < kHeaderSize + 80) << size << ": " << summary.error().message();
    }
  }
}

TEST_F(MergeErrors, NewerVersion) {
  std::vector<std::byte> bytes = run.locals[0];
  bytes[7] = std::byte{4};
  run.add_bytes("9.0.elg", bytes);
  merge::MergeOptions options = run.options();
  options.inputs = {run.dir.path().string()};
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, "9.0.elg")) << error.message();
  EXPECT_TRUE(names(error, "4.0")) << error.message();
}

TEST_F(MergeErrors, MergedTraceAsInput) {
  run.merge();
  merge::MergeOptions options = run.options();
  options.inputs = {run.dir.file("a.elg")};
  options.output = run.dir.file("b.elg");
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, "a.elg")) << error.message();
}

TEST_F(MergeErrors, ClassicTraceIsRefusedByName) {
  merge::MergeOptions options = run.options();
  const std::string classic = run.dir.file("classic");
  fs::create_directory(classic);
  const auto text =
      text_to_trace("EPILOG 1.9\nENTER lid=0 time=0 region=main\nEXIT lid=0 time=1\n");
  ASSERT_TRUE(text) << text.error().message();
  write_file(classic + "/old.elg", *text);
  options.inputs = {classic + "/old.elg"};
  Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, "old.elg")) << error.message();
  options.inputs = {classic};
  error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, "old.elg")) << error.message();
}

TEST_F(MergeErrors, FilesOfTwoRuns) {
  LocalRun other(2, 99);
  const std::string stranger = other.add(1, kTrace1);
  merge::MergeOptions options = run.options();
  options.inputs.push_back(stranger);
  const Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, stranger)) << error.message();
  EXPECT_TRUE(names(error, run.paths[0])) << error.message();
}

TEST_F(MergeErrors, TwoFilesForOneLocation) {
  const std::string second = run.add_bytes("copy.elg", run.locals[1]);
  const Error error = failure(run.options());
  EXPECT_EQ(error.code, ExitCode::kBadInput);
  EXPECT_TRUE(names(error, second)) << error.message();
  EXPECT_TRUE(names(error, run.paths[1])) << error.message();
}

TEST_F(MergeErrors, FileGivenTwiceIsTakenOnce) {
  run.merge();
  const std::vector<std::byte> merged = run.merged;
  merge::MergeOptions options = run.options();
  options.inputs.push_back(run.paths[1]);
  const merge::Summary summary = run.merge(options);
  EXPECT_EQ(run.merged, merged);
  EXPECT_EQ(summary[Finding::kTwiceGiven].count, 1u);
  EXPECT_FALSE(summary.suspect());
}

TEST_F(MergeErrors, ContradictoryDefinitionsNameBothFiles) {
  LocalRun contrary(3);
  const std::string first = contrary.add(0, R"(
MPI_GROUP gid=0 mode=0 count=2 ranks=[0,1]
MPI_COMM_REF cid=4 gid=0
COMM_IDENTITY cid=4 hi=5 lo=6 flags=0
ENTER lid=0 time=0 region=main
EXIT lid=0 time=1
)");
  const std::string second = contrary.add(1, R"(
MPI_GROUP gid=0 mode=0 count=2 ranks=[1,0]
MPI_COMM_REF cid=4 gid=0
COMM_IDENTITY cid=4 hi=5 lo=6 flags=0
ENTER lid=1 time=0 region=main
EXIT lid=1 time=1
)");
  auto summary = merge::merge_traces(contrary.options());
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ExitCode::kBadInput);
  EXPECT_TRUE(names(summary.error(), first)) << summary.error().message();
  EXPECT_TRUE(names(summary.error(), second)) << summary.error().message();
  EXPECT_FALSE(fs::exists(contrary.dir.file("a.elg")));
}

// MPI_COLLEXIT has 28 bytes beside its counters, so that (255 - 28) / 8 = 28 fit. Two ranks with 20
// each, none in common: the last 12 are left out, the values of the others stay what they are.
TEST_F(MergeErrors, MoreCountersThanAnEventCanHold) {
  LocalRun many(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    const std::string lid = "lid=" + std::to_string(rank);
    std::string text, values;
    for (int i = 0; i < 20; ++i) {
      text += "METRIC metid=" + std::to_string(i) + " metnid=\"" + (rank == 0 ? "A" : "B") +
              std::to_string(i) + "\"\n";
      values += (i == 0 ? " metv=[" : ",") + std::to_string(100 * (rank + 1) + i);
    }
    many.add(rank, text + "ENTER " + lid + " time=0 region=MPI_Barrier" + values +
                       "]\nMPI_COLLEXIT " + lid + " time=1 sent=0 recvd=0" + values + "]\n");
  }
  const merge::Summary summary = many.merge();
  EXPECT_EQ(summary[Finding::kCountersLeftOut].count, 12u);
  EXPECT_NE(summary[Finding::kCountersLeftOut].where.find("1.0.elg: B8"), std::string::npos)
      << summary[Finding::kCountersLeftOut].where;
  EXPECT_TRUE(summary.suspect());
  const std::string text = *trace_to_text(many.merged);
  EXPECT_NE(text.find("NUM_EVENTS eventc=4\n"), std::string::npos) << text;
  // Rank 1 has no values of rank 0's counters.
  std::string values = "metv=[";
  for (int i = 0; i < 20; ++i) values += "0,";
  for (int i = 0; i < 8; ++i) values += std::to_string(200 + i) + (i < 7 ? "," : "]");
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(values, at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, 2u) << text;
}

// Two ranks of one communicator with a Cartesian topology of these sizes.
std::unique_ptr<LocalRun> topologies(const std::string& first, const std::string& second,
                                     const std::string& comm) {
  auto run = std::make_unique<LocalRun>(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    const std::string lid = std::to_string(rank);
    run->add(rank,
             "MPI_GROUP gid=0 mode=1 count=2 ranks=[]\nMPI_COMM_REF cid=4 gid=0\n"
             "COMM_IDENTITY cid=4 hi=5 lo=6 flags=0\n"
             "CART_TOPOLOGY topid=0 cid=" +
                 comm + " ndims=2 dimv=" + (rank == 0 ? first : second) +
                 " periodv=[0,1] dimnid=[4294967295,4294967295]\nENTER lid=" + lid +
                 " time=0 region=main\nEXIT lid=" + lid + " time=1\n");
  }
  return run;
}
TEST_F(MergeErrors, ContradictoryTopologiesNameBothFiles) {
  const auto contrary = topologies("[2,1]", "[1,2]", "4");
  const auto summary = merge::merge_traces(contrary->options());
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ExitCode::kBadInput);
  for (const std::string& path : contrary->paths) {
    EXPECT_TRUE(names(summary.error(), path)) << summary.error().message();
  }
  EXPECT_FALSE(fs::exists(contrary->dir.file("a.elg")));
  // The same twice is fine, and so are two that belong to no communicator.
  EXPECT_TRUE(merge::merge_traces(topologies("[2,1]", "[2,1]", "4")->options()));
  EXPECT_TRUE(merge::merge_traces(topologies("[2,1]", "[1,2]", "4294967295")->options()));
}

TEST_F(MergeErrors, OutputThatCannotBeWritten) {
  merge::MergeOptions options = run.options();
  options.output = run.dir.file("no/such/place/a.elg");
  Error error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kOutputFailed);
  EXPECT_TRUE(names(error, "no/such/place")) << error.message();
  options.output = run.dir.path().string();
  error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kOutputFailed);
  options.output = "/dev/full";
  error = failure(options);
  EXPECT_EQ(error.code, ExitCode::kOutputFailed);
  EXPECT_TRUE(names(error, "space")) << error.message();
}

TEST_F(MergeErrors, OlderOutputStaysWhenAMergeFails) {
  const std::string output = run.dir.file("a.elg");
  write_file(output, std::string("precious"));
  merge::MergeOptions options = run.options();
  options.inputs.push_back(run.dir.file("nowhere"));
  failure(options);
  EXPECT_EQ(read_text(output), "precious");
}

TEST_F(MergeErrors, MissingRankIsAnalysedAround) {
  merge::MergeOptions options = run.options();
  options.inputs = {run.paths[0]};
  const merge::Summary summary = run.merge(options);
  EXPECT_EQ(summary[Finding::kMissingRank].count, 1u);
  EXPECT_EQ(summary[Finding::kMissingRank].where, "rank 1");
  EXPECT_TRUE(summary.suspect());
  EXPECT_EQ(summary.locations, 2u);
  EXPECT_EQ(check_merge({run.locals[0]}, run.merged), std::vector<std::string>());
}

// Every prefix of a trace: whole records are kept, the rest is counted, the result is a valid trace
// that holds all of the other process.
TEST_F(MergeErrors, EveryTruncation) {
  const std::vector<std::byte> whole = run.locals[0];
  std::size_t merged = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    run.locals[0].assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    write_file(run.paths[0], run.locals[0]);
    auto summary = merge::merge_traces(run.options());
    if (!summary) {
      // Only where not even the run's identity is left.
      EXPECT_LT(size, kHeaderSize + 2 + 28) << summary.error().message();
      EXPECT_EQ(summary.error().code, ExitCode::kBadInput);
      EXPECT_TRUE(names(summary.error(), run.paths[0])) << summary.error().message();
      continue;
    }
    ++merged;
    run.merged = read_bytes(run.options().output);
    // Cut between two records, the end is noticed by the regions that are open.
    EXPECT_TRUE(summary->suspect()) << size;
    support::MergeCheck check;
    check.closed = {static_cast<std::uint32_t>((*summary)[Finding::kOpenRegions].count), 0};
    EXPECT_EQ(check_merge(run.locals, run.merged, check), std::vector<std::string>()) << size;
  }
  EXPECT_EQ(merged, whole.size() - (kHeaderSize + 2 + 28)) << "all but those without LOCAL_RUN";
}

// Every byte set to something else: never a crash, and what is written is a trace that can be read.
TEST_F(MergeErrors, EveryByteChanged) {
  const std::vector<std::byte> whole = run.locals[0];
  std::size_t merged = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned change : {0x01u, 0x80u, 0xFFu}) {
      std::vector<std::byte> bytes = whole;
      bytes[at] ^= std::byte{static_cast<unsigned char>(change)};
      write_file(run.paths[0], bytes);
      auto summary = merge::merge_traces(run.options());
      if (!summary) continue;
      ++merged;
      auto reader = TraceReader::open(run.options().output);
      ASSERT_TRUE(reader) << at;
      RawRecord record;
      std::uint64_t events = 0;
      Definitions definitions;
      TraceReader::Next next;
      while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
        if (is_event(record.type)) ++events;
        if (is_definition(record.type)) {
          EXPECT_TRUE(definitions.add(record, reader->dialect())) << at;
        }
      }
      EXPECT_EQ(next, TraceReader::Next::kEnd) << at;
      EXPECT_EQ(definitions.event_count, events) << at;
    }
  }
  EXPECT_GT(merged, whole.size());
}

// Says in a buffer's header whose it is: what the trace's first record says.
void identify(LocalBufferHeader& header, const std::vector<std::byte>& trace) {
  kojak::LocalRun run;
  RawRecord record;
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "trace");
  ASSERT_TRUE(reader && reader->next(record) == TraceReader::Next::kRecord &&
              decode(record, reader->dialect(), run) == nullptr);
  header.run_hi = raw(run.run_hi);
  header.run_lo = raw(run.run_lo);
  header.rank = raw(run.pid);
  header.thread = raw(run.tid);
}

TEST_F(MergeErrors, BufferOfAKilledProcess) {
  run.merge();
  const std::vector<std::byte> expected = run.merged;
  const std::vector<std::byte> whole = run.locals[0];
  for (const std::size_t base : {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size()}) {
    // The trace file holds `base` bytes and what an interrupted flush had already copied.
    std::vector<std::byte> file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(base));
    const std::size_t copied = std::min<std::size_t>(2, whole.size() - base);
    file.insert(file.end(), whole.begin() + static_cast<std::ptrdiff_t>(base),
                whole.begin() + static_cast<std::ptrdiff_t>(base + copied));
    write_file(run.paths[0], file);
    LocalBufferHeader header{};
    std::memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
    header.start = 4096;
    header.capacity = 65536;
    header.base = base;
    header.end = whole.size();
    header.state = LocalBufferHeader::kSaved;
    identify(header, whole);
    std::vector<std::byte> buffer(header.start + header.capacity);
    std::memcpy(buffer.data(), &header, sizeof header);
    std::copy(whole.begin() + static_cast<std::ptrdiff_t>(base), whole.end(),
              buffer.begin() + static_cast<std::ptrdiff_t>(header.start));
    write_file(run.dir.file("0.0.buf"), buffer);
    const merge::Summary summary = run.merge();
    EXPECT_EQ(run.merged, expected) << base;
    EXPECT_FALSE(summary.suspect()) << base;
  }
  // A buffer that contradicts itself is left out.
  write_file(run.paths[0], whole);
  write_file(
      run.dir.file("0.0.buf"),
      std::string("ELGBUF0 is not what this should be called......") + std::string(200, '.'));
  const merge::Summary summary = run.merge();
  EXPECT_EQ(run.merged, expected);
  EXPECT_EQ(summary[Finding::kBadBuffer].count, 1u);
}

TEST_F(MergeErrors, BufferOfAnotherTraceIsLeftOutByName) {
  run.merge();
  const std::vector<std::byte> expected = run.merged;
  const std::vector<std::byte> whole = run.locals[0];
  LocalBufferHeader header{};
  std::memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
  header.start = 4096;
  header.capacity = 65536;
  header.base = header.end = whole.size() - 20;
  header.state = LocalBufferHeader::kSaved;
  identify(header, whole);
  const auto merge_beside = [&](const LocalBufferHeader& h) {
    std::vector<std::byte> buffer(h.start);
    std::memcpy(buffer.data(), &h, sizeof h);
    write_file(run.dir.file("0.0.buf"), buffer);
    return run.merge();
  };
  std::vector<LocalBufferHeader> strangers(4, header);  // the first is its own, but older
  strangers[1].run_lo += 1;
  strangers[2].rank += 1;
  strangers[3].thread += 1;
  for (const LocalBufferHeader& stranger : strangers) {
    const merge::Summary summary = merge_beside(stranger);
    EXPECT_EQ(run.merged, expected);
    EXPECT_EQ(summary[Finding::kForeignBuffer].count, 1u);
    EXPECT_TRUE(summary.suspect());
  }
  // Records that nobody has any more.
  header.state = LocalBufferHeader::kInMemory;
  const merge::Summary summary = merge_beside(header);
  EXPECT_EQ(run.merged, expected);
  EXPECT_EQ(summary[Finding::kBufferElsewhere].count, 1u);
}

TEST_F(MergeErrors, UnknownRecordsAreLeftOutAndCounted) {
  LocalRun strange(1);
  strange.add(0, R"(
ENTER lid=0 time=0 region=main
UNKNOWN type=216 body=[0,0,0,0,0,0,0,0,0,0,0,0]
UNKNOWN type=216 body=[1,2]
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Put dlid=7 wid=0 rmaid=0 bytes=8 got=0 kind=1
MPI_SEND lid=0 time=4 dlid=9 cid=0 tag=1 sent=8
EXIT lid=0 time=5
)");
  const merge::Summary summary = strange.merge();
  EXPECT_EQ(summary[Finding::kUnknownType].count, 2u);
  EXPECT_EQ(summary[Finding::kBadPeer].count, 2u);
  EXPECT_TRUE(summary.suspect());
  std::vector<std::string> names;
  for (const auto& event : support::merged_events(strange.merged)) names.push_back(event.name);
  EXPECT_EQ(names, (std::vector<std::string>{"ENTER", "ENTER", "EXIT", "MPI_SEND", "EXIT"}));
}

TEST_F(MergeErrors, TimesThatGoBackAreHeld) {
  LocalRun back(1);
  back.add(0, R"(
ENTER lid=0 time=5 region=main
ENTER lid=0 time=7 region=work
EXIT lid=0 time=6
EXIT lid=0 time=8
)");
  const merge::Summary summary = back.merge();
  EXPECT_EQ(summary[Finding::kTimeBackwards].count, 1u);
  std::vector<double> times;
  for (const auto& event : support::merged_events(back.merged)) times.push_back(event.time);
  EXPECT_EQ(times, (std::vector<double>{0, 2, 2, 3}));
}

}  // namespace
}  // namespace kojak::test
