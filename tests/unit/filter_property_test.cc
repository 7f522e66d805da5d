// Cuts of many traces: whatever is cut out is a valid trace, in which the analysis finds nothing
// that it did not find in the whole, and which holds the time that it should.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"
#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

namespace fs = std::filesystem;

// Begin, end and kept time of each location: from its first enter to its last exit.
struct Span {
  double begin = HUGE_VAL, end = -HUGE_VAL;
};
std::map<std::uint32_t, Span> spans(const Bytes& bytes) {
  std::map<std::uint32_t, Span> result;
  earl::Trace trace = open_trace(bytes);
  earl::Event event;
  while (trace.next(event)) {
    if (!earl::is_flow(event.type)) continue;
    Span& span = result[raw(event.loc)];
    span.begin = std::min(span.begin, event.time.value);
    span.end = std::max(span.end, event.time.value);
  }
  return result;
}

std::vector<Bytes> traces() {
  std::vector<Bytes> result;
  for (const auto& entry : fs::directory_iterator(KOJAK_CASES_DIR)) {
    if (entry.path().extension() != ".case") continue;
    const std::string text = read_text(entry.path().string());
    result.push_back(trace_of(text.substr(0, text.find("--- severities"))));
  }
  for (const char* name : {"fence", "gats"}) {
    result.push_back(read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg"));
  }
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    if (run.paths.empty() || !merge::merge_traces(run.options())) continue;
    result.push_back(read_bytes(run.dir.file("a.elg")));
  }
  return result;
}

// What happened together, with its number and its time: fences, collectives, accesses to a target.
struct Together : earl::Sink {
  std::set<std::string> seen;
  template <class Member>
  static std::string times(const std::vector<Member>& members) {
    std::string text;
    for (const Member& m : members) {
      text += " " + std::to_string(raw(m.call.loc)) + "@" + std::to_string(m.call.exit.value);
    }
    return text;
  }
  void on_collective(const earl::CollectiveInstance& c) {
    if (!c.complete) return;
    seen.insert("collective " + std::to_string(raw(c.com)) + "#" + std::to_string(c.ordinal) +
                times(c.members));
  }
  void on_window_collective(const earl::WindowInstance& w) {
    if (!w.complete) return;
    seen.insert("window " + std::to_string(raw(w.window)) + "#" + std::to_string(w.ordinal) +
                times(w.members));
  }
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    if (!epoch.complete) return;
    for (const earl::AccessTarget& target : epoch.targets) {
      seen.insert("access " + std::to_string(raw(epoch.origin)) + " to " +
                  std::to_string(raw(target.target)) + "#" + std::to_string(target.ordinal) + "@" +
                  std::to_string(epoch.finish.exit.value) + "@" +
                  std::to_string(target.exposure->finish.exit.value));
    }
  }
  void on_message_call(const earl::MessageCall& call) {
    for (const earl::Message* m : call.received) {
      seen.insert("message @" + std::to_string(m->send_time.value) + "@" +
                  std::to_string(m->recv_time.value) + " " + std::to_string(raw(m->source)) + " " +
                  std::to_string(raw(m->destination)));
    }
  }
};
std::set<std::string> together(const Bytes& bytes) {
  earl::Trace trace = open_trace(bytes);
  Together sink;
  earl::Replay replay(trace, sink);
  replay.run();
  return std::move(sink.seen);
}

// Ends of transfers without their start in front of them.
std::size_t ends_alone(const Bytes& bytes) {
  earl::Trace trace = open_trace(bytes);
  earl::Event event;
  std::set<std::pair<std::uint32_t, std::uint32_t>> started;
  std::size_t alone = 0;
  while (trace.next(event)) {
    const std::uint32_t here = raw(trace.process(trace.index(event.loc)));
    const bool put = earl::is_put_start(event.type) || earl::is_get_end(event.type) ||
                     earl::is_get_origin(event.type);
    const std::uint32_t origin = put ? here : raw(event.peer);
    if (earl::is_rma_start(event.type)) started.insert({origin, raw(event.rmaid)});
    if (earl::is_rma_end(event.type)) alone += 1 - started.count({origin, raw(event.rmaid)});
  }
  return alone;
}

