// What communicators, windows, locks and allocations are called.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "epilog/format/io/reader.h"
#include "epilog/format/text/text_reader.h"
#include "expert/findings/object_words.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

Definitions definitions_of(const std::string& text) {
  const auto bytes = text_to_trace(text);
  EXPECT_TRUE(bytes) << bytes.error().message();
  auto reader = TraceReader::from(memory_source(bytes->data(), bytes->size()), "trace");
  Definitions definitions;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (!is_definition(record.type)) continue;
    EXPECT_TRUE(definitions.add(record, reader->dialect()));
  }
  return definitions;
}

const Definitions& definitions() {
  static const Definitions found = definitions_of(
      "MERGED_RUN run_hi=1 run_lo=2 size=2\n"
      "MPI_GROUP gid=0 mode=1 count=2\n"
      "MPI_COMM_REF cid=0 gid=0\nCOMM_NAME cid=0 cnid=\"MPI_COMM_WORLD\"\n"
      "MPI_COMM_REF cid=1 gid=0\nCOMM_NAME cid=1 cnid=\"halo\"\n"
      "MPI_COMM_REF cid=2 gid=0\n"
      "MPI_COMM_REF cid=3 gid=0\nCOMM_NAME cid=3 cnid=\"row\"\n"
      "MPI_COMM_REF cid=4 gid=0\nCOMM_NAME cid=4 cnid=\"row\"\n"
      "MPI_COMM_REF cid=5 gid=0\nCOMM_NAME cid=5 cnid=\"SHMEM_TEAM_WORLD\"\n"
      "MPI_WIN wid=0 cid=0\nWIN_NAME wid=0 wnid=\"field\"\n"
      "MPI_WIN wid=1 cid=0\n"
      "STRING strid=90 cntc=0 str=\"/src/table.c\"\nFILE fid=7 fnid=90\n"
      "SHMEM_LOCK_NAME lkid=2147485708 lknid=\"table_lock\" fid=7\n"
      "SHMEM_LOCK_NAME lkid=2147485709 lknid=\"other\" fid=absent\n");
  return found;
}

std::string words(Operation::Object object, std::uint32_t id, const std::string& made_at = "",
                  bool others = false, std::uint32_t process = kNoLocation) {
  return object_words(definitions(), {.object = object, .id = id, .process = process}, made_at,
                      others);
}

using enum Operation::Object;

TEST(ObjectWords, ANameComesFirst) {
  EXPECT_EQ(words(kCommunicator, 0, "main.c:1"), "MPI_COMM_WORLD");
  EXPECT_EQ(words(kCommunicator, 1, "main.c:2"), "communicator halo");
  EXPECT_EQ(words(kCommunicator, 5), "SHMEM_TEAM_WORLD");
  EXPECT_EQ(words(kWindow, 0, "main.c:3"), "window field");
}

TEST(ObjectWords, ElseTheLineThatMadeIt) {
  EXPECT_EQ(words(kCommunicator, 2, "main.c:4"), "the communicator made at main.c:4");
  EXPECT_EQ(words(kWindow, 1, "main.c:5"), "the window made at main.c:5");
  EXPECT_EQ(words(kWindow, 1), "window 1") << "nobody knows where";
  EXPECT_EQ(words(kCommunicator, 77), "communicator 77") << "nothing defines it";
}

TEST(ObjectWords, EqualOnesHaveTheirNumbers) {
  EXPECT_EQ(words(kCommunicator, 3), "communicator row (number 3)");
  EXPECT_EQ(words(kCommunicator, 4), "communicator row (number 4)");
  EXPECT_EQ(words(kWindow, 1, "main.c:5", true), "the window made at main.c:5 (number 1)");
}

TEST(ObjectWords, APartIsOfAProcess) {
  EXPECT_EQ(words(kWindow, 0, "", false, 2), "rank 2's part of window field");
  EXPECT_EQ(words(kWindow, 1, "a.c:9", false, 0), "rank 0's part of the window made at a.c:9");
}

TEST(ObjectWords, LocksAreVariables) {
  EXPECT_EQ(words(kLock, 2147485708), "the lock table_lock (table.c)");
  EXPECT_EQ(words(kLock, 2147485709), "the lock other");
  EXPECT_EQ(words(kLock, 5), "lock 5");
}

TEST(ObjectWords, NothingIsNotNamed) {
  EXPECT_EQ(words(kNothing, 0), "");
  EXPECT_EQ(words(kWindow, kAbsent), "");
}

