// One set of definitions for the whole run: what is equal, what is not, and in which order.
#include <gtest/gtest.h>

#include "epilog/format/definitions.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

TEST(MergeDefinitions, EqualContentIsOneObject) {
  LocalRun run(2);
  run.add(0, R"(
STRING strid=4 cntc=0 str="solve"
STRING strid=5 cntc=0 str="solve.c"
FILE fid=3 fnid=5
REGION rid=7 rnid=4 fid=3 begln=10 endln=20 rdid=absent rtype=1
ENTER lid=0 time=0 rid=7
EXIT lid=0 time=1
)");
  run.add(1, R"(
STRING strid=0 cntc=0 str="solve"
STRING strid=1 cntc=0 str="solve.c"
FILE fid=0 fnid=1
REGION rid=0 rnid=0 fid=0 begln=10 endln=20 rdid=absent rtype=1
REGION rid=1 rnid=0 fid=0 begln=30 endln=40 rdid=absent rtype=1
ENTER lid=1 time=0 rid=0
ENTER lid=1 time=0 rid=1
EXIT lid=1 time=1
EXIT lid=1 time=1
)");
  run.merge();
  const Definitions defs = run.definitions();
  EXPECT_EQ(defs.regions.size(), 2u) << "same name, other lines: another region";
  EXPECT_EQ(defs.files.size(), 1u);
  EXPECT_EQ(defs.strings.size(), 7u) << "machine, node, two processes, a thread, region, file";
  ASSERT_TRUE(defs.merged_run);
  EXPECT_EQ(raw(defs.merged_run->size), 2u);
  EXPECT_EQ(raw(defs.merged_run->model), 1);
  EXPECT_FALSE(defs.local_run);
  EXPECT_TRUE(defs.offsets.empty());
  EXPECT_EQ(support::check_merge(run.locals, run.merged), std::vector<std::string>());
}

TEST(MergeDefinitions, CommunicatorsByIdentityGroupsByMembers) {
  // Two communicators with the same members stay two; the same one under other numbers is one.
  // Unknown identity equals nothing, not even itself in another process.
  const auto text = [](std::uint32_t rank, int a, int b) {
    const std::string lid = std::to_string(rank);
    return "MPI_GROUP gid=9 mode=0 count=2 ranks=[1,0]\n"
           "MPI_COMM_REF cid=" +
           std::to_string(a) +
           " gid=9\n"
           "COMM_IDENTITY cid=" +
           std::to_string(a) +
           " hi=1 lo=1 flags=0\n"
           "MPI_COMM_REF cid=" +
           std::to_string(b) +
           " gid=9\n"
           "COMM_IDENTITY cid=" +
           std::to_string(b) +
           " hi=1 lo=2 flags=0\n"
           "MPI_COMM_REF cid=7 gid=9\n"
           "COMM_IDENTITY cid=7 hi=0 lo=0 flags=1\n"
           "MPI_COMM_REF cid=8 gid=9\n"
           "COMM_IDENTITY cid=8 hi=0 lo=0 flags=8\n"
           "ENTER lid=" +
           lid +
           " time=0 region=main\n"
           "ENTER lid=" +
           lid +
           " time=1 region=MPI_Barrier\n"
           "MPI_COLLEXIT lid=" +
           lid + " time=2 cid=" + std::to_string(a) +
           " sent=0 recvd=0\n"
           "ENTER lid=" +
           lid +
           " time=3 region=MPI_Barrier\n"
           "MPI_COLLEXIT lid=" +
           lid + " time=4 cid=" + std::to_string(b) +
           " sent=0 recvd=0\n"
           "EXIT lid=" +
           lid + " time=5\n";
  };
  LocalRun run(2);
  run.add(0, text(0, 3, 4));
  run.add(1, text(1, 4, 3));
  run.merge();
  const Definitions defs = run.definitions();
  std::size_t own = 0, groups = 0, known = 0;
  defs.comms.for_each([&](CommId, const CommDef& comm) {
    EXPECT_EQ(comm.ranks, (std::vector<std::uint32_t>{1, 0})) << "in group order";
    if (comm.stands_for_group) {
      ++groups;
    } else if (!comm.identity_known) {
      ++own;
    } else {
      ++known;
    }
  });
  EXPECT_EQ(known, 2u);
  EXPECT_EQ(own, 2u);
  EXPECT_EQ(groups, 1u);
  EXPECT_EQ(defs.groups.size(), 1u);
  EXPECT_EQ(support::check_merge(run.locals, run.merged), std::vector<std::string>());
}

