// What elg_stat counts: bytes between processes once and in their direction, in merged traces and
// in the local ones that they were made from.
#include <gtest/gtest.h>

#include <sstream>

#include "epilog/format/text/text_reader.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"
#include "tools/profile_output.h"

namespace kojak::test {
namespace {

TraceProfile profile_of(const std::vector<std::byte>& bytes) {
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace");
  if (!reader) throw std::runtime_error(reader.error().message());
  auto profile = profile_trace(*reader);
  if (!profile) throw std::runtime_error(profile.error().message());
  return std::move(*profile);
}
TraceProfile profile_of(const std::string& text) {
  const auto bytes = text_to_trace(text);
  if (!bytes) throw std::runtime_error(bytes.error().message());
  return profile_of(*bytes);
}

using Key = std::pair<std::uint32_t, std::uint32_t>;
using Counts = std::map<Key, std::vector<std::uint64_t>>;  // messages, bytes, transfers, bytes
void add(Counts& to, const TraceProfile& profile) {
  for (const Flow& f : profile.flows) {
    std::vector<std::uint64_t>& sum = to[{f.from, f.to}];
    sum.resize(4);
    sum[0] += f.messages;
    sum[1] += f.message_bytes;
    sum[2] += f.transfers;
    sum[3] += f.transfer_bytes;
  }
}
Counts counts(const TraceProfile& profile) {
  Counts result;
  add(result, profile);
  return result;
}

// A merged trace: thread 1 of process 0 is location 2.
constexpr const char* kMerged =
    "LOCATION lid=0 mid=0 nid=0 pid=0 tid=0\n"
    "LOCATION lid=1 mid=0 nid=0 pid=1 tid=0\n"
    "LOCATION lid=2 mid=0 nid=0 pid=0 tid=1\n"
    "ENTER lid=0 time=0 region=main\n"
    "ENTER lid=1 time=0 region=main\n"
    "ENTER lid=2 time=0 region=thread\n"
    "ENTER lid=0 time=1 region=MPI_Put\n"
    "MPI_PUT_1TS lid=0 time=1 dlid=1 wid=0 rmaid=0 sent=8\n"
    "EXIT lid=0 time=2\n"
    "ENTER lid=0 time=2 region=MPI_Accumulate\n"
    "MPI_PUT_1TS lid=0 time=2 dlid=1 wid=0 rmaid=1 sent=16\n"
    "EXIT lid=0 time=3\n"
    // An atomic operation with a result: a get of 4 bytes and a put of 32, by the thread.
    "ENTER lid=2 time=3 region=MPI_Get_accumulate\n"
    "MPI_GET_1TO lid=2 time=3 rmaid=2 wid=0\n"
    "MPI_GET_1TS lid=1 time=3 dlid=0 wid=0 rmaid=2 sent=4\n"
    "MPI_PUT_1TS lid=2 time=3 dlid=1 wid=0 rmaid=3 sent=32\n"
    "EXIT lid=2 time=4\n"
    "ENTER lid=1 time=4 region=MPI_Get\n"
    "MPI_GET_1TO lid=1 time=4 rmaid=0 wid=0\n"
    "MPI_GET_1TS lid=0 time=4 dlid=1 wid=0 rmaid=0 sent=64\n"
    "EXIT lid=1 time=5\n"
    // To itself, and more than four bytes can say.
    "ENTER lid=1 time=5 region=MPI_Put\n"
    "ATTR_UI8 kind=5 value=5000000000\n"
    "MPI_PUT_1TS lid=1 time=5 dlid=1 wid=0 rmaid=1 sent=absent\n"
    "EXIT lid=1 time=6\n"
    "ENTER lid=0 time=6 region=MPI_Send\n"
    "MPI_SEND lid=0 time=6 dlid=1 cid=0 tag=0 sent=100\n"
    "EXIT lid=0 time=7\n"
    "ENTER lid=1 time=7 region=MPI_Recv\n"
    "MPI_RECV lid=1 time=8 slid=0 cid=0 tag=0 recvd=100\n"
    "EXIT lid=1 time=8\n"
    // Where transfers end is no second count.
    "ENTER lid=0 time=8 region=MPI_Win_fence\n"
    "MPI_GET_1TE lid=0 time=9 slid=1 wid=0 rmaid=2 recvd=4\n"
    "MPI_WINCOLLEXIT lid=0 time=9 wid=0\n"
    "ENTER lid=1 time=8 region=MPI_Win_fence\n"
    "MPI_PUT_1TE lid=1 time=9 slid=0 wid=0 rmaid=0 recvd=8\n"
    "MPI_PUT_1TE lid=1 time=9 slid=0 wid=0 rmaid=1 recvd=16\n"
    "MPI_WINCOLLEXIT lid=1 time=9 wid=0\n"
    "EXIT lid=0 time=10\n"
    "EXIT lid=1 time=10\n"
    "EXIT lid=2 time=10\n";

TEST(Flows, EveryTransferCountsOnceInItsDirection) {
  const TraceProfile profile = profile_of(kMerged);
  EXPECT_EQ(profile.bad.damaged, 0u);
  const Counts expected{{{0, 1}, {1, 100, 4, 8 + 16 + 32 + 64}},
                        {{1, 0}, {0, 0, 1, 4}},
                        {{1, 1}, {0, 0, 1, 5'000'000'000}}};
  EXPECT_EQ(counts(profile), expected);
}

TEST(Processes, HaveTheirThreadsTogether) {
  const TraceProfile profile = profile_of(kMerged);
  ASSERT_EQ(profile.processes.size(), 2u);
  const ProcessTotals& p = profile.processes[0];
  EXPECT_EQ(p.operations, 4u);  // put, accumulate, both halves of the atomic operation
  EXPECT_EQ(p.put, 8u + 16 + 32);
  EXPECT_EQ(p.got, 4u);
  EXPECT_EQ(p.sent, 100u);
  EXPECT_DOUBLE_EQ(p.time, 20);                // two threads of 10 s
  EXPECT_DOUBLE_EQ(p.mpi, 1 + 1 + 1 + 1 + 1);  // put, accumulate, send, fence; the thread's call
  const ProcessTotals& q = profile.processes[1];
  EXPECT_EQ(q.got, 64u);
  EXPECT_EQ(q.received, 100u);
  // The bytes of a thread's get belong to its call.
  for (const RegionTotals& region : p.regions) {
    if (region.name == "MPI_Get_accumulate") {
      EXPECT_EQ(region.received, 4u);
      EXPECT_EQ(region.sent, 32u);
    }
  }
}

// Functions that are entered with a call, as its call site tells, are regions like others: their
// time is what is called from them. g calls itself: its time counts once. How often they were
// called nobody knows: both barriers may be of one call of f.
TEST(Regions, OnTheWayToACallAreEnteredWithIt) {
  const TraceProfile profile = profile_of(R"(
STRING strid=0 cntc=0 str="main"
STRING strid=1 cntc=0 str="f"
STRING strid=2 cntc=0 str="g"
STRING strid=3 cntc=0 str="MPI_Barrier"
REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=1 rnid=1 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=2 rnid=2 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=3 rnid=3 fid=absent begln=absent endln=absent rdid=absent rtype=4
CALL_SITE csid=0 fid=absent lno=1 erid=1 lrid=0
CALL_SITE csid=1 fid=absent lno=2 erid=2 lrid=1
CALL_SITE_CALLER csid=1 caller=0
CALL_SITE csid=2 fid=absent lno=3 erid=2 lrid=2
CALL_SITE_CALLER csid=2 caller=1
CALL_SITE csid=3 fid=absent lno=4 erid=3 lrid=2
CALL_SITE_CALLER csid=3 caller=2
ENTER lid=0 time=0 rid=0
ENTER_CS lid=0 time=1 csid=3
MPI_COLLEXIT lid=0 time=3
ENTER_CS lid=0 time=4 csid=3
MPI_COLLEXIT lid=0 time=5
EXIT lid=0 time=10
)");
  EXPECT_EQ(profile.bad.damaged, 0u);
  std::map<std::string, std::vector<double>> found;
  for (const RegionTotals& r : profile.regions) {
    found[r.name] = {static_cast<double>(r.calls), r.inclusive, r.exclusive};
  }
  const std::map<std::string, std::vector<double>> expected = {{"main", {1, 10, 10 - 3}},
                                                               {"f", {0, 2 + 1, 0}},
                                                               {"g", {0, 2 + 1, 0}},
                                                               {"MPI_Barrier", {2, 2 + 1, 2 + 1}}};
  EXPECT_EQ(found, expected);
  std::ostringstream json, csv;
  print_json(profile, json);
  EXPECT_NE(json.str().find("\"name\": \"f\", \"calls\": null"), std::string::npos) << json.str();
  region_table(profile.regions, 9, Digits::kPrograms).print_csv(csv);
  EXPECT_NE(csv.str().find("\nf,,3.0"), std::string::npos) << csv.str();
}

TEST(Flows, LocalTracesSayTheSameAsTheMergedOne) {
  std::size_t transfers = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    LocalRun run(program.processes);
    Counts local;
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
      add(local, profile_of(trace.bytes));
    }
    if (run.paths.empty()) continue;
    run.merge();
    EXPECT_EQ(counts(profile_of(run.merged)), local) << "program " << seed;
    for (const auto& [key, sums] : local) transfers += sums[2];
  }
  EXPECT_GT(transfers, 100u);
}

TEST(Output, MatrixHasARowForEachProcess) {
  std::ostringstream out;
  print_matrices(profile_of(kMerged), out);
  EXPECT_EQ(out.str(),
            "bytes of messages\n"
            "from \\ to  0    1\n"
            "        0  0  100\n"
            "        1  0    0\n"
            "\n"
            "bytes of one-sided transfers\n"
            "from \\ to  0           1\n"
            "        0  0         120\n"
            "        1  4  5000000000\n");
}

// Polls that were joined are calls of their regions: 7 tests of which the series' own instance is
// one, 2 probes, and the probe that ends another series of 3.
TEST(Regions, JoinedPollsAreCalls) {
  const auto calls = [](const TraceProfile& profile, const std::string& name) {
    for (const RegionTotals& region : profile.regions) {
      if (region.name == name) return region.calls;
    }
    return std::uint64_t{0};
  };
  const TraceProfile merged = profile_of(
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Test\n"
      "MPI_POLLED lid=0 time=3 begin=1 count=9 judged=1 end=3 flags=4 members=2\n"
      "MPI_POLL lid=0 time=3 kind=1 region=MPI_Test count=7 first_enter=1 last_enter=2 reqid=4\n"
      "MPI_POLL lid=0 time=3 kind=2 region=MPI_Iprobe count=2 first_enter=2 last_enter=2\n"
      "EXIT lid=0 time=3\n"
      "ENTER lid=0 time=3 region=MPI_Iprobe\n"
      "MPI_POLLED lid=0 time=4 begin=3 count=3 judged=1 end=1 members=1\n"
      "MPI_POLL lid=0 time=4 kind=2 region=MPI_Iprobe count=3 first_enter=3 last_enter=3\n"
      "MPI_PROBED lid=0 time=5 slid=0 cid=0 tag=1\n"
      "EXIT lid=0 time=5\n"
      "EXIT lid=0 time=6\n");
  EXPECT_EQ(calls(merged, "MPI_Test"), 7u);
  EXPECT_EQ(calls(merged, "MPI_Iprobe"), 6u);
  // In the local trace the series is one record, behind its further members. Of one that works the
  // time between the polls is main's.
  const TraceProfile local = profile_of(
      "LOCAL_RUN run_hi=1 run_lo=1 size=1 pid=0 tid=0\n"
      "ENTER lid=0 time=0 region=main\n"
      "MPI_POLL lid=0 time=1 kind=2 region=MPI_Iprobe count=2 first_enter=2 last_enter=2\n"
      "MPI_POLL_CALL lid=0 time=1 exit=3 region=MPI_Test count=9 polls=7 called=0.5 rest=1.5 "
      "judged=3 end=3 members=2 kind=1 last_enter=2 reqid=4\n"
      "EXIT lid=0 time=6\n");
  EXPECT_EQ(calls(local, "MPI_Test"), 7u);
  EXPECT_EQ(calls(local, "MPI_Iprobe"), 2u);
  for (const RegionTotals& region : local.regions) {
    if (region.name == "MPI_Test") {
      EXPECT_EQ(region.exclusive, 0.5);
    }
    if (region.name == "main") {
      EXPECT_EQ(region.exclusive, 5.5);
    }
  }
}

}  // namespace
}  // namespace kojak::test
