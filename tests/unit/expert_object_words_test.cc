// What communicators, windows and locks are called.
#include <gtest/gtest.h>

#include "epilog/format/io/reader.h"
#include "epilog/format/text/text_reader.h"
#include "expert/findings/object_words.h"

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

}  // namespace
}  // namespace kojak::expert