TEST(MergeDefinitions, BothSidesOfAnIntercommunicatorAreOneObject) {
  LocalRun run(2);
  const auto text = [](std::uint32_t rank) {
    const std::string lid = std::to_string(rank), other = std::to_string(1 - rank);
    return "MPI_GROUP gid=1 mode=2 count=1 ranks=[" + lid +
           "]\n"
           "MPI_GROUP gid=2 mode=2 count=1 ranks=[" +
           other +
           "]\n"
           "MPI_COMM_REF cid=5 gid=1\n"
           "COMM_IDENTITY cid=5 hi=3 lo=4 flags=2\n"
           "COMM_REMOTE cid=5 gid=2\n"
           "ENTER lid=" +
           lid +
           " time=0 region=main\n"
           "EXIT lid=" +
           lid + " time=5\n";
  };
  run.add(0, text(0));
  run.add(1, text(1));
  run.merge();
  const Definitions defs = run.definitions();
  std::size_t inter = 0;
  defs.comms.for_each([&](CommId, const CommDef& comm) {
    if (!comm.intercommunicator) return;
    ++inter;
    EXPECT_EQ(comm.ranks, std::vector<std::uint32_t>{0});
    EXPECT_EQ(comm.remote, std::vector<std::uint32_t>{1});
  });
  EXPECT_EQ(inter, 1u);
}

TEST(MergeDefinitions, EachProcessKeepsTheGroupsThatItSwitchedOff) {
  // Rank 1 left out p2p and io, rank 2 coll, rank 0 nothing; rank 2's second thread says nothing.
  LocalRun run(3);
  const auto text = [](std::uint32_t rank, const std::string& first) {
    const std::string lid = std::to_string(rank);
    return first + "ENTER lid=" + lid + " time=0 region=main\nEXIT lid=" + lid + " time=1\n";
  };
  run.add(0, text(0, ""));
  run.add(2, text(2, "FUNCTIONS_OFF pid=2 groups=2\n"));
  run.add(2, text(2, ""), 1);
  run.add(1, text(1, "FUNCTIONS_OFF pid=1 groups=9\n"));
  run.merge();
  const Definitions defs = run.definitions();
  EXPECT_EQ(defs.functions_off,
            (std::map<ProcessId, Flags>{{ProcessId{1}, Flags{9}}, {ProcessId{2}, Flags{2}}}));

  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  const auto classic = merge::merge_traces(options);
  ASSERT_TRUE(classic.ok()) << classic.error().message();
  EXPECT_EQ((*classic)[merge::Finding::kNativeLeftOut].count, 2u);
}

TEST(MergeDefinitions, PropertiesOfTheRunAreToldOnce) {
  // "lib" is the same everywhere, "env" differs, rank 1 alone has "one", rank 0 speaks for the run
  // of "all", and rank 2 does so otherwise.
  LocalRun run(3);
  const auto text = [](std::uint32_t rank, const std::string& env, const std::string& more) {
    const std::string lid = std::to_string(rank);
    return "RUN_PROPERTY key=\"lib\" value=\"MPI 4\" pid=" + lid +
           "\n"
           "RUN_PROPERTY key=\"env\" value=\"" +
           env + "\" pid=" + lid + "\n" + more + "ENTER lid=" + lid +
           " time=0 region=main\nEXIT lid=" + lid + " time=1\n";
  };
  run.add(0, text(0, "on", "RUN_PROPERTY key=\"all\" value=\"a\"\n"));
  run.add(1, text(1, "", "RUN_PROPERTY key=\"one\" value=\"x\" pid=1\n"));
  run.add(2, text(2, "on", "RUN_PROPERTY key=\"all\" value=\"b\" pid=absent\n"));
  run.merge();
  const RunProperties told = run.definitions().properties;
  EXPECT_EQ(told.size(), 7u);  // lib; env three times; one; all twice
  const auto value = [&](const char* key, ProcessId process = absent<ProcessId>()) {
    const std::string* found = told.find(key, process);
    return found == nullptr ? std::string("nobody said") : *found;
  };
  EXPECT_EQ(value("lib"), "MPI 4");
  EXPECT_EQ(value("lib", ProcessId{2}), "MPI 4") << "what holds of the run holds of each";
  EXPECT_EQ(value("env"), "nobody said") << "two of three are not the run";
  EXPECT_EQ(value("env", ProcessId{0}), "on");
  EXPECT_EQ(value("env", ProcessId{1}), "");
  EXPECT_EQ(value("one"), "nobody said");
  EXPECT_EQ(value("one", ProcessId{1}), "x");
  EXPECT_EQ(value("all"), "a") << "the lowest rank's word";
  EXPECT_EQ(value("all", ProcessId{1}), "a");
  EXPECT_EQ(value("all", ProcessId{2}), "b") << "and what the other said is not lost";

  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  const auto classic = merge::merge_traces(options);
  ASSERT_TRUE(classic.ok()) << classic.error().message();
  EXPECT_EQ((*classic)[merge::Finding::kNativeLeftOut].count, 9u) << "3 lib, 3 env, one, 2 all";
}

