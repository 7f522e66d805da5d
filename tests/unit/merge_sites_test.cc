// Call sites and functions of local traces: what they become where the program's file is not there,
// and how call paths are told: by one identifier, in classic files by entering the callers. Names
// from debugging information are tests/measurement/sites.
#include <gtest/gtest.h>

#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"
#include "merge/define/library_names.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

// One line an event: regions entered as "caller>region", below all the callers that the record
// names; left as "-".
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
        std::string path = site == nullptr ? "?" : name(site->left) + ">" + name(site->entered);
        if (site != nullptr) {
          definitions.for_each_caller(*site, [&](CallSiteId, const CallSiteDef& caller) {
            path = name(caller.left) + ">" + path;
          });
        }
        flow.push_back(path);
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

// A sample refers to a site: its function, and what led there. One without a place stays. What runs
// within Python's interpreter, or is called from there, is Python code, unless the frames of Python
// are there; a line in a module of Python's own is nobody's to look for.
TEST(MergeSites, SamplesNameWhatIsComputed) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
STRING strid=7 cntc=0 str="COMPUTING"
REGION rid=1023 rnid=7 fid=absent begln=absent endln=absent rdid=absent rtype=0
LOCAL_SITE rid=600 erid=1023 module=0 address=1280 caller=1
STRING strid=8 cntc=0 str="/usr/bin/python3.11"
LOCAL_MODULE module=1 pathid=8 build_id=[4]
LOCAL_FRAME frame=2 module=1 address=640 caller=absent
LOCAL_SITE rid=601 erid=1023 module=0 address=1280 caller=2
LOCAL_SITE rid=602 erid=1023 module=1 address=512 caller=2
STRING strid=9 cntc=0 str="/usr/lib/python3.11/fractions.py"
STRING strid=10 cntc=0 str="halo.py"
STRING strid=11 cntc=0 str="_add"
STRING strid=12 cntc=0 str="relax"
FILE fid=700 fnid=9
FILE fid=701 fnid=10
REGION rid=700 rnid=11 fid=700 begln=400 endln=absent rdid=absent rtype=1
REGION rid=701 rnid=12 fid=701 begln=3 endln=absent rdid=absent rtype=1
CALL_SITE csid=0 fid=700 lno=410 erid=1023 lrid=700
CALL_SITE csid=1 fid=701 lno=5 erid=700 lrid=701
LOCAL_FRAME frame=3 module=absent address=2 caller=absent
LOCAL_SITE rid=603 erid=1023 module=absent address=1 caller=3
ENTER lid=0 time=0 rid=515
LOCAL_SAMPLE lid=0 time=0.125 rid=603 count=7
LOCAL_SAMPLE lid=0 time=0.25 rid=601 count=2
LOCAL_SAMPLE lid=0 time=0.375 rid=602 count=5
LOCAL_SAMPLE lid=0 time=0.5 rid=600 count=3
LOCAL_SAMPLE lid=0 time=0.75 rid=absent count=1
MPI_CALL lid=0 time=1 exit=2 rid=512
EXIT lid=0 time=5
)");
  const auto samples_of = [&] {
    auto reader = TraceReader::from(memory_source(run.merged.data(), run.merged.size()), "merged");
    Definitions definitions;
    std::vector<std::string> samples;
    RawRecord record;
    while (reader->next(record) == TraceReader::Next::kRecord) {
      if (is_definition(record.type)) (void)definitions.add(record, reader->dialect());
      Sample sample;
      if (record.type != static_cast<std::uint8_t>(RecordType::kSample) ||
          decode(record, reader->dialect(), sample) != nullptr) {
        continue;
      }
      std::string path =
          std::to_string(sample.time.value) + " x" + std::to_string(raw(sample.count));
      if (const CallSiteDef* site = definitions.call_sites.find(sample.csid)) {
        path += " " + definitions.regions.find(site->left)->name;
        if (!is_absent(site->line)) path += ":" + std::to_string(raw(site->line));
        definitions.for_each_caller(*site, [&](CallSiteId, const CallSiteDef& caller) {
          path += "<" + definitions.regions.find(caller.left)->name;
          if (!is_absent(caller.line)) path += ":" + std::to_string(raw(caller.line));
        });
      }
      samples.push_back(path);
    }
    return samples;
  };
  EXPECT_FALSE(run.merge().suspect());
  EXPECT_EQ(samples_of(),
            (std::vector<std::string>{
                "0.125000 x7 _add<relax:5", "0.250000 x2 Python code", "0.375000 x5 Python code",
                "0.500000 x3 prog+0x500<prog+0x300<prog+0x200", "0.750000 x1"}));
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  run.merge(options);
  EXPECT_TRUE(samples_of().empty()) << "classic files have none";
}

