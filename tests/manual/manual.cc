#include "tests/manual/manual.h"

#include "tests/support/temp_dir.h"

namespace kojak::test {
namespace {

// Lines without spaces at their ends, as the manual has them.
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    result.push_back(line);
  }
  return result;
}

}  // namespace

void run_example(const std::string& text, const std::string& expected,
                 const std::function<void(earl::Archive&, earl::Trace&)>& example) {
  const TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  auto bytes = text_to_trace(text);
  ASSERT_TRUE(bytes) << bytes.error().message();
  write_file(dir.file("a.elg"), *bytes);
  auto trace = earl::Trace::open(dir.file("a.elg"));
  auto archive = earl::Archive::from(std::move(*bytes), "text");
  ASSERT_TRUE(trace && archive);
  std::ostringstream written;
  std::streambuf* const out = std::cout.rdbuf(written.rdbuf());
  std::filesystem::current_path(dir.file(""));
  example(*archive, *trace);
  std::filesystem::current_path(before);
  std::cout.rdbuf(out);
  EXPECT_EQ(lines(written.str()), lines(expected));
}

}  // namespace kojak::test
