// Compact traces whose items were changed, and whose checksums were made right again: whatever came
// of it, all ways to read it have the same records.
#include <gtest/gtest.h>

#include <random>

#include "epilog/format/compact/encode.h"
#include "epilog/format/compact/pack.h"
#include "epilog/format/text/text_reader.h"
#include "tests/malformed/compact_readers.h"
#include "tests/malformed/damage.h"
#include "tests/support/as_measured.h"
#include "tests/support/compact_items.h"
#include "tests/support/limit_memory.h"
#include "tests/support/openmp_program.h"

namespace kojak {
namespace {

using Octets = std::vector<std::byte>;

Octets trace_named(const std::string& name) {
  if (name == "checked") return compact::pack(test::native_merged_trace());
  if (name == "plain") return compact::pack(test::native_merged_trace(), compact::Blocks::kPlain);
  if (name == "ticks") return support::as_measured(test::native_local_trace());
  return support::as_measured(*text_to_trace(support::openmp_threads()[0]));
}

class Change {
 public:
  explicit Change(unsigned seed) : random_(seed) {}

  Octets changed(const Octets& trace) {
    std::vector<Octets> items = support::items_of(trace);
    for (std::size_t n = 1 + number(3); n-- != 0 && !items.empty();) {
      change(items);
    }
    Octets made(trace.begin(), trace.begin() + kHeaderSize);
    for (const Octets& item : items) made.insert(made.end(), item.begin(), item.end());
    support::repair_blocks(made);
    return made;
  }

 private:
  std::size_t number(std::size_t below) { return random_() % below; }

  void change(std::vector<Octets>& items) {
    const std::size_t i = number(items.size());
    const auto at = items.begin() + static_cast<std::ptrdiff_t>(i);
    switch (number(6)) {
      case 0:
        items.erase(at);
        break;
      case 1:
        items.insert(at, Octets(items[number(items.size())]));
        break;
      case 2:
        std::swap(*at, items[number(items.size())]);
        break;
      case 3:  // the fields that are there follow, or do not
        at->front() ^= std::byte{compact::kSameFields};
        break;
      case 4:
        (*at)[number(at->size())] = static_cast<std::byte>(random_());
        break;
      default: {  // a number in the place of a byte; some are out of range
        constexpr std::uint64_t kNumbers[] = {0, 127, 128, 0xFFFFFFFF, 0x100000000, ~0ull};
        std::byte bytes[10];
        const std::byte* const end =
            compact::put_number(bytes, kNumbers[number(std::size(kNumbers))]);
        const auto byte = at->begin() + static_cast<std::ptrdiff_t>(number(at->size()));
        at->insert(at->erase(byte), static_cast<const std::byte*>(bytes), end);
      }
    }
  }
  std::minstd_rand random_;
};

class CompactDamage : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { test::limit_memory(); }
};

TEST_P(CompactDamage, ChangedItemsAreTheSameRecordsHoweverTheyAreRead) {
  const Octets whole = trace_named(GetParam());
  ASSERT_EQ(test::compact_difference(whole), "");
  const std::size_t records = support::unpacked(whole).size();
  const std::size_t items = support::items_of(whole).size();
  ASSERT_GT(items, 10u);
  unsigned damaged = 0, other = 0;
  constexpr unsigned kChanges = 3000;
  for (unsigned seed = 1; seed <= kChanges; ++seed) {
    const Octets changed = Change(seed).changed(whole);
    ASSERT_EQ(test::compact_difference(changed), "") << "seed " << seed;
    const std::size_t left = support::unpacked(changed).size();
    ++(left < records / 2 ? damaged : other);
    if (seed % 8 == 0) (void)test::read_all(changed);  // expects by itself
  }
  // Neither has every change ended the file in its first half, nor has none of them.
  EXPECT_GT(damaged, kChanges / 100);
  EXPECT_GT(other, kChanges / 4);
}

INSTANTIATE_TEST_SUITE_P(All, CompactDamage, testing::Values("checked", "plain", "ticks", "openmp"),
                         [](const auto& which) { return std::string(which.param); });

// They have none themselves, and a block that is decoded alone cannot know what stands before it.
// Once they are as long as the head of a block, their first bytes are looked at.
TEST(CompactDamage, ItemsBehindABlockWithAChecksumAreNoRecordsHoweverTheyAreRead) {
  const Octets checked = trace_named("checked");
  const Octets verbatim = {std::byte{compact::kVerbatim}, std::byte{0}, std::byte{0xFE}};
  Octets changed = checked;
  for (int more = 0; more < 8; ++more) {
    changed.insert(changed.end(), verbatim.begin(), verbatim.end());
    EXPECT_EQ(support::unpacked(changed), support::unpacked(checked));
    EXPECT_EQ(test::compact_difference(changed), "");
  }
}

// The records of the program's text, of which joint items stand for some.
TEST(CompactDamage, JointItemsStandForTheRecordsOfOpenMp) {
  const std::vector<std::string> threads = support::openmp_threads();
  // Thread 0 has TeamOfOne, LockEntered, LockLeft, TeamLeft, LockSet and TeamLeft; thread 1 has
  // LockTaken and LockLeft.
  constexpr std::size_t kJoint[] = {6, 2};
  ASSERT_EQ(threads.size(), std::size(kJoint));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const Octets trace = *text_to_trace(threads[i]);
    const Octets packed = support::as_measured(trace);
    std::size_t joint = 0;
    for (const Octets& item : support::items_of(packed)) {
      const auto code = std::to_integer<std::uint8_t>(item[0] & ~std::byte{compact::kSameFields});
      if (code == compact::kVerbatim) continue;
      compact::dispatch_joint(compact::type_of(code), [&]<class J>() { ++joint; });
    }
    EXPECT_EQ(joint, kJoint[i]);
    EXPECT_EQ(support::unpacked(packed).size(), trace.size());
    EXPECT_EQ(test::compact_difference(packed), "");
  }
}

}  // namespace
}  // namespace kojak
