// Series of polls in a merge: what a whole series in one record becomes, which of those that are
// even wait, and what happens to times and lengths.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

// The merged events, as text.
std::vector<std::string> events_of(const LocalRun& run) {
  const auto text = trace_to_text(run.merged, "merged");
  if (!text) throw std::runtime_error(text.error().message());
  std::istringstream lines(*text);
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" lid=") != std::string::npos && line.find(" time=") != std::string::npos) {
      events.push_back(line);
    }
  }
  return events;
}
// The value of a key in a line.
std::string value(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(" " + key + "=");
  if (at == std::string::npos) return "";
  const std::size_t from = at + key.size() + 2;
  return line.substr(from, line.find(' ', from) - from);
}
double number(const std::string& line, const std::string& key) {
  return std::stod(value(line, key));
}
// "NAME time": what comes when.
std::string flow(const std::vector<std::string>& events) {
  std::string result;
  for (const std::string& event : events) {
    std::ostringstream time;
    time << number(event, "time");
    result += (result.empty() ? "" : ", ") + event.substr(0, event.find(' ')) + " " + time.str();
  }
  return result;
}

const std::string kRegions = R"(
STRING strid=0 cntc=0 str="main"
STRING strid=1 cntc=0 str="MPI_Test"
STRING strid=2 cntc=0 str="MPI_Iprobe"
REGION rid=7 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=8 rnid=1 fid=absent begln=absent endln=absent rdid=absent rtype=1
REGION rid=9 rnid=2 fid=absent begln=absent endln=absent rdid=absent rtype=1
)";

// Polls from 1 to 3, of which 0.5 s are in the calls.
std::string series(const std::string& more, int polls = 5) {
  return "MPI_POLL_CALL lid=0 time=1 exit=3 rid=8 count=5 called=0.5 rest=1.5 kind=1 "
         "last_enter=2.875 reqid=4 polls=" +
         std::to_string(polls) + " " + more + "\n";
}
std::string alone(const std::string& inside) {
  return kRegions + "ENTER lid=0 time=0 rid=7\n" + inside + "EXIT lid=0 time=4\n";
}

TEST(MergePolls, ASeriesThatWaitsIsOneInstance) {
  LocalRun run(1);
  run.add(0, alone("MPI_POLL lid=0 time=1 kind=2 rid=9 count=2 first_enter=1.5 last_enter=2.5 "
                   "plid=0 tag=3\n" +
                   series("judged=1 end=3 members=2", 3)));
  run.merge();
  const auto events = events_of(run);
  EXPECT_EQ(flow(events), "ENTER 0, ENTER 1, MPI_POLLED 3, MPI_POLL 3, MPI_POLL 3, EXIT 3, EXIT 4");
  const std::string& polled = events[2];
  EXPECT_EQ(number(polled, "begin"), 1);
  EXPECT_EQ(number(polled, "called"), 0.5);
  EXPECT_EQ(number(polled, "rest"), 1.5);
  EXPECT_EQ(value(polled, "judged"), "1");
  EXPECT_EQ(value(polled, "end"), "3");
  EXPECT_EQ(value(polled, "members"), "2");
  // The first member is the one in the record; the others keep their order behind it.
  EXPECT_EQ(value(events[3], "kind"), "1");
  EXPECT_EQ(value(events[3], "count"), "3");
  EXPECT_EQ(number(events[3], "first_enter"), 1);
  EXPECT_EQ(number(events[3], "last_enter"), 2.875);
  EXPECT_EQ(value(events[3], "reqid"), "4");
  EXPECT_EQ(value(events[3], "rid"), value(events[1], "rid")) << "its region's merged number";
  EXPECT_EQ(value(events[4], "kind"), "2");
  EXPECT_EQ(number(events[4], "first_enter"), 1.5);
  EXPECT_EQ(value(events[4], "plid"), "0");
  EXPECT_NE(value(events[4], "rid"), value(events[3], "rid"));
}

// 0.5 s in the calls from 1 on: the exit stands at 1.5, and the rest is main's.
TEST(MergePolls, ASeriesThatWorksIsAsLongAsItsCalls) {
  LocalRun run(1);
  run.add(0, alone(series("judged=3 end=3 members=1")));
  run.merge();
  const auto events = events_of(run);
  EXPECT_EQ(flow(events), "ENTER 0, ENTER 1, MPI_POLLED 1.5, MPI_POLL 1.5, EXIT 1.5, EXIT 4");
  EXPECT_EQ(value(events[2], "judged"), "3");
  EXPECT_EQ(number(events[2], "rest"), 1.5);
  EXPECT_EQ(number(events[3], "last_enter"), 2.875) << "when it was, whatever the instance";
}

