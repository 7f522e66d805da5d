// Reports: severities in the order of the trees, and the CUBE file read back by an independent
// reader.

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "expert/cube/writer.h"
#include "expert/findings/trace_findings.h"
#include "expert/metrics/time_class.h"
#include "expert/output/terminal.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/shares.h"
#include "tests/support/cube_grammar.h"
#include "tests/support/cube_reader.h"
#include "tests/support/report_checks.h"

namespace kojak::expert {
namespace {

namespace fs = std::filesystem;

// A folder of this test's own.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kojak-report-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Two nodes, three processes, the second with two threads. Locations are not in the order of nodes.
Definitions definitions() {
  Definitions d;
  d.machines.set(MachineId{0}, {"cluster", 2});
  d.nodes.set(NodeId{0}, {"alpha", MachineId{0}, 1, {}, {}});
  d.nodes.set(NodeId{1}, {"beta", MachineId{0}, 1, {}, {}});
  d.locations.set(LocationId{0}, {MachineId{0}, NodeId{1}, ProcessId{0}, ThreadId{0}});
  d.locations.set(LocationId{1}, {MachineId{0}, NodeId{0}, ProcessId{1}, ThreadId{0}});
  d.locations.set(LocationId{2}, {MachineId{0}, NodeId{0}, ProcessId{2}, ThreadId{0}});
  d.locations.set(LocationId{3}, {MachineId{0}, NodeId{0}, ProcessId{1}, ThreadId{1}});
  d.files.set(FileId{0}, "halo.c");
  const auto region = [&](std::uint32_t id, std::string name, std::string file) {
    RegionDef r;
    r.name = std::move(name);
    r.file = std::move(file);
    r.function = find_mpi_function(r.name);
    d.regions.set(RegionId{id}, r);
  };
  region(0, "halo", "halo.c");
  region(1, "MPI_Win_fence", "MPI");
  region(2, "never_entered", "halo.c");
  region(3, "exchange", "halo.c");
  region(4, "other", "other.c");
  d.call_sites.set(CallSiteId{0}, {FileId{0}, Line{118}, RegionId{1}, RegionId{3}});
  d.call_sites.set(CallSiteId{1}, {FileId{0}, Line{90}, RegionId{3}, RegionId{0}});
  return d;
}

// Call paths in order of appearance: halo, halo/fence, other root, halo/exchange,
// halo/exchange/fence.
std::vector<CallPath> call_paths() {
  return {{RegionId{0}, absent<CallSiteId>(), kNone},
          {RegionId{1}, CallSiteId{0}, 0},
          {RegionId{4}, absent<CallSiteId>(), kNone},
          {RegionId{3}, CallSiteId{1}, 0},
          {RegionId{1}, CallSiteId{0}, 3}};
}

struct Fixture {
  Definitions defs = definitions();
  SeverityStore store{kAllMetrics, 4};
  std::vector<Finding> findings;

  Report report() {
    std::vector<LocationId> locations;
    for (std::uint32_t i = 0; i < 4; ++i) locations.push_back(LocationId{i});
    return {defs,         locations,        metrics_where([](Needs) { return true; }),
            call_paths(), std::move(store), findings};
  }
};

TEST(Report, OrdersThreadsByMachineNodeProcessAndThread) {
  Fixture f;
  const Report report = f.report();
  ASSERT_EQ(report.machines().size(), 1u);
  ASSERT_EQ(report.machines()[0].nodes.size(), 2u);
  EXPECT_EQ(report.machines()[0].nodes[0].name, "alpha");
  EXPECT_EQ(report.machines()[0].nodes[0].processes[0].threads.size(), 2u);
  // alpha: rank 1 (threads 0 and 1), rank 2; beta: rank 0
  std::vector<std::uint32_t> order;
  for (std::size_t t = 0; t < 4; ++t) order.push_back(raw(report.thread_location(t)));
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 3, 2, 0}));
  EXPECT_EQ(report.thread_of(LocationId{0}), 3u);
  EXPECT_EQ(report.thread_of(LocationId{9}), kNone);
  EXPECT_EQ(report.thread_name(1), "rank 1, thread 1");
}

