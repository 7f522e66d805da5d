// Causes put together: keys, parts, shapes, odd and even ones, gains of one and of several; each
// run by hand, with its sums in the comments.
#include <random>

#include "epilog/format/python_code.h"
#include "expert/causes/group_maker.h"
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

using Shape = CauseGroup::Shape;

constexpr double kNearGroups = 1e-9;

Amount ticks_of(double seconds) {
  return in_ticks(seconds);
}

// All that is listed, left out and not attributed is all waiting, to the last unit.
void expect_whole(const CauseGroups& groups) {
  Amount sum = groups.left_out_amount + groups.not_attributed;
  for (const CauseGroup& g : groups.listed) sum += g.amount;
  EXPECT_TRUE(sum == groups.all) << in_seconds(sum) << ' ' << in_seconds(groups.all);
}

double gain_of(const CauseGroup& group) {
  return group.gain ? in_seconds(*group.gain) : -1;
}

// ---- what is put together, and what it gains

// By turns each of two computes 1 s longer, 5 times: two causes of 5 s, whose gains are 5 s each.
// They are one function: one group of 10 s, without which the run takes 10 s less.
TEST(CauseGroups, OneFunctionOfAllProcesses) {
  CauseScript s(2);
  s.fence({1, 1}, 1);
  for (int i = 0; i < 10; ++i) {
    const double t = 1 + 3 * i;
    s.fence({i % 2 == 0 ? t + 3 : t + 2, i % 2 == 0 ? t + 2 : t + 3}, t + 3);
  }
  const CauseScript::Found found = s.analyse_until(40);
  const CauseGroups& groups = found.causes.groups;
  expect_whole(groups);
  ASSERT_EQ(groups.listed.size(), 1u);
  const CauseGroup& g = groups.listed[0];
  EXPECT_NEAR(in_seconds(g.amount), 10, kNearGroups);
  EXPECT_NEAR(gain_of(g), 10, kNearGroups);
  EXPECT_NEAR(in_seconds(g.cumulated.value_or(0)), 10, kNearGroups);
  EXPECT_EQ(g.shape, Shape::kFew);
  ASSERT_EQ(g.ranks.size(), 2u);
  for (const CauseGroup::Rank& r : g.ranks) {
    EXPECT_NEAR(in_seconds(r.makes_wait), 5, kNearGroups);
    EXPECT_NEAR(in_seconds(r.waits), 5, 1e-6);
  }
}

// Ranks 1 and 2 come 3 s after rank 0, in alpha() and beta(): without one of them the others still
// wait for the other, without both all are there at 1.
TEST(CauseGroups, TwoThatOnlyGainTogether) {
  CauseScript s(3);
  s.call(1, 0.5, 4, "alpha");
  s.call(2, 0.5, 4, "beta");
  s.barrier({1, 4, 4}, 4);
  const CauseGroups groups = s.analyse_until(5).causes.groups;
  expect_whole(groups);
  ASSERT_EQ(groups.listed.size(), 2u);
  for (const CauseGroup& g : groups.listed) {
    EXPECT_NEAR(in_seconds(g.amount), 1.5, kNearGroups);
    EXPECT_NEAR(gain_of(g), 0, kNearGroups);
  }
  EXPECT_NEAR(in_seconds(groups.listed[0].cumulated.value_or(-1)), 0, kNearGroups);
  EXPECT_NEAR(in_seconds(groups.listed[1].cumulated.value_or(-1)), 3, kNearGroups);
}

// Enters 1, 4, 6, all of one function: 5 + 2 s of waiting. Rank 1 is compared with rank 0 and is 3
// s late; rank 2 with both, by what they wait for it: 1.5 + 2 s and 2 s, so they come at (3.5 * 1 +
// 2 * 4) / 5.5 = 2.0909 in the mean. Without both delays rank 2 comes then, as the last.
TEST(CauseGroups, OneGainOfSeveralLateOnes) {
  CauseScript s(3);
  s.barrier({1, 4, 6}, 6);
  const CauseGroups groups = s.analyse_until(7).causes.groups;
  expect_whole(groups);
  ASSERT_EQ(groups.listed.size(), 1u);
  EXPECT_NEAR(in_seconds(groups.listed[0].amount), 7, kNearGroups);
  EXPECT_NEAR(gain_of(groups.listed[0]), 6 - 11.5 / 5.5, kNearGroups);
}

