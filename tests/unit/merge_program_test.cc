// The command elg_merge: its options, its exit codes, what it says and where.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

class MergeProgram : public ::testing::Test {
 protected:
  MergeProgram() {
    run.add(0, R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=1 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=2 wid=0
MPI_RMA_CALL lid=0 time=3 exit=3.5 region=MPI_Put dlid=0 wid=0 rmaid=0 bytes=8 got=0 kind=1
ENTER lid=0 time=5 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=6 wid=0
EXIT lid=0 time=10
)");
  }
  // Runs elg_merge in the test's directory; gives its exit status.
  int command(const std::string& arguments, const std::string& environment = "") {
    const std::string line = "cd '" + run.dir.path().string() + "' && " + environment + " '" +
                             std::string(KOJAK_BINARY_DIR) + "/bin/elg_merge' " + arguments +
                             " 2>err.txt";
    const int status = std::system(line.c_str());
    messages = read_text(run.dir.file("err.txt"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  double end_time(const std::string& name) {
    for (const auto& event : support::merged_events(read_bytes(run.dir.file(name)))) {
      if (event.is_end) return event.time;
    }
    return -1;
  }
  LocalRun run{1};
  std::string messages;
};

TEST_F(MergeProgram, ObviousInvocations) {
  EXPECT_EQ(command("."), 0) << messages;
  EXPECT_EQ(end_time("a.elg"), 6);
  EXPECT_EQ(command("-o b.elg 0.0.elg"), 0) << messages;
  EXPECT_EQ(read_bytes(run.dir.file("b.elg")), read_bytes(run.dir.file("a.elg")));
  EXPECT_EQ(messages, "");
  EXPECT_EQ(command("--output=c.elg ."), 0) << messages;
  EXPECT_NE(messages.find("note"), std::string::npos) << "a.elg and b.elg lie in the directory";
  EXPECT_EQ(read_bytes(run.dir.file("c.elg")), read_bytes(run.dir.file("a.elg")));
}

TEST_F(MergeProgram, StandardOutputGetsTheSameBytes) {
  EXPECT_EQ(command("0.0.elg"), 0) << messages;
  EXPECT_EQ(command("-o - 0.0.elg > piped.elg"), 0) << messages;
  EXPECT_EQ(read_bytes(run.dir.file("piped.elg")), read_bytes(run.dir.file("a.elg")));
  EXPECT_EQ(command("-o - 0.0.elg | cat > piped.elg"), 0) << messages;
  EXPECT_EQ(read_bytes(run.dir.file("piped.elg")), read_bytes(run.dir.file("a.elg")));
}

TEST_F(MergeProgram, TheModelIsChosenByOptionThenEnvironment) {
  EXPECT_EQ(command("0.0.elg", "ELG_VT_MODE=1"), 0);
  EXPECT_EQ(end_time("a.elg"), 3.5);
  EXPECT_EQ(command("0.0.elg", "ELG_VT_MODE=0"), 0);
  EXPECT_EQ(end_time("a.elg"), 6);
  EXPECT_EQ(command("--model extended 0.0.elg", "ELG_VT_MODE=1"), 0);
  EXPECT_EQ(end_time("a.elg"), 6);
  EXPECT_EQ(command("--model basic 0.0.elg"), 0);
  EXPECT_EQ(end_time("a.elg"), 3.5);
}

TEST_F(MergeProgram, ExitCodesAndMessages) {
  EXPECT_EQ(command(""), 1);
  EXPECT_EQ(command("--model other 0.0.elg"), 1);
  EXPECT_EQ(command("--clock sundial 0.0.elg"), 1);
  EXPECT_EQ(command("--no-such-option 0.0.elg"), 1);
  EXPECT_EQ(command("nowhere"), 2);
  EXPECT_NE(messages.find("elg_merge: error: nowhere"), std::string::npos) << messages;
  EXPECT_EQ(command("-o no/where/a.elg 0.0.elg"), 4);
  EXPECT_NE(messages.find("no/where"), std::string::npos) << messages;
  EXPECT_EQ(command("-o - 0.0.elg > /dev/full"), 4);
  std::vector<std::byte> cut = run.locals[0];
  cut.resize(cut.size() - 5);
  write_file(run.paths[0], cut);
  EXPECT_EQ(command("0.0.elg"), 3);
  EXPECT_NE(messages.find("0.0.elg: offset"), std::string::npos) << messages;
  EXPECT_EQ(command("--quiet 0.0.elg"), 3);
  EXPECT_EQ(messages, "");
}

TEST_F(MergeProgram, TheSummaryCounts) {
  EXPECT_EQ(command("--summary 0.0.elg"), 0);
  // The put in one record is four events; its end moved to the second fence.
  EXPECT_NE(messages.find("1 local trace of 1 process: 1 location, 10 events in 10 s\n"),
            std::string::npos)
      << messages;
  std::map<std::string, std::string> rows;
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const std::size_t name = line.find_last_not_of(' ', line.rfind(' '));
    rows[line.substr(2, name - 1)] = line.substr(line.rfind(' ') + 1);
  }
  const std::map<std::string, std::string> expected = {{"ENTER", "4"},
                                                       {"EXIT", "2"},
                                                       {"MPI_PUT_1TS", "1"},
                                                       {"MPI_PUT_1TE", "1"},
                                                       {"MPI_WINCOLLEXIT", "2"},
                                                       {"transfer ends moved", "1"},
                                                       {"ends that did not fit into memory", "0"},
                                                       {"transfers open at the end", "0"},
                                                       {"regions open at the end", "0"}};
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(command("--clock clc --summary 0.0.elg"), 0);
  EXPECT_NE(messages.find("clocks: 0 of 0 dependencies"), std::string::npos) << messages;
}

TEST_F(MergeProgram, HelpFitsAScreen) {
  EXPECT_EQ(command("--help > help.txt"), 0);
  const std::string help = read_text(run.dir.file("help.txt"));
  EXPECT_NE(help.find("elg_merge -o a.elg"), std::string::npos) << help;
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 40);
}

}  // namespace
}  // namespace kojak::test
