// The cases of SHMEM and UPC, cut in two between any two neighbouring times: the parts have the
// whole's time, and of each wait no more than the whole has.
//
// What a cut divides is not evaluated, so they may have less; cut_shmem_test.cc says where they
// must not. Some are kept for the independent analysis.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "expert/patterns/catalogue.h"
#include "tests/unit/cut_severities.h"

namespace kojak::test {
namespace {

namespace fs = std::filesystem;

std::set<double> times_of(const Bytes& bytes) {
  std::set<double> times;
  earl::Trace trace = open_trace(bytes);
  earl::Event event;
  while (trace.next(event)) times.insert(event.time.value);
  return times;
}
// Their waits. Whether a library needs its targets at all is read from the whole trace: a part
// that lacks the call which proves that it does not counts waits for progress.
std::vector<std::string> waits(bool asynchronous) {
  std::vector<std::string> names;
  for (const expert::Metric& m : expert::all_metrics()) {
    const std::string name(m.name);
    if (m.needs != expert::Needs::kShmem && m.needs != expert::Needs::kUpc) continue;
    if (m.kind != expert::Metric::Kind::kPattern) continue;
    if (asynchronous && name.find("progress") != std::string::npos) continue;
    // That the reads go on behind the put, so that they were no wait for it, a part does not see.
    if (name == "upc_late_notification") continue;
    names.push_back(name);
  }
  return names;
}

TEST(CutShmemCases, TwoPartsHaveNoMoreThanTheWhole) {
  std::size_t cases = 0, cuts = 0;
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(KOJAK_CASES_DIR)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("shmem") && !file.starts_with("upc")) continue;
    if (entry.path().extension() != ".case") continue;
    ++cases;
    const std::string text = read_text(entry.path().string());
    const Bytes bytes = trace_of(text.substr(0, text.find("\n--- ") + 1));
    const Severities whole(bytes);
    const std::vector<std::string> names = waits(file.find("asynchronous") != std::string::npos);
    double before = NAN;
    for (const double time : times_of(bytes)) {
      const double at = (std::exchange(before, time) + time) / 2;
      if (std::isnan(at)) continue;
      ++cuts;
      SCOPED_TRACE(file + " cut at " + std::to_string(at));
      const Bytes first = cut(bytes, window(-HUGE_VAL, at)),
                  last = cut(bytes, window(at, HUGE_VAL));
      for (const Bytes* part : {&first, &last}) {
        EXPECT_EQ(faults(*part), faults(bytes));
        EXPECT_EQ(suspicions(*part), suspicions(bytes));
      }
      const Severities one(first), two(last);
      if (cuts % 8 == 0) {
        one.keep("cut-first", first);
        two.keep("cut-last", last);
      }
      EXPECT_NEAR(one.total("time") + two.total("time"), whole.total("time"), 1e-9);
      for (const std::string& name : names) {
        const double sum = one.total_or_none(name.c_str()) + two.total_or_none(name.c_str());
        EXPECT_LE(sum, whole.total_or_none(name.c_str()) + 1e-9) << name;
        if (sum > 0) seen.insert(name);
      }
    }
  }
  EXPECT_GE(cases, 20u);
  EXPECT_GE(cuts, 100u);
  for (const char* name : {"shmem_barrier_wait", "shmem_lock_contention", "shmem_late_notification",
                           "shmem_rma_wait_for_progress", "shmem_quiet_wait_for_progress",
                           "upc_barrier_wait", "upc_splitphase_wait", "upc_lock_contention"}) {
    EXPECT_EQ(seen.count(name), 1u) << name;
  }
}

}  // namespace
}  // namespace kojak::test