// pairs.py: 512 pairs, in each of which the first is 61 ms late, once with one that is 300 ms late:
// 511 * 0.061 + 0.3 s. Without all of it the run ends 300 ms earlier, without what is special about
// the odd one as much as that one is later than the others.
TEST(CauseGroups, FiveHundredPairs) {
  for (const bool with_odd_one : {false, true}) {
    CauseScript s(1024);
    for (int p = 0; p < 512; ++p) {
      const double late = with_odd_one && p == 10 ? 0.3 : 0.061;
      s.message(2 * p, late, 2 * p + 1, 0, late);
    }
    const CauseGroups groups = s.analyse_until(0.3).causes.groups;
    expect_whole(groups);
    ASSERT_EQ(groups.listed.size(), 1u);
    const CauseGroup& g = groups.listed[0];
    EXPECT_NEAR(in_seconds(g.amount), with_odd_one ? 511 * 0.061 + 0.3 : 512 * 0.061, 1e-9);
    EXPECT_EQ(g.shape, Shape::kPairs);
    EXPECT_EQ(g.units.size(), 512u);
    EXPECT_TRUE(g.even);
    ASSERT_EQ(g.odd, with_odd_one ? 1u : 0u);
    if (!with_odd_one) continue;
    EXPECT_EQ(g.units[0].culprit, 20u);
    EXPECT_NEAR(in_seconds(g.units[0].amount), 0.3, kNearGroups);
  }
}

// Whatever runs: all waiting is somewhere, no gain is above the run, more left out gains no less.
TEST(CauseGroups, RandomRunsKeepTheSumAndTheOrder) {
  std::mt19937 random(5);
  for (int run = 0; run < 60; ++run) {
    const int n = 2 + static_cast<int>(random() % 5);
    CauseScript s(n);
    double time = 0;
    for (int step = 0; step < 6; ++step) {
      std::vector<double> enters;
      for (int p = 0; p < n; ++p) {
        const double at = time + 0.1 * static_cast<double>(1 + random() % 9);
        const char* const functions[] = {"f", "g", "h"};
        s.call(p, time + 0.01, at - 0.01, functions[random() % 3]);
        enters.push_back(at);
      }
      const double last = *std::max_element(enters.begin(), enters.end());
      s.barrier(enters, last);
      time = last + 0.01;
    }
    const CauseScript::Found found = s.analyse_until(time + 1);
    const CauseGroups& groups = found.causes.groups;
    expect_whole(groups);
    std::optional<Ticks> before;
    for (const CauseGroup& g : groups.listed) {
      ASSERT_TRUE(g.gain && g.cumulated);
      EXPECT_GE(*g.gain, 0);
      EXPECT_LE(*g.cumulated, groups.run);
      EXPECT_GE(*g.cumulated, *g.gain);
      EXPECT_GE(*g.cumulated, before.value_or(0));
      before = g.cumulated;
      Amount makes = 0;
      for (const CauseGroup::Rank& r : g.ranks) makes += r.makes_wait;
      EXPECT_TRUE(makes == g.amount);
    }
  }
}

// ---- shapes, by hand

CauseGroup group_of(const std::vector<double>& makes_wait) {
  CauseGroup g;
  for (std::size_t l = 0; l < makes_wait.size(); ++l) {
    const Amount amount = ticks_of(makes_wait[l]);
    g.ranks.push_back({static_cast<LocationIndex>(l), amount, 0});
    g.amount += amount;
    g.direct += amount;
  }
  return g;
}

TEST(GroupShapes, OneHasFourFifths) {
  CauseGroup g = group_of({0.1, 4, 0.5, 0.4});  // 4 of 5 s
  find_shape(g, {}, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kFew);
  ASSERT_EQ(g.few.size(), 1u);
  EXPECT_EQ(g.few[0], 1u);
}

TEST(GroupShapes, ThreeHaveFourFifths) {
  CauseGroup g = group_of({1, 1.5, 1.5, 0.5, 0.5});  // 4 of 5 s by three, 3 by two
  find_shape(g, {}, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kFew);
  EXPECT_EQ(g.few.size(), 3u);
}

// Eight of 1 s: three have 3 of 8. All lie at the median.
TEST(GroupShapes, AllEvenly) {
  CauseGroup g = group_of(std::vector<double>(8, 1.0));
  find_shape(g, {}, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kAll);
  EXPECT_EQ(g.units.size(), 8u);
  EXPECT_TRUE(g.even);
  EXPECT_EQ(g.odd, 0u);
}

