// Settings from the environment: what is understood, and that the rest keeps its default and is
// named.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "epilog/format/mpi_functions.h"
#include "epilog/runtime/config.h"

namespace kojak::measure {
namespace {

class Environment : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
#define KOJAK_SETTING(NAME, default_text, values, doc) unsetenv(#NAME);
#include "epilog/runtime/config_table.def"
#undef KOJAK_SETTING
  }
  static std::uint32_t both(MpiFamily family) {
    return carries_time(static_cast<unsigned>(family)) |
           carries_none(static_cast<unsigned>(family));
  }
};

TEST_F(Environment, Defaults) {
  const Config config = read_config();
  EXPECT_EQ(config.directory, nullptr);
  EXPECT_EQ(config.buffer_size, 512u * 1024u);
  EXPECT_EQ(config.functions, kAllThatCarriesTime);
  EXPECT_TRUE(config.record);
  EXPECT_FALSE(config.verbose);
  EXPECT_EQ(config.test_clock_rank, -1);
  EXPECT_EQ(config.complaint, nullptr);
}

TEST_F(Environment, BufferSizes) {
  const auto size = [](const char* text) {
    setenv("ELG_BUFFER_SIZE", text, 1);
    return read_config().buffer_size;
  };
  EXPECT_EQ(size("2M"), std::size_t{2} << 20);
  EXPECT_EQ(size("3g"), std::size_t{3} << 30);
  EXPECT_EQ(size("100000"), 100000u);
  EXPECT_EQ(size("1"), 64u * 1024u) << "the smallest";
  for (const char* wrong : {"0", "-1", "M", "1MB", "1.5M", "99999999999999999999", "9999999G"}) {
    EXPECT_EQ(size(wrong), 512u * 1024u) << wrong;
    ASSERT_NE(read_config().complaint, nullptr) << wrong;
    EXPECT_STREQ(read_config().complaint, "ELG_BUFFER_SIZE");
  }
}

TEST_F(Environment, CallSites) {
  EXPECT_EQ(read_config().call_path, 1u);
  const auto depth = [](const char* text) {
    setenv("ELG_CALLSITES", text, 1);
    return read_config().call_path;
  };
  EXPECT_EQ(depth("off"), 0u);
  EXPECT_EQ(depth("site"), 1u);
  EXPECT_EQ(depth("path:1"), 1u);
  EXPECT_EQ(depth("path:5"), 5u);
  EXPECT_EQ(depth("path:1000"), kMostCallers);
  for (const char* wrong : {"path", "path:", "path:0", "path:-3", "path:3x", "on", "0"}) {
    EXPECT_EQ(depth(wrong), 1u) << wrong;
    ASSERT_NE(read_config().complaint, nullptr) << wrong;
    EXPECT_STREQ(read_config().complaint, "ELG_CALLSITES");
  }
}

TEST_F(Environment, Families) {
  const auto functions = [](const char* text) {
    setenv("ELG_MPI", text, 1);
    return read_config().functions;
  };
  EXPECT_EQ(functions("p2p"), both(MpiFamily::kP2p));
  EXPECT_EQ(functions("rma,coll"), both(MpiFamily::kRma) | both(MpiFamily::kColl));
  EXPECT_EQ(functions("all"), ~0u);
  EXPECT_EQ(functions("io,init,comm,misc") & both(MpiFamily::kP2p), 0u);
  EXPECT_EQ(functions("rma,unknown"), kAllThatCarriesTime);
  EXPECT_STREQ(read_config().complaint, "ELG_MPI");
}

TEST_F(Environment, SwitchesAndTestClock) {
  setenv("ELG_RECORD", "0", 1);
  setenv("ELG_VERBOSE", "1", 1);
  setenv("ELG_TEST_CLOCK", "3:-2.5:40", 1);
  const Config config = read_config();
  EXPECT_FALSE(config.record);
  EXPECT_TRUE(config.verbose);
  EXPECT_EQ(config.test_clock_rank, 3);
  EXPECT_DOUBLE_EQ(config.test_clock_shift, -2.5);
  EXPECT_DOUBLE_EQ(config.test_clock_ppm, 40);
  setenv("ELG_RECORD", "yes", 1);
  EXPECT_TRUE(read_config().record);
  EXPECT_STREQ(read_config().complaint, "ELG_RECORD");
}

}  // namespace
}  // namespace kojak::measure