TEST(MergeDefinitions, LocationsAreRanksThenOtherThreads) {
  LocalRun run(3);
  const auto text = [](std::uint32_t rank) {
    const std::string lid = std::to_string(rank);
    return "ENTER lid=" + lid + " time=0 region=main\nEXIT lid=" + lid + " time=1\n";
  };
  run.add(2, text(2));
  run.add(0, text(0), 3);
  run.add(0, text(0));
  run.add(0, text(0), 1);
  const merge::Summary summary = run.merge();
  const Definitions defs = run.definitions();
  ASSERT_EQ(defs.locations.size(), 5u);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> have;
  defs.locations.for_each([&](LocationId, const LocationDef& location) {
    have.emplace_back(raw(location.process), raw(location.thread));
    EXPECT_NE(defs.nodes.find(location.node), nullptr);
    EXPECT_NE(defs.machines.find(location.machine), nullptr);
  });
  EXPECT_EQ(have, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                      {0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 3}}));
  EXPECT_EQ(raw(defs.merged_run->missing), 1u);
  EXPECT_EQ(summary[merge::Finding::kMissingRank].count, 1u);
}

TEST(MergeDefinitions, HardwareCountersKeepTheirOrder) {
  LocalRun run(2);
  run.add(0, R"(
STRING strid=0 cntc=0 str="CYCLES"
STRING strid=1 cntc=0 str="MISSES"
METRIC metid=0 metnid=0 metdid=0 dtype=0 mode=0 interval=0
METRIC metid=1 metnid=1 metdid=1 dtype=0 mode=0 interval=0
ENTER lid=0 time=0 region=main metv=[10,20]
MPI_CALL lid=0 time=1 exit=2 region=MPI_Comm_rank
EXIT lid=0 time=3 metv=[30,40]
)");
  run.add(1, R"(
STRING strid=0 cntc=0 str="MISSES"
STRING strid=1 cntc=0 str="CYCLES"
METRIC metid=0 metnid=0 metdid=0 dtype=0 mode=0 interval=0
METRIC metid=1 metnid=1 metdid=1 dtype=0 mode=0 interval=0
ENTER lid=1 time=0 region=main metv=[1,2]
EXIT lid=1 time=3 metv=[3,4]
)");
  run.merge();
  std::vector<std::string> fields;
  for (const auto& event : support::merged_events(run.merged)) {
    fields.push_back(std::to_string(event.lid) + " " + event.fields);
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"0 rid=main metv=10,20", "1 rid=main metv=2,1",
                                              "0 rid=MPI_Comm_rank metv=10,20", "0  metv=10,20",
                                              "0  metv=30,40", "1  metv=4,3"}));
}

// Counters that stand before the records: a whole call has those of its enter and of its exit, and
// where none were read the last ones are repeated.
TEST(MergeDefinitions, CountersInAttributesBecomeValuesOfEvents) {
  LocalRun run(2);
  run.add(0, R"(
STRING strid=0 cntc=0 str="CYCLES"
STRING strid=1 cntc=0 str="MISSES"
LOCAL_METRIC metid=0 metnid=0 metdid=0 dtype=0 mode=0 interval=0
LOCAL_METRIC metid=1 metnid=1 metdid=1 dtype=0 mode=0 interval=0
ENTER lid=0 time=0 region=main
ATTR_METRICS values=[1,2]
LOG_OFF lid=0 time=0.5
LOG_ON lid=0 time=0.75
ATTR_METRICS values=[10,20,13,24]
MPI_CALL lid=0 time=1 exit=2 region=MPI_Comm_rank
ATTR_METRICS values=[30,40]
ENTER lid=0 time=3 region=MPI_Barrier
ATTR_METRICS values=[50,60]
MPI_COLLEXIT lid=0 time=4 cid=0
ATTR_METRICS values=[70,80,90,100]
MPI_TEST_CALL lid=0 time=5 exit=5.5 region=MPI_Test reqid=7
EXIT lid=0 time=6
)");
  run.add(1, R"(
STRING strid=0 cntc=0 str="MISSES"
LOCAL_METRIC metid=0 metnid=0 metdid=0 dtype=0 mode=0 interval=0
ATTR_METRICS values=[5]
ENTER lid=1 time=0 region=main
EXIT lid=1 time=6
)");
  const merge::Summary summary = run.merge();
  std::vector<std::string> values;
  const auto printed = trace_to_text(run.merged);
  ASSERT_TRUE(printed);
  for (std::size_t at = 0; (at = printed->find("metv=", at)) != std::string::npos; ++at) {
    const std::size_t line = printed->rfind('\n', at) + 1;
    values.push_back(printed->substr(line, printed->find(' ', line) - line) + " " +
                     printed->substr(at + 5, printed->find(']', at) - at - 4));
  }
  EXPECT_EQ(values, (std::vector<std::string>{
                        "ENTER [0,0]", "ENTER [0,5]", "LOG_OFF [1,2]", "LOG_ON [1,2]",
                        "ENTER [10,20]", "EXIT [13,24]", "ENTER [30,40]", "MPI_COLLEXIT [50,60]",
                        "ENTER [70,80]", "EXIT [90,100]", "EXIT [90,100]", "EXIT [0,5]"}));
  EXPECT_EQ(printed->find("ATTR_METRICS"), std::string::npos);
  EXPECT_EQ(printed->find("LOCAL_METRIC"), std::string::npos);
  EXPECT_EQ(summary[merge::Finding::kNativeLeftOut].count, 0u);
}

