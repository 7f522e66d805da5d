// An analysis by several processes that is begun again: whichever of their answers were kept, the
// report is the same, and what was kept is taken.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "tests/support/merge_runs.h"
#include "tests/support/passive_program.h"
#include "tests/unit/parallel_in_parts.h"

namespace kojak::test {
namespace {

namespace fs = std::filesystem;

class Restarted : public ::testing::Test {
 protected:
  // A program whose run can be cut into three or more; what the whole run shows of transfers and
  // locks decides about its waits, or not.
  void make(std::uint64_t seed) {
    const std::vector<std::string> traces = support::passive_program(seed);
    run_.emplace(static_cast<std::uint32_t>(traces.size()));
    for (std::uint32_t p = 0; p < traces.size(); ++p) run_->add(p, traces[p]);
    options_ = run_->options();
    options_.output.clear();
    options_.format = merge::Format::kCompact;
  }
  // Its report, by three processes; or why there is none.
  std::string report(const KeptFiles& kept) {
    notes_.clear();
    parallel::Parts parts;
    const auto cut =
        parts.cut({.merge = &options_, .at = "/3", .kept = kept, .note = [&](auto& text) {
                     notes_.push_back(text);
                   }});
    if (!cut) return cut.error().message();
    if (!*cut) return "";
    html::TimelineReader page(kFew);
    expert::AnalysisOptions options = wanted();
    options.page = &page;
    auto report = parts.analyse(options);
    if (!report) return report.error().message();
    if (!*report) return "";
    return words_of(**report, dir_.file("report.cube"), page.finish(parts.events()));
  }
  KeptFiles kept(const std::string& name) const {
    const KeptFiles files(dir_.file(name), "key");
    if (Status status = files.open(); !status) throw std::runtime_error(status.error().message());
    return files;
  }
  // A file that is written again is another one.
  ino_t file_of(const std::string& folder, const std::string& name) const {
    struct stat status {};
    if (::stat((dir_.file(folder) + "/" + name + ".kept").c_str(), &status) != 0)
      throw std::runtime_error(name);
    return status.st_ino;
  }
  const TempDir dir_;
  std::optional<LocalRun> run_;
  merge::MergeOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(Restarted, FromWhateverIsThere) {
  const std::vector<std::string> names = {"survey-0", "part-0", "part-1", "sums-0", "sums-1"};
  std::size_t decided = 0, undecided = 0;
  for (std::uint64_t seed = 1; decided + undecided < 4 || decided == 0 || undecided == 0; ++seed) {
    ASSERT_LT(seed, 200u);
    make(seed);
    const KeptFiles all = kept("all" + std::to_string(seed));
    const std::string whole = report(all);
    if (whole.empty() || !all.has("sums-1")) continue;
    EXPECT_EQ(whole, analysed_whole(options_, dir_.file("whole.cube"), kFew)) << seed;
    EXPECT_EQ(notes_, std::vector<std::string>());
    for (const std::string& name : names) EXPECT_TRUE(all.has(name)) << seed << ' ' << name;
    // (Sums that nothing decides any more answer whatever is asked.)
    ++(all.find("sums-0", {}) ? decided : undecided);
    for (unsigned some = 0; some < 1u << names.size(); some += seed % 2 == 0 ? 1 : 3) {
      const std::string folder = std::to_string(seed) + "-" + std::to_string(some);
      const KeptFiles files = kept(folder);
      std::size_t there = 0;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((some >> i & 1) == 0) continue;
        fs::copy(dir_.file("all" + std::to_string(seed)) + "/" + names[i] + ".kept",
                 dir_.file(folder));
      }
      for (const char* k : {"0", "1"})
        there += files.has(std::string("part-") + k) && files.has(std::string("sums-") + k);
      std::map<std::string, ino_t> taken;  // what need not be written again
      for (const std::string& name : names) {
        const bool sums = name.starts_with("sums-");
        if (files.has(name) && (!sums || files.has("part-" + name.substr(5))))
          taken[name] = file_of(folder, name);
      }
      EXPECT_EQ(report(files), whole) << folder;
      for (const auto& [name, file] : taken)
        EXPECT_EQ(file_of(folder, name), file) << folder << ' ' << name;
      std::vector<std::string> notes;
      if (there != 0) notes.push_back(std::to_string(there) + " of 3 parts were there");
      EXPECT_EQ(notes_, notes) << folder;
      for (const std::string& name : names) EXPECT_TRUE(files.has(name)) << folder << ' ' << name;
      files.clear();
      EXPECT_TRUE(fs::is_empty(dir_.file(folder)));
    }
  }
  EXPECT_GE(undecided, 2u);
  EXPECT_GE(decided, 1u);
}

// What lies there is the answer, as it would be if a process gave it.
TEST_F(Restarted, TakesWhatIsThere) {
  std::uint64_t seed = 1;
  for (make(seed); report({}).empty(); make(++seed)) ASSERT_LT(seed, 200u);
  const std::vector<std::byte> no_answer(3);
  const std::string whole = report({});
  for (const char* name : {"survey-0", "part-0", "sums-0", "part-1", "sums-1"}) {
    const KeptFiles files = kept(name);
    EXPECT_EQ(report(files), whole);
    ASSERT_TRUE(files.keep(name, {}, no_answer));
    EXPECT_NE(report(files).find("cannot be read"), std::string::npos) << name;
  }
  // Of another request it is not.
  const KeptFiles files = kept("other");
  ASSERT_TRUE(files.keep("part-0", no_answer, no_answer));
  EXPECT_EQ(report(files), whole);
}

// Which names what can be kept no more, and keeps what was.
TEST_F(Restarted, SaysWhatCannotBeKept) {
  std::uint64_t seed = 1;
  for (make(seed); report({}).empty(); make(++seed)) ASSERT_LT(seed, 200u);
  for (const char* name : {"survey-0", "part-0", "part-1"}) {
    const KeptFiles files = kept(name);
    const std::string file = dir_.file(name) + "/" + name + ".kept";
    fs::create_directory(file);
    const std::string said = report(files);
    EXPECT_NE(said.find(file + ": cannot be written"), std::string::npos) << said;
    EXPECT_EQ(files.has("survey-0"), name != std::string("survey-0"));
    fs::remove(file);
    EXPECT_EQ(report(files), report({}));
  }
}

}  // namespace
}  // namespace kojak::test
