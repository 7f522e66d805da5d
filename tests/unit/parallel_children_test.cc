// What goes from one process to another: values as bytes, and processes that give them, fail or
// die.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <system_error>

#include "epilog/format/archive.h"
#include "epilog/format/mpi_functions.h"
#include "expert/parallel/children.h"
#include "expert/parallel/task.h"
#include "tests/support/temp_dir.h"

namespace kojak::parallel {
namespace {

struct Inner {
  std::vector<int> numbers;
  std::string text;
  template <class Archive>
  void visit(Archive& archive) {
    archive(numbers, text);
  }
  bool operator==(const Inner&) const = default;
};
struct All {
  double number = 0;
  std::map<std::pair<int, int>, Inner> inner;
  std::set<std::uint32_t> few;
  std::vector<Inner> many;
  std::optional<Inner> there, not_there;
  const MpiFunction* function = nullptr;
  template <class Archive>
  void visit(Archive& archive) {
    archive(number, inner, few, many, there, not_there);
    archive.pointer(function, mpi_functions());
  }
  bool operator==(const All&) const = default;
};

All some() {
  return {0.1,
          {{{1, 2}, {{3, 4}, "five"}}, {{1, 3}, {}}},
          {7, 9},
          {{{1}, "a"}, {{}, ""}},
          Inner{{2}, "there"},
          {},
          find_mpi_function("MPI_Recv")};
}

TEST(Archive, GivesBackWhatWasPutIn) {
  All all = some(), other;
  Packer packer;
  packer(all);
  Unpacker unpacker(packer.bytes());
  unpacker(other);
  EXPECT_TRUE(unpacker.good());
  EXPECT_EQ(other, all);
}

TEST(Archive, KnowsWhatIsCutOff) {
  All all = some();
  Packer packer;
  packer(all);
  for (std::size_t n = 0; n < packer.bytes().size(); ++n) {
    All other;
    Unpacker unpacker(std::span(packer.bytes()).first(n));
    unpacker(other);
    EXPECT_FALSE(unpacker.good()) << n;
  }
  std::vector<std::byte> more = packer.bytes();
  more.push_back({});
  All other;
  Unpacker unpacker(more);
  unpacker(other);
  EXPECT_FALSE(unpacker.good());
}

TEST(Children, GiveTheirBytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 20;  // more than a pipe holds
  Children children;
  ASSERT_TRUE(children.start(3, [](std::size_t k, const Children::Ask&) -> Bytes {
    return std::vector<std::byte>(kLarge * k, static_cast<std::byte>(k));
  }));
  for (std::size_t k = 0; k < 3; ++k) {
    auto bytes = children.hear(k);
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(*bytes, std::vector<std::byte>(kLarge * k, static_cast<std::byte>(k)));
  }
}

// A child that asks is heard, and goes on with what it is told; what it gives then is the last.
TEST(Children, AskInBetween) {
  Children children;
  ASSERT_TRUE(children.start(3, [](std::size_t k, const Children::Ask& ask) -> Bytes {
    if (k == 2) std::raise(SIGKILL);
    std::vector<std::byte> answer = ask(std::vector<std::byte>(k + 1));
    answer.push_back(static_cast<std::byte>(k));
    return answer;
  }));
  for (std::size_t k = 0; k < 2; ++k) {
    const auto asked = children.hear(k);
    ASSERT_TRUE(asked) << asked.error().message();
    EXPECT_EQ(asked->size(), k + 1);
  }
  EXPECT_FALSE(children.hear(2));
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<std::byte> answer(kLarge, std::byte{7});
    children.tell(k, answer);
    answer.push_back(static_cast<std::byte>(k));
    const auto given = children.hear(k);
    ASSERT_TRUE(given) << given.error().message();
    EXPECT_EQ(*given, answer);
  }
}

// One that says nothing for long is named, and of those behind it none.
TEST(Children, WhoIsWaitedForIsNamedOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) {
    notes.push_back(text);
    EXPECT_EQ(::write(ends[1], "go", 2), 2);
  };
  Children children(Patience(note, std::chrono::milliseconds(1)));
  ASSERT_TRUE(children.start(2, [&](std::size_t, const Children::Ask&) -> Bytes {
    char go = 0;
    if (::read(ends[0], &go, 1) != 1) return Error{.reason = "nobody said go"};
    return std::vector<std::byte>(1);
  }));
  for (std::size_t k = 0; k < 2; ++k) EXPECT_TRUE(children.hear(k));
  EXPECT_EQ(notes, std::vector<std::string>{
                       "waits for part 1 of 3, of which nothing was heard for a minute"});
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Children, SayWhyTheyFail) {
  Children children;
  ASSERT_TRUE(children.start(5, [](std::size_t k, const Children::Ask&) -> Bytes {
    if (k == 0) return Error{.code = ExitCode::kBadInput, .reason = "cannot be read"};
    if (k == 1) throw std::bad_alloc();
    if (k == 2) std::raise(SIGKILL);
    if (k == 3) throw std::system_error(EAGAIN, std::generic_category(), "no thread");
    ::_exit(0);
  }));
  const char* const words[] = {
      "part 1 of 6 could not be analysed: cannot be read",
      "part 2 of 6 could not be analysed: there is not enough memory",
      "part 3 of 6 could not be analysed: it was ended by signal 9 (killed",
      "part 4 of 6 could not be analysed: no thread: ",
      "part 5 of 6 could not be analysed: it ended before it was done"};
  for (std::size_t k = 0; k < 5; ++k) {
    const auto bytes = children.hear(k);
    ASSERT_FALSE(bytes);
    EXPECT_NE(bytes.error().message().find(words[k]), std::string::npos) << bytes.error().message();
    EXPECT_EQ(bytes.error().code, k == 0 ? ExitCode::kBadInput : ExitCode::kOutputFailed);
  }
}

// What others write beside the traces is not what is analysed.
TEST(Task, IsTheSameForTheSameTraces) {
  const test::TempDir dir;
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(dir.file(name)) << text;
  };
  const auto task = [&] { return task_of({"expert", "run"}, dir.file("")); };
  write("0.0.elg", "trace");
  const std::string before = task();
  EXPECT_NE(task_of({"expert", "--full", "run"}, dir.file("")), before);
  write("a.cube", "report");
  write("other.cube.part", "");
  EXPECT_EQ(task(), before);
  for (const char* name : {"1.0.elg", "0.0.buf", "2.0.elg.gz", "0.0.elg"}) {
    const std::string without = task();
    write(name, "more");
    EXPECT_NE(task(), without) << name;
  }
}

// Those that are not asked are ended, also where they have more to say than the pipe holds.
TEST(Children, EndWithWhoStartedThem) {
  Children children;
  ASSERT_TRUE(children.start(2, [](std::size_t k, const Children::Ask&) -> Bytes {
    if (k == 0) ::pause();
    return std::vector<std::byte>(std::size_t{1} << 20);
  }));
}

}  // namespace
}  // namespace kojak::parallel
