// What of a name reaches a terminal, a spreadsheet and elg_print's lines.
#include <gtest/gtest.h>

#include "epilog/format/text/csv_cell.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/printable.h"
#include "epilog/format/text/text_lines.h"

namespace kojak {
namespace {

// ESC, C1 as two bytes and as a broken one, DEL, an override of the direction and its isolates.
constexpr const char* kObeyed[] = {"\x1b",   "\xC2\x9B", "\x9B",   "\x7F",   "\a",
                                   "\u202E", "\u2066",   "\u2069", "\u200F", "\u061C"};

TEST(Printable, WhatATerminalObeysIsReplaced) {
  for (const std::string bad : kObeyed) {
    EXPECT_EQ(printable("a" + bad + "b"), "a\uFFFDb") << bad;
  }
  EXPECT_EQ(printable("a\nb\tc"), "a\uFFFDb\uFFFDc");
  EXPECT_EQ(printable("a\nb\tc", true), "a\nb\uFFFDc");
}
TEST(Printable, AllElseStays) {
  for (const std::string good :
       {"", "solve", "L\u00F6ser", "\u00A0", "\u65E5\u672C", "\U0001F600"}) {
    EXPECT_EQ(printable(good), good);
  }
}

std::string cell(const std::string& text) {
  std::string out;
  append_csv_cell(out, text);
  return out;
}

TEST(CsvCell, FormulasAreTexts) {
  EXPECT_EQ(cell("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(cell("@sum"), "\"'@sum\"");
  EXPECT_EQ(cell("+f(1)"), "\"'+f(1)\"");
  EXPECT_EQ(cell("-1+f(\"x\")"), "\"'-1+f(\"\"x\"\")\"");
  EXPECT_EQ(cell("-"), "\"'-\"");
}
TEST(CsvCell, NumbersAreNumbers) {
  for (const std::string number : {"0", "-1.5", "+2", "-1e-09", "1e+20", "-inf", ".5", "-.5"}) {
    EXPECT_EQ(cell(number), number);
  }
}
TEST(CsvCell, NamesAreOneCell) {
  EXPECT_EQ(cell("a,b"), "\"a,b\"");
  EXPECT_EQ(cell("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(cell("a\nb"), "a\uFFFDb");
  EXPECT_EQ(cell("a\x1b[31m"), "a\uFFFD[31m");
  EXPECT_EQ(cell("a-b=c"), "a-b=c");
}

TEST(PrintQuoted, EscapesWhatATerminalObeysAndComesBack) {
  for (const std::string bad : kObeyed) {
    const std::string name = "L\u00F6s" + bad + "7";
    std::string quoted;
    print_quoted(name, quoted);
    EXPECT_EQ(printable(quoted), quoted) << bad;
    EXPECT_NE(quoted.find("L\u00F6s"), std::string::npos);
    const auto lines = text::parse_lines("STRING str=" + quoted + "\n", "text");
    ASSERT_TRUE(lines.ok());
    EXPECT_EQ(lines->at(0).values.at(0).text, name);
  }
}

}  // namespace
}  // namespace kojak
