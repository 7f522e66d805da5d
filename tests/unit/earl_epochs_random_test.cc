// Epochs and transactions of random programs against plain lists; early transfers against all
// posts known afterwards.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/unit/earl_gats_text.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

constexpr int kProcesses = 4, kWindows = 2;

struct PlannedAccess {
  double start = 0, finish = 0;  // enters
  std::vector<int> targets;
  struct Put {
    double enter, exit;
    int target;
  };
  std::vector<Put> puts;
};
struct PlannedExposure {
  double post = 0, finish = 0;
  std::vector<int> origins;
};

// Random epochs whose groups agree: a list of (origin, targets) sessions per window; each process
// runs its side of them in order, at its own pace.
struct Plan {
  std::map<std::pair<int, int>, std::vector<PlannedAccess>> access;      // by process, window
  std::map<std::pair<int, int>, std::vector<PlannedExposure>> exposure;  // by process, window
  std::string text;

  explicit Plan(unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    // Sessions: a set of origins and a set of targets on a window, everybody with everybody.
    struct Session {
      int window;
      std::vector<int> origins, targets;
    };
    std::vector<Session> sessions;
    for (int i = 0; i < 12; ++i) {
      Session s{pick(kWindows), {}, {}};
      for (int p = 0; p < kProcesses; ++p) {
        if (pick(2) != 0) s.origins.push_back(p);
        if (pick(2) != 0) s.targets.push_back(p);
      }
      if (!s.origins.empty() && !s.targets.empty()) sessions.push_back(s);
    }
    Script script;
    const auto group = [](const std::vector<int>& ranks) {
      std::string result = "[";
      for (const int r : ranks) result += (result.size() > 1 ? "," : "") + std::to_string(r);
      return result + "]";
    };
    for (int p = 0; p < kProcesses; ++p) {
      double now = pick(5), step = 0.1;
      const auto tick = [&] { return now += step * (1 + pick(20)); };
      script.line(now, "ENTER", p, "region=main");
      for (const Session& s : sessions) {
        const bool origin = std::count(s.origins.begin(), s.origins.end(), p) != 0;
        const bool target = std::count(s.targets.begin(), s.targets.end(), p) != 0;
        PlannedExposure e;
        if (target) {
          e.origins = s.origins;
          e.post = tick();
          script.post(p, e.post, tick(), group(s.origins), s.window);
        }
        if (origin) {
          PlannedAccess a;
          a.targets = s.targets;
          a.start = tick();
          script.start(p, a.start, tick(), group(s.targets), s.window);
          for (int n = pick(4); n > 0; --n) {
            PlannedAccess::Put put{
                tick(), 0,
                s.targets[static_cast<std::size_t>(pick(static_cast<int>(s.targets.size())))]};
            put.exit = tick();
            script.put(p, put.enter, put.exit, put.target, rmaid_[p]++, s.window);
            a.puts.push_back(put);
          }
          a.finish = tick();
          script.complete(p, a.finish, tick(), group(s.targets), s.window);
          access[{p, s.window}].push_back(a);
        }
        if (target) {
          e.finish = tick();
          script.wait(p, e.finish, tick(), group(s.origins), s.window);
          exposure[{p, s.window}].push_back(e);
        }
      }
      script.line(tick(), "EXIT", p);
    }
    text = script.text();
  }
  // The n-th exposure epoch of `target` that names `origin`, n counted over access epochs of
  // `origin` that name `target` before `a`.
  const PlannedExposure& partner(int origin, int window, const PlannedAccess& a, int target) const {
    int n = 0;
    for (const PlannedAccess& other : access.at({origin, window})) {
      if (&other == &a) break;
      n += static_cast<int>(std::count(other.targets.begin(), other.targets.end(), target));
    }
    for (const PlannedExposure& e : exposure.at({target, window})) {
      if (std::count(e.origins.begin(), e.origins.end(), origin) != 0 && n-- == 0) return e;
    }
    throw std::logic_error("the plan is inconsistent");
  }

 private:
  int rmaid_[kProcesses] = {};
};