class FilterProperties : public testing::Test {
 protected:
  // The cut is sound; `clean`: the whole has nothing suspect.
  static void check(const Bytes& whole, const filter::Cut& wanted, bool clean,
                    const std::string& what) {
    const Bytes part = cut(whole, wanted);
    ASSERT_EQ(faults(part), std::vector<std::string>{}) << what;
    if (clean) {
      ASSERT_EQ(suspicions(part), std::vector<std::string>{}) << what;
    }
    EXPECT_EQ(ends_alone(part), 0u) << what;
    if (open_trace(whole).native()) {
      // Whatever the cut puts together belonged together, and has the same number.
      const std::set<std::string> all = together(whole), some = together(part);
      std::vector<std::string> made_up;
      std::set_difference(some.begin(), some.end(), all.begin(), all.end(),
                          std::back_inserter(made_up));
      ASSERT_EQ(made_up, std::vector<std::string>{}) << what;
      if (wanted.from <= 0 && wanted.to > 1e9 && wanted.ranks.empty() && wanted.regions.empty()) {
        ASSERT_EQ(some, all) << what;
      }
    }
    const auto before = spans(whole), after = spans(part);
    for (const auto& [lid, span] : before) {
      const bool kept = wanted.ranks.empty() || wanted.ranks.count(lid) != 0;
      const double begin = std::max(span.begin, wanted.from), end = std::min(span.end, wanted.to);
      const auto found = after.find(lid);
      if (!kept || begin > end) {
        ASSERT_TRUE(found == after.end()) << what;
      } else {
        ASSERT_TRUE(found != after.end()) << what << ": location " << lid;
        ASSERT_EQ(found->second.begin, begin) << what << ": location " << lid;
        ASSERT_EQ(found->second.end, end) << what << ": location " << lid;
      }
    }
  }
};

TEST_F(FilterProperties, EveryCutIsAValidTrace) {
  const std::vector<Bytes> all = traces();
  ASSERT_GT(all.size(), 50u);
  std::size_t clean_ones = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Bytes& whole = all[i];
    if (!faults(whole).empty()) continue;  // damaged on purpose
    const bool clean = suspicions(whole).empty();
    clean_ones += clean ? 1 : 0;
    double begin = HUGE_VAL, end = -HUGE_VAL;
    std::set<std::uint32_t> threads;
    earl::Trace trace = open_trace(whole);
    for (std::uint32_t n = 0; n < trace.location_count(); ++n) {
      if (raw(trace.location_def(n).thread) != 0) threads.insert(n);
    }
    for (const auto& [lid, span] : spans(whole)) {
      begin = std::min(begin, span.begin);
      end = std::max(end, span.end);
    }
    const std::string name = "trace " + std::to_string(i);
    for (const auto& [from, to] :
         {std::pair{0.0, 1.0}, {0.2, 0.8}, {0.0, 0.55}, {0.45, 1.0}, {0.33, 0.34}, {-1.0, 2.0}}) {
      const double length = end - begin;
      check(whole, window(begin + from * length, begin + to * length), clean,
            name + " from " + std::to_string(from) + " to " + std::to_string(to));
      if (HasFatalFailure()) return;
    }
    if (threads.empty()) {
      check(whole, only_ranks({0}), clean, name + ", rank 0");
      if (HasFatalFailure()) return;
      if (trace.location_count() > 2) {
        check(whole, only_ranks({0, 2}), clean, name + ", ranks 0 and 2");
        if (HasFatalFailure()) return;
      }
    }
    std::set<std::string> regions;
    trace.definitions().regions.for_each(
        [&](RegionId, const RegionDef& region) { regions.insert(region.name); });
    std::size_t n = 0;
    for (const std::string& region : regions) {
      if (n++ % 3 != i % 3) continue;
      check(whole, only_regions({region}), clean, name + ", region " + region);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(clean_ones, 30u);
}

}  // namespace
}  // namespace kojak::test