TEST(Report, OrdersCallPathsParentsFirst) {
  Fixture f;
  const Report report = f.report();
  std::vector<std::string> names;
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    names.push_back(report.call_path_name(c));
  }
  // The call site's caller stands between where it was not recorded, and only there.
  EXPECT_EQ(names, (std::vector<std::string>{
                       "halo", "halo / exchange", "halo / exchange halo.c:118 / MPI_Win_fence",
                       "halo halo.c:90 / exchange",
                       "halo halo.c:90 / exchange halo.c:118 / MPI_Win_fence", "other"}));
  EXPECT_EQ(report.call_paths()[1].index, kOnlyNamed);
  std::vector<double> row(4);
  EXPECT_FALSE(report.row(report.find_metric("visits"), 1, row));
}

TEST(Report, IsInclusiveAlongTheMetrics) {
  Fixture f;
  f.store.add(metric_index<Fence>(), 1, 0, 0.5);
  f.store.add(metric_index<FenceWait>(), 1, 0, 0.25);
  f.store.add(metric_index<Execution>(), 0, 0, 2);
  f.store.add(metric_index<Overhead>(), 3, 2, 0.125);
  f.store.add(metric_index<BytesPut>(), 1, 1, 80);
  f.store.add(metric_index<BytesGot>(), 1, 1, 20);
  const Report report = f.report();
  const auto total = [&](const char* name) { return report.total(report.find_metric(name)); };
  EXPECT_EQ(total("time"), 2.625);     // 2 + 0.5 + 0.125
  EXPECT_EQ(total("execution"), 2.5);  // without the overhead
  EXPECT_EQ(total("mpi"), 0.5);
  EXPECT_EQ(total("mpi_synchronization"), 0.5);
  EXPECT_EQ(total("mpi_rma_fence"), 0.5);  // the pattern is a part of it, not added
  EXPECT_EQ(total("mpi_rma_fence_wait"), 0.25);
  EXPECT_EQ(total("mpi_communication"), 0);
  EXPECT_EQ(total("bytes"), 100);
  EXPECT_EQ(total("bytes_rma"), 100);
  // Exclusive along the call tree: the root has its own time only.
  std::vector<double> row(4);
  ASSERT_TRUE(report.row(report.find_metric("time"), 0, row));
  EXPECT_EQ(row, (std::vector<double>{0, 0, 0, 2}));  // location 0 is the last thread
  EXPECT_FALSE(report.row(report.find_metric("mpi"), 0, row));
}

