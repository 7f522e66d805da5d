// The page's parts: JSON that is safe in a script element, packed columns, severities within a
// budget, bottlenecks, and what the page as a whole must never hold.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "cube_reports.h"
#include "expert/cube/reader.h"
#include "expert/output/json.h"
#include "expert/page/blob.h"
#include "expert/page/bottlenecks.h"
#include "expert/page/page.h"
#include "expert/page/severities.h"
#include "expert/patterns/catalogue.h"

namespace kojak {
namespace {

using html::Json;

std::string unpacked(const std::string& gzip, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

cube::Report read(const std::string& name, const std::string& text) {
  Result<cube::Report> report = cube::read_report(test::write_file(name, text));
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : cube::Report{};
}

TEST(HtmlJson, EscapesWhateverCouldEndTheScript) {
  EXPECT_EQ(Json().value("</script><!--").text(), "\"\\u003c/script>\\u003c!--\"");
  EXPECT_EQ(Json().value("a\"b\\c\n").text(), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(Json().value("\xE2\x80\xA8\xE2\x80\xA9").text(), "\"\\u2028\\u2029\"");
  EXPECT_EQ(Json().value("x\xFFy\xC3").text(), "\"x\xEF\xBF\xBDy\xEF\xBF\xBD\"");
  EXPECT_EQ(Json().value("\xC3\xA9").text(), "\"\xC3\xA9\"");
}

TEST(HtmlJson, SeparatesMembersAndElements) {
  Json json;
  json.begin_object().member("a", 1).key("b").begin_array().value(0.5).value(true).null();
  json.end_array().member("c", "x").end_object();
  EXPECT_EQ(json.text(), "{\"a\":1,\"b\":[0.5,true,null],\"c\":\"x\"}");
  EXPECT_EQ(Json().value(std::nan("")).text(), "null");
}

TEST(HtmlBlob, EncodesAsTheDirectorySays) {
  html::Blob blob;
  const std::vector<std::uint64_t> times{300, 301, 299, 1};
  const std::vector<double> values{1.5, -2};
  const std::vector<std::uint8_t> bytes{7, 8};
  blob.bytes("b", bytes);
  blob.deltas("t", times);
  blob.planes("v", values);
  const std::size_t size = blob.size();
  // 300: zigzag 600 = 0xD8 0x04; +1: 2; -2: 3; -298: 595 = 0xD3 0x04.
  EXPECT_EQ(blob.directory(), "{\"b\":[\"u8\",0,2],\"t\":[\"delta\",2,4],\"v\":[\"f64\",8,2]}");
  const std::string data = unpacked(blob.compressed(), size);
  EXPECT_EQ(data.substr(0, 8), std::string("\x07\x08\xD8\x04\x02\x03\xD3\x04", 8));
  double first = 0;
  std::string bits;
  for (std::size_t plane = 0; plane < 8; ++plane) bits += data[8 + 2 * plane];
  std::memcpy(&first, bits.data(), 8);
  EXPECT_EQ(first, 1.5);
}

// Large streams are compressed in pieces, which make one: the same again each time, and small where
// what repeats lies in two of them.
TEST(HtmlBlob, LargeStreamsAreOneAgain) {
  html::Blob blob;
  std::string all;
  std::uint64_t noise = 1;
  blob.fill_varints("v", [&](auto&& put) {
    for (int i = 0; i < 1'200'000; ++i) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t value = i % 5 == 0 ? noise >> 58 : 100;
      put(value);
      all += static_cast<char>(value);
    }
  });
  ASSERT_EQ(blob.size(), all.size());
  const std::string packed = blob.compressed();
  EXPECT_EQ(unpacked(packed, all.size()), all);
  EXPECT_EQ(blob.compressed(), packed);
  // 6 bits of noise in each fifth byte: 180,000 bytes at the least.
  EXPECT_LT(packed.size(), 360'000u);
}

TEST(HtmlBlob, Base64HasThePaddingOfTheStandard) {
  EXPECT_EQ(html::base64("Man"), "TWFu");
  EXPECT_EQ(html::base64("Ma"), "TWE=");
  EXPECT_EQ(html::base64("M"), "TQ==");
  EXPECT_EQ(html::base64(""), "");
}

// `calls` call paths with noise over `locations`, each row's size ten times that of the next.
cube::Report noisy(std::size_t calls, std::size_t locations) {
  cube::Report report;
  report.metrics.push_back({cube::kNone, "Time", "time", "FLOAT", "sec", "", ""});
  report.regions.push_back({"f", "", "", "", -1, -1});
  for (std::size_t c = 0; c < calls; ++c) report.call_nodes.push_back({cube::kNone, 0, -1, ""});
  report.system = {{cube::kNone, cube::SystemKind::kMachine, "m", -1, cube::kNone}};
  report.threads.assign(locations, 0);
  report.severities.set_locations(locations);
  std::mt19937_64 random(1);
  for (std::size_t c = 0; c < calls; ++c) {
    const double size = std::pow(10.0, -static_cast<double>(c % 5));
    for (double& value : report.severities.add_row(0, c)) {
      value = size * (1 + static_cast<double>(random() >> 11) * 0x1p-53);
    }
  }
  return report;
}

TEST(HtmlSeverities, AreExactIfThatFitsAndRoundedElse) {
  // 50 x 1000 random doubles compress to about 52 of 64 bits each: 330 kB. In 16 bits: 100 kB. In
  // 8 bits 44 kB, since values of 1 to 2 times a size use 128 of 256 steps. Of 22 kB to spare, 20
  // go to rows that are 1 kB larger in 16 bits.
  const cube::Report report = noisy(50, 1000);
  const auto packed = [&](std::size_t bytes) {
    return html::pack_severities(report, nullptr, bytes);
  };
  EXPECT_EQ(packed(1'000'000).precision, "exact");
  EXPECT_EQ(packed(150'000).precision, "16 bit");
  EXPECT_EQ(packed(66'000).precision, "8 to 16 bit");
  const html::PackedSeverities small = packed(45'500);
  EXPECT_EQ(small.precision, "8 bit");
  EXPECT_EQ(small.rows_left_out, 0u);
}

TEST(HtmlSeverities, KeepTheLargestRowsWhereNotAllFit) {
  const cube::Report report = noisy(50, 1000);
  const html::PackedSeverities packed = html::pack_severities(report, nullptr, 20'000);
  EXPECT_LE(packed.data.size(), 20'000u);
  EXPECT_EQ(packed.rows, 50u);
  // About 19 rows of 1000 bytes fit.
  EXPECT_GT(packed.rows_left_out, 25u);
  EXPECT_LT(packed.rows_left_out, 40u);
  // The kinds stand behind two columns of 50 32-bit numbers; 0 is a row that was left out. Rows are
  // largest where the call path's number is a multiple of 5.
  const std::string kinds = unpacked(packed.data, 1'000'000).substr(400, 50);
  for (std::size_t c = 0; c < 50; c += 5) EXPECT_NE(kinds[c], 0) << c;
  for (std::size_t c = 4; c < 50; c += 5) EXPECT_EQ(kinds[c], 0) << c;
}

TEST(HtmlSeverities, StoreWhatAMetricSharesWithItsParentOnce) {
  // time on MPI_Recv is 4 and 8, wait is 0.5 and 8: time's own part there is 3.5 and 0. Rows: time
  // at main, time and wait at MPI_Recv.
  const html::PackedSeverities packed =
      html::pack_severities(read("once.cube", test::small_report()), nullptr, 1'000'000);
  EXPECT_EQ(packed.rows, 3u);
}

TEST(HtmlBottlenecks, AreWaitingPatternsWorstFirst) {
  // 10 s in all. Wait at Barrier: 1 s + 2 s at one call path, 0.5 s at another; Late Sender 0.004
  // s, below a thousandth. Early Wait 2 s, of it Late Complete 1.5 s.
  using test::metric;
  const auto row = [](int cnode, const char* a, const char* b) {
    return "<row cnodeId=\"" + std::to_string(cnode) + "\">\n" + a + "\n" + b + "\n</row>";
  };
  const auto matrix = [](int id, const std::string& rows) {
    return "<matrix metricId=\"" + std::to_string(id) + "\">" + rows + "</matrix>";
  };
  const std::string text = test::report(
      metric(0, "time",
             metric(1, "mpi",
                    metric(2, "mpi_barrier_wait") + metric(3, "mpi_latesender") +
                        metric(4, "mpi_rma_earlywait", metric(5, "mpi_rma_latecomplete")))),
      test::region(0, "main") + "<cnode id=\"0\" calleeId=\"0\"></cnode>" +
          "<cnode id=\"1\" calleeId=\"0\"></cnode>",
      test::system_of(2),
      matrix(0, row(0, "4", "4") + row(1, "1", "1")) + matrix(1, row(0, "3", "3")) +
          matrix(2, row(0, "1", "2") + row(1, "0", "0.5")) + matrix(3, row(0, "0.004", "0")) +
          matrix(4, row(0, "2", "0")) + matrix(5, row(0, "1.5", "0")));
  const cube::Report report = read("bottlenecks.cube", text);
  const html::Overview overview = html::find_bottlenecks(report, expert::all_metrics());
  EXPECT_DOUBLE_EQ(overview.seconds, 10);
  ASSERT_EQ(overview.bottlenecks.size(), 3u);
  EXPECT_EQ(overview.bottlenecks[0].metric, 2u);
  EXPECT_DOUBLE_EQ(overview.bottlenecks[0].seconds, 3);
  EXPECT_DOUBLE_EQ(overview.bottlenecks[0].share, 0.3);
  EXPECT_EQ(overview.bottlenecks[0].worst_locations[0], (std::pair<std::size_t, double>{1, 2}));
  EXPECT_EQ(overview.bottlenecks[0].waiting_locations, 2u);
  EXPECT_EQ(overview.bottlenecks[0].profile, (std::vector<double>{1, 2}));
  EXPECT_EQ(overview.bottlenecks[1].metric, 4u);
  ASSERT_EQ(overview.bottlenecks[1].parts.size(), 1u);
  EXPECT_EQ(overview.bottlenecks[1].parts[0], (std::pair<std::size_t, double>{5, 1.5}));
  EXPECT_DOUBLE_EQ(overview.bottlenecks[2].seconds, 0.5);
  EXPECT_EQ(overview.below_threshold, 1u);
  EXPECT_DOUBLE_EQ(overview.seconds_below_threshold, 0.004);
  // 6 s in MPI, of which 3 + 0.5 + 0.004 + 2 s waiting; the rest of 10 s is computation.
  ASSERT_EQ(overview.shares.size(), 4u);
  EXPECT_NEAR(overview.shares[0].seconds, 4, 1e-12);
  EXPECT_NEAR(overview.shares[1].seconds, 0.496, 1e-12);
  EXPECT_NEAR(overview.shares[2].seconds, 5.504, 1e-12);
}

TEST(HtmlBottlenecks, SharesLeaveOutWhatStartsAndEndsMpi) {
  const auto sum = [](double init_exit, double finalize_wait) {
    return expert::RunTime::of([=](std::string_view name) {
      return name == "time"                ? 10.0
             : name == "mpi_init_exit"     ? init_exit
             : name == "mpi_finalize_wait" ? finalize_wait
                                           : 0.0;
    });
  };
  // 6 s start and end MPI, of which 1 s waits in MPI_Finalize: that stays in, and 5 s are left.
  EXPECT_DOUBLE_EQ(sum(6, 1).whole, 5);
  EXPECT_DOUBLE_EQ(sum(6, 1).left_out, 5);
  EXPECT_NE(sum(6, 1).words().find("the 5.000 s in which MPI starts and ends"), std::string::npos);
  // Nothing else in the run: shares of all there is.
  EXPECT_DOUBLE_EQ(sum(10, 0).whole, 10);
  EXPECT_EQ(sum(10, 0).words(), "");
  EXPECT_TRUE(expert::starts_or_ends_library("MPI_Init_thread"));
  EXPECT_TRUE(expert::starts_or_ends_library("MPI_Finalize"));
  EXPECT_FALSE(expert::starts_or_ends_library("MPI_Barrier"));
  EXPECT_FALSE(expert::starts_or_ends_library("main"));
  EXPECT_TRUE(expert::starts_or_ends_library("shmem_init"));
  EXPECT_TRUE(expert::starts_or_ends_library("shmem_finalize"));
  EXPECT_FALSE(expert::starts_or_ends_library("shmem_barrier_all"));
}

TEST(HtmlBottlenecks, SharesLeaveOutWhatStartsAndEndsShmem) {
  const auto time = [](double mpi) {
    return expert::RunTime::of([=](std::string_view name) {
      return name == "time"              ? 10.0
             : name == "shmem_init_exit" ? 3.0
             : name == "mpi_init_exit"   ? mpi
                                         : 0.0;
    });
  };
  EXPECT_DOUBLE_EQ(time(0).whole, 7);
  EXPECT_NE(time(0).words().find("the 3.000 s in which SHMEM starts and ends"), std::string::npos);
  EXPECT_DOUBLE_EQ(time(2).whole, 5);  // MPI takes 2 s more
  EXPECT_NE(time(2).words().find("the 5.000 s in which MPI and SHMEM start"), std::string::npos);
}

TEST(HtmlPage, HoldsNoMarkupFromTheReportAndLoadsNothing) {
  std::string text = test::small_report();
  const std::string evil = "&lt;/script>&lt;script>alert(1)&lt;/script>&lt;!--&lt;img src=x>\"'";
  for (const char* name : {"work", "MPI_Recv", "wait", ">p<"}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    if (name[0] == '>')
      text.replace(at, 3, ">" + evil + "<");
    else
      text.replace(at, std::strlen(name), evil);
  }
  const cube::Report report = read("evil.cube", text);
  ASSERT_EQ(report.regions[1].name, "</script><script>alert(1)</script><!--<img src=x>\"'");
  html::PageOptions options;
  options.title = report.regions[1].name;
  options.notes = {report.regions[1].name};
  const std::string path = test::write_file("evil.html", "");
  ASSERT_TRUE(html::write_page(report, options, path));
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  const std::string out = page.str();
  const auto times = [&](const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = out.find(part); at != std::string::npos; at = out.find(part, at + 1))
      ++count;
    return count;
  };
  // The page's own: report, sums, front end, values.
  EXPECT_EQ(times("<script"), 4u);
  EXPECT_EQ(times("</script"), 4u);
  EXPECT_EQ(times("<!--"), 0u);
  EXPECT_EQ(times("<img"), 0u);
  EXPECT_EQ(times("<title"), 1u);
  EXPECT_NE(out.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(out.find("http:"), std::string::npos);
  EXPECT_EQ(out.find("https:"), std::string::npos);
}

TEST(HtmlPage, IsWrittenCompletelyOrNotAtAll) {
  const cube::Report report = read("plain.cube", test::small_report());
  const Status status = html::write_page(report, {}, "/nonexistent/folder/page.html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ExitCode::kOutputFailed);
  const Status full = html::write_page(report, {}, "/dev/full");
  EXPECT_FALSE(full);
}

TEST(HtmlPage, StaysWithinItsBudget) {
  const std::string path = test::write_file("budget.html", "");
  html::PageOptions options;
  options.max_bytes = 200'000;
  ASSERT_TRUE(html::write_page(noisy(50, 4000), options, path));
  std::ifstream file(path, std::ios::ate | std::ios::binary);
  EXPECT_LE(file.tellg(), 200'000);
  EXPECT_GT(file.tellg(), 100'000);
}

}  // namespace
}  // namespace kojak
