// Lines of Python code objects from their tables of locations, as CPython's Objects/locations.md
// describes them: each entry begins with 0x80 | code << 3 | units - 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "epilog/runtime/python_text.h"

namespace kojak::measure {
namespace {

using Table = std::vector<unsigned char>;

unsigned char head(unsigned code, unsigned units) {
  return static_cast<unsigned char>(0x80 | code << 3 | (units - 1));
}

std::uint32_t line(const Table& table, std::uint64_t unit) {
  return python_line(table.data(), table.size(), 100, unit);
}

TEST(PythonLine, ShortFormsStayInTheLine) {
  const Table table = {head(3, 2), 0x15, head(0, 1), 0x01};
  for (const std::uint64_t unit : {0, 1, 2}) EXPECT_EQ(line(table, unit), 100u);
  EXPECT_EQ(line(table, 3), 0u);  // behind the code
}

TEST(PythonLine, OneLineFormsAddUpToTwo) {
  const Table table = {head(11, 1), 4, 8, head(10, 1), 4, 8, head(12, 3), 4, 8};
  EXPECT_EQ(line(table, 0), 101u);
  EXPECT_EQ(line(table, 1), 101u);
  for (const std::uint64_t unit : {2, 3, 4}) EXPECT_EQ(line(table, unit), 103u);
}

// Signed numbers have their sign in the lowest bit, and six bits in each byte; bit 6: more follow.
TEST(PythonLine, OtherFormsAddASignedNumber) {
  // 13: +200 = value 400 = 16 + 6 * 64; 13: -3 = value 7; 14: +1 = value 2, end line 0, columns.
  const Table table = {head(13, 1), 0x40 | 16, 6, head(13, 8), 7, head(14, 1), 2, 0, 1, 5};
  EXPECT_EQ(line(table, 0), 300u);
  EXPECT_EQ(line(table, 1), 297u);
  EXPECT_EQ(line(table, 8), 297u);
  EXPECT_EQ(line(table, 9), 298u);
}

TEST(PythonLine, SomeCodeHasNoLine) {
  const Table table = {head(15, 2), head(11, 1), 0, 0};
  EXPECT_EQ(line(table, 0), 0u);
  EXPECT_EQ(line(table, 1), 0u);
  EXPECT_EQ(line(table, 2), 101u);
}

TEST(PythonLine, LinesBeforeTheFirstAreNone) {
  const Table table = {head(13, 1), 0x40 | 9, 4};  // 265 = 9 + 4 * 64: -132
  EXPECT_EQ(line(table, 0), 0u);
}

// Whatever the bytes say, nothing behind the table is read (the test runs under the sanitizers).
TEST(PythonLine, EveryBeginningOfATableEnds) {
  const Table whole = {head(13, 1), 0x40 | 16, 6, head(14, 8), 0x42, 0x41,
                       0x40,        1,         5, head(12, 1), 1,    2};
  // Of a number that is cut off, what is there counts: +8.
  const std::uint32_t expected[] = {0, 100, 108, 300};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Table part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(line(part, 1000), 0u);
    EXPECT_EQ(line(part, 0), expected[std::min<std::size_t>(size, 3)]) << size;
  }
}

std::string text(std::initializer_list<std::uint32_t> characters, unsigned kind) {
  std::vector<std::byte> raw;
  for (const std::uint32_t c : characters) {
    for (unsigned i = 0; i < kind; ++i) raw.push_back(static_cast<std::byte>(c >> (8 * i)));
  }
  char to[64];
  const std::size_t length = utf8_of(raw.data(), characters.size(), kind, to);
  EXPECT_EQ(to[length], '\0');
  return std::string(to, length);
}

TEST(PythonText, BecomesUtf8) {
  EXPECT_EQ(text({'a', 'z'}, 1), "az");
  EXPECT_EQ(text({'g', 0xF6, 0xDF}, 1), "g\xC3\xB6\xC3\x9F");
  EXPECT_EQ(text({0x20AC, 0x7FF}, 2), "\xE2\x82\xAC\xDF\xBF");
  EXPECT_EQ(text({0x1F600, 0x10FFFF}, 4), "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF");
  EXPECT_EQ(text({}, 4), "");
}

// A NUL would end the record's text, a surrogate is no character, and nothing lies beyond 0x10FFFF.
TEST(PythonText, WhatIsNoCharacterIsAQuestionMark) {
  EXPECT_EQ(text({'a', 0, 'b'}, 1), "a?b");
  EXPECT_EQ(text({0xDC80, 0xD7FF}, 2), "?\xED\x9F\xBF");
  EXPECT_EQ(text({0x110000}, 4), "?");
}

}  // namespace
}  // namespace kojak::measure
