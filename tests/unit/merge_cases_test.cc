// Runs every tests/cases/merge/*.case: local traces in text, and where each transfer must end.
//
// Sections: `--- run size=N` (default: as many as traces name), `--- trace RANK [THREAD]`, `---
// ends` (a line for each end, in file order), `--- findings` (all that the merge reports, with
// counts),
// `--- closed N...` (regions that the merge closes at the end of each trace).
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

namespace fs = std::filesystem;
using support::check_merge;
using support::check_models;
using support::ends_in_words;
using support::MergeCheck;

struct Trace {
  std::uint32_t rank = 0, thread = 0;
  std::string text;
};
struct Case {
  std::uint32_t size = 0;
  std::vector<Trace> traces;
  std::vector<std::string> ends;
  std::map<std::string, std::uint64_t> findings;
  std::vector<std::uint32_t> closed;
};

Case read_case(const std::string& path) {
  Case c;
  std::istringstream in(read_text(path));
  std::string line, section;
  while (std::getline(in, line)) {
    if (line.starts_with("--- ")) {
      std::istringstream words(line.substr(4));
      words >> section;
      if (section == "run") {
        std::string size;
        words >> size;
        c.size = static_cast<std::uint32_t>(std::stoul(size.substr(5)));
      } else if (section == "trace") {
        Trace trace;
        words >> trace.rank;
        if (!(words >> trace.thread)) trace.thread = 0;
        c.traces.push_back(trace);
        c.size = std::max(c.size, trace.rank + 1);
      } else if (section == "closed") {
        std::uint32_t n;
        while (words >> n) c.closed.push_back(n);
      }
      continue;
    }
    if (line.empty() || line[0] == '#') continue;
    if (section == "trace") c.traces.back().text += line + "\n";
    if (section == "ends") c.ends.push_back(line);
    if (section == "findings") {
      std::istringstream words(line);
      std::string name;
      words >> name;
      words >> c.findings[name];
    }
  }
  return c;
}

std::map<std::string, std::uint64_t> findings_of(const merge::Summary& summary) {
  std::map<std::string, std::uint64_t> found;
  for (std::size_t i = 0; i < static_cast<std::size_t>(merge::Finding::kCount); ++i) {
    const auto finding = static_cast<merge::Finding>(i);
    if (summary[finding].count != 0) {
      found[merge::finding_info(finding).name] = summary[finding].count;
    }
  }
  return found;
}

class MergeCase : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    case_ = read_case(std::string(KOJAK_CASES_DIR) + "/merge/" + GetParam() + ".case");
    run_ = std::make_unique<LocalRun>(case_.size);
    for (const Trace& trace : case_.traces) run_->add(trace.rank, trace.text, trace.thread);
    check_.closed = case_.closed;
  }
  Case case_;
  std::unique_ptr<LocalRun> run_;
  MergeCheck check_;
};

TEST_P(MergeCase, EndsWhereItsEpochsSay) {
  const merge::Summary summary = run_->merge();
  EXPECT_EQ(ends_in_words(run_->merged), case_.ends);
  EXPECT_EQ(findings_of(summary), case_.findings);
  EXPECT_EQ(check_merge(run_->locals, run_->merged, check_), std::vector<std::string>());
}

TEST_P(MergeCase, BasicModelIsTheSameWithEndsPutBack) {
  run_->merge();
  const std::vector<std::byte> extended = run_->merged;
  merge::MergeOptions options = run_->options();
  options.model = merge::Model::kBasic;
  run_->merge(options);
  check_.extended = false;
  EXPECT_EQ(check_merge(run_->locals, run_->merged, check_), std::vector<std::string>());
  EXPECT_EQ(check_models(run_->merged, extended), std::vector<std::string>());
}

TEST_P(MergeCase, DependsOnNothingButTheInputs) {
  run_->merge();
  const std::vector<std::byte> merged = run_->merged;
  merge::MergeOptions options = run_->options();
  std::reverse(options.inputs.begin(), options.inputs.end());
  options.open_files = 1;
  run_->merge(options);
  EXPECT_EQ(run_->merged, merged) << "another order of arguments, one open file";
  options.inputs = {run_->dir.path().string()};  // a.elg in it is no local trace
  const merge::Summary summary = run_->merge(options);
  EXPECT_EQ(run_->merged, merged) << "the directory";
  EXPECT_EQ(summary[merge::Finding::kNotLocal].count, 1u);
}

TEST_P(MergeCase, EndsInTheSpillFileGiveTheSame) {
  run_->merge();
  const std::vector<std::byte> merged = run_->merged;
  merge::MergeOptions options = run_->options();
  options.pool = 1;
  const merge::Summary summary = run_->merge(options);
  EXPECT_EQ(run_->merged, merged);
  EXPECT_GT(summary.reread, 0u);
}

TEST_P(MergeCase, CompressedInputGivesTheSame) {
  run_->merge();
  const std::vector<std::byte> merged = run_->merged;
  merge::MergeOptions options = run_->options();
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const std::string path = run_->dir.file("packed" + std::to_string(i) + ".gz");
    gzFile file = gzopen(path.c_str(), "wb");
    const auto size = static_cast<unsigned>(run_->locals[i].size());
    ASSERT_EQ(gzwrite(file, run_->locals[i].data(), size), static_cast<int>(size));
    ASSERT_EQ(gzclose(file), Z_OK);
    options.inputs[i] = path;
  }
  run_->merge(options);
  EXPECT_EQ(run_->merged, merged);
}

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(std::string(KOJAK_CASES_DIR) + "/merge")) {
    if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, MergeCase, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace kojak::test
