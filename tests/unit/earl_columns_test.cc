// Columns of intervals against plain lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "earl/index/interval_column.h"
#include "earl/index/visit_marks.h"

namespace kojak::earl {
namespace {

struct Plain {
  std::uint64_t begin, end;
  std::vector<std::byte> contents;
  bool operator==(const Plain&) const = default;
};

std::vector<Plain> found_at(const IntervalColumn& column, std::uint64_t pos) {
  std::vector<Plain> result;
  column.at(pos, [&](const IntervalColumn::Row& row) {
    result.push_back({row.begin, row.end, {row.contents.begin(), row.contents.end()}});
  });
  return result;
}

std::vector<Plain> found_ending(const IntervalColumn& column, std::uint64_t first,
                                std::uint64_t last) {
  std::vector<Plain> result;
  column.ending(first, last, [&](const IntervalColumn::Row& row) {
    result.push_back({row.begin, row.end, {row.contents.begin(), row.contents.end()}});
  });
  return result;
}

TEST(EarlColumns, FindWhatAListHas) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    const bool contents = seed % 2 == 0;
    const auto kind =
        contents ? IntervalColumn::Contents::kSome : IntervalColumn::Contents::kNothing;
    const std::size_t rows = seed == 1 ? 0 : seed == 2 ? 64 : std::size_t{seed} * 700;
    IntervalColumn column(kind);
    std::vector<Plain> list;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      end += random() % 4;  // several may end at once
      // Most are short; some are empty, and some go back as far as it goes.
      const std::uint64_t length = random() % 50 == 0 ? random() % (end + 1) : random() % 20;
      Plain one{end - std::min(end, length), end, {}};
      if (contents) one.contents.resize(random() % 5, static_cast<std::byte>(random() % 256));
      if (contents) {
        column.add(one.begin, one.end, one.contents);
      } else {
        column.add(one.begin, one.end);
      }
      list.push_back(one);
    }
    column.finish();
    std::vector<std::byte> bytes;
    column.save(bytes);
    IntervalColumn loaded(kind);
    std::span<const std::byte> from = bytes;
    ASSERT_TRUE(loaded.load(from));
    EXPECT_TRUE(from.empty());
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t pos = random() % (end + 3), last = pos + random() % 30;
      std::vector<Plain> there, ending;
      for (const Plain& one : list) {
        if (one.begin <= pos && pos < one.end) there.push_back(one);
        if (pos <= one.end && one.end <= last) ending.push_back(one);
      }
      ASSERT_EQ(found_at(column, pos), there) << seed << ' ' << pos;
      ASSERT_EQ(found_at(loaded, pos), there) << seed << ' ' << pos;
      ASSERT_EQ(found_ending(column, pos, last), ending) << seed << ' ' << pos;
    }
    // Bytes that are missing are noticed.
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
      IntervalColumn cut(kind);
      std::span<const std::byte> part(bytes.data(), size);
      EXPECT_FALSE(cut.load(part)) << size;
    }
  }
}

// Groups of blocks, and groups of groups: 64 x 64 x 64 rows and more, one in a thousand long.
TEST(EarlColumns, FindLongIntervalsAmongMany) {
  IntervalColumn column;
  std::vector<Plain> lasting;
  constexpr std::uint64_t kRows = 600000;
  for (std::uint64_t i = 1; i <= kRows; ++i) {
    const std::uint64_t begin = i % 1000 == 0 ? i / 3 : i - 1;
    column.add(begin, i);
    if (i % 1000 == 0) lasting.push_back({begin, i, {}});
  }
  column.finish();
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t pos = random() % kRows;
    std::vector<Plain> there;
    for (const Plain& one : lasting) {
      if (one.begin <= pos && pos < one.end) there.push_back(one);
    }
    // And the short one that has just begun.
    if ((pos + 1) % 1000 != 0) there.insert(there.begin(), {pos, pos + 1, {}});
    ASSERT_EQ(found_at(column, pos), there) << pos;
  }
  EXPECT_LT(column.memory(), kRows * 3);
}

TEST(EarlColumns, VisitMarksSayWhatWasCounted) {
  VisitMarks marks;
  std::vector<std::uint64_t> visits(5);
  std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> made;
  for (std::uint64_t pos = 0; pos < 10000; ++pos) {
    visits[pos % 3 == 0 ? 4 : pos % 2] += 1;
    if (!marks.due()) continue;
    marks.add(pos, visits.size(), [&](std::uint32_t path) { return visits[path]; });
    made.emplace_back(pos, visits);
  }
  ASSERT_EQ(made.size(), 9u);  // every 1024 of 10000
  EXPECT_EQ(marks.before(made[0].first - 1, 4).from, 0u);
  EXPECT_EQ(marks.before(made[0].first - 1, 4).count, 0u);
  for (std::size_t i = 0; i < made.size(); ++i) {
    for (std::uint32_t path = 0; path < 5; ++path) {
      const VisitMarks::Visits found = marks.before(made[i].first + i, path);
      EXPECT_EQ(found.from, made[i].first + 1);
      EXPECT_EQ(found.count, made[i].second[path]) << i << ' ' << path;
    }
  }
}

}  // namespace
}  // namespace kojak::earl
