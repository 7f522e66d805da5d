// What a process has open is found among few and among many entries, whatever comes and goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "earl/many_open.h"

namespace kojak::earl {
namespace {

// Lists of two owners that grow and shrink at random around the bound between few and many: where
// the index knows a list, it finds what the list has.
TEST(ManyOpen, KnowsWhatLongListsHave) {
  struct Entry {
    std::uint32_t key, number;
  };
  std::minstd_rand random;
  ManyOpen many;
  std::vector<Entry> lists[2];
  bool were_many = false, were_few_again = false;
  for (std::uint32_t step = 0; step < 4000; ++step) {
    const std::uint64_t owner = random() % 2;
    std::vector<Entry>& list = lists[owner];
    const auto of = [&](const Entry& e) {
      return std::pair(ManyOpen::Key{owner, e.key}, e.number);
    };
    const bool grow = step / 200 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
    const auto key = static_cast<std::uint32_t>(random() % 60);
    const auto at =
        std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.key == key; });
    if (grow && at == list.end()) {
      list.push_back({key, step});
      many.added(list, of);
    } else if (!grow && !list.empty()) {
      const auto gone = list.begin() + static_cast<std::ptrdiff_t>(random() % list.size());
      const std::uint32_t taken = gone->key;
      list.erase(gone);
      many.removed(list, ManyOpen::Key{owner, taken}, of);
    }
    if (!ManyOpen::knows(list.size())) {
      were_few_again = were_few_again || were_many;
      continue;
    }
    were_many = true;
    for (std::uint32_t k = 0; k < 60; ++k) {
      const auto there =
          std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.key == k; });
      ASSERT_EQ(many.find({owner, k}), there == list.end() ? kNone : there->number) << step;
    }
  }
  EXPECT_TRUE(were_many && were_few_again);
}

}  // namespace
}  // namespace kojak::earl
