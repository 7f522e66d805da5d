// The classic tools' traces through our analysis, against the reports that the classic EXPERT
// wrote.
//
// Where the formula is the same, every severity agrees to 1e-9 s. Where ours differs on purpose
// (docs/compare.md says why), the expected values are worked out from the traces' listings
// (tests/reference/*.print.txt, whose times have six decimals).

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "earl/trace.h"
#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "tests/support/cube_reader.h"
#include "tests/support/report_checks.h"

namespace kojak::expert {
namespace {

namespace fs = std::filesystem;
constexpr double kListing = 1e-5;  // sums of a few times with six decimals

class Reference : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string base = std::string(KOJAK_REFERENCE_DIR) + "/" + GetParam();
    auto trace = earl::Trace::open(base + ".elg");
    ASSERT_TRUE(trace.ok()) << trace.error().message();
    const Report report = analyse(*trace);
    for (const Finding& f : report.findings()) {
      EXPECT_EQ(f.severity, Finding::Severity::kNote) << f.what;
    }
    std::string folder = (fs::temp_directory_path() / "kojak-reference-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const fs::path path = fs::path(folder) / "a.cube";
    ASSERT_TRUE(write_cube(report, path, {}).ok());
    ours_ = support::read_cube(path);
    fs::remove_all(folder);
    classic_ = support::read_cube(base + ".cube");
  }
  support::Cube ours_, classic_;
};

// metric -> call path -> value per rank
using Values = std::map<std::string, std::map<std::string, std::vector<double>>>;

Values values_of(const support::Cube& cube) {
  Values values;
  for (const auto& [m, rows] : cube.rows) {
    for (const auto& [c, row] : rows) {
      auto& sum = values[cube.metrics[static_cast<std::size_t>(m)].uniq_name]
                        [cube.cnodes[static_cast<std::size_t>(c)].path];
      sum.resize(row.size());
      for (std::size_t t = 0; t < row.size(); ++t) sum[t] += row[t];
    }
  }
  return values;
}

// The rows where our definitions differ from the classic ones, in both traces.
bool differs_on_purpose(const std::string& metric, const std::string& path) {
  const bool tracing = path.ends_with("/TRACING");
  const bool accumulate = path.ends_with("/MPI_Accumulate");
  return (tracing && (metric == "execution" || metric == "overhead")) ||
         (accumulate && (metric == "mpi_communication" || metric == "mpi_rma_communication"));
}

TEST_P(Reference, AgreesWhereTheFormulaIsTheSame) {
  const Values ours = values_of(ours_), classic = values_of(classic_);
  std::set<std::string> compared;
  int rows = 0;
  for (const support::CubeMetric& metric : classic_.metrics) {
    const std::string& name = metric.uniq_name;
    if (name.starts_with('~')) continue;  // composed counters, of which the trace has none
    ASSERT_GE(ours_.find_metric(name), 0) << name;
    const auto of = [&](const Values& values) {
      const auto found = values.find(name);
      return found == values.end() ? std::map<std::string, std::vector<double>>{} : found->second;
    };
    const auto mine = of(ours), theirs = of(classic);
    std::set<std::string> paths;
    for (const auto& [path, row] : mine) paths.insert(path);
    for (const auto& [path, row] : theirs) paths.insert(path);
    for (const std::string& path : paths) {
      if (differs_on_purpose(name, path)) continue;
      for (std::size_t rank = 0; rank < 4; ++rank) {
        const double a = mine.count(path) != 0 ? mine.at(path)[rank] : 0;
        const double b = theirs.count(path) != 0 ? theirs.at(path)[rank] : 0;
        EXPECT_NEAR(a, b, 1e-9) << name << " at " << path << ", rank " << rank;
      }
      ++rows;
    }
    compared.insert(name);
  }
  EXPECT_EQ(compared.size(), 34u);  // all metrics of the classic tree
  EXPECT_GT(rows, 80);
}

// The classic tool counts TRACING as execution; ours counts it as overhead.
TEST_P(Reference, CountsTracingAsOverhead) {
  const Values ours = values_of(ours_), classic = values_of(classic_);
  int rows = 0;
  for (const auto& [path, row] : classic.at("execution")) {
    if (!path.ends_with("/TRACING")) continue;
    ++rows;
    EXPECT_EQ(ours.at("execution").count(path), 0u);
    EXPECT_EQ(classic.count("overhead"), 0u);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_NEAR(ours.at("overhead").at(path)[rank], row[rank], 1e-9) << path << ", rank " << rank;
    }
  }
  EXPECT_EQ(rows, 2);  // in MPI_Init and in MPI_Finalize
}

