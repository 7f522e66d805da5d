// Random programs with a known ground truth (merge_program.h): the merge must find it exactly, and
// all properties must hold. KOJAK_PROPERTY_PROGRAMS sets how many, KOJAK_PROPERTY_SEED the first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using support::EventPlace;
using support::ExpectedEnd;
using support::PlainEvent;
using support::RandomProgram;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct FoundEnd {
  std::uint32_t location = 0;
  std::uint8_t mark = 0;
  EventPlace before;
};
using OpKey = std::tuple<std::uint32_t, std::uint32_t, bool>;

// Every event's place among those of its own location, and every end's next event.
std::map<OpKey, FoundEnd> found_ends(const std::vector<PlainEvent>& events) {
  std::map<OpKey, FoundEnd> found;
  std::map<std::uint32_t, std::uint32_t> counts;
  std::vector<OpKey> waiting;
  for (const PlainEvent& event : events) {
    if (event.is_mark) continue;
    if (event.is_end) {
      const OpKey key{event.origin, event.rmaid, event.put};
      found[key].location = event.lid;
      found[key].mark = event.mark;
      waiting.push_back(key);
      continue;
    }
    const EventPlace place{event.source, counts[event.source]++};
    for (const OpKey& key : waiting) found[key].before = place;
    waiting.clear();
  }
  return found;
}

std::vector<std::string> compare(const RandomProgram& program,
                                 const std::vector<std::byte>& merged) {
  std::vector<std::string> wrong;
  const std::map<OpKey, FoundEnd> found = found_ends(support::merged_events(merged));
  if (found.size() != program.ends.size()) {
    wrong.push_back(std::to_string(found.size()) + " ends instead of " +
                    std::to_string(program.ends.size()));
  }
  for (const ExpectedEnd& expected : program.ends) {
    const auto it = found.find({expected.origin, expected.rmaid, expected.put});
    if (it == found.end()) {
      wrong.push_back("no end: " + expected.words());
      continue;
    }
    if (expected.ambiguous) continue;
    const FoundEnd& end = it->second;
    if (end.location != expected.location || end.mark != expected.mark ||
        (expected.before && end.before != *expected.before)) {
      ExpectedEnd have = expected;
      have.location = end.location;
      have.mark = end.mark;
      have.before = end.before;
      wrong.push_back(have.words() + ", expected: " + expected.words());
    }
  }
  return wrong;
}

// What a queue emptied by time makes of it: each put ends at the target's next synchronising exit
// on its window after the put's own end. The number of puts that it has wrong.
std::size_t wrong_by_queue(const RandomProgram& program, const std::vector<std::byte>& basic) {
  std::map<OpKey, const ExpectedEnd*> truth;
  for (const ExpectedEnd& end : program.ends) {
    if (end.put && end.mark == 0 && !end.ambiguous) truth[{end.origin, end.rmaid, true}] = &end;
  }
  std::map<std::uint32_t, std::uint32_t> counts;
  std::map<std::pair<std::uint32_t, std::string>, std::vector<OpKey>> queues;  // target, window
  std::size_t wrong = 0;
  const auto window_of = [](const PlainEvent& event) {
    const std::size_t at = event.fields.find("wid=");
    return at == std::string::npos ? std::string()
                                   : event.fields.substr(at, event.fields.find(' ', at) - at);
  };
  for (const PlainEvent& event : support::merged_events(basic)) {
    if (event.is_mark) continue;
    if (event.is_end) {
      if (event.put)
        queues[{event.lid, window_of(event)}].push_back({event.origin, event.rmaid, true});
      continue;
    }
    const EventPlace place{event.source, counts[event.source]++};
    const bool ends_epoch = event.name == "MPI_WINCOLLEXIT" ||
                            (event.name == "MPI_WINEXIT" && event.fields.ends_with("synex=1"));
    if (!ends_epoch) continue;
    std::vector<OpKey>& queue = queues[{event.lid, window_of(event)}];
    for (const OpKey& key : queue) {
      const auto it = truth.find(key);
      if (it != truth.end() && it->second->before != place) ++wrong;
    }
    queue.clear();
  }
  return wrong;
}

// Transfers whose end stands before their start.
std::vector<std::string> ends_before_starts(const std::vector<std::byte>& merged) {
  std::vector<std::string> wrong;
  std::set<OpKey> started;
  for (const PlainEvent& event : support::merged_events(merged)) {
    if (event.is_start) started.insert({event.origin, event.rmaid, event.put});
    if (event.is_end && !started.contains({event.origin, event.rmaid, event.put})) {
      wrong.push_back("ends before its start: " + event.line());
    }
  }
  return wrong;
}