TEST(CubeFile, IsReadBackCompletely) {
  Fixture f;
  const double odd = 0.1 + 0.2;  // needs 17 digits
  f.store.add(metric_index<FenceWait>(), 1, 0, odd);
  f.store.add(metric_index<Fence>(), 1, 0, 1);
  f.store.add(metric_index<Fence>(), 4, 3, 86400.123456789012);
  f.store.add(metric_index<Execution>(), 2, 2, 1e-9);
  f.store.add(metric_index<Visits>(), 1, 0, 3);
  f.store.add(metric_index<BytesSentP2p>(), 1, 1, 9007199254740991.0);  // 2^53 - 1
  const Report report = f.report();
  const Folder folder;
  const fs::path path = folder / "a.cube";
  ASSERT_TRUE(write_cube(report, path, {.doc_url = "file:///docs/"}).ok());
  const support::Cube cube = support::read_cube(path);

  EXPECT_EQ(support::check_report(cube), std::vector<std::string>{});
  EXPECT_EQ(cube.mirrors, std::vector<std::string>{"file:///docs/"});
  EXPECT_EQ(cube.attributes.at("CUBE_CT_AGGR"), "SUM");
  ASSERT_EQ(cube.metrics.size(), kMetrics);
  EXPECT_EQ(cube.matrices.size(), kMetrics);  // a matrix for every metric
  for (std::size_t m = 0; m < kMetrics; ++m) {
    EXPECT_EQ(cube.metrics[m].uniq_name, all_metrics()[m].name);
    EXPECT_EQ(cube.metrics[m].url, "@mirror@patterns.html#" + std::string(all_metrics()[m].name));
    const bool whole = all_metrics()[m].unit != Unit::kSeconds && !all_metrics()[m].fractions;
    EXPECT_EQ(cube.metrics[m].dtype, whole ? "INTEGER" : "FLOAT");
  }
  EXPECT_EQ(cube.metrics[0].uom, "sec");
  ASSERT_EQ(cube.regions.size(), 4u);  // the one that was never entered is left out
  EXPECT_EQ(cube.regions[0].mod, "halo.c");
  ASSERT_EQ(cube.cnodes.size(), 6u);
  EXPECT_EQ(cube.cnodes[1].path, "halo/exchange");  // named by the call site only
  EXPECT_EQ(cube.cnodes[2].path, "halo/exchange/MPI_Win_fence");
  EXPECT_EQ(cube.cnodes[2].parent, 1);
  EXPECT_EQ(cube.cnodes[2].line, 118);
  EXPECT_EQ(cube.cnodes[2].mod, "halo.c");
  EXPECT_EQ(cube.cnodes[4].path, "halo/exchange/MPI_Win_fence");
  EXPECT_EQ(cube.cnodes[4].parent, 3);
  EXPECT_EQ(cube.cnodes[5].parent, -1);
  ASSERT_EQ(cube.threads.size(), 4u);
  EXPECT_EQ(cube.threads[1].process_rank, 1);
  EXPECT_EQ(cube.threads[1].rank, 1);
  EXPECT_EQ(cube.threads[3].node, "beta");

  // Every number comes back exactly, at the thread of its location: times in whole units of 2^-40
  // s.
  const auto whole = [](double seconds) { return std::round(seconds * 0x1p40) / 0x1p40; };
  const auto at = [&](const char* metric, int cnode, int thread) {
    return cube.severity(cube.find_metric(metric), cnode, thread);
  };
  EXPECT_EQ(at("mpi_rma_fence_wait", 2, 3), whole(odd));
  EXPECT_EQ(at("mpi_rma_fence", 2, 3), 1);
  EXPECT_EQ(at("time", 2, 3), 1);
  EXPECT_EQ(at("time", 4, 1), 86400.123456789012);
  EXPECT_EQ(at("time", 5, 2), whole(1e-9));
  EXPECT_EQ(at("visits", 2, 3), 3);
  EXPECT_EQ(at("bytes", 2, 0), 9007199254740991.0);
  // Rows without anything are left out.
  EXPECT_EQ(cube.rows.at(cube.find_metric("mpi_rma_fence_wait")).size(), 1u);
  EXPECT_TRUE(cube.rows.at(cube.find_metric("mpi_io")).empty());
}

TEST(CubeFile, IsTheSameForTheSameReport) {
  const Folder folder;
  for (const char* name : {"1.cube", "2.cube"}) {
    Fixture f;
    f.store.add(metric_index<Fence>(), 1, 0, 1.0 / 3);
    ASSERT_TRUE(write_cube(f.report(), folder / name, {.doc_url = "file:///"}).ok());
  }
  EXPECT_EQ(read_file(folder / "1.cube"), read_file(folder / "2.cube"));
}

// What CUBE's readers want besides XML is checked by read_cube.
TEST(CubeFile, HasEndTagsForEverythingButAttributesAndDimensions) {
  Fixture f;
  TopologyDef grid;
  grid.size = {4};
  grid.coords = {{LocationId{0}, {3}}};
  f.defs.topologies.set(TopologyId{0}, grid);
  const Folder folder;
  ASSERT_TRUE(write_cube(f.report(), folder / "a.cube", {.doc_url = ""}).ok());
  support::read_cube(folder / "a.cube");
  std::string text = read_file(folder / "a.cube");
  for (const char* closed :
       {"<attr key=\"CUBE_CT_AGGR\" value=\"SUM\"/>", "<dim size=\"4\" periodic=\"false\"/>"}) {
    ASSERT_NE(text.find(closed), std::string::npos) << closed;
    text.erase(text.find(closed), std::string(closed).size());
  }
  // What the run was: as many attributes as there are facts.
  for (std::size_t at; (at = text.find("<attr key=\"run.")) != std::string::npos;) {
    text.erase(at, text.find("/>", at) + 2 - at);
  }
  EXPECT_EQ(text.find("/>"), std::string::npos);
  EXPECT_NE(text.find("<murl></murl>"), std::string::npos);
}