std::string judged(std::uint64_t finds, std::uint64_t least, const std::string& length) {
  LocalRun run(1);
  run.add(0, alone(series("judged=2 end=3 members=1 least=" + length) +
                   "MPI_POLL_SITE rid=8 finds=1 least=1\n"
                   "MPI_POLL_SITE rid=8 finds=" +
                   std::to_string(finds) + " least=" + std::to_string(least) + "\n"));
  run.merge();
  return value(events_of(run)[2], "judged");
}
// An event loop has ten finds; a round is the loop's up to 1.25 times its shortest one.
TEST(MergePolls, WhatIsEvenWaitsInAnEventLoop) {
  EXPECT_EQ(judged(10, 4000, "4e-6"), "1");
  EXPECT_EQ(judged(9, 4000, "4e-6"), "3") << "one find too few";
  EXPECT_EQ(judged(10, 4000, "5e-6"), "1") << "1.25 times 4000 ns";
  EXPECT_EQ(judged(10, 4000, "5.001e-6"), "3");
  EXPECT_EQ(judged(1000, ~std::uint64_t{0}, "4e-6"), "3") << "no round is known";
}
TEST(MergePolls, FindsOfAllThreadsMakeTheLoop) {
  const auto trace = [](const std::string& lid, const std::string& finds) {
    const std::string text = alone(series("judged=2 end=3 members=1 least=4e-6") +
                                   "MPI_POLL_SITE rid=8 finds=" + finds + " least=4000\n");
    std::string moved;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(" lid=0");
      if (at != std::string::npos) line.replace(at, 6, " lid=" + lid);
      moved += line + "\n";
    }
    return moved;
  };
  LocalRun run(1);
  run.add(0, trace("0", "6"), 0);
  run.add(0, trace("1", "4"), 1);
  run.merge();
  for (const std::string& event : events_of(run)) {
    if (event.starts_with("MPI_POLLED")) {
      EXPECT_EQ(value(event, "judged"), "1") << event;
    }
  }
}

// What is even and ends with a find is one instance with it if it waits, and two if it works.
TEST(MergePolls, AnEvenSeriesAndItsFind) {
  const auto events = [](const std::string& finds) {
    LocalRun run(1);
    run.add(0, alone(series("judged=2 end=1 members=1 least=4e-6 found=9") +
                     "STRING strid=3 cntc=0 str=\"defined in between\"\n"
                     "ENTER lid=0 time=3.25 rid=9\n"
                     "MPI_PROBED lid=0 time=3.5 slid=0 cid=0 tag=3\n"
                     "EXIT lid=0 time=3.5\n"
                     "MPI_POLL_SITE rid=8 finds=" +
                     finds + " least=4000\n"));
    run.merge();
    return events_of(run);
  };
  EXPECT_EQ(flow(events("10")),
            "ENTER 0, ENTER 1, MPI_POLLED 3, MPI_POLL 3, MPI_PROBED 3.5, EXIT 3.5, EXIT 4");
  EXPECT_NE(value(events("10")[1], "rid"), value(events("10")[3], "rid"))
      << "the instance is the find's, the member another call's";
  EXPECT_EQ(flow(events("9")),
            "ENTER 0, ENTER 1, MPI_POLLED 1.5, MPI_POLL 1.5, EXIT 1.5, ENTER 3.25, MPI_PROBED 3.5, "
            "EXIT 3.5, EXIT 4");
}

// A series goes on what waits; not what was even and is found to work.
TEST(MergePolls, NothingGoesOnWhatWorks) {
  const auto goes_on = [](const std::string& finds) {
    LocalRun run(1);
    run.add(0, kRegions + "ENTER lid=0 time=0 rid=7\n" +
                   series("judged=2 end=2 members=1 least=4e-6") +
                   "ENTER lid=0 time=3 rid=8\n"
                   "MPI_POLLED lid=0 time=4 count=3 begin=3 judged=1 end=1 flags=1 members=1\n"
                   "MPI_POLL lid=0 time=4 kind=1 rid=8 count=3 first_enter=3 last_enter=3.5\n"
                   "EXIT lid=0 time=4\nEXIT lid=0 time=4\n"
                   "MPI_POLL_SITE rid=8 finds=" +
                   finds + " least=4000\n");
    run.merge();
    std::string flags;
    for (const std::string& event : events_of(run)) {
      if (event.starts_with("MPI_POLLED")) flags += value(event, "flags");
    }
    return flags;
  };
  EXPECT_EQ(goes_on("10"), "41") << "4: an instance of its own";
  EXPECT_EQ(goes_on("9"), "40");
}

