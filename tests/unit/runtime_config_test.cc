// Settings from the environment: what is understood, and that the rest keeps its default and is
// named.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "epilog/format/mpi_functions.h"
#include "epilog/runtime/config.h"
#include "tests/support/temp_dir.h"

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
  static bool complains(std::initializer_list<std::string> words) {
    const std::string text = read_config().complaints;
    return std::all_of(words.begin(), words.end(), [&text](const std::string& word) {
      return text.find(word) != std::string::npos;
    });
  }
  static std::uint32_t both(MpiFamily family) {
    return carries_time(static_cast<unsigned>(family)) |
           carries_none(static_cast<unsigned>(family));
  }
};

TEST_F(Environment, SaysHowPollsAreRecorded) {
  EXPECT_EQ(read_config().polls, PollRecording::kJoin);
  setenv("ELG_POLLS", "off", 1);
  EXPECT_EQ(read_config().polls, PollRecording::kOff);
  setenv("ELG_POLLS", "all", 1);
  EXPECT_EQ(read_config().polls, PollRecording::kAll);
  setenv("ELG_POLLS", "joined", 1);
  EXPECT_EQ(read_config().polls, PollRecording::kJoin);
  EXPECT_TRUE(complains({"ELG_POLLS=joined", "off, join or all"}));
}

TEST_F(Environment, Defaults) {
  const Config config = read_config();
  EXPECT_EQ(config.directory, nullptr);
  EXPECT_EQ(config.buffer_size, 512u * 1024u);
  EXPECT_EQ(config.functions, kAllThatCarriesTime);
  EXPECT_TRUE(config.record);
  EXPECT_FALSE(config.verbose);
  EXPECT_EQ(config.test_clock_rank, -1);
  EXPECT_STREQ(config.complaints, "");
  EXPECT_EQ(config.max_size, 0u);
  EXPECT_TRUE(config.keep);
}

