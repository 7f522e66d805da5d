// Root causes where a process serves the others: it is a cause only while it answers another.
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

using Script = CauseScript;
using Kind = Stretch::Kind;
constexpr double kServiceNear = 1e-6;

// Process 2 serves from 1 on: it answers process 0 from 2 to 5, and process 1, which has asked at
// 3, from 5 to 7. Process 0 waits 3 s for its own answer. Process 1 waits 4 s: 2 s while the server
// is busy with the other, 2 s for its own answer. Nobody asks from 7 on; at 9 process 1 waits for
// what the server sends at 11 unasked: 2 s.
Script asked_twice() {
  Script s(3);
  s.define("RUN_PROPERTY key=\"service.since\" value=\"1\" pid=2");
  s.message(0, 2, 2, 1, 2);
  s.message(1, 3, 2, 5, 5);
  s.message(2, 5, 0, 2, 5);
  s.message(2, 7, 1, 3, 7);
  s.call(2, 7.5, 8.5, "MPI_Iprobe");
  s.message(2, 11, 1, 9, 11);
  return s;
}

TEST(RootCausesOfService, WhileItAnswersAnotherOnly) {
  Script s = asked_twice();
  const Script::Found found = s.analyse_until(12);
  EXPECT_NEAR(found.causes.waits, 9, kServiceNear);
  EXPECT_NEAR(found.of(2, Kind::kAnswering), 2, kServiceNear);
  EXPECT_NEAR(found.causes.unexplained, 7, kServiceNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  const RootCause& cause = found.causes.causes.front();
  EXPECT_EQ(cause.stretch.whom, 0u);
  EXPECT_NEAR(cause.longer, 2, kServiceNear);
  EXPECT_FALSE(cause.gain);
  EXPECT_EQ(found.words.front(), "rank 2, which serves, was answering rank 0 for 2.000 s");
  EXPECT_NE(
      found.verdict.find("rank 2, which serves, was answering rank 0, which makes rank 1 wait."),
      std::string::npos)
      << found.verdict;
}

// The same, and process 0 is 4 s late in a barrier of all but the server: that is process 0's, and
// neither the server's begin nor its end is a moment to compare since.
TEST(RootCausesOfService, OthersAreComparedAsWithoutIt) {
  Script s(3);
  s.define("RUN_PROPERTY key=\"service.since\" value=\"0.5\" pid=2");
  for (const char* line :
       {"MPI_GROUP gid=0 mode=1 count=3", "MPI_COMM_REF cid=0 gid=0", "MPI_GROUP gid=7 ranks=[0,1]",
        "MPI_COMM_REF cid=7 gid=7", "COMM_IDENTITY cid=0 hi=1 lo=1 flags=0",
        "COMM_IDENTITY cid=7 hi=1 lo=2 flags=0"}) {
    s.define(line);
  }
  s.message(1, 1, 2, 0.5, 1);
  s.message(2, 3, 1, 1, 3);
  for (const auto& [process, enter] : {std::pair(0, 8.0), std::pair(1, 4.0)}) {
    s.add(process, enter, "ENTER", "region=MPI_Barrier");
    s.add(process, 8, "MPI_COLLEXIT", "cid=7");
  }
  const Script::Found found = s.analyse_until(9);
  EXPECT_NEAR(found.of(2, Kind::kAnswering), 0, kServiceNear);
  EXPECT_NEAR(found.computing(2), 0, kServiceNear);
  EXPECT_NEAR(found.computing(0), 4, kServiceNear);
  EXPECT_NEAR(found.causes.unexplained, 2, kServiceNear);
  // The path of work never leads along the one that serves.
  for (const PathShare& share : found.causes.critical_path) EXPECT_NE(share.location, 2u);
}

// All end together, the server last, at 6: process 0 waits from 2 until 4 for process 1, and until
// 6 for the server, which answers process 1 until 4.5 and is then idle.
TEST(RootCausesOfService, AtTheEnd) {
  Script s(3);
  s.define("RUN_PROPERTY key=\"service.since\" value=\"0.5\" pid=2");
  s.message(1, 3, 2, 0.5, 3);
  s.call(2, 4.5, 5.5, "MPI_Iprobe");
  for (const auto& [process, enter] : {std::pair(0, 2.0), std::pair(1, 4.0), std::pair(2, 6.0)}) {
    s.call(process, enter, 7, "MPI_Finalize", {{7, "MPI_GROUP_CALL", "cid=0 key=2 ordinal=0"}});
  }
  const Script::Found found = s.analyse_until(8);
  EXPECT_NEAR(found.causes.waits, 6, kServiceNear);  // 4 of process 0, 2 of process 1
  EXPECT_NEAR(found.computing(1), 2, kServiceNear);
  EXPECT_NEAR(found.of(2, Kind::kAnswering), 0.5, kServiceNear);  // of process 0
  EXPECT_NEAR(found.causes.unexplained, 3.5, kServiceNear);
}

// Process 2 wants a processor for 5 of 10 s: from 1 on, when it serves, nobody counts that; without
// the service it is 5 of 30 s of all.
TEST(RootCausesOfService, WithoutAProcessor) {
  for (const bool serves : {true, false}) {
    Script s(3);
    if (serves) s.define("RUN_PROPERTY key=\"service.since\" value=\"1\" pid=2");
    for (int p = 0; p < 3; ++p) {
      s.add(p, 0.5, "PROCESSOR", "ran=0 wanted=0 preempted=0");
      const std::string wanted = p == 2 ? "5000000000" : "0";
      s.add(p, 10.5, "PROCESSOR", "ran=0 wanted=" + wanted + " preempted=0");
    }
    s.fence({0.6, 0.6, 0.6}, 0.7);
    const Script::Found found = s.analyse_until(11);
    const bool said = found.verdict.find("rocessor") != std::string::npos;
    EXPECT_NE(said, serves) << found.verdict;
  }
}

}  // namespace
}  // namespace kojak::expert