TEST(EarlEpochsRandom, TransactionsAreThoseOfThePlan) {
  std::size_t offered_calls = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Plan plan(seed);
    const Pass run(plan.text);
    run.expect_only({});
    expect_same_analysis(run.bytes);
    if (seed % 10 == 0) expect_same_access(run.bytes, seed, 20);
    std::size_t accesses = 0, exposures = 0, offers = 0;
    for (const auto& [key, list] : plan.access) {
      accesses += list.size();
      for (const PlannedAccess& a : list) {
        const auto found = std::find_if(run.out.accesses.begin(), run.out.accesses.end(),
                                        [&, &k = key](const AccessCopy& c) {
                                          return raw(c.origin) == static_cast<unsigned>(k.first) &&
                                                 raw(c.window) == static_cast<unsigned>(k.second) &&
                                                 c.start.enter.value == a.start;
                                        });
        ASSERT_NE(found, run.out.accesses.end()) << seed;
        EXPECT_TRUE(found->complete);
        EXPECT_EQ(found->finish.enter.value, a.finish);
        ASSERT_EQ(found->targets.size(), a.targets.size());
        std::vector<double> posts;
        for (std::size_t i = 0; i < a.targets.size(); ++i) {
          const PlannedExposure& e = plan.partner(key.first, key.second, a, a.targets[i]);
          ASSERT_TRUE(found->exposures[i].has_value());
          EXPECT_EQ(found->exposures[i]->post.enter.value, e.post) << seed;
          EXPECT_EQ(found->exposures[i]->finish.enter.value, e.finish) << seed;
          posts.push_back(e.post);
          std::uint64_t ops = 0;
          double last = -std::numeric_limits<double>::infinity();
          for (const PlannedAccess::Put& put : a.puts) {
            if (put.target != a.targets[i]) continue;
            ++ops;
            last = std::max(last, put.exit);
          }
          EXPECT_EQ(found->targets[i].transfers.ops, ops);
          EXPECT_EQ(found->targets[i].transfers.last_exit.value, last);
        }
        // A put is offered if and only if a post of its epoch entered while it lasted; the posts
        // that came before its exit are known then.
        for (const PlannedAccess::Put& put : a.puts) {
          const bool blocked = std::any_of(posts.begin(), posts.end(), [&](double post) {
            return post > put.enter && post <= put.exit;
          });
          const auto offer =
              std::find_if(run.out.epoch_calls.begin(), run.out.epoch_calls.end(),
                           [&, &k = key](const EpochCallCopy& c) {
                             return raw(c.origin) == static_cast<unsigned>(k.first) &&
                                    c.call.enter.value == put.enter;
                           });
          ASSERT_EQ(offer != run.out.epoch_calls.end(), blocked) << seed;
          if (!blocked) continue;
          ++offers;
          for (const double post : posts) {
            if (post > put.exit) continue;
            EXPECT_GE(std::count(offer->posts.begin(), offer->posts.end(), post), 1) << seed;
          }
        }
      }
    }
    EXPECT_EQ(run.out.accesses.size(), accesses);
    EXPECT_EQ(run.out.epoch_calls.size(), offers);
    offered_calls += offers;
    for (const auto& [key, list] : plan.exposure) {
      exposures += list.size();
      for (const PlannedExposure& e : list) {
        const auto found = std::find_if(run.out.exposures.begin(), run.out.exposures.end(),
                                        [&, &k = key](const ExposureCopy& c) {
                                          return raw(c.target) == static_cast<unsigned>(k.first) &&
                                                 c.post.enter.value == e.post;
                                        });
        ASSERT_NE(found, run.out.exposures.end()) << seed;
        EXPECT_EQ(found->finish.enter.value, e.finish);
        for (std::size_t i = 0; i < found->origins.size(); ++i) {
          const int origin = e.origins[i];
          const auto& theirs = plan.access.at({origin, key.second});
          const auto a = std::find_if(theirs.begin(), theirs.end(), [&](const PlannedAccess& x) {
            return x.start == found->accesses[i]->start.enter.value;
          });
          ASSERT_NE(a, theirs.end());
          EXPECT_EQ(&plan.partner(origin, key.second, *a, key.first), &e) << seed;
        }
      }
    }
    EXPECT_EQ(run.out.exposures.size(), exposures);
  }
  EXPECT_GT(offered_calls, 50u);
}

}  // namespace
}  // namespace kojak::earl