const std::string kCalls = R"(
ENTER lid=0 time=0 rid=515
MPI_CALL lid=0 time=1 exit=2 rid=513
ENTER lid=0 time=3 rid=513
EXIT lid=0 time=4
ENTER lid=0 time=5 rid=514
MPI_WINCOLLEXIT lid=0 time=6 wid=0
EXIT lid=0 time=7
)";

// Whatever record the call is in: one ENTER_CS that names the path, and one exit.
TEST(MergeSites, OneIdentifierNamesTheWholePath) {
  LocalRun run(1);
  run.add(0, kDefinitions + kCalls);
  run.merge();
  const std::string path = "prog+0x200>prog+0x300>prog+0x400>MPI_Barrier";
  EXPECT_EQ(flow_of(run.merged), (std::vector<std::string>{"prog+0x1000", path, "-", path, "-",
                                                           "prog+0x200>prog+0x400>MPI_Win_fence",
                                                           "MPI_WINCOLLEXIT", "-"}));
}

// A classic file has no paths: there the callers are entered, outermost first, and left behind the
// call. The innermost one stands in the site itself.
TEST(MergeSites, ClassicFilesEnterTheCallers) {
  LocalRun run(1);
  run.add(0, kDefinitions + kCalls);
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  run.merge(options);
  const std::vector<std::string> path = {
      "prog+0x200>prog+0x300", "prog+0x300>prog+0x400", "prog+0x400>MPI_Barrier", "-", "-", "-"};
  std::vector<std::string> expected = {"prog+0x1000"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), path.begin(), path.end());
  expected.insert(expected.end(), {"prog+0x200>prog+0x400", "prog+0x400>MPI_Win_fence",
                                   "MPI_WINCOLLEXIT", "-", "-"});
  EXPECT_EQ(flow_of(run.merged), expected);
}

// A process that was killed in a call: the call is closed, in a classic file its callers, too.
TEST(MergeSites, PathsAreClosedWithTheTrace) {
  LocalRun run(1);
  run.add(0, kDefinitions + "ENTER lid=0 time=0 rid=515\nENTER lid=0 time=1 rid=513\n");
  const merge::Summary summary = run.merge();
  EXPECT_EQ(flow_of(run.merged),
            (std::vector<std::string>{"prog+0x1000", "prog+0x200>prog+0x300>prog+0x400>MPI_Barrier",
                                      "-", "-"}));
  EXPECT_EQ(summary[merge::Finding::kOpenRegions].count, 2u);
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  EXPECT_EQ(run.merge(options)[merge::Finding::kOpenRegions].count, 2u)
      << "those that were recorded";
  EXPECT_EQ(
      flow_of(run.merged),
      (std::vector<std::string>{"prog+0x1000", "prog+0x200>prog+0x300", "prog+0x300>prog+0x400",
                                "prog+0x400>MPI_Barrier", "-", "-", "-", "-"}));
}

// Where the path has more functions than the measurement kept, that is to be seen.
TEST(MergeSites, FunctionsThatWereLeftOutHaveAPlaceInThePath) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
LOCAL_CUT frame=2 caller=1
LOCAL_SITE rid=517 erid=7 module=0 address=1024 caller=2
LOCAL_CUT frame=3 caller=absent
LOCAL_SITE rid=518 erid=7 module=0 address=1024 caller=3
MPI_CALL lid=0 time=1 exit=2 rid=517
MPI_CALL lid=0 time=2 exit=3 rid=518
)");
  run.merge();
  EXPECT_EQ(
      flow_of(run.merged),
      (std::vector<std::string>{"prog+0x200>prog+0x300>(functions left out)>prog+0x400>MPI_Barrier",
                                "-", "(functions left out)>prog+0x400>MPI_Barrier", "-"}));
}

// A function that calls itself is on the path as often as it was called; two lines of one function
// are two paths.
TEST(MergeSites, RecursionAndLinesMakePathsOfTheirOwn) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
LOCAL_FRAME frame=2 module=0 address=768 caller=1
LOCAL_FRAME frame=3 module=0 address=800 caller=0
LOCAL_SITE rid=517 erid=7 module=0 address=1024 caller=2
LOCAL_SITE rid=518 erid=7 module=0 address=1024 caller=3
MPI_CALL lid=0 time=1 exit=2 rid=517
MPI_CALL lid=0 time=2 exit=3 rid=518
)");
  run.merge();
  EXPECT_EQ(flow_of(run.merged),
            (std::vector<std::string>{"prog+0x200>prog+0x300>prog+0x300>prog+0x400>MPI_Barrier",
                                      "-", "prog+0x200>prog+0x320>prog+0x400>MPI_Barrier", "-"}));
}