TEST_P(Reference, PassesTheChecks) {
  EXPECT_EQ(support::check_report(ours_), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Classic, Reference, ::testing::Values("fence", "gats"),
                         [](const auto& one) { return std::string(one.param); });

class FenceReference : public Reference {};
INSTANTIATE_TEST_SUITE_P(Classic, FenceReference, ::testing::Values("fence"));

// The classic tool counts MPI_Accumulate as no communication at all.
TEST_P(FenceReference, CountsAccumulate) {
  const std::string path = "PARALLEL/MPI_Accumulate";
  // Three calls of each rank, exit - enter as the listing has them.
  const double expected[] = {(0.470866 - 0.470845) + (0.694497 - 0.694475) + (0.918398 - 0.918369),
                             (0.470908 - 0.470865) + (0.694542 - 0.694506) + (0.918430 - 0.918400),
                             (0.470900 - 0.470853) + (0.694532 - 0.694482) + (0.918427 - 0.918370),
                             (0.470879 - 0.470836) + (0.744566 - 0.694519) + (0.918413 - 0.918388)};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(ours_.at_path("mpi_rma_communication", path, rank), expected[rank], kListing);
    EXPECT_NEAR(ours_.at_path("mpi_communication", path, rank), expected[rank], kListing);
    EXPECT_EQ(classic_.at_path("mpi_rma_communication", path, rank), 0);
  }
}

// Metrics that the classic tool does not have.
TEST_P(FenceReference, HasMetricsOfItsOwn) {
  // MPI_Allreduce: exits at 1.506406 (the first), 1.506414, 1.506437, 1.506454; all had entered.
  const double exits[] = {1.506406, 1.506414, 1.506437, 1.506454};
  const std::string allreduce = "PARALLEL/MPI_Allreduce", fence = "PARALLEL/MPI_Win_fence";
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(ours_.at_path("mpi_nxn_completion", allreduce, rank), exits[rank] - exits[0],
                kListing);
    EXPECT_EQ(ours_.at_path("bytes_sent_coll", allreduce, rank), 16);
    // Three puts and three accumulates of an int each; three gets of an int each.
    EXPECT_EQ(ours_.sum("bytes_put", "*", rank), 24);
    EXPECT_EQ(ours_.sum("bytes_get", "*", rank), 12);
    // Seven fences close six epochs with three other members; one of them is used in each.
    EXPECT_EQ(ours_.at_path("mpi_rma_pairsync_count", fence, rank), 18);
    EXPECT_EQ(ours_.at_path("mpi_rma_pairsync_unneeded_count", fence, rank), 12);
  }
}

class GatsReference : public Reference {};
INSTANTIATE_TEST_SUITE_P(Classic, GatsReference, ::testing::Values("gats"));

TEST_P(GatsReference, HasMetricsOfItsOwn) {
  const std::string complete = "PARALLEL/MPI_Win_complete", wait = "PARALLEL/MPI_Win_wait";
  for (int rank = 1; rank < 4; ++rank) {
    // Four access epochs with one target, which each of them used.
    EXPECT_EQ(ours_.at_path("mpi_rma_pairsync_count", complete, rank), 4);
    EXPECT_EQ(ours_.at_path("mpi_rma_pairsync_unneeded_count", complete, rank), 0);
    EXPECT_EQ(ours_.sum("bytes_put", "*", rank), 16);  // four puts of an int
    EXPECT_EQ(ours_.sum("bytes_get", "*", rank), 12);  // three gets of an int
    // One target: the first post is the last one.
    const std::string start = "PARALLEL/MPI_Win_start";
    EXPECT_EQ(ours_.at_path("mpi_rma_latepost_first", start, rank),
              ours_.at_path("mpi_rma_latepost", start, rank));
  }
  // The last origin to complete also made the last transfer in both epochs with a late complete.
  EXPECT_EQ(ours_.at_path("mpi_rma_latecomplete_pair", wait, 0),
            ours_.at_path("mpi_rma_latecomplete", wait, 0));
}

}  // namespace
}  // namespace kojak::expert
