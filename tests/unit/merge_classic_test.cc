// Merging into the classic dialect: the same events as in the native one, without what is native,
// and a refusal of what classic files cannot express.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "epilog/format/check/verify.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/print.h"
#include "tests/support/how_many.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

struct Listing {
  std::vector<std::string> events;       // with attributes
  std::vector<std::string> definitions;  // all of them
  std::uint32_t counted = 0;             // NUM_EVENTS
  Dialect dialect;
};

// `strip` leaves out what only native files have: records by the numbers of docs/format.md,
// and fields of records that both have.
Listing list(const std::vector<std::byte>& bytes, bool strip) {
  Listing listing;
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "merged");
  if (!reader) throw std::runtime_error(reader.error().message());
  listing.dialect = reader->dialect();
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    NumEvents count;
    if (record.type == 14 && decode(record, reader->dialect(), count) == nullptr) {
      listing.counted = raw(count.eventc);
    }
    std::string line;
    EXPECT_EQ(print_record(record, reader->dialect(), line), nullptr);
    const bool native = (record.type >= 40 && record.type < 60) || record.type == 62 ||
                        (record.type >= 140 && record.type < 200);
    EXPECT_TRUE(strip || !native) << line;
    // Requests and attributes: the classic merge left them out.
    const bool request = record.type >= 132 && record.type <= 135;
    const bool attribute = record.type >= 60 && record.type < 70;
    EXPECT_TRUE(strip || !(request || attribute)) << line;
    if (strip && (native || request || attribute)) continue;
    if (record.type < 60) {
      listing.definitions.push_back(line);
      continue;
    }
    if (strip) {
      constexpr std::array kWithLength = {"MPI_RECV ", "MPI_PUT_1TE ", "MPI_GET_1TE ", "PUT_1TE ",
                                          "GET_1TE "};
      if (std::any_of(kWithLength.begin(), kWithLength.end(),
                      [&](const char* name) { return line.starts_with(name); })) {
        line.resize(line.rfind(" recvd="));
      }
      if (line.starts_with("MPI_GET_1TO ")) line.resize(line.rfind(" wid="));
    }
    listing.events.push_back(line);
  }
  return listing;
}

merge::MergeOptions classic(merge::MergeOptions options) {
  options.format = merge::Format::kClassic;
  return options;
}

const char* kOne = R"(
METRIC metid=0 metnid=absent metdid=absent dtype=0 mode=0 interval=0
ENTER lid=0 time=0 region=main metv=[1]
MPI_ASSERT lid=0 time=0.4 wid=0 assertion=16
EXIT lid=0 time=9 metv=[2]
)";