// Its clock shows 1.0000 s for each true 1.5 s from 10 on, and 0.25 s less than rank 0's: a time t
// means 10 + 1.5 (t - 10) + 0.25. The first event of all is rank 0's at 0.
TEST(MergePolls, LengthsAreThoseOfTheTrueClock) {
  LocalRun run(2);
  run.add(0,
          "NODE nid=0 cpuc=1 nnid=\"a\"\nOFFSET ltime=0 offset=0\n"
          "ENTER lid=0 time=0 region=main\nEXIT lid=0 time=30\n");
  run.add(1,
          "NODE nid=0 cpuc=1 nnid=\"b\"\nOFFSET ltime=10 offset=0.25\n"
          "CLOCK_RATE reference=10 factor=1.5\n"
          "ENTER lid=1 time=10 region=main\n"
          "ENTER lid=1 time=11 region=MPI_Test\n"
          "MPI_POLLED lid=1 time=13 count=5 begin=11 called=0.5 paused=0.25 asleep=0.125 "
          "rest=1.25 least=0.5 ran=17 judged=1 end=1 members=1\n"
          "MPI_POLL lid=1 time=13 kind=1 region=MPI_Test count=5 first_enter=11 "
          "last_enter=12.5\n"
          "EXIT lid=1 time=14\n"
          "EXIT lid=1 time=15\n");
  run.merge();
  bool seen = false;
  for (const std::string& event : events_of(run)) {
    if (event.starts_with("MPI_POLLED")) {
      seen = true;
      EXPECT_DOUBLE_EQ(number(event, "begin"), 11.75);
      EXPECT_DOUBLE_EQ(number(event, "time"), 14.75);
      EXPECT_DOUBLE_EQ(number(event, "called"), 0.75);
      EXPECT_DOUBLE_EQ(number(event, "paused"), 0.375);
      EXPECT_DOUBLE_EQ(number(event, "asleep"), 0.1875);
      EXPECT_DOUBLE_EQ(number(event, "rest"), 1.875);
      EXPECT_DOUBLE_EQ(number(event, "least"), 0.75);
      EXPECT_EQ(value(event, "ran"), "17") << "the kernel's own nanoseconds";
    } else if (event.starts_with("MPI_POLL ")) {
      EXPECT_DOUBLE_EQ(number(event, "first_enter"), 11.75);
      EXPECT_DOUBLE_EQ(number(event, "last_enter"), 14);
    }
  }
  EXPECT_TRUE(seen);
}

// Members whose series is not there say nothing; a series lacks those that are not there.
TEST(MergePolls, WhatIsCutOffIsLeftOut) {
  LocalRun run(1);
  run.add(0, alone("MPI_POLL lid=0 time=1 kind=2 rid=9 count=2 first_enter=1.5 last_enter=2.5\n"));
  run.merge();
  EXPECT_EQ(flow(events_of(run)), "ENTER 0, EXIT 4");
  LocalRun other(1);
  other.add(0, alone(series("judged=1 end=3 members=3")));
  other.merge();
  EXPECT_EQ(value(events_of(other)[2], "members"), "1");
}

// Rank 1 says that a displacement of 1 is 8 bytes in its part of the window, rank 0 that it is 4.
std::string window_of(std::uint32_t rank, int unit) {
  const std::string id = std::to_string(rank);
  return kRegions +
         "STRING strid=3 cntc=0 str=\"MPI_Get\"\n"
         "REGION rid=10 rnid=3 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
         "MPI_COMM cid=0 grpc=1 grpv=11000000\nCOMM_IDENTITY cid=0 hi=1 lo=2 flags=0\n"
         "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=3 lo=4 flags=0\n" +
         (unit == 0 ? std::string()
                    : "MPI_WIN_PART wid=0 base=4096 size=64 unit=" + std::to_string(unit) + "\n") +
         "ENTER lid=" + id + " time=0 rid=7\n";
}
const std::string kPlaced =
    "MPI_RMA_PLACE lid=0 time=1 dlid=1 wid=0 rmaid=3 disp=5 bytes=8 kind=2 op=14\n"
    "MPI_RMA_CALL lid=0 time=1 exit=1.5 rid=10 dlid=1 wid=0 rmaid=3 bytes=8 got=0 kind=2\n"
    "MPI_POLL_CALL lid=0 time=2 exit=3 rid=10 count=5 called=0.5 rest=0.25 kind=4 last_enter=2.5 "
    "polls=5 judged=1 end=3 members=1 wid=0 tlid=1 disp=5 bytes=8 value=7\n"
    "EXIT lid=0 time=4\n";

