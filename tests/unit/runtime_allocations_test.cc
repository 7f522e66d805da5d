// Where an address of another process lies in memory that all have allocated.
#include <gtest/gtest.h>

#include "epilog/runtime/allocations.h"

namespace kojak::measure {
namespace {

const char kHere = 0, kThere = 0;
const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}
std::uint64_t of(std::uint32_t number, std::uint64_t distance) {
  return std::uint64_t{number} << 40 | distance;
}

class Memory3 : public testing::Test {
 protected:
  bool add(std::uint32_t number, std::initializer_list<std::uintptr_t> bases,
           const void* owner = &kHere) {
    parts_.resize(bases.size());
    std::copy(bases.begin(), bases.end(), parts_.begin());
    return memory_.add(owner, number, parts_);
  }
  std::uint64_t place(std::uint32_t process, std::uintptr_t address) {
    return raw(memory_.place(process, at(address)));
  }

  Allocations memory_;
  Vector<std::uintptr_t> parts_;
};

TEST_F(Memory3, AnAddressIsOfThePartThatBeginsLastBeforeIt) {
  EXPECT_EQ(place(0, 0x1000), raw(kUnknown64));
  ASSERT_TRUE(add(1, {0x1000, 0x9000, 0}));
  ASSERT_TRUE(add(2, {0x5000, 0x2000, 0x3000}));
  for (int twice = 0; twice < 2; ++twice) {  // found, and remembered
    EXPECT_EQ(place(0, 0x1000), of(1, 0));
    EXPECT_EQ(place(0, 0x4FFF), of(1, 0x3FFF));
    EXPECT_EQ(place(0, 0x5000), of(2, 0));
    EXPECT_EQ(place(1, 0x9010), of(1, 0x10));
    EXPECT_EQ(place(1, 0x8FFF), of(2, 0x6FFF));
    EXPECT_EQ(place(2, 0x3008), of(2, 8));
    EXPECT_EQ(place(2, 0x2FFF), raw(kUnknown64)) << "before all";
    EXPECT_EQ(place(3, 0x3008), raw(kUnknown64)) << "no such process";
    EXPECT_EQ(place(0, 0), raw(kUnknown64));
  }
  // So far away nothing is sure.
  EXPECT_EQ(place(2, 0x3000 + (std::uintptr_t{1} << 40) - 1), of(2, (std::uint64_t{1} << 40) - 1));
  EXPECT_EQ(place(2, 0x3000 + (std::uintptr_t{1} << 40)), raw(kUnknown64));
}

TEST_F(Memory3, WhatIsFreedIsForgotten) {
  ASSERT_TRUE(add(1, {0x1000, 0x1000}));
  ASSERT_TRUE(add(2, {0x5000, 0x5000}));
  EXPECT_EQ(place(1, 0x5008), of(2, 8));
  memory_.remove(&kHere, 0, at(0x5000));
  EXPECT_EQ(place(1, 0x5008), of(1, 0x4008));
  // The same address again.
  ASSERT_TRUE(add(3, {0x5000, 0x5000}));
  EXPECT_EQ(place(1, 0x5008), of(3, 8));
  memory_.remove(&kThere, 0, at(0x1000));  // whoever says so
  EXPECT_EQ(place(1, 0x1008), raw(kUnknown64));
  EXPECT_EQ(place(1, 0x5008), of(3, 8));
}

// Who has no part frees null: that tells which, where one alone may be meant.
TEST_F(Memory3, AnEmptyPartIsFreedByNull) {
  ASSERT_TRUE(add(1, {0, 0x1000}));
  ASSERT_TRUE(add(2, {0x5000, 0x5000}));
  ASSERT_TRUE(add(1, {0, 0x8000}, &kThere));
  memory_.remove(&kHere, 0, nullptr);
  EXPECT_EQ(place(1, 0x1008), raw(kUnknown64));
  EXPECT_EQ(place(1, 0x8008), of(1, 8)) << "another group's";
  ASSERT_TRUE(add(3, {0, 0x1000}));
  ASSERT_TRUE(add(4, {0, 0x2000}));
  memory_.remove(&kHere, 0, nullptr);
  EXPECT_EQ(place(1, 0x5008), raw(kUnknown64)) << "nobody knows which one it was";
}

TEST_F(Memory3, MemoryIsBounded) {
  const std::size_t before = memory_in_use();
  parts_.resize(1 << 19);
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i] = 0x1000;
  EXPECT_TRUE(memory_.add(&kHere, 1, parts_));
  EXPECT_TRUE(memory_.add(&kHere, 2, parts_));
  EXPECT_FALSE(memory_.add(&kHere, 3, parts_));
  EXPECT_EQ(place(0, 0x1000), raw(kUnknown64)) << "it may be of the one that was not kept";
  EXPECT_LT(memory_in_use() - before, 3 * parts_.size() * sizeof(std::uintptr_t) + 4096);
}

}  // namespace
}  // namespace kojak::measure