class MergeClassic : public ::testing::Test {
 protected:
  void fill() {
    run.add(0, R"(
MPI_GROUP gid=0 mode=0 count=3 ranks=[2,0,1]
MPI_COMM_REF cid=4 gid=0
COMM_IDENTITY cid=4 hi=1 lo=1 flags=0
MPI_GROUP gid=1 mode=2 count=1 ranks=[1]
MPI_COMM_REF cid=5 gid=1
COMM_IDENTITY cid=5 hi=0 lo=0 flags=8
MPI_WIN wid=3 cid=4
WIN_IDENTITY wid=3 hi=2 lo=2 flags=0 flavour=1 model=2
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Win_fence
MPI_ASSERT lid=0 time=1.5 wid=3 assertion=8
MPI_WINCOLLEXIT lid=0 time=2 wid=3
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Get_accumulate dlid=1 wid=3 rmaid=0 bytes=8 got=16 kind=3
ENTER lid=0 time=4 region=MPI_Isend
ATTR_UI4 kind=2 value=7
MPI_SEND lid=0 time=4 dlid=1 cid=4 tag=9 sent=100
EXIT lid=0 time=4.1
ENTER lid=0 time=4.2 region=MPI_Win_start
MPI_WINEXIT lid=0 time=4.3 wid=3 cid=5 synex=0
ENTER lid=0 time=4.4 region=MPI_Win_complete
MPI_WINEXIT lid=0 time=4.5 wid=3 cid=5 synex=1
ENTER lid=0 time=5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=6 wid=3
ENTER lid=0 time=7 region=MPI_Barrier
MPI_COLLEXIT lid=0 time=8 rlid=absent cid=4 sent=0 recvd=0
EXIT lid=0 time=10
)");
    run.add(1, R"(
MPI_GROUP gid=0 mode=0 count=3 ranks=[2,0,1]
MPI_COMM_REF cid=0 gid=0
COMM_IDENTITY cid=0 hi=1 lo=1 flags=0
MPI_WIN wid=0 cid=0
WIN_IDENTITY wid=0 hi=2 lo=2 flags=0 flavour=1 model=2
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=1 time=2 wid=0
ENTER lid=1 time=4 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=4 reqid=3 slid=0 cid=0 tag=9
EXIT lid=1 time=4.1
ENTER lid=1 time=4.2 region=MPI_Wait
ATTR_UI4 kind=2 value=3
MPI_RECV lid=1 time=4.4 slid=0 cid=0 tag=9 recvd=100
EXIT lid=1 time=4.4
ENTER lid=1 time=5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=1 time=6 wid=0
ENTER lid=1 time=7 region=MPI_Barrier
MPI_COLLEXIT lid=1 time=8 rlid=absent cid=0 sent=0 recvd=0
EXIT lid=1 time=10
)");
  }
  // Merges into both dialects and compares.
  void compare() {
    run.merge();
    const Listing native = list(run.merged, true);
    merge::MergeOptions options = classic(run.options());
    options.output = run.dir.file("classic.elg");
    summary = run.merge(options);
    found = list(run.merged, false);
    EXPECT_EQ(found.dialect.major, 1);
    EXPECT_EQ(found.dialect.minor, 9);
    EXPECT_EQ(found.events, native.events);
    EXPECT_EQ(found.counted, found.events.size());
    auto reader = TraceReader::from(memory_source(run.merged.data(), run.merged.size()), "merged");
    ASSERT_TRUE(reader.ok());
    const auto verified = verify_trace(*reader);
    ASSERT_TRUE(verified.ok());
    for (const auto& finding : verified->findings) EXPECT_EQ(finding.message(), "");
  }
  std::string refusal() {
    const auto result = merge::merge_traces(classic(run.options()));
    if (result.ok()) return "";
    EXPECT_EQ(result.error().code, ExitCode::kBadInput);
    EXPECT_FALSE(std::filesystem::exists(run.dir.file("a.elg")));
    EXPECT_EQ(result.error().remedy, "merge without --format classic");
    return result.error().message();
  }
  LocalRun run{3};
  merge::Summary summary;
  Listing found;
};

TEST_F(MergeClassic, TheSameEventsInClassicLayouts) {
  fill();
  compare();
  const auto comm = [&](const char* line) {
    return std::count(found.definitions.begin(), found.definitions.end(), std::string(line));
  };
  EXPECT_EQ(comm("MPI_COMM cid=0 uag=0 grpc=1 grpv=11100000"), 1);
  EXPECT_EQ(comm("MPI_COMM cid=1 uag=1 grpc=1 grpv=01000000"), 1);
  EXPECT_EQ(summary[merge::Finding::kNativeLeftOut].count, 4u)
      << "the assertion, the posted receive, two attributes";
  EXPECT_EQ(summary[merge::Finding::kOrderOfRanks].count, 1u) << "2, 0, 1";
  EXPECT_EQ(summary[merge::Finding::kMarksLeftOut].count, 0u);
}

// What stands around requests stays.
TEST_F(MergeClassic, RequestsAreLeftOut) {
  run.add(0, R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Irecv
MPI_RECV_REQUEST lid=0 time=1.5 reqid=3 slid=1 cid=0 tag=9
EXIT lid=0 time=2
ENTER lid=0 time=3 region=MPI_Test
MPI_REQUEST_TESTED lid=0 time=3.5 reqid=3
EXIT lid=0 time=4
ENTER lid=0 time=5 region=MPI_Cancel
MPI_CANCELLED lid=0 time=5.5 reqid=3
EXIT lid=0 time=6
ENTER lid=0 time=7 region=MPI_Wait
MPI_SEND_COMPLETE lid=0 time=7.5 reqid=4
EXIT lid=0 time=8
EXIT lid=0 time=9
)");
  compare();
  EXPECT_EQ(found.events.size(), 10u) << "five enters, five exits";
  EXPECT_EQ(summary[merge::Finding::kNativeLeftOut].count, 4u);
}

// REGION.rdid: the old tools read what it names without asking whether it is there.
TEST_F(MergeClassic, EveryRegionIsDescribed) {
  fill();
  compare();
  std::map<std::string, std::string> strings, descriptions;
  const auto field = [](const std::string& line, const std::string& key) {
    const std::size_t at = line.find(' ' + key + '=');
    EXPECT_NE(at, std::string::npos) << line;
    return line.substr(at + key.size() + 2, line.find(' ', at + 1) - at - key.size() - 2);
  };
  for (const std::string& line : found.definitions) {
    if (line.starts_with("STRING ")) strings[field(line, "strid")] = line.substr(line.find('"'));
    if (!line.starts_with("REGION ")) continue;
    ASSERT_NE(field(line, "rdid"), "absent") << line;
    descriptions[strings.at(field(line, "rnid"))] = strings.at(field(line, "rdid"));
  }
  EXPECT_EQ(descriptions.at("\"MPI_Barrier\""), "\"MPI\"");
  EXPECT_EQ(descriptions.at("\"main\""), "\"USR\"");
}

