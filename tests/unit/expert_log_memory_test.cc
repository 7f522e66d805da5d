// Logs that are larger than their share of memory lie in temporary files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "epilog/format/io/log_memory.h"

namespace kojak::expert {
namespace {

constexpr std::size_t kLimit = std::size_t{1} << 20;

TEST(LogMemory, KeepsWhatIsBelowItsLimitInMemory) {
  LogMemory memory(kLimit);
  LogVector<std::uint64_t> log(1000, memory);
  EXPECT_EQ(memory.in_memory(), 8000u);
  EXPECT_EQ(memory.in_files(), 0u);
}

// 8 MB in all, of two logs that grow by turns.
TEST(LogMemory, KeepsTheRestInFiles) {
  LogMemory memory(kLimit);
  {
    LogVector<std::uint64_t> one(memory), other(memory);
    for (std::uint64_t i = 0; i < 500'000; ++i) {
      one.push_back(i);
      other.push_back(2 * i);
    }
    EXPECT_LE(memory.in_memory(), kLimit);
    EXPECT_GE(memory.in_files() + memory.in_memory(), 8'000'000u);
    memory.rest();  // what was written is there again when it is read
    for (std::uint64_t i = 0; i < 500'000; ++i) {
      ASSERT_EQ(one[i], i);
      ASSERT_EQ(other[i], 2 * i);
    }
    other = std::move(one);
    EXPECT_EQ(std::accumulate(other.begin(), other.end(), std::uint64_t{0}),
              499'999ull * 500'000 / 2);
  }
  EXPECT_EQ(memory.in_memory(), 0u);
  EXPECT_EQ(memory.in_files(), 0u);
}

// A log of 8 MB is dropped, then 64 of 64 KB are made, which have small pages: 4 MB of the 8.
TEST(LogMemory, UsesAgainWhatWasGivenBackForLogsOfAnyKind) {
  LogMemory memory(0);
  LogVector<std::uint64_t> large(1 << 20, memory);
  const std::size_t taken = memory.file_bytes();
  ASSERT_GE(taken, std::size_t{8} << 20);
  large.drop();
  EXPECT_EQ(large.size(), 0u);
  EXPECT_EQ(memory.in_files(), 0u);
  std::vector<LogVector<std::uint64_t>> many;
  for (std::uint64_t l = 0; l < 64; ++l) {
    many.emplace_back(memory, true).assign(8192, l);
  }
  EXPECT_EQ(memory.in_files(), std::size_t{64} * 8192 * 8);
  EXPECT_EQ(memory.file_bytes(), taken);
  large.assign(512 * 1024, 7);  // and of the 4 MB that are left
  EXPECT_EQ(memory.file_bytes(), taken);
  for (std::uint64_t l = 0; l < 64; ++l) {
    ASSERT_EQ(std::count(many[l].begin(), many[l].end(), l), 8192);
  }
}

TEST(LogMemory, GivesSmallArraysNoFile) {
  LogMemory memory(0);
  LogVector<std::uint64_t> small(100, memory);
  EXPECT_EQ(memory.in_files(), 0u);
  LogVector<std::uint64_t> large(100'000, memory);
  EXPECT_EQ(memory.in_files(), 800'000u);
}

TEST(LogMemory, IsMemoryWhereThereIsNoPlaceForFiles) {
  const char* before = std::getenv("TMPDIR");
  const std::string told = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/no/such/folder", 1);
  LogMemory memory(0);
  LogVector<std::uint64_t> log(100'000, 7, memory);
  if (before != nullptr) {
    ::setenv("TMPDIR", told.c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
  EXPECT_EQ(memory.in_files(), 0u);
  EXPECT_EQ(memory.in_memory(), 800'000u);
  EXPECT_EQ(log.back(), 7u);
}

}  // namespace
}  // namespace kojak::expert