// Of sixteen one has 5 s, the others 1 s: it is above twice the median, and no more than half.
TEST(GroupShapes, OneOddOne) {
  std::vector<double> makes(16, 1.0);
  makes[3] = 5;
  CauseGroup g = group_of(makes);
  find_shape(g, {}, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kAll);
  EXPECT_TRUE(g.even);
  ASSERT_EQ(g.odd, 1u);
  EXPECT_EQ(g.units[0].culprit, 3u);
}

// 1, 2, 3, ... 20: 16 of 20 lie in [m/2, 2m] with m = 10 or 11 (6 to 20), those below do not.
TEST(GroupShapes, EvenBeginsAtFourFifths) {
  std::vector<double> makes;
  for (int i = 1; i <= 20; ++i) makes.push_back(i);
  CauseGroup g = group_of(makes);
  find_shape(g, {}, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kAll);
  // Those with a tenth of the largest: 2 to 20; median 11: within 5.5 to 22 are 15 of 19.
  EXPECT_EQ(g.units.size(), 19u);
  EXPECT_FALSE(g.even);
}

std::vector<PairOfGroup> pairs_of(std::size_t count, double seconds) {
  std::vector<PairOfGroup> pairs;
  for (LocationIndex p = 0; p < count; ++p) {
    pairs.push_back({2 * p, 2 * p + 1, ticks_of(seconds)});
  }
  return pairs;
}
CauseGroup group_of(const std::vector<PairOfGroup>& pairs) {
  CauseGroup g;
  for (const PairOfGroup& p : pairs) {
    g.ranks.push_back({p.culprit, p.amount, 0});
    g.ranks.push_back({p.victim, 0, p.amount});
    g.amount += p.amount;
    g.direct += p.amount;
  }
  return g;
}

TEST(GroupShapes, PairsOfNeighbours) {
  std::vector<PairOfGroup> pairs = pairs_of(32, 0.06);
  pairs[10].amount = ticks_of(0.3);
  CauseGroup g = group_of(pairs);
  find_shape(g, pairs, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kPairs);
  ASSERT_EQ(g.units.size(), 32u);
  EXPECT_TRUE(g.even);
  ASSERT_EQ(g.odd, 1u);
  EXPECT_EQ(g.units[0].members, (std::vector<LocationIndex>{20, 21}));
  EXPECT_EQ(g.units[0].culprit, 20u);
  EXPECT_EQ(g.units[0].victim, 21u);
}

// Three pairs are no shape; four are, but not where they are less than 1 % of all waiting, nor
// where one of them has three members.
TEST(GroupShapes, WhereThereAreNoPairs) {
  std::vector<PairOfGroup> pairs = pairs_of(3, 1);
  CauseGroup g = group_of(pairs);
  find_shape(g, pairs, 0, g.amount);
  EXPECT_NE(g.shape, Shape::kPairs);
  pairs = pairs_of(4, 1);
  g = group_of(pairs);
  find_shape(g, pairs, 0, g.amount * 101);
  EXPECT_NE(g.shape, Shape::kPairs);
  pairs.push_back({0, 100, ticks_of(1)});
  g = group_of(pairs);
  find_shape(g, pairs, 0, g.amount);
  EXPECT_NE(g.shape, Shape::kPairs);
}

// What one waits for another by chance joins no pairs: below 1 % of the median.
TEST(GroupShapes, SmallEntriesJoinNothing) {
  std::vector<PairOfGroup> pairs = pairs_of(6, 1);
  for (LocationIndex p = 0; p + 2 < 12; p += 2) pairs.push_back({p, p + 2, ticks_of(0.009)});
  CauseGroup g = group_of(pairs);
  find_shape(g, pairs, 0, g.amount);
  EXPECT_EQ(g.shape, Shape::kPairs);
  EXPECT_EQ(g.units.size(), 6u);
}

TEST(GroupShapes, TurnsAtALock) {
  CauseGroup g = group_of({1, 1, 1});
  find_shape(g, {}, g.direct / 2, g.amount);
  EXPECT_EQ(g.shape, Shape::kTurns);
  g = group_of({1, 1, 1});
  find_shape(g, {}, g.direct / 2 - 1, g.amount);
  EXPECT_EQ(g.shape, Shape::kFew);
  g = group_of({1, 1});  // two take no turns
  find_shape(g, {}, g.direct, g.amount);
  EXPECT_EQ(g.shape, Shape::kFew);
}