TEST_F(MergeClassic, HardwareCounters) {
  run.add(0, kOne);
  compare();
  EXPECT_EQ(found.events, (std::vector<std::string>{"ENTER lid=0 time=0 rid=0 metv=[1]",
                                                    "EXIT lid=0 time=9 metv=[2]"}));
}

TEST_F(MergeClassic, OnAStreamTheCountIsExactToo) {
  fill();
  compare();
  const std::vector<std::byte> file = run.merged;
  const std::string path = run.dir.file("pipe");
  ASSERT_EQ(std::system(("'" + std::string(KOJAK_BINARY_DIR) +
                         "/bin/elg_merge' --quiet --format classic -o - '" + run.paths[0] + "' '" +
                         run.paths[1] + "' > '" + path + "'")
                            .c_str()),
            3 << 8)
      << "rank 2 is missing";
  EXPECT_TRUE(read_bytes(path) == file);
}

TEST_F(MergeClassic, ATransferThatCannotBeMarkedIsCounted) {
  // Rank 1 has no trace: the put ends where its origin's fence is, which the native trace marks.
  fill();
  run.paths.pop_back();
  run.locals.pop_back();
  compare();
  EXPECT_EQ(summary[merge::Finding::kMarksLeftOut].count, 1u);
  EXPECT_TRUE(summary.suspect());
}

TEST_F(MergeClassic, LockAllIsRefused) {
  run.add(0, R"(
ENTER lid=0 time=0 region=MPI_Win_lock_all
MPI_WIN_LOCK_ALL lid=0 time=1 wid=0
EXIT lid=0 time=1
)");
  EXPECT_NE(refusal().find("0.0.elg: uses MPI_Win_lock_all"), std::string::npos) << refusal();
}

TEST_F(MergeClassic, IntercommunicatorsAreRefused) {
  run.add(0, R"(
MPI_GROUP gid=0 mode=2 count=1 ranks=[0]
MPI_GROUP gid=1 mode=2 count=1 ranks=[1]
MPI_COMM_REF cid=0 gid=0
COMM_IDENTITY cid=0 hi=1 lo=1 flags=2
COMM_REMOTE cid=0 gid=1
ENTER lid=0 time=0 region=main
EXIT lid=0 time=1
)");
  EXPECT_NE(refusal().find("intercommunicator"), std::string::npos) << refusal();
}

TEST_F(MergeClassic, CountsOf64BitsAreRefused) {
  run.add(0, R"(
ENTER lid=0 time=0 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=1 wid=0
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Put dlid=1 wid=0 rmaid=0 bytes=5000000000 got=0 kind=1
)");
  EXPECT_NE(refusal().find("4294967294"), std::string::npos) << refusal();
}

TEST_F(MergeClassic, CountsOf64BitsInAttributesAreRefused) {
  run.add(0, R"(
ENTER lid=0 time=0 region=MPI_Send
ATTR_UI8 kind=5 value=5000000000
MPI_SEND lid=0 time=0 dlid=1 cid=0 tag=9 sent=absent
EXIT lid=0 time=1
)");
  EXPECT_NE(refusal().find("4294967294"), std::string::npos) << refusal();
}

TEST_F(MergeClassic, RandomPrograms) {
  std::size_t refused = 0, compared = 0;
  const std::uint64_t programs = how_many(250);
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) continue;
    LocalRun local(program.processes);
    for (const auto& trace : program.traces) {
      local.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                      trace.bytes);
    }
    local.merge();
    const Listing native = list(local.merged, true);
    std::error_code ignored;
    std::filesystem::remove(local.options().output, ignored);
    const auto result = merge::merge_traces(classic(local.options()));
    if (!result.ok()) {
      ++refused;
      continue;
    }
    ++compared;
    EXPECT_EQ(list(read_bytes(local.options().output), false).events, native.events) << seed;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(compared, 0u);
  if (programs < 250) return;  // too few to expect more
  EXPECT_GT(refused, 10u);
  EXPECT_GT(compared, 40u);
}

}  // namespace
}  // namespace kojak::test