// Values that do not fit the definitions are taken as far as they go.
TEST(MergeDefinitions, TooFewCountersInAnAttributeDoNoHarm) {
  LocalRun run(1);
  run.add(0, R"(
LOCAL_METRIC metid=0 metnid="A" metdid="" dtype=0 mode=0 interval=0
LOCAL_METRIC metid=1 metnid="B" metdid="" dtype=0 mode=0 interval=0
ATTR_METRICS values=[3]
ENTER lid=0 time=0 region=main
ATTR_METRICS values=[4,5,6]
MPI_CALL lid=0 time=1 exit=2 region=MPI_Comm_rank
ATTR_METRICS values=[7,8,9,10,11]
EXIT lid=0 time=6
)");
  run.merge();
  std::vector<std::string> fields;
  for (const auto& event : support::merged_events(run.merged)) fields.push_back(event.fields);
  EXPECT_EQ(fields, (std::vector<std::string>{"rid=main metv=3,0", "rid=MPI_Comm_rank metv=4,5",
                                              " metv=6,5", " metv=7,8"}));
}

// A test that completes nothing comes in one record; the merge writes what the call would have
// been.
TEST(MergeDefinitions, WholeCallsAreExpanded) {
  LocalRun run(1);
  run.add(0, R"(
ENTER lid=0 time=0 region=main
MPI_TEST_CALL lid=0 time=1 exit=1.5 region=MPI_Test reqid=7
MPI_CALL lid=0 time=2 exit=2.5 region=MPI_Comm_rank
EXIT lid=0 time=3
)");
  run.merge();
  std::vector<std::string> events;
  for (const auto& event : support::merged_events(run.merged)) {
    events.push_back(event.name + " " + std::to_string(event.time) + " " + event.fields);
  }
  EXPECT_EQ(events, (std::vector<std::string>{
                        "ENTER 0.000000 rid=main", "ENTER 1.000000 rid=MPI_Test",
                        "MPI_REQUEST_TESTED 1.500000 reqid=7", "EXIT 1.500000 ",
                        "ENTER 2.000000 rid=MPI_Comm_rank", "EXIT 2.500000 ", "EXIT 3.000000 "}));
}

TEST(MergeDefinitions, BothByteOrdersGiveTheSame) {
  const std::string text = R"(
ENTER lid=0 time=0 region=main
ENTER_CS lid=0 time=1 region=MPI_Win_fence site="halo.c:118"
MPI_WINCOLLEXIT lid=0 time=2 wid=0
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Put dlid=0 wid=0 rmaid=0 bytes=8 got=0 kind=1
ENTER lid=0 time=4 region=MPI_Isend
ATTR_UI4 kind=2 value=7
MPI_SEND lid=0 time=4 dlid=0 cid=0 tag=5 sent=8
EXIT lid=0 time=5
ENTER lid=0 time=6 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=7 wid=0
EXIT lid=0 time=8
)";
  LocalRun little(1), big(1);
  little.add(0, text);
  const auto bytes =
      text_to_trace("EPILOG 2.0 big\nLOCAL_RUN run_hi=1 run_lo=7 size=1 pid=0 tid=0\n" + text);
  ASSERT_TRUE(bytes) << bytes.error().message();
  big.add_bytes("0.0.elg", *bytes);
  little.merge();
  big.merge();
  EXPECT_EQ(little.merged, big.merged);
  EXPECT_EQ(support::check_merge(big.locals, big.merged), std::vector<std::string>());
}

}  // namespace
}  // namespace kojak::test