TEST(MergePolls, PlacesAreBytesOfTheTargetsPart) {
  LocalRun run(2);
  run.add(0, window_of(0, 4) + kPlaced);
  run.add(1, window_of(1, 8) + "EXIT lid=1 time=4\n");
  run.merge();
  std::vector<std::string> mine;
  for (const std::string& event : events_of(run)) {
    if (event.find("MPI_RMA_PLACE") == 0 || event.find("MPI_POLL ") == 0 ||
        event.find("MPI_GET_1TO") == 0) {
      mine.push_back(event);
    }
  }
  EXPECT_EQ(flow(mine), "MPI_RMA_PLACE 1, MPI_GET_1TO 1, MPI_POLL 3");
  ASSERT_EQ(mine.size(), 3u);
  EXPECT_EQ(value(mine[0], "disp"), "40");
  EXPECT_EQ(value(mine[0], "op"), "14");
  EXPECT_EQ(value(mine[2], "disp"), "40");
  EXPECT_EQ(value(mine[2], "value"), "7");
}

TEST(MergePolls, PlacesAreUnknownWhereTheTargetDidNotSay) {
  LocalRun run(2);
  run.add(0, window_of(0, 4) + kPlaced);
  run.add(1, window_of(1, 0) + "EXIT lid=1 time=4\n");
  run.merge();
  for (const std::string& event : events_of(run)) {
    if (event.find(" disp=") != std::string::npos) {
      EXPECT_EQ(value(event, "disp"), "18446744073709551615") << event;
    }
  }
}

// What the merged trace says of memory that windows share; rank 1's part of window 0 has the
// addresses 4096 to 4159, and that of another window begins at `base`.
std::string shared_memory(int base, int dynamic = 0) {
  const auto another = [&](std::uint32_t rank, int at, int size) {
    std::string text = window_of(rank, 8);
    const std::string more = "MPI_WIN wid=1 cid=0\nWIN_IDENTITY wid=1 hi=5 lo=6 flags=0 flavour=" +
                             std::to_string(dynamic != 0 ? 3 : 1) +
                             " model=2\nMPI_WIN_PART wid=1 base=" + std::to_string(at) +
                             " size=" + std::to_string(size) + " unit=1\n";
    return text.insert(text.find("ENTER"), more);
  };
  LocalRun run(2);
  run.add(0, another(0, 8192, 64) + kPlaced);
  run.add(1, another(1, base, dynamic != 0 ? 0 : 32) + "EXIT lid=1 time=4\n");
  run.merge();
  const auto text = trace_to_text(run.merged, "merged");
  if (!text) throw std::runtime_error(text.error().message());
  const std::size_t part = text->find("0:4096:64");
  if (part == std::string::npos) return "";
  const std::size_t begin = text->rfind('"', part) + 1;
  return text->substr(begin, text->find('"', begin) - begin);
}
TEST(MergePolls, WindowsOverOneMemoryAreTold) {
  EXPECT_EQ(shared_memory(4159), "0:4096:64 1:4159:32");
  EXPECT_EQ(shared_memory(4160), "");
  EXPECT_EQ(shared_memory(0, 1), "1:0:0 0:4096:64");
}
// A text holds 64 KiB: more windows than it has room for are told in several.
TEST(MergePolls, ManyWindowsOverOneMemoryAreToldInParts) {
  LocalRun run(2);
  std::string more;
  constexpr int kWindows = 2500;
  for (int w = 1; w < kWindows; ++w) {
    const std::string id = std::to_string(w);
    more += "MPI_WIN wid=" + id + " cid=0\nWIN_IDENTITY wid=" + id + " hi=5 lo=" + id +
            " flags=0 flavour=1 model=2\nMPI_WIN_PART wid=" + id + " base=4096 size=64 unit=1\n";
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    std::string text = window_of(rank, 8);
    text.insert(text.find("ENTER"), more);
    run.add(rank, text + (rank == 0 ? kPlaced : "EXIT lid=1 time=4\n"));
  }
  run.merge();
  const RunProperties properties = run.definitions().properties;
  std::size_t told = 0, parts = 0;
  for (const char* key : {"windows.memory", "windows.memory.1", "windows.memory.2"}) {
    const std::string* const part = properties.find(key, ProcessId{1});
    if (part == nullptr) continue;
    ++parts;
    EXPECT_LE(part->size(), 65535u);
    for (std::size_t at = 0; (at = part->find(":4096:64", at)) != std::string::npos; ++at) ++told;
  }
  EXPECT_EQ(told, static_cast<std::size_t>(kWindows));
  EXPECT_EQ(parts, 3u);
}

}  // namespace
}  // namespace kojak::test
