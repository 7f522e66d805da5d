// Call sites and functions of local traces: what they become where the program's file is not there,
// and that callers are entered and left around a call. Names from debugging information are
// tests/measurement/sites.
#include <gtest/gtest.h>

#include "epilog/format/definitions.h"
#include "epilog/format/reader.h"
#include "merge/library_names.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

// One line an event: regions entered as "caller>region", left as "-".
std::vector<std::string> flow_of(const std::vector<std::byte>& bytes) {
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "merged");
  if (!reader) throw std::runtime_error(reader.error().message());
  Definitions definitions;
  std::vector<std::string> flow;
  const auto name = [&](RegionId id) {
    const RegionDef* region = definitions.regions.find(id);
    return region != nullptr ? region->name : std::string("?");
  };
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (is_definition(record.type)) {
      if (Status status = definitions.add(record, reader->dialect()); !status) {
        throw std::runtime_error(status.error().message());
      }
      continue;
    }
    dispatch_record(record.type, [&]<class R>() {
      R event;
      if (decode(record, reader->dialect(), event) != nullptr) return;
      if constexpr (std::is_same_v<R, Enter>) {
        flow.push_back(name(event.rid));
      } else if constexpr (std::is_same_v<R, EnterCs>) {
        const CallSiteDef* site = definitions.call_sites.find(event.csid);
        flow.push_back(site == nullptr ? "?" : name(site->left) + ">" + name(site->entered));
      } else {
        flow.push_back(R::kName == Exit::kName ? "-" : std::string(R::kName));
      }
    });
  }
  return flow;
}

const std::string kDefinitions = R"(
STRING strid=4 cntc=0 str="MPI_Barrier"
REGION rid=7 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=4
STRING strid=5 cntc=0 str="MPI_Win_fence"
REGION rid=8 rnid=5 fid=absent begln=absent endln=absent rdid=absent rtype=8
STRING strid=6 cntc=0 str="/nowhere/prog"
LOCAL_MODULE module=0 pathid=6 build_id=[1,2,3]
LOCAL_SITE rid=512 erid=7 module=0 address=256 caller=absent
LOCAL_FRAME frame=0 module=0 address=512 caller=absent
LOCAL_FRAME frame=1 module=0 address=768 caller=0
LOCAL_SITE rid=513 erid=7 module=0 address=1024 caller=1
LOCAL_SITE rid=514 erid=8 module=0 address=1024 caller=0
LOCAL_FUNCTION rid=515 module=0 address=4096
LOCAL_SITE rid=516 erid=7 module=absent address=4096 caller=absent
)";

TEST(MergeSites, WithoutTheProgramAPlaceIsModuleAndOffset) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
ENTER lid=0 time=0 rid=515
MPI_CALL lid=0 time=1 exit=2 rid=512
MPI_CALL lid=0 time=2 exit=3 rid=516
MPI_CALL lid=0 time=3 exit=4 rid=7
EXIT lid=0 time=5
)");
  const merge::Summary summary = run.merge();
  EXPECT_EQ(flow_of(run.merged),
            (std::vector<std::string>{"prog+0x1000", "prog+0x100>MPI_Barrier", "-",
                                      "0x1000>MPI_Barrier", "-", "MPI_Barrier", "-", "-"}));
  EXPECT_EQ(summary[merge::Finding::kCodeMissing].count, 1u);
  EXPECT_EQ(summary[merge::Finding::kCodeMissing].where, "/nowhere/prog");
  EXPECT_FALSE(summary.suspect()) << "names are missing, nothing else";
}

// The innermost caller stands in the site itself; the others are entered, outermost first, whatever
// record the call is in, and left behind it.
TEST(MergeSites, CallersStandAroundTheCall) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
ENTER lid=0 time=0 rid=515
MPI_CALL lid=0 time=1 exit=2 rid=513
ENTER lid=0 time=3 rid=513
EXIT lid=0 time=4
ENTER lid=0 time=5 rid=514
MPI_WINCOLLEXIT lid=0 time=6 wid=0
EXIT lid=0 time=7
)");
  run.merge();
  const std::vector<std::string> path = {
      "prog+0x200>prog+0x300", "prog+0x300>prog+0x400", "prog+0x400>MPI_Barrier", "-", "-", "-"};
  std::vector<std::string> expected = {"prog+0x1000"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), path.begin(), path.end());
  expected.insert(expected.end(), {"prog+0x200>prog+0x400", "prog+0x400>MPI_Win_fence",
                                   "MPI_WINCOLLEXIT", "-", "-"});
  EXPECT_EQ(flow_of(run.merged), expected);
}

// A process that was killed in a call: the call and its callers are closed.
TEST(MergeSites, CallersAreClosedWithTheTrace) {
  LocalRun run(1);
  run.add(0, kDefinitions + "ENTER lid=0 time=0 rid=515\nENTER lid=0 time=1 rid=513\n");
  const merge::Summary summary = run.merge();
  EXPECT_EQ(
      flow_of(run.merged),
      (std::vector<std::string>{"prog+0x1000", "prog+0x200>prog+0x300", "prog+0x300>prog+0x400",
                                "prog+0x400>MPI_Barrier", "-", "-", "-", "-"}));
  EXPECT_EQ(summary[merge::Finding::kOpenRegions].count, 2u) << "those that were recorded";
}

