// Which lines a card shows: of a function, between two calls, and round a loop.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "expert/page/verdict/excerpt.h"

namespace kojak::html {
namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "2 call after this;3 inside;0 round the loop"
std::string rows(const std::string& text, const ExcerptLines& wanted,
                 Blocks blocks = Blocks::kBraces) {
  std::string said;
  for (const ExcerptRow& row : excerpt_of(lines_in(text), wanted, blocks)) {
    said += (said.empty() ? "" : ";") + std::to_string(row.line);
    if (!row.mark.empty()) said += ' ' + row.mark;
    if (!row.note.empty()) said += ' ' + row.note;
  }
  return said;
}

ExcerptLines between(long after, long before) {
  ExcerptLines lines;
  lines.after = after;
  lines.before = before;
  return lines;
}

const char* const kLoop = R"(int main() {
  setup();
  for (int i = 0; i < 9; ++i) {  // } no end
    const char* s = "}";
    MPI_Barrier(comm);
    compute('}');
    MPI_Send(s);
    /* }
    } */ rest();
  }
}
)";

TEST(HtmlExcerpt, BetweenTwoCalls) {
  EXPECT_EQ(rows(kLoop, between(5, 7)), "5 call after this;6 inside;7 call before this");
}

TEST(HtmlExcerpt, RoundALoopFromItsEndToItsHead) {
  // After MPI_Send in line 7 to MPI_Barrier in line 5 of the next turn: line 6 is not in it.
  EXPECT_EQ(rows(kLoop, between(7, 5)),
            "7 call after this;8 inside;9 inside;10 inside;0 round the loop;3 inside;4 inside;"
            "5 call before this");
  EXPECT_EQ(rows(kLoop, between(5, 5)),
            "5 call after and before this;6 inside;7 inside;8 inside;9 inside;10 inside;"
            "0 round the loop;3 inside;4 inside");
}

TEST(HtmlExcerpt, TheInnermostLoopThatHoldsBoth) {
  const char* const text = R"(void f() {
  while (more) {
    do
    {
      a();
    } while (again);
    b();
    if (x) { c(); }
  }
}
)";
  EXPECT_EQ(rows(text, between(7, 5)),
            "7 call after this;8 inside;9 inside;0 round the loop;2 inside;3 inside;4 inside;"
            "5 call before this");
  EXPECT_EQ(rows(text, between(5, 5)),
            "5 call after and before this;6 inside;0 round the loop;3 inside;4 inside");
}

TEST(HtmlExcerpt, WithoutALoopTheTwoCalls) {
  EXPECT_EQ(rows("void f() {\n  a();\n  x();\n  b();\n}\n", between(4, 2)),
            "2 call before this;0 ...;4 call after this");
}

TEST(HtmlExcerpt, FortranLoops) {
  const char* const text = R"(subroutine f
  outer: do i = 1, 9
    call MPI_Barrier(c) ! end do
    do while (x)
      call g
    enddo
    call MPI_Send(s)
  END DO outer
end subroutine
)";
  EXPECT_EQ(rows(text, between(7, 3), Blocks::kFortran),
            "7 call after this;8 inside;0 round the loop;2 inside;3 call before this");
}

TEST(HtmlExcerpt, AFunctionWithItsHotLines) {
  ExcerptLines lines;
  lines.begin = 2;
  lines.hot = {{4, "67 %"}, {5, "31 %"}};
  EXPECT_EQ(
      rows("// f\nint f(int a) {\n  if (a) {\n    b();\n    c(); }\n  return a;\n}\nint g();\n",
           lines),
      "2 inside;3 inside;4 hot 67 %;5 hot 31 %;6 inside;7 inside");
}

TEST(HtmlExcerpt, OfALongFunctionWhatIsAroundTheHotLines) {
  std::string text = "void f() {\n";
  for (int i = 2; i < 60; ++i) text += "  g();\n";
  ExcerptLines lines;
  lines.begin = 1;
  lines.hot = {{10, "60 %"}, {40, "40 %"}};
  const std::vector<ExcerptRow> found = excerpt_of(lines_in(text + "}\n"), lines, Blocks::kBraces);
  ASSERT_EQ(found.size(), 21u);  // ten around each, and a gap
  EXPECT_EQ(found.front().line, 5);
  EXPECT_EQ(found[5].note, "60 %");
  EXPECT_EQ(found[10].note, "...");
  EXPECT_EQ(found.back().line, 44);
}

TEST(HtmlExcerpt, NothingBeyondTheFile) {
  EXPECT_EQ(rows("a\nb\n", between(0, 2)), "1;2 call");
  EXPECT_EQ(rows("", between(3, 9)), "");
}

const char* const kPython = R"py(def relax(n,
          s):
    """Text of
for nobody:
    """
    total = {"a": ")",
             "b": 2}

    for i in range(n):  # while
        if total:
            total[i] = \
                s
    # a comment

    return total

def main():
    while True:
        comm.Barrier()
        relax(1, 2)
        comm.Send(x)
        done()
    comm.Free()
)py";

TEST(HtmlExcerpt, PythonByIndentation) {
  // From Send in line 21 to Barrier in line 19 of the next turn.
  EXPECT_EQ(rows(kPython, between(21, 19), Blocks::kPython),
            "21 call after this;22 inside;0 round the loop;18 inside;19 call before this");
  EXPECT_EQ(rows(kPython, between(19, 21), Blocks::kPython),
            "19 call after this;20 inside;21 call before this");
  // relax() from its first line to its last.
  ExcerptLines lines;
  lines.begin = 1;
  lines.hot = {{11, "90 %"}};
  EXPECT_EQ(rows(kPython, lines, Blocks::kPython),
            "1 inside;2 inside;3 inside;4 inside;5 inside;6 inside;7 inside;8 inside;9 inside;"
            "10 inside;11 hot 90 %;12 inside;13 inside;14 inside;15 inside");
}

}  // namespace
}  // namespace kojak::html
