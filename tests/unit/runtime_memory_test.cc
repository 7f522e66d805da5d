// Containers of the measurement's bookkeeping against the standard library's, and that their memory
// comes back.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "epilog/runtime/memory.h"

namespace kojak::measure {
namespace {

TEST(Memory, BlocksAreZeroedAndComeBack) {
  const std::size_t before = memory_in_use();
  for (const std::size_t bytes : {1u, 31u, 32u, 33u, 1000u, 65536u, 65537u, 1000000u}) {
    auto* block = static_cast<unsigned char*>(allocate(bytes));
    ASSERT_NE(block, nullptr);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], 0) << bytes;
    std::memset(block, 0xFF, bytes);
    EXPECT_GE(memory_in_use(), before + bytes);
    release(block, bytes);
    auto* again = static_cast<unsigned char*>(allocate(bytes));
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(again[i], 0) << bytes;
    release(again, bytes);
    EXPECT_EQ(memory_in_use(), before);
  }
}

TEST(Memory, VectorKeepsItsValuesWhileItGrows) {
  Vector<int> numbers;
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(numbers.push_back(i));
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i);
  numbers.resize(3);
  EXPECT_EQ(numbers.back(), 2);
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
}

TEST(Memory, HashMapBehavesAsAMap) {
  std::mt19937 random(7);
  HashMap<int> ours;
  std::map<std::uint64_t, int> theirs;
  // Keys of few values, so that removals hit; multiples of 4096, so that they look like addresses.
  for (int step = 0; step < 200000; ++step) {
    const std::uint64_t key = (random() % 500) * 4096;
    if (random() % 3 != 0) {
      ASSERT_NE(ours.set(key, step), nullptr);
      theirs[key] = step;
    } else {
      ours.erase(key);
      theirs.erase(key);
    }
    if (step % 1000 == 0) {
      ASSERT_EQ(ours.size(), theirs.size());
      for (std::uint64_t k = 0; k < 500; ++k) {
        const int* found = ours.find(k * 4096);
        const auto it = theirs.find(k * 4096);
        ASSERT_EQ(found != nullptr, it != theirs.end());
        if (found != nullptr) {
          ASSERT_EQ(*found, it->second);
        }
      }
    }
  }
  std::map<std::uint64_t, int> walked;
  ours.for_each([&](std::uint64_t key, int value) { walked[key] = value; });
  EXPECT_EQ(walked, theirs);
  const std::size_t used = memory_in_use();
  ours.clear();
  EXPECT_LT(memory_in_use(), used);
}

TEST(Memory, ManyInsertionsAndRemovalsDoNotGrowAMap) {
  HashMap<int> map;
  for (std::uint64_t i = 0; i < 100; ++i) map.set(i, 0);
  const std::size_t used = memory_in_use();
  for (std::uint64_t i = 0; i < 100000; ++i) {
    map.erase(i);
    map.set(i + 100, 0);
  }
  EXPECT_EQ(memory_in_use(), used);
  map.clear();
}

}  // namespace
}  // namespace kojak::measure