// Frames that call each other in a ring, and modules and frames that nothing defines.
TEST(MergeSites, DamagedPathsEnd) {
  LocalRun run(1);
  run.add(0, R"(
STRING strid=4 cntc=0 str="MPI_Barrier"
REGION rid=7 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=4
LOCAL_FRAME frame=0 module=3 address=16 caller=1
LOCAL_FRAME frame=1 module=3 address=32 caller=0
LOCAL_SITE rid=512 erid=7 module=9 address=48 caller=0
LOCAL_SITE rid=513 erid=7 module=absent address=64 caller=77
MPI_CALL lid=0 time=1 exit=2 rid=512
MPI_CALL lid=0 time=3 exit=4 rid=513
)");
  run.merge();
  const std::vector<std::string> flow = flow_of(run.merged);
  // At most 16 frames: 15 callers, then the call, and as many exits.
  ASSERT_EQ(flow.size(), 2 * 16 + 2u);
  EXPECT_EQ(flow[15], "0x30>MPI_Barrier");
  EXPECT_EQ(flow[32], "0x40>MPI_Barrier");
}

// A line of Python is a CALL_SITE whose number and one stands in the place of an address.
TEST(MergeSites, LinesWithoutCodeHaveTheirNamesInTheTrace) {
  LocalRun run(1);
  run.add(0, R"(
STRING strid=4 cntc=0 str="MPI_Barrier"
REGION rid=7 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=4
STRING strid=5 cntc=0 str="halo.py"
STRING strid=6 cntc=0 str="step"
STRING strid=7 cntc=0 str="submit"
FILE fid=1024 fnid=5
REGION rid=1024 rnid=6 fid=1024 begln=10 endln=absent rdid=absent rtype=1
REGION rid=1025 rnid=7 fid=1024 begln=50 endln=absent rdid=absent rtype=1
CALL_SITE csid=0 fid=1024 lno=12 erid=7 lrid=1024
CALL_SITE csid=1 fid=1024 lno=14 erid=1025 lrid=1024
CALL_SITE csid=2 fid=1024 lno=51 erid=7 lrid=1025
LOCAL_SITE rid=1026 erid=7 module=absent address=1 caller=absent
LOCAL_FRAME frame=0 module=absent address=2 caller=absent
LOCAL_SITE rid=1027 erid=7 module=absent address=3 caller=0
LOCAL_SITE rid=1028 erid=7 module=absent address=4 caller=absent
MPI_CALL lid=0 time=1 exit=2 rid=1026
MPI_CALL lid=0 time=3 exit=4 rid=1027
MPI_CALL lid=0 time=5 exit=6 rid=1028
)");
  run.merge();
  EXPECT_EQ(flow_of(run.merged),
            (std::vector<std::string>{"step>MPI_Barrier", "-", "step>submit", "submit>MPI_Barrier",
                                      "-", "-", "0x4>MPI_Barrier", "-"}));
}

// The same place in several processes is one call site.
TEST(MergeSites, EqualPlacesAreOne) {
  LocalRun run(2);
  run.add(0, kDefinitions + "MPI_CALL lid=0 time=1 exit=2 rid=512\n");
  run.add(1, kDefinitions + "MPI_CALL lid=1 time=1 exit=2 rid=512\n");
  run.merge();
  auto reader = TraceReader::from(memory_source(run.merged.data(), run.merged.size()), "merged");
  ASSERT_TRUE(reader);
  RawRecord record;
  int sites = 0;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (record.type == static_cast<std::uint8_t>(RecordType::kCallSite)) ++sites;
  }
  // 256, the two frames as callers (512 of 768, 768 of 1024, 512 of 1024), 1024 of both functions,
  // and the one without module.
  EXPECT_EQ(sites, 7);
}

// What the program wrote, not what its compiler made of it; a name that only begins like one stays.
TEST(MergeSites, EntryPointsOfLibrariesAreNamedByTheirStatements) {
  EXPECT_EQ(merge::statement_of("_gfortran_caf_sync_all"), "sync all");
  EXPECT_EQ(merge::statement_of("_caf_extensions_co_sum"), "co_sum");
  EXPECT_EQ(merge::statement_of("_gfortran_caf_get_by_ref"), "coarray get");
  EXPECT_EQ(merge::statement_of("_gfortran_caf_sync_alles"), "_gfortran_caf_sync_alles");
  EXPECT_EQ(merge::statement_of("PARMCI_Put"), "ARMCI_Put");
  EXPECT_EQ(merge::statement_of("wnga_acc"), "ga_acc");
  EXPECT_EQ(merge::statement_of("step"), "step");
  // A program may have such a function of its own.
  EXPECT_EQ(merge::statement_of("mutex_lock", "/usr/lib/libcaf_openmpi.so.3"), "lock, critical");
  EXPECT_EQ(merge::statement_of("mutex_lock", "/home/libcaf_mine/prog"), "mutex_lock");
  EXPECT_EQ(merge::statement_of("finalize_internal", "libcaf_mpi.so"), "end of program (coarrays)");
  EXPECT_EQ(merge::statement_of("_gfortran_caf_get", "/home/prog"), "coarray get");
  EXPECT_EQ(merge::statement_of(""), "");
}

}  // namespace
}  // namespace kojak::test