// Paths of local call sites (ENTER_CS) go the same way.
TEST(MergeSites, CallersOfLocalCallSitesAreKept) {
  LocalRun run(1);
  run.add(0, kDefinitions + R"(
STRING strid=7 cntc=0 str="f"
REGION rid=20 rnid=7 fid=absent begln=absent endln=absent rdid=absent rtype=1
STRING strid=8 cntc=0 str="g"
REGION rid=21 rnid=8 fid=absent begln=absent endln=absent rdid=absent rtype=1
CALL_SITE csid=3 fid=absent lno=1 erid=21 lrid=20
CALL_SITE csid=4 fid=absent lno=2 erid=7 lrid=21
CALL_SITE_CALLER csid=4 caller=3
ENTER_CS lid=0 time=1 csid=4
EXIT lid=0 time=2
)");
  run.merge();
  EXPECT_EQ(flow_of(run.merged), (std::vector<std::string>{"f>g>MPI_Barrier", "-"}));
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  run.merge(options);
  EXPECT_EQ(flow_of(run.merged), (std::vector<std::string>{"f>g", "g>MPI_Barrier", "-", "-"}));
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
  // At most 32 frames: the site's function, and 31 of the ring above it.
  std::string path = "0x30>MPI_Barrier";
  for (int i = 0; i < 31; ++i) path = (i % 2 == 0 ? "0x10>" : "0x20>") + path;
  EXPECT_EQ(flow, (std::vector<std::string>{path, "-", "0x40>MPI_Barrier", "-"}));
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
            (std::vector<std::string>{"step>MPI_Barrier", "-", "step>submit>MPI_Barrier", "-",
                                      "0x4>MPI_Barrier", "-"}));
}

// The same place in several processes, on the same path, is one call site, in whatever order they
// found it.
TEST(MergeSites, EqualPlacesAreOne) {
  LocalRun run(2);
  run.add(0, kDefinitions + "MPI_CALL lid=0 time=1 exit=2 rid=512\n");
  run.add(1, R"(
STRING strid=4 cntc=0 str="MPI_Barrier"
REGION rid=7 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=4
STRING strid=6 cntc=0 str="/nowhere/prog"
LOCAL_MODULE module=5 pathid=6 build_id=[1,2,3]
LOCAL_FRAME frame=4 module=5 address=512 caller=absent
LOCAL_FRAME frame=7 module=5 address=768 caller=4
LOCAL_SITE rid=600 erid=7 module=5 address=1024 caller=7
LOCAL_SITE rid=601 erid=7 module=5 address=256 caller=absent
MPI_CALL lid=1 time=1 exit=2 rid=600
MPI_CALL lid=1 time=2 exit=3 rid=601
)");
  run.merge();
  auto reader = TraceReader::from(memory_source(run.merged.data(), run.merged.size()), "merged");
  ASSERT_TRUE(reader);
  RawRecord record;
  int sites = 0, callers = 0;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (record.type == static_cast<std::uint8_t>(RecordType::kCallSite)) ++sites;
    if (record.type == static_cast<std::uint8_t>(RecordType::kCallSiteCaller)) ++callers;
  }
  // 256; the path of 512, 768 and 1024: three; that of 512 and 1024: two; the one without module.
  EXPECT_EQ(sites, 7);
  EXPECT_EQ(callers, 2 + 1) << "all of the two paths but where they begin";
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
  EXPECT_EQ(merge::statement_of("nga_get_"), "nga_get");  // of Fortran
  EXPECT_EQ(merge::statement_of("Step_"), "Step_");
  EXPECT_EQ(merge::statement_of("ga_get__"), "ga_get__");
  // A program may have such a function of its own.
  EXPECT_EQ(merge::statement_of("mutex_lock", "/usr/lib/libcaf_openmpi.so.3"), "lock, critical");
  EXPECT_EQ(merge::statement_of("mutex_lock", "/home/libcaf_mine/prog"), "mutex_lock");
  EXPECT_EQ(merge::statement_of("finalize_internal", "libcaf_mpi.so"), "end of program (coarrays)");
  EXPECT_EQ(merge::statement_of("_gfortran_caf_get", "/home/prog"), "coarray get");
  EXPECT_EQ(merge::statement_of(""), "");
}

}  // namespace
}  // namespace kojak::test