TEST(CubeFile, SaysWhatKindOfFunctionARegionIs) {
  const auto module_of = [](const std::string& name, std::uint8_t type,
                            const MpiFunction* function) {
    Fixture f;
    RegionDef* region = f.defs.regions.find(RegionId{1});
    region->name = name;
    region->type = type;
    region->function = function;
    region->file = "lib.c";
    const Folder folder;
    EXPECT_TRUE(write_cube(f.report(), folder / "a.cube", {.doc_url = "d"}).ok());
    const support::Cube cube = support::read_cube(folder / "a.cube");
    for (const support::CubeRegion& r : cube.regions) {
      if (r.name == name) return r.mod;
    }
    return std::string("absent");
  };
  EXPECT_EQ(module_of("MPI_Win_fence", 0, find_mpi_function("MPI_Win_fence")), "MPI");
  EXPECT_EQ(module_of("mpi_send_", 0, find_mpi_function("MPI_Send")), "MPI");  // Fortran
  EXPECT_EQ(module_of("MPI_Of_the_future", 0, nullptr), "MPI");
  EXPECT_EQ(module_of("MPI", 0, nullptr), "lib.c");
  EXPECT_EQ(module_of("shmem_long_put", 0, nullptr), "SHMEM");
  EXPECT_EQ(module_of("start_pes", 0, nullptr), "SHMEM");
  EXPECT_EQ(module_of("!$omp parallel @a.c:7", kOmpParallel, nullptr), "OMP");
  EXPECT_EQ(module_of("omp_set_lock", 0, nullptr), "OMP");
  EXPECT_EQ(module_of("TRACING", 0, nullptr), "EPIK");
  EXPECT_EQ(module_of("solve", 0, nullptr), "lib.c");
}

TEST(CubeFile, LeavesOutPlacesOutsideOfTheirGrid) {
  Fixture f;
  TopologyDef grid;
  grid.size = {2, 2};
  grid.coords = {{LocationId{0}, {0, 2}}, {LocationId{1}, {1, 1}}, {LocationId{2}, {1}}};
  f.defs.topologies.set(TopologyId{0}, grid);
  grid.coords = {{LocationId{0}, {0, 2}}};  // no place is left
  f.defs.topologies.set(TopologyId{1}, grid);
  const Folder folder;
  ASSERT_TRUE(write_cube(f.report(), folder / "a.cube", {.doc_url = "d"}).ok());
  support::read_cube(folder / "a.cube");
  const std::string text = read_file(folder / "a.cube");
  EXPECT_EQ(text.find("<coord"), text.rfind("<coord"));
  EXPECT_NE(text.find("<coord thrdId=\"0\">1 1</coord>"), std::string::npos);
  EXPECT_EQ(text.find("<cart"), text.rfind("<cart"));
}

TEST(CubeFile, IsForCubeAlsoWhenNothingWasRecorded) {
  const Fixture f;
  const Report report(f.defs, {LocationId{0}}, metrics_where([](Needs) { return true; }), {},
                      SeverityStore(kAllMetrics, 1), {});
  const Folder folder;
  ASSERT_TRUE(write_cube(report, folder / "a.cube", {.doc_url = "d"}).ok());
  const support::Cube cube = support::read_cube(folder / "a.cube");
  ASSERT_EQ(cube.cnodes.size(), 1u);
  EXPECT_EQ(cube.region_of(0), "(nothing was recorded)");
  // Nor are there processes.
  const Definitions empty;
  const Report none(empty, {}, metrics_where([](Needs) { return true; }), {},
                    SeverityStore(kAllMetrics, 0), {});
  ASSERT_TRUE(write_cube(none, folder / "b.cube", {.doc_url = "d"}).ok());
  EXPECT_EQ(support::read_cube(folder / "b.cube").threads.size(), 1u);
}