TEST_F(Environment, BufferSizes) {
  const auto size = [](const char* text) {
    setenv("ELG_BUFFER_SIZE", text, 1);
    return read_config().buffer_size;
  };
  EXPECT_EQ(size("2M"), std::size_t{2} << 20);
  EXPECT_EQ(size("3g"), std::size_t{3} << 30);
  EXPECT_EQ(size("100000"), 100000u);
  EXPECT_EQ(size("64K"), 64u * 1024u) << "the smallest";
  for (const char* wrong : {"0", "-1", "M", "1MB", "1.5M", "99999999999999999999", "9999999G",
                            "63K", "+1M", " 1M", "1M ", "2T", "1e6", "51X2"}) {
    EXPECT_EQ(size(wrong), 512u * 1024u) << wrong;
    EXPECT_TRUE(complains({"ELG_BUFFER_SIZE=" + std::string(wrong), "its default, 512K, is used"}))
        << read_config().complaints;
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
  EXPECT_EQ(depth("path:16"), kMostCallers);
  for (const char* wrong :
       {"path", "path:", "path:0", "path:-3", "path:3x", "on", "0", "path:17", "path: 3", "Site"}) {
    EXPECT_EQ(depth(wrong), 1u) << wrong;
    EXPECT_TRUE(complains({"ELG_CALLSITES=" + std::string(wrong)})) << read_config().complaints;
  }
}

TEST_F(Environment, Samples) {
  EXPECT_EQ(read_config().sample, 0u);
  const auto interval = [](const char* text) {
    setenv("ELG_SAMPLE", text, 1);
    return read_config().sample;
  };
  EXPECT_EQ(interval("10ms"), 10'000'000u);
  EXPECT_EQ(interval("2500us"), 2'500'000u);
  EXPECT_EQ(interval("1s"), 1'000'000'000u);
  EXPECT_EQ(interval("1ms"), 1'000'000u) << "the shortest";
  EXPECT_EQ(interval("10s"), 10'000'000'000u) << "the longest";
  for (const char* wrong : {"10", "ms", "0ms", "-1ms", "999us", "11s", "1.5ms", "10 ms", "10msec",
                            "99999999999999999999s", "18446744073709551ms", "1m"}) {
    EXPECT_EQ(interval(wrong), 0u) << wrong;
    EXPECT_TRUE(complains({"ELG_SAMPLE=" + std::string(wrong), "it is not used"}))
        << read_config().complaints;
  }
}

TEST_F(Environment, Libraries) {
  EXPECT_EQ(read_config().libraries, nullptr);
  setenv("ELG_LIBRARIES", "libmine.so*,mine_*", 1);
  EXPECT_STREQ(read_config().libraries, "libmine.so*,mine_*");
  EXPECT_STREQ(read_config().complaints, "");
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
  for (const char* wrong :
       {"rma,unknown", ",", "p2p,,rma", "p2p,", "P2P", "p2p coll", "p2p;coll"}) {
    EXPECT_EQ(functions(wrong), kAllThatCarriesTime) << wrong;
    EXPECT_TRUE(complains({"ELG_MPI=" + std::string(wrong)})) << read_config().complaints;
  }
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
  EXPECT_STREQ(config.complaints, "");
  for (const char* name : {"ELG_RECORD", "ELG_KEEP", "ELG_VERBOSE"}) {
    for (const char* wrong : {"yes", "true", "01", "2", "on"}) {
      clear();
      setenv(name, wrong, 1);
      EXPECT_TRUE(complains({std::string(name) + "=" + wrong})) << read_config().complaints;
    }
  }
  EXPECT_TRUE(read_config().record);
  clear();
  for (const char* wrong :
       {"1", "1:2", "x:1:2", "1:nan:2", "1:2:inf", "1:2:3x", "-1:2:3", "99999999999:1:1"}) {
    setenv("ELG_TEST_CLOCK", wrong, 1);
    EXPECT_EQ(read_config().test_clock_rank, -1) << wrong;
    EXPECT_TRUE(complains({"ELG_TEST_CLOCK"})) << read_config().complaints;
  }
}

TEST_F(Environment, MaxSize) {
  setenv("ELG_MAX_SIZE", "1G", 1);
  EXPECT_EQ(read_config().max_size, std::uint64_t{1} << 30);
  EXPECT_EQ(read_config().buffer_size, 512u * 1024u);
  setenv("ELG_MAX_SIZE", "1M", 1);  // four buffers may not be more
  EXPECT_EQ(read_config().buffer_size, 256u * 1024u);
  setenv("ELG_MAX_SIZE", "255K", 1);
  EXPECT_EQ(read_config().max_size, 0u);
  EXPECT_TRUE(complains({"ELG_MAX_SIZE=255K", "at least 256K"})) << read_config().complaints;
}

TEST_F(Environment, NamesThatAreNoSettings) {
  const auto alone = [](const char* name, std::initializer_list<std::string> words) {
    setenv(name, "1", 1);
    const bool good = complains(words);
    EXPECT_TRUE(good) << name << ": " << read_config().complaints;
    unsetenv(name);
  };
  alone("ELG_BUFER_SIZE", {"ELG_BUFER_SIZE is no setting", "did you mean ELG_BUFFER_SIZE?"});
  alone("ELG_CALLSITE", {"did you mean ELG_CALLSITES?"});
  alone("ELG_BUFFER", {"did you mean ELG_BUFFER_SIZE?"});
  alone("elg_dir", {"elg_dir is no setting", "did you mean ELG_DIR?"});
  alone("ELG_SOMETHING_ELSE", {"ELG_SOMETHING_ELSE is no setting", "elg_config --settings"});
  setenv("ELG_VT_MODE", "1", 1);    // elg_merge's
  setenv("elg_of_others", "1", 1);  // no name of ours
  setenv("ELGAR", "1", 1);
  EXPECT_STREQ(read_config().complaints, "");
  for (const char* name : {"ELG_VT_MODE", "elg_of_others", "ELGAR"}) unsetenv(name);
}

// Who runs another user's program must not tell it where to write. The test runs itself with the
// rights of another one; root may make such a file.
TEST_F(Environment, IsNotObeyedByASetUserIdProgram) {
  setenv("ELG_DIR", "/elsewhere", 1);
  setenv("ELG_BUFFER_SIZE", "64K", 1);
  if (getenv("KOJAK_TEST_SET_USER_ID") != nullptr) {
    if (getauxval(AT_SECURE) == 0) GTEST_SKIP() << "no set-user-id programs on this file system";
    EXPECT_EQ(read_config().directory, Config().directory);
    EXPECT_EQ(read_config().buffer_size, Config().buffer_size);
    _exit(HasFailure()
              ? 1
              : 0);  // at its exit a leak checker would fail: it may not trace such a program
  }
  EXPECT_STREQ(read_config().directory, "/elsewhere");
  if (getuid() != 0) GTEST_SKIP() << "only root may try";
  test::TempDir dir;
  const std::string copy = dir.file("set-user-id");
  std::filesystem::copy_file("/proc/self/exe", copy);
  ASSERT_EQ(chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  const std::string filter = "Environment.IsNotObeyedByASetUserIdProgram";
  EXPECT_EQ(system(("KOJAK_TEST_SET_USER_ID=1 " + copy + " --gtest_filter=" + filter +
                    " --gtest_output= > /dev/null")
                       .c_str()),
            0);
}

TEST_F(Environment, ManyComplaintsAreOneLineThatFits) {
  setenv("ELG_RECORD", "2", 1);
  setenv("ELG_MPI", std::string(5000, 'x').c_str(), 1);
  EXPECT_TRUE(complains({"ELG_RECORD=2", "; ", "ELG_MPI=xxx"})) << read_config().complaints;
  for (int i = 0; i < 100; ++i) setenv(("ELG_OTHER" + std::to_string(i)).c_str(), "1", 1);
  const Config config = read_config();
  EXPECT_LT(std::string(config.complaints).size(), sizeof config.complaints);
  EXPECT_EQ(std::string(config.complaints).find('\n'), std::string::npos);
  for (int i = 0; i < 100; ++i) unsetenv(("ELG_OTHER" + std::to_string(i)).c_str());
}

}  // namespace
}  // namespace kojak::measure