// ---- parts

class PutTogether : public testing::Test {
 protected:
  // Of a function named so, called by these, outermost first.
  std::uint32_t add(LocationIndex location, const char* function,
                    const std::vector<std::uint32_t>& callers, double seconds) {
    DoneThere done;
    done.key = function;
    for (const std::uint32_t c : callers) done.callers.push_back({RegionId{c}, {}});
    CauseAtom atom;
    atom.cause = static_cast<std::uint32_t>(atoms_.size());
    atom.location = location;
    atom.done = std::make_shared<const DoneThere>(done);
    atom.amount = atom.direct = ticks_of(seconds);
    all_ += atom.amount;
    atoms_.push_back(atom);
    return atom.cause;
  }
  std::vector<GroupOfAtoms> groups() { return put_together(atoms_, WhatIsDone(library_), all_); }
  // Region 1 is main, 2 assemble, 3 solve.
  void SetUp() override {
    for (const auto& [id, name] : {std::pair(1u, "main"), std::pair(2u, "assemble"),
                                   std::pair(3u, "solve"), std::pair(4u, "other")}) {
      RegionDef def;
      def.name = name;
      definitions_.regions.set(RegionId{id}, def);
    }
  }

  Definitions definitions_;
  earl::CallTree tree_;
  LibraryCalls library_{tree_, definitions_};
  std::vector<CauseAtom> atoms_;
  Amount all_ = 0;
};

// two_loops.c: .60 s from assemble() and .20 s from solve(), both of rank 1: one group, two parts.
TEST_F(PutTogether, PartsByPhase) {
  for (int i = 0; i < 4; ++i) add(1, "work", {1, 2}, 0.15);
  for (int i = 0; i < 4; ++i) add(1, "work", {1, 3}, 0.05);
  const std::vector<GroupOfAtoms> found = groups();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(in_seconds(found[0].group.amount), 0.8, kNearGroups);
  ASSERT_EQ(found[0].parts.size(), 2u);
  EXPECT_NEAR(in_seconds(found[0].parts[0].group.amount), 0.6, kNearGroups);
  EXPECT_EQ(raw(found[0].parts[0].group.caller.function), 2u);
  EXPECT_NEAR(in_seconds(found[0].parts[1].group.amount), 0.2, kNearGroups);
  EXPECT_EQ(raw(found[0].parts[1].group.caller.function), 3u);
}

// A phase with less than a tenth is no part, and one alone is none.
TEST_F(PutTogether, SmallPhasesAreNoParts) {
  add(1, "work", {1, 2}, 0.95);
  add(1, "work", {1, 3}, 0.05);
  const std::vector<GroupOfAtoms> found = groups();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].parts.empty());
}

// Rank 1 in one phase, rank 5 in the other: two groups, told apart by the caller.
TEST_F(PutTogether, PhasesOfDifferentProcessesAreGroups) {
  add(1, "work", {1, 2}, 0.6);
  add(5, "work", {1, 3}, 0.4);
  const std::vector<GroupOfAtoms> found = groups();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(raw(found[0].group.caller.function), 2u);
  EXPECT_EQ(raw(found[1].group.caller.function), 3u);
  EXPECT_TRUE(found[0].parts.empty());
}

// Forty functions of 0.025 s, 30 of them below solve(): none has a tenth, but solve() has 75 %.
TEST_F(PutTogether, NothingIsBigButAPhase) {
  for (int i = 0; i < 40; ++i) {
    add(static_cast<LocationIndex>(i), ("f" + std::to_string(i)).c_str(),
        {1, i < 30 ? 3u : static_cast<std::uint32_t>(i % 2 == 0 ? 2 : 4)}, 0.025);
  }
  const std::vector<GroupOfAtoms> found = groups();
  EXPECT_EQ(found[0].group.spread, CauseGroup::Spread::kPhase);
  EXPECT_EQ(found[0].group.functions, 40u);
  EXPECT_EQ(raw(found[0].group.caller.function), 3u);
  EXPECT_NEAR(in_seconds(found[0].group.amount), 0.75, kNearGroups);
  Amount sum = 0;
  for (const GroupOfAtoms& g : found) sum += g.group.amount;
  EXPECT_TRUE(sum == all_);
}

