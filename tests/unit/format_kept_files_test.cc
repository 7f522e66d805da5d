// Files that are kept for work that is begun again: there as a whole, for the same key and request,
// or not there.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "epilog/format/io/kept_files.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class KeptFilesIn : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return dir.file("kept/" + name); }
  const test::TempDir dir;
  const KeptFiles files{dir.file("kept"), "key"};
  const std::vector<std::byte> request = bytes_of("request"), answer = bytes_of("the answer");
};

TEST_F(KeptFilesIn, AreThereForTheSameKeyAndRequest) {
  EXPECT_FALSE(files.has("part-1"));
  EXPECT_EQ(files.find("part-1", request), std::nullopt);
  EXPECT_FALSE(files.keep("part-1", request, answer));  // there is no folder
  ASSERT_TRUE(files.open());
  ASSERT_TRUE(files.keep("part-1", request, answer));
  EXPECT_TRUE(files.has("part-1"));
  EXPECT_EQ(files.find("part-1", request), answer);
  EXPECT_EQ(files.find("part-1", bytes_of("requesT")), std::nullopt);
  EXPECT_EQ(files.find("part-1", {}), std::nullopt);
  EXPECT_EQ(files.find("part-2", request), std::nullopt);
  const KeptFiles same(dir.file("kept"), "key"), other(dir.file("kept"), "keY");
  EXPECT_EQ(same.find("part-1", request), answer);
  EXPECT_FALSE(other.has("part-1"));
  EXPECT_EQ(other.find("part-1", request), std::nullopt);
}

TEST_F(KeptFilesIn, TakeTheLastAnswer) {
  ASSERT_TRUE(files.open());
  ASSERT_TRUE(files.keep("a", request, answer));
  ASSERT_TRUE(files.keep("a", request, {}));
  EXPECT_EQ(files.find("a", request), std::vector<std::byte>());
  ASSERT_TRUE(files.keep("a", {}, answer));  // to whatever is asked
  EXPECT_EQ(files.find("a", request), answer);
  EXPECT_EQ(files.find("a", {}), answer);
}

TEST_F(KeptFilesIn, AreNotThereWhereTheyAreCutOffOrChanged) {
  ASSERT_TRUE(files.open());
  ASSERT_TRUE(files.keep("a", request, answer));
  const std::string whole = test::read_text(path("a.kept"));
  ASSERT_EQ(whole.size(), 80 + answer.size());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    test::write_file(path("a.kept"), whole.substr(0, n));
    EXPECT_FALSE(files.has("a")) << n;
    EXPECT_EQ(files.find("a", request), std::nullopt) << n;
    std::string changed = whole;
    changed[n] = static_cast<char>(changed[n] ^ 1);
    test::write_file(path("a.kept"), changed);
    EXPECT_EQ(files.find("a", request), std::nullopt) << n;
    EXPECT_TRUE(files.open()) << n;  // damage is not another key
  }
  test::write_file(path("a.kept"), whole + "x");
  EXPECT_EQ(files.find("a", request), std::nullopt);
  ASSERT_TRUE(files.keep("a", request, answer));
  EXPECT_EQ(test::read_text(path("a.kept")), whole);
}

TEST_F(KeptFilesIn, ThoseOfAnotherKeyAreRefused) {
  const KeptFiles other(dir.file("kept"), "other");
  ASSERT_TRUE(files.open());
  EXPECT_TRUE(other.open());
  ASSERT_TRUE(files.keep("a", request, answer));
  EXPECT_TRUE(files.open());
  const Status refused = other.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ExitCode::kUsage);
  EXPECT_EQ(refused.error().file, dir.file("kept"));
  other.clear();
  EXPECT_TRUE(files.has("a"));
}

TEST_F(KeptFilesIn, OwnFilesGoAndOthersStay) {
  ASSERT_TRUE(files.open());
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(files.keep(name, request, answer));
  fs::resize_file(path("b.kept"), 70);
  test::write_file(path(".c.kept.1234.part"), std::string("begun"));
  for (const char* name : {"mine.kept", "mine", ".mine.part", "empty.kept"})
    test::write_file(path(name), std::string(name == std::string("empty.kept") ? "" : "mine"));
  ASSERT_EQ(::mkfifo(path("pipe.kept").c_str(), 0600), 0);
  fs::create_directory(path("folder.kept"));
  EXPECT_TRUE(files.open());
  EXPECT_FALSE(files.has("pipe"));
  files.clear();
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(dir.file("kept")))
    left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"mine.kept", "mine", ".mine.part", "empty.kept",
                                         "pipe.kept", "folder.kept"}));
}

TEST_F(KeptFilesIn, SayWhereNothingCanBeKept) {
  test::write_file(dir.file("file"), std::string("text"));
  const Status made = KeptFiles(dir.file("file/kept"), "key").open();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ExitCode::kOutputFailed);
  EXPECT_FALSE(KeptFiles(dir.file("file"), "key").open());
  ASSERT_TRUE(files.open());
  fs::create_directory(path("a.kept"));
  const Status kept = files.keep("a", request, answer);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ExitCode::kOutputFailed);
  EXPECT_EQ(kept.error().file, path("a.kept"));
}

TEST(KeptFiles, KeepNothingWithoutAFolder) {
  const KeptFiles nothing;
  EXPECT_FALSE(nothing);
  EXPECT_TRUE(nothing.keep("a", {}, {}));
  EXPECT_FALSE(nothing.has("a"));
  EXPECT_EQ(nothing.find("a", {}), std::nullopt);
  nothing.clear();
}

}  // namespace
}  // namespace kojak
