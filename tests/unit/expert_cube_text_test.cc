// Texts and numbers of reports: what XML can hold, and what reads back the same.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "epilog/format/text/xml_text.h"

namespace kojak::expert {
namespace {

TEST(CubeText, KeepsWhatIsValid) {
  EXPECT_EQ(xml_text("plain\ttab\n"), "plain\ttab\n");
  EXPECT_EQ(xml_text("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
}
TEST(CubeText, ReplacesWhatXmlCannotHold) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(xml_text("a\x01z\x1F"), "a" + r + "z" + r);
  EXPECT_EQ(xml_text("\xC3"), r);                          // cut off
  EXPECT_EQ(xml_text("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(xml_text("\xE0\x80\x80"), r + r + r);          // overlong
  EXPECT_EQ(xml_text("\xED\xA0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(xml_text("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(xml_text("\xEF\xBF\xBE"), r);                  // U+FFFE
  EXPECT_EQ(xml_text("\xE4\x62"), r + "b");                // Latin-1 in UTF-8
}
TEST(CubeText, NumbersReadBackTheSame) {
  for (const double value :
       {0.0, 1.0, 0.1, 1.0 / 3, 1e-9, 172800.000000001, 123456789012.0, 9007199254740991.0,
        std::numeric_limits<double>::denorm_min(), std::nextafter(86400.0, 0.0)}) {
    std::string text;
    append_number(text, value);
    double back = -1;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
  }
  std::string text;
  append_number(text, 42);
  EXPECT_EQ(text, "42");
  // Counts are integers to those who read them: no exponents, however round or large they are.
  for (const auto& [value, expected] :
       {std::pair(0.0, "0"), {100000.0, "100000"}, {4e5, "400000"}, {1e15, "1000000000000000"}}) {
    text.clear();
    append_number(text, value);
    EXPECT_EQ(text, expected);
  }
}
TEST(CubeText, UrlsAreEncoded) {
  EXPECT_EQ(file_url("/opt/my docs/k\xC3\xA4/"), "file:///opt/my%20docs/k%C3%A4/");
}

// ---- the summary

}  // namespace
}  // namespace kojak::expert