TEST(CubeFile, IsCompressedIfItsNameSaysSo) {
  Fixture f;
  f.store.add(metric_index<Fence>(), 1, 0, 1.0 / 3);
  const Folder folder;
  const Report report = f.report();
  ASSERT_TRUE(write_cube(report, folder / "a.cube", {.doc_url = "d"}).ok());
  ASSERT_TRUE(write_cube(report, folder / "a.cube.gz", {.doc_url = "d"}).ok());
  const std::string packed = read_file(folder / "a.cube.gz");
  EXPECT_TRUE(packed.starts_with("\x1F\x8B"));
  std::string text(read_file(folder / "a.cube").size() + 1, '\0');
  const gzFile file = gzopen((folder / "a.cube.gz").c_str(), "rb");
  const int size = gzread(file, text.data(), static_cast<unsigned>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  text.resize(static_cast<std::size_t>(size));
  EXPECT_EQ(text, read_file(folder / "a.cube"));
  EXPECT_EQ(support::check_cube_grammar(folder / "a.cube.gz"), "");
  ASSERT_TRUE(write_cube(report, folder / "b.cube.gz", {.doc_url = "d"}).ok());
  EXPECT_EQ(read_file(folder / "b.cube.gz"), packed);  // no time of writing in it
}

TEST(CubeFile, NamesMayHoldAnyBytes) {
  Fixture f;
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  f.defs.regions.find(RegionId{0})->name = "f<std::vector<int>>(T&&) \"'\" " + every;
  f.defs.regions.find(RegionId{0})->file = "a\"<&>\n.c\xFF";
  f.defs.regions.find(RegionId{1})->name = "\xC3\xA4 ok";
  f.defs.machines.find(MachineId{0})->name = std::string("nul\0inside", 10);
  const Report report = f.report();
  const Folder folder;
  ASSERT_TRUE(write_cube(report, folder / "a.cube", {.doc_url = "file:///a&b/"}).ok());
  const support::Cube cube = support::read_cube(folder / "a.cube");
  EXPECT_TRUE(cube.regions[0].name.starts_with("f<std::vector<int>>(T&&) \"'\" "));
  EXPECT_EQ(cube.regions[0].mod, "a\"<&>\n.c\xEF\xBF\xBD");
  EXPECT_EQ(cube.regions[1].name, "\xC3\xA4 ok");
  EXPECT_EQ(cube.threads[0].machine, "nul\xEF\xBF\xBDinside");
  EXPECT_EQ(cube.mirrors[0], "file:///a&b/");
}

TEST(CubeFile, HoldsTopologies) {
  Fixture f;
  TopologyDef grid;
  grid.size = {2, 2};
  grid.periodic = {true, false};
  grid.coords = {{LocationId{0}, {0, 1}}, {LocationId{1}, {1, 0}}};
  f.defs.topologies.set(TopologyId{0}, grid);
  const Folder folder;
  ASSERT_TRUE(write_cube(f.report(), folder / "a.cube", {.doc_url = "file:///"}).ok());
  const std::string text = read_file(folder / "a.cube");
  // Location 1 is thread 0, location 0 is thread 3.
  const std::size_t first = text.find("<coord thrdId=\"0\">1 0</coord>");
  const std::size_t second = text.find("<coord thrdId=\"3\">0 1</coord>");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  EXPECT_NE(text.find("<cart ndims=\"2\">"), std::string::npos);
  EXPECT_NE(text.find("<dim size=\"2\" periodic=\"true\"/>"), std::string::npos);
  EXPECT_NE(text.find("<dim size=\"2\" periodic=\"false\"/>"), std::string::npos);
}

TEST(CubeFile, AppearsCompleteOrNotAtAll) {
  const Folder folder;
  Fixture f;
  const Report report = f.report();
  const Status missing = write_cube(report, folder / "no/such/folder.cube", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ExitCode::kOutputFailed);
  EXPECT_NE(missing.error().message().find("no/such/folder.cube"), std::string::npos);
  const Status full = write_cube(report, "/dev/full", {});
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, ExitCode::kOutputFailed);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Summary, ListsTheWorstWaitsLongestFirst) {
  Fixture f;
  f.store.add(metric_index<Execution>(), 0, 0, 10);
  f.store.add(metric_index<Fence>(), 1, 0, 2);
  f.store.add(metric_index<Fence>(), 1, 2, 1);
  f.store.add(metric_index<FenceWait>(), 1, 0, 1.5);
  f.store.add(metric_index<FenceWait>(), 1, 2, 0.5);
  f.store.add(metric_index<GeneralActiveTarget>(), 4, 1, 4);
  f.store.add(metric_index<LatePost>(), 4, 1, 3);
  f.store.add(metric_index<BeforeFirstPost>(), 4, 1, 1);  // a part of Late Post: not listed
  const Report report = f.report();
  const std::vector<PlaceWait> waits = waits_of(report);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(report.metrics()[waits[0].metric].metric.name, "mpi_rma_latepost");
  EXPECT_EQ(waits[0].seconds, 3);
  EXPECT_EQ(waits[1].seconds, 2);
  EXPECT_EQ(waits[1].worst_seconds, 1.5);
  EXPECT_EQ(report.thread_name(waits[1].worst_thread), "rank 0, thread 0");

  std::ostringstream out;
  print_summary(out, report, {});
  const std::string text = out.str();
  EXPECT_NE(text.find("      17.000   100.0 %  Time\n"), std::string::npos) << text;
  EXPECT_NE(text.find("       3.000    17.6 %              Late Post\n"), std::string::npos)
      << text;
  // 3 of 17 seconds are 17.6 %.
  EXPECT_NE(text.find("Late Post takes 17.6 % of the processes' time (3.000 s)"), std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);  // plain text
  EXPECT_EQ(text.find("█"), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Summary, NamesOfTheProgramAreHarmlessAndStayInTheLine) {
  Fixture f;
  RegionDef hostile;
  hostile.name = "\x1b]0;owned\x07\xff" + std::string(10'000, 'x') + "\n";
  f.defs.regions.set(RegionId{3}, hostile);
  f.defs.files.set(FileId{0}, "/home/me/a/very/long/way/to/halo.c");
  f.store.add(metric_index<Execution>(), 0, 0, 1);
  f.store.add(metric_index<FenceWait>(), 4, 0, 1);
  const Report report = f.report();
  std::ostringstream out;
  print_summary(out, report, {});
  const std::string text = out.str();
  EXPECT_EQ(text.find_first_of("\x1b\x07\xff"), std::string::npos) << text;
  EXPECT_NE(text.find("halo.c:118 / MPI_Win_fence\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("/home/me"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 84u) << line;
}

TEST(Summary, BarsAndColoursOnlyWhenWelcome) {
  Fixture f;
  f.store.add(metric_index<Execution>(), 0, 0, 1);
  f.store.add(metric_index<Barrier>(), 1, 0, 1);
  f.store.add(metric_index<BarrierWait>(), 1, 0, 1);
  const Report report = f.report();
  std::ostringstream out;
  print_summary(out, report, {.bars = true, .colours = true});
  EXPECT_NE(out.str().find("█"), std::string::npos);
  EXPECT_NE(out.str().find("\x1b[31m"), std::string::npos);
}

TEST(Summary, SaysSoWhenNothingWaits) {
  Fixture f;
  f.store.add(metric_index<Execution>(), 0, 0, 10);
  std::ostringstream out;
  print_summary(out, f.report(), {});
  EXPECT_NE(out.str().find("No pattern of waiting takes more than 1 % of the time."),
            std::string::npos);
  EXPECT_EQ(out.str().find("Worst waits"), std::string::npos);
}

TEST(Summary, ShowsFindingsWithAdvice) {
  Fixture f;
  f.findings.push_back({Finding::Severity::kSuspect, 1234, "messages lost", "Merge again."});
  std::ostringstream out;
  print_summary(out, f.report(), {});
  EXPECT_NE(out.str().find("  suspect      1,234  messages lost\n"), std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("Merge again."), std::string::npos);
  EXPECT_TRUE(any_suspect(f.findings));
}

}  // namespace
}  // namespace kojak::expert
