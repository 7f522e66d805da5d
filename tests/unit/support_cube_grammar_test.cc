// The grammar of CUBE's readers: reports of the classic tools pass, and each thing that an XML
// parser would let through does not.
#include <gtest/gtest.h>

#include "tests/support/cube_grammar.h"
#include "tests/unit/cube_reports.h"

namespace kojak::support {
namespace {

using test::small_report;
using test::write_file;

std::string check(const std::string& text) {
  return check_cube_grammar(write_file("grammar.cube", text));
}

// The small report with one part replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = small_report();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CubeGrammar, TakesReportsOfTheClassicTools) {
  EXPECT_EQ(check_cube_grammar(KOJAK_REFERENCE_DIR "/fence.cube"), "");
  EXPECT_EQ(check_cube_grammar(KOJAK_REFERENCE_DIR "/gats.cube"), "");
  EXPECT_EQ(check(small_report()), "");
}

TEST(CubeGrammar, WantsEndTags) {
  EXPECT_NE(check(changed("<url></url>", "<url/>")).find("expected <url>"), std::string::npos);
  EXPECT_NE(check(changed("mod=\"a.c\"></cnode>", "mod=\"a.c\"/>")).find("expected >"),
            std::string::npos);
  EXPECT_NE(check(changed("</system>", "<topologies/></system>")).find("expected <topologies>"),
            std::string::npos);
  const std::string empty = "<matrix metricId=\"1\"></matrix></severity>";
  const std::size_t second = small_report().find("<matrix metricId=\"1\">");
  std::string text = small_report().substr(0, second) + empty + "</cube>\n";
  EXPECT_EQ(check(text), "");
  text = small_report().substr(0, second) + "<matrix metricId=\"1\"/></severity></cube>\n";
  EXPECT_NE(check(text), "");
}

TEST(CubeGrammar, WantsAttributesClosedInThemselves) {
  const auto with = [](const std::string& attribute) {
    return changed("<metrics>", attribute + "<metrics>");
  };
  EXPECT_EQ(check(with("<attr key=\"a\" value=\"b\"/>")), "");
  EXPECT_NE(check(with("<attr key=\"a\" value=\"b\"></attr>")), "");
  EXPECT_NE(check(with("<attr value=\"b\" key=\"a\"/>")), "");
}

TEST(CubeGrammar, WantsElementsAndAttributesInTheirOrder) {
  EXPECT_NE(check(changed("<disp_name>time</disp_name><uniq_name>time</uniq_name>",
                          "<uniq_name>time</uniq_name><disp_name>time</disp_name>")),
            "");
  EXPECT_NE(check(changed("id=\"0\" mod=\"a.c\"", "mod=\"a.c\" id=\"0\"")), "");
  EXPECT_NE(check(changed("line=\"5\" mod=\"a.c\"", "mod=\"a.c\" line=\"5\"")), "");
  EXPECT_NE(check(changed("machine Id=", "machine id=")), "");
  EXPECT_NE(check(changed("metric id=", "metric Id=")), "");
}

TEST(CubeGrammar, KnowsNothingElseOfXml) {
  EXPECT_NE(check(changed("<metrics>", "<!-- a -->\n<metrics>")), "");
  EXPECT_NE(check(changed("<metrics>", "\r\n<metrics>")), "");
  EXPECT_NE(check(changed("<metrics>", "<metrics >")), "");
  EXPECT_NE(check(changed("metric id=\"0\"", "metric id='0'")), "");
  EXPECT_NE(check(changed("<cube version", "<cube xmlns=\"x\" version")), "");
  EXPECT_NE(check(changed("?>\n<cube", " standalone=\"yes\"?>\n<cube")), "");
  EXPECT_NE(check(changed("<name>main</name>", "<name>a & b</name>")), "");
  EXPECT_EQ(check(changed("<name>main</name>", "<name>a &amp; b</name>")), "");
  EXPECT_NE(check(small_report() + "<more>"), "");
}

// Two calls of work in one line are one call path to CUBE, and so are two without a line; with and
// without one they are one function. (The regions of the small report are of lines 1 to 9.)
TEST(CubeGrammar, WantsSiblingsThatDiffer) {
  const std::string call = "calleeId=\"2\" line=\"7\" mod=\"a.c\"";
  EXPECT_NE(check(changed(call, "calleeId=\"1\" line=\"5\" mod=\"a.c\"")).find("the same"),
            std::string::npos);
  EXPECT_EQ(check(changed(call, "calleeId=\"1\" line=\"7\" mod=\"a.c\"")), "");
  EXPECT_EQ(check(changed(call, "calleeId=\"1\" line=\"5\" mod=\"b.c\"")), "");
  EXPECT_NE(check(changed(call, "calleeId=\"1\"")).find("without the line"), std::string::npos);
  std::string text = changed("<name>MPI_Recv</name>", "<name>work</name>");
  EXPECT_EQ(check(text), "");
  text.replace(text.find("line=\"7\""), 8, "line=\"5\"");
  EXPECT_NE(check(text).find("the same"), std::string::npos) << "two regions that look the same";
}

TEST(CubeGrammar, ChecksNumbersAndReferences) {
  EXPECT_NE(check(changed("region id=\"1\"", "region id=\"3\"")), "");
  EXPECT_NE(check(changed("calleeId=\"2\"", "calleeId=\"3\"")), "");
  EXPECT_NE(check(changed("metricId=\"1\"", "metricId=\"2\"")), "");
  EXPECT_NE(check(changed("metricId=\"1\"", "metricId=\"0\"")), "");
  EXPECT_NE(check(changed("begin=\"1\"", "begin=\"\"")), "");
  EXPECT_NE(check(changed("\n1\n2\n", "\n1\n")), "");
  EXPECT_NE(check(changed("\n1\n2\n", "\n1\n2\n3\n")), "");
  EXPECT_NE(check(changed("\n1\n2\n", "\n1\nnan\n")), "");
  EXPECT_NE(check(changed("\n1\n2\n", "\n1\n1e999\n")), "");
  EXPECT_EQ(check(changed("\n1\n2\n", "\n1\n1e-9\n")), "");
}

TEST(CubeGrammar, WantsAProgramAndASystem) {
  const std::string text = small_report();
  const std::size_t from = text.find("<program>") + 9, to = text.find("</program>");
  EXPECT_NE(check(std::string(text).erase(from, to - from)), "");
  const std::size_t first = text.find("<system>") + 8, last = text.find("</system>");
  EXPECT_NE(check(std::string(text).erase(first, last - first)), "");
}

TEST(CubeGrammar, ChecksGrids) {
  const auto grid = [](const std::string& inside) {
    return check(changed("</system>", "<topologies>" + inside + "</topologies></system>"));
  };
  const std::string dim = "<dim size=\"2\" periodic=\"true\"/>";
  EXPECT_EQ(grid(""), "");
  EXPECT_EQ(grid("<cart ndims=\"1\">" + dim + "<coord thrdId=\"1\">1</coord></cart>"), "");
  EXPECT_NE(grid("<cart ndims=\"2\">" + dim + "<coord thrdId=\"1\">1</coord></cart>"), "");
  EXPECT_NE(grid("<cart ndims=\"1\">" + dim + "<coord thrdId=\"1\">2</coord></cart>"), "");
  EXPECT_NE(grid("<cart ndims=\"1\">" + dim + "<coord thrdId=\"2\">1</coord></cart>"), "");
  EXPECT_NE(grid("<cart ndims=\"1\">" + dim + "</cart>"), "");
  EXPECT_NE(grid("<cart ndims=\"1\"><coord thrdId=\"1\">1</coord></cart>"), "");
}

}  // namespace
}  // namespace kojak::support