TEST(ObjectWords, AllocationsHaveNumbersAndWhoMadeThem) {
  EXPECT_EQ(words(kAllocation, 3), "allocation 3");
  EXPECT_EQ(words(kAllocation, 3, "ARMCI_Malloc at scf.c:40"),
            "allocation 3 (ARMCI_Malloc at scf.c:40)");
  EXPECT_EQ(words(kAllocation, 3, "", false, 1), "rank 1's part of allocation 3");
  // The second of a group's.
  EXPECT_EQ(words(kAllocation, kAllocationOfGroup | 0x123002), "allocation 2 of a group");
  EXPECT_EQ(object_name({.object = kAllocation, .id = 3, .process = 1}), "allocation 3 of rank 1");
}

// Process 1 is outside of ARMCI but at 3.5, 8.5 and 12, and then the whole time. Process 0 gets
// from allocation 3, which line 40 made, 1.5 s long; from 3 and 5 at once, which it waits for 1.5
// s; and from 5, of which nobody knows where it was made, 1 s.
TEST(ObjectWords, WaitsForProgressAreAtAllocations) {
  const std::string get =
      "MPI_GET_1TO lid=0 time=T rmaid=N wid=absent\nGET_1TS lid=1 time=T dlid=0 rmaid=N sent=8\n";
  const auto got = [&](const std::string& time, int number, int allocation, int context) {
    std::string text =
        "SHMEM_PLACE lid=0 time=T dlid=1 rmaid=N offset=" +
        std::to_string((std::uint64_t{1} << 40) * static_cast<unsigned>(allocation) + 16) +
        " ctx=" + std::to_string(context) + " flags=" + (context == 0 ? "0\n" : "1\n") + get;
    for (const auto& [from, to] :
         {std::pair<char, std::string>{'T', time}, {'N', std::to_string(number)}}) {
      for (std::size_t at = 0;
           (at = text.find(std::string("=") + from, at)) != std::string::npos;) {
        text.replace(at + 1, 1, to);
      }
    }
    return text;
  };
  const auto ended = [](const std::string& time, int number) {
    return "GET_1TE lid=0 time=" + time + " slid=1 rmaid=" + std::to_string(number) + " recvd=8\n";
  };
  const auto test_at = [&](const std::string& time) {
    return "ENTER lid=1 time=" + time + " region=ARMCI_Test\nEXIT lid=1 time=" + time + "\n";
  };
  std::string text =
      "STRING strid=50 cntc=0 str=\"scf.c\"\nFILE fid=5 fnid=50\n"
      "REGION rid=60 rnid=\"ARMCI_Malloc\" rtype=0\n"
      "CALL_SITE csid=7 fid=5 lno=40 erid=60 lrid=absent\n"
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER_CS lid=0 time=0.5 csid=7\nENTER_CS lid=1 time=0.5 csid=7\n"
      "ATTR_UI4 kind=9 value=3\nCOLLEXIT lid=0 time=1 rlid=absent cid=0 sent=0 recvd=0\n"
      "ATTR_UI4 kind=9 value=3\nCOLLEXIT lid=1 time=1 rlid=absent cid=0 sent=0 recvd=0\n"
      "ENTER lid=0 time=2 region=ARMCI_Get\n" +
      got("2", 0, 3, 0) + test_at("3.5") + ended("4", 0) +
      "EXIT lid=0 time=4\n"
      "ENTER lid=0 time=5 region=ARMCI_NbGet\n" +
      got("5", 1, 3, 1) + "EXIT lid=0 time=5.25\nENTER lid=0 time=6 region=ARMCI_NbGet\n" +
      got("6", 2, 5, 1) + "EXIT lid=0 time=6.25\nENTER lid=0 time=7 region=ARMCI_WaitAll\n" +
      test_at("8.5") + ended("9", 1) + ended("9", 2) +
      "SHMEM_QUIET lid=0 time=9 ctx=absent kind=1 dlid=absent\nEXIT lid=0 time=9\n"
      "ENTER lid=0 time=11 region=ARMCI_Get\n" +
      got("11", 3, 5, 0) + test_at("12") + ended("13", 3) +
      "EXIT lid=0 time=13\nEXIT lid=0 time=20\nEXIT lid=1 time=20\n";
  std::optional<earl::Trace> trace;
  const Report report = analyse_script(text, trace, {});
  std::map<double, std::string> found;
  for (const Instance& i : report.waits().worst) {
    found[i.begin.value] = object_words(report, i.operation);
    EXPECT_NEAR(i.waiting.seconds(), i.begin.value < 10 ? 1.5 : 1, 1e-9);
  }
  const std::map<double, std::string> expected{
      {2, "rank 1's part of allocation 3 (ARMCI_Malloc at scf.c:40)"},
      {7, ""},
      {11, "rank 1's part of allocation 5"}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace kojak::expert