class Programs : public ::testing::Test {
 protected:
  void write(const RandomProgram& program) {
    for (const std::string& path : paths) std::filesystem::remove(path);
    paths.clear();
    locals.clear();
    for (const auto& trace : program.traces) {
      paths.push_back(
          dir.file(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg"));
      write_file(paths.back(), trace.bytes);
      locals.push_back(trace.bytes);
    }
  }
  std::vector<std::byte> merge(const RandomProgram& program, merge::Model model, std::size_t pool) {
    merge::MergeOptions options;
    options.inputs = paths;
    options.output = dir.file("a.elg");
    options.model = model;
    options.pool = pool;
    options.lock_grants = locks;
    options.clock = clock               ? *clock
                    : program.corrected ? merge::ClockCorrection::kLinear
                                        : merge::ClockCorrection::kNone;
    auto summary = merge::merge_traces(options);
    if (!summary) throw std::runtime_error(summary.error().message());
    backwards = (*summary)[merge::Finding::kStillBackwards].count;
    return read_bytes(options.output);
  }
  std::optional<merge::ClockCorrection> clock;
  bool locks = false;
  std::uint64_t backwards = 0;  // that the correction left
  TempDir dir;
  std::vector<std::string> paths;
  std::vector<std::vector<std::byte>> locals;
};

TEST_F(Programs, TheMergeFindsTheTruth) {
  const std::uint64_t programs = setting("KOJAK_PROPERTY_PROGRAMS", 10'000);
  const std::uint64_t first = setting("KOJAK_PROPERTY_SEED", 1);
  std::uint64_t ends = 0, ambiguous = 0, marked = 0, queue_fails = 0, compared = 0;
  std::map<std::string, std::uint64_t> features;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) continue;
    write(program);
    const std::vector<std::byte> merged = merge(program, merge::Model::kExtended, seed % 2);
    std::vector<std::string> wrong = compare(program, merged);
    support::MergeCheck check;
    for (const auto& trace : program.traces) check.closed.push_back(trace.closed);
    if (program.corrected) {
      check.clock = [&](std::size_t i, double t) { return t - program.shifts[i]; };
    }
    const auto add = [&](const std::vector<std::string>& more) {
      wrong.insert(wrong.end(), more.begin(), more.end());
    };
    add(support::check_merge(locals, merged, check));
    for (const ExpectedEnd& end : program.ends) {
      ++ends;
      if (end.ambiguous) ++ambiguous;
      if (end.mark != 0) ++marked;
    }
    ++features[program.features];
    if (seed % 8 == 0) {
      const std::vector<std::byte> basic = merge(program, merge::Model::kBasic, 0);
      add(support::check_models(basic, merged));
      ++compared;
      if (wrong_by_queue(program, basic) != 0) ++queue_fails;
      if (merge(program, merge::Model::kExtended, (seed + 1) % 2) != merged) {
        wrong.push_back("ends in memory and ends in the spill file differ");
      }
      // Other times, the same rules; and what is read again gets the same times.
      clock = merge::ClockCorrection::kControlled;
      const std::vector<std::byte> controlled = merge(program, merge::Model::kExtended, seed % 16);
      if (backwards != 0) wrong.push_back(std::to_string(backwards) + " effects before causes");
      support::MergeCheck order = check;
      order.compare_times = false;
      order.compare_end_order = false;
      add(support::check_merge(locals, controlled, order));
      if (merge(program, merge::Model::kExtended, (seed + 8) % 16) != controlled) {
        wrong.push_back("ends in memory and ends in the spill file differ under corrected clocks");
      }
      clock.reset();
      // Locks that conflict with each other in every way: their grants need not make sense here.
      locks = true;
      const std::vector<std::byte> granted = merge(program, merge::Model::kExtended, seed % 16);
      add(ends_before_starts(granted));
      if (merge(program, merge::Model::kExtended, (seed + 8) % 16) != granted) {
        wrong.push_back("ends in memory and ends in the spill file differ with lock grants");
      }
      locks = false;
      std::reverse(paths.begin(), paths.end());
      if (merge(program, merge::Model::kExtended, 0) != merged) {
        wrong.push_back("the order of the arguments shows");
      }
    }
    if (!wrong.empty()) {
      std::string text;
      for (std::size_t i = 0; i < wrong.size() && i < 10; ++i) text += "\n  " + wrong[i];
      FAIL() << "seed " << seed << " (" << program.features << "):" << text;
    }
  }
  if (programs < 1000) return;
  EXPECT_GT(ends, 5 * programs) << "the programs do too little";
  EXPECT_LT(ambiguous * 20, ends) << "too much is not compared";
  EXPECT_GT(marked * 50, ends) << "too little goes wrong";
  RecordProperty("ends", std::to_string(ends));
  RecordProperty("ambiguous", std::to_string(ambiguous));
  RecordProperty("marked", std::to_string(marked));
  RecordProperty("queue_fails", std::to_string(queue_fails) + " of " + std::to_string(compared));
  EXPECT_GT(features.size(), 40u) << "the programs are too much alike";
  EXPECT_GT(queue_fails * 10, compared) << "a queue emptied by time would pass";
}

}  // namespace
}  // namespace kojak::test