// The same atoms in another order are the same groups.
TEST_F(PutTogether, OrderOfCausesDoesNotMatter) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    add(static_cast<LocationIndex>(random() % 8), (random() % 2 != 0) ? "f" : "g",
        {1, static_cast<std::uint32_t>(2 + random() % 3)},
        0.001 * static_cast<double>(random() % 9));
  }
  const std::vector<GroupOfAtoms> before = groups();
  std::shuffle(atoms_.begin(), atoms_.end(), random);
  const std::vector<GroupOfAtoms> after = groups();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(before[i].group.amount == after[i].group.amount);
    EXPECT_EQ(before[i].group.causes, after[i].group.causes);
    ASSERT_EQ(before[i].parts.size(), after[i].parts.size());
    for (std::size_t p = 0; p < before[i].parts.size(); ++p) {
      EXPECT_EQ(before[i].parts[p].group.causes, after[i].parts[p].group.causes);
    }
  }
}

// ---- samples

// Of 20 samples 14 are in f and 6 in g, the others have 4 and 0: 10 and 6 more, so 10/16 and 6/16
// of 1.6 s, and together exactly that.
TEST_F(PutTogether, SamplesSplitACause) {
  RegionDef f{}, g{};
  f.name = "f";
  g.name = "g";
  definitions_.regions.set(RegionId{10}, f);
  definitions_.regions.set(RegionId{11}, g);
  CallSiteDef site;
  site.left = RegionId{10};
  definitions_.call_sites.set(CallSiteId{1}, site);
  site.left = RegionId{11};
  definitions_.call_sites.set(CallSiteId{2}, site);
  CauseAtom cause;
  cause.stretch.kind = Stretch::Kind::kComputing;
  cause.amount = ticks_of(1.6) + 1;  // that shares cannot be equal
  cause.longer = in_ticks(0.2);
  const WhatIsDone what(library_);
  const std::vector<SampledPlace> sampled{{CallSiteId{1}, 14, 4}, {CallSiteId{2}, 6, 0}};
  const std::vector<CauseAtom> atoms = atoms_of(cause, {sampled, 0.01, 0.5}, what);
  ASSERT_EQ(atoms.size(), 2u);
  EXPECT_NEAR(in_seconds(atoms[0].amount), 1.0, kNearGroups);
  EXPECT_NEAR(in_seconds(atoms[1].amount), 0.6, kNearGroups);
  EXPECT_TRUE(atoms[0].amount + atoms[1].amount == cause.amount);
  // 20 samples are 0.2 s that it ran, of 0.5 s. Of 0.9 s that it took longer it ran 0.36 s: half of
  // that is more than the 0.16 s that samples tell. Of 2 s it ran 0.2 s: of 1.9 s 0.19 s.
  cause.longer = in_ticks(0.9);
  cause.done = std::make_shared<const DoneThere>();
  EXPECT_EQ(atoms_of(cause, {sampled, 0.01, 0.5}, what).size(), 1u);
  cause.longer = in_ticks(1.9);
  EXPECT_EQ(atoms_of(cause, {sampled, 0.01, 2}, what).size(), 2u);
  // In 10 s it hardly ran.
  EXPECT_EQ(atoms_of(cause, {sampled, 0.01, 10}, what).size(), 1u);
}

// Samples in Python's interpreter do not tell the function: the lines of calls do.
TEST_F(PutTogether, SamplesInPythonNameNoFunction) {
  RegionDef python{};
  python.name = kPythonCode;
  definitions_.regions.set(RegionId{10}, python);
  CallSiteDef site;
  site.left = RegionId{10};
  definitions_.call_sites.set(CallSiteId{1}, site);
  CauseAtom cause;
  cause.stretch.kind = Stretch::Kind::kComputing;
  cause.amount = ticks_of(1);
  cause.longer = in_ticks(0.2);
  cause.done = std::make_shared<const DoneThere>();
  const std::vector<SampledPlace> sampled{{CallSiteId{1}, 20, 0}};
  const std::vector<CauseAtom> atoms = atoms_of(cause, {sampled, 0.01, 0.2}, WhatIsDone(library_));
  ASSERT_EQ(atoms.size(), 1u);
  EXPECT_EQ(atoms[0].done, cause.done);
  EXPECT_EQ(atoms[0].samples, 0);
}

}  // namespace
}  // namespace kojak::expert
