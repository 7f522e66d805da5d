// What parts of a run add up to: a list of what is told, cut in two anywhere, is the list in one.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <sstream>

#include "expert/analysis.h"
#include "expert/part_sums.h"
#include "expert/waits/gate.h"
#include "expert/waits/library_calls.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

earl::Trace two_locations() {
  static const auto bytes = text_to_trace(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "EXIT lid=0 time=1\nEXIT lid=1 time=1\n",
      "two");
  auto trace = earl::Trace::from(memory_source(bytes->data(), bytes->size()), "two");
  if (!trace) throw std::runtime_error(trace.error().message());
  return std::move(*trace);
}

PartSums nothing(const earl::Trace& trace) {
  static SeverityStore unused(all_metrics(), 0);
  static std::deque<Setting> settings;  // who is made of one refers to it
  const Setting& setting = settings.emplace_back(Setting{trace, unused});
  PartSums sums{SeverityStore(all_metrics(), trace.location_count()), Unexplained(setting)};
  sums.processors.emplace(trace.location_count());
  return sums;
}

using Left = std::map<std::pair<CallPathIndex, LocationIndex>, Ticks>;
Left left_of(PartSums& sums) {
  Left left;
  sums.unexplained.finish([&](CallPathIndex path, LocationIndex location, TimeSum time) {
    left[{path, location}] = time.ticks();
  });
  return left;
}

TEST(Parts, CallPathsThatAreNewComeBehind) {
  const earl::Trace trace = two_locations();
  PartSums all = nothing(trace), second = nothing(trace);
  const auto path = [](std::uint32_t region, std::size_t parent) {
    return CallPath{RegionId{region}, absent<CallSiteId>(), parent};
  };
  all.paths = {path(1, kNone), path(2, 0)};
  all.severities.add_whole(0, 1, 0, 5);
  // The same two and one between them, in another order: what was told first of it were others.
  second.paths = {path(3, kNone), path(1, kNone), path(4, 1), path(2, 1)};
  second.severities.add_whole(0, 3, 0, 7);
  second.severities.add_whole(0, 2, 1, 9);
  second.notes[0] = 2;
  all.notes[0] = 1;
  all.add(second);
  ASSERT_EQ(all.paths.size(), 4u);
  EXPECT_EQ(raw(all.paths[2].region), 3u);
  EXPECT_EQ(raw(all.paths[3].region), 4u);
  EXPECT_EQ(all.paths[3].parent, 0u);
  EXPECT_EQ(all.severities.whole_row(0, 1)[0], 12);
  EXPECT_EQ(all.severities.whole_row(0, 3)[1], 9);
  EXPECT_EQ(all.notes[0], 3u);
}

TEST(Parts, SeveritiesOfAllKinds) {
  const earl::Trace trace = two_locations();
  PartSums all = nothing(trace), second = nothing(trace);
  for (PartSums* part : {&all, &second}) {
    part->paths = {{RegionId{1}, absent<CallSiteId>(), kNone}};
    const MetricIndex fractions = part->severities.add_metric(SeverityStore::Cells::kFractions);
    part->severities.add(fractions, 0, 1, 0.25);
    part->severities.add(0, 0, 1, std::nan(""));
    part->severities.add_whole(1, 0, 1, kMostWhole - 1);
  }
  const auto fractions = static_cast<MetricIndex>(all.severities.metrics() - 1);
  all.add(second);
  std::array<Amount, 2> sums{};
  all.severities.add_row_to(sums, fractions, 0);
  EXPECT_EQ(all.severities.value(fractions, sums[1]), 0.5);
  EXPECT_EQ(all.severities.left_out(), 2u);
  EXPECT_EQ(all.severities.whole_row(1, 0)[1], kMostWhole);
  EXPECT_EQ(all.severities.limited(), 1u);
}

TEST(Parts, LongCallsWithoutAPattern) {
  const earl::Trace trace = two_locations();
  const MpiFunction* const functions[] = {find_mpi_function("MPI_Recv"),
                                          find_mpi_function("MPI_Comm_size")};
  std::mt19937 random(7);
  struct Told {
    earl::Call call;
    double waited = 0;
  };
  std::vector<Told> list(400);
  std::uint64_t pos = 0;
  for (Told& told : list) {
    const std::uint32_t path = random() % 4;
    told.call.cnode = CallPathId{path};
    told.call.index = random() % 2;
    told.call.function = functions[path % 2];
    told.call.enter_pos = ++pos;
    told.call.exclusive.value = random() % 8 == 0 ? 0.001 * (random() % 50) : 1e-5;
    if (random() % 3 == 0) told.waited = told.call.exclusive.value * 0.5;
  }
  const auto tell = [&](PartSums& part, std::size_t from, std::size_t to) {
    for (std::uint32_t p = 0; p < 4; ++p)
      part.paths.push_back({RegionId{p}, absent<CallSiteId>(), kNone});
    for (std::size_t i = from; i < to; ++i) {
      part.unexplained.on_call(list[i].call);
      if (list[i].waited == 0) continue;
      Wait wait = wait_of_call(metric_index<LateSender>(), list[i].call);
      wait.waiting.value = list[i].waited;
      part.unexplained.on_wait(wait);
    }
  };
  PartSums whole = nothing(trace);
  tell(whole, 0, list.size());
  const Left expected = left_of(whole);
  EXPECT_GE(expected.size(), 4u);
  for (std::size_t cut = 0; cut <= list.size(); cut += 7) {
    PartSums first = nothing(trace), second = nothing(trace);
    tell(first, 0, cut);
    tell(second, cut, list.size());
    first.add(second);
    EXPECT_EQ(left_of(first), expected) << cut;
  }
}

TEST(Parts, ProcessorsFromEndToEnd) {
  const earl::Trace trace = two_locations();
  const auto reading = [](int i) {
    earl::ProcessorTimes times;
    times.ran = static_cast<std::uint64_t>(i) * 600'000'000;
    times.wanted = static_cast<std::uint64_t>(i) * 100'000'000;
    times.preempted = static_cast<std::uint64_t>(i);
    times.blocked = i % 3 == 0 ? BlockedKind::kFiles : BlockedKind::kNone;
    return times;
  };
  SeverityStore severities(all_metrics(), 2);
  const Setting setting{trace, severities};
  earl::OpenCall in;
  in.index = 1;
  constexpr int kReadings = 9;
  const std::vector<CallPath> paths(2);
  const auto use = [&](const Processors& of) {
    const ProcessorUse found = of.finish(trace.definitions(), paths);
    const ProcessorUse::Thread& t = found.threads.at(0);
    return std::tuple(t.location, t.root, t.covered, t.ran, t.wanted, t.preempted, t.blocked,
                      t.no_processor);
  };
  Processors whole(setting);
  for (int i = 0; i < kReadings; ++i) whole.on_processor(in, {1.0 * i}, reading(i));
  EXPECT_GT(std::get<6>(use(whole)), 0);
  for (int cut = 0; cut <= kReadings; ++cut) {
    Processors first(setting), second(setting);
    for (int i = 0; i < cut; ++i) first.on_processor(in, {1.0 * i}, reading(i));
    if (cut > 0) second.on_processor_before(1, {1.0 * (cut - 1)}, reading(cut - 1));
    for (int i = cut; i < kReadings; ++i) second.on_processor(in, {1.0 * i}, reading(i));
    first.add(second, std::vector<CallPathIndex>{0, 1});
    EXPECT_EQ(use(first), use(whole)) << cut;
  }
}

// Waits of few places and many amounts, some of which are equal.
std::vector<Wait> some_waits() {
  std::mt19937 random(11);
  std::vector<Wait> waits(300);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    Wait& w = waits[i];
    w.metric = i % 3 == 0 ? metric_index<LateSender>() : metric_index<BarrierWait>();
    w.call_path = random() % 3;
    w.location = random() % 2;
    w.begin = w.enter = {static_cast<double>(i)};
    w.exit = {static_cast<double>(i) + 1};
    w.end = w.exit;
    w.waiting = {0.125 * (1 + random() % 4)};
    w.ended_by = {static_cast<std::uint32_t>(random() % 2),
                  static_cast<CallPathIndex>(random() % 3), w.exit};
    w.operation.number = 10 + i / 2;  // of two waits each
    w.operation.scattered = i % 5 == 0;
  }
  return waits;
}

std::string words_of(Instances& instances) {
  std::ostringstream out;
  const WaitResults results = instances.finish();
  const auto say = [&](const Instance& i) {
    out << i.metric << ' ' << i.begin.value << ' ' << i.end.value << ' ' << i.waiting.ticks()
        << ' ';
    for (const Waiter& w : i.waiters) {
      out << w.location << '/' << w.call_path << '/' << w.ended_by.call_path << ' ';
    }
    out << i.further << '\n';
  };
  std::for_each(results.worst.begin(), results.worst.end(), say);
  std::for_each(results.of_places.begin(), results.of_places.end(), say);
  std::map<std::uint64_t, std::vector<Partner>> partners(results.partners.begin(),
                                                         results.partners.end());
  for (const auto& [place, all] : partners) {
    for (const Partner& p : all) {
      out << place << ": " << p.location << ' ' << p.call_path << ' ' << p.waited.ticks() << '\n';
    }
  }
  return out.str();
}

TEST(Parts, WorstInstances) {
  const std::vector<Wait> waits = some_waits();
  const auto told = [&](std::size_t from, std::size_t to, CallPathIndex paths_from) {
    Instances instances(5, 2);
    for (std::size_t i = from; i < to; ++i) {
      Wait wait = waits[i];
      wait.call_path = (wait.call_path + paths_from) % 3;
      wait.ended_by.call_path = (wait.ended_by.call_path + paths_from) % 3;
      instances.on_wait(wait);
    }
    return instances;
  };
  Instances whole = told(0, waits.size(), 0);
  const std::string expected = words_of(whole);
  for (std::size_t cut = 0; cut <= waits.size(); cut += 2) {
    Instances first = told(0, cut, 0), second = told(cut, waits.size(), 1);
    first.add(second, std::vector<CallPathIndex>{2, 0, 1});
    EXPECT_EQ(words_of(first), expected) << cut;
  }
}

TEST(Parts, SitesThatMayServe) {
  const earl::Trace trace = two_locations();
  SeverityStore severities(all_metrics(), 2);
  const Setting setting{trace, severities};
  earl::OpenCall call;
  call.index = 1;
  const auto found = [&](std::uint32_t times) {
    Dispatchers dispatchers(setting);
    for (std::uint32_t i = 0; i < times; ++i) {
      earl::RecvEvent receive{};
      call.enter_pos = i;
      receive.call = &call;
      receive.source = ProcessId{i % 2};
      receive.from_any = true;
      dispatchers.on_receive(receive);
    }
    return dispatchers;
  };
  // Of 10 finds in two parts two may be answered behind their part, and nine cannot be half of 20.
  Dispatchers few = found(5);
  few.add(found(5), std::vector<CallPathIndex>{0});
  EXPECT_TRUE(few.none());
  Dispatchers many = found(1);
  for (int i = 0; i < 9; ++i) many.add(found(1), std::vector<CallPathIndex>{0});
  EXPECT_TRUE(many.none());  // of one source
  Dispatchers several = found(1);
  for (int i = 0; i < 9; ++i) several.add(found(2), std::vector<CallPathIndex>{0});
  EXPECT_FALSE(several.none());
}

// Answers within a library's call: in the first one of a part nobody knows where it began, so they
// may be none in the whole run; behind a call at another place they are.
TEST(Parts, SitesWhereALibraryWasAsked) {
  const earl::Trace trace = two_locations();
  SeverityStore severities(all_metrics(), 2);
  const Setting setting{trace, severities};
  Definitions definitions;
  RegionDef library, plain;
  library.type = kLibraryFunction;
  definitions.regions.set(RegionId{1}, library);
  definitions.regions.set(RegionId{2}, plain);
  earl::CallTree tree;
  const CallPathId get = tree.enter(absent<CallPathId>(), RegionId{1}, absent<CallSiteId>(), 0);
  const CallPathId send = tree.enter(get, RegionId{2}, CallSiteId{1}, 0);
  const CallPathId receive = tree.enter(get, RegionId{2}, CallSiteId{2}, 0);
  const CallPathId other = tree.enter(absent<CallPathId>(), RegionId{2}, CallSiteId{3}, 0);
  const LibraryCalls calls(tree, definitions);
  for (const bool sure : {false, true}) {
    Dispatchers dispatchers(setting);
    dispatchers.use(&calls);
    earl::OpenCall call;
    call.index = 1;
    call.process = ProcessId{1};
    earl::SendEvent sent{};
    earl::RecvEvent received{};
    sent.call = received.call = &call;
    received.from_any = true;
    const auto send_to = [&](CallPathId path, std::uint32_t process) {
      call.cnode = path;
      ++call.enter_pos;
      sent.destination = ProcessId{process};
      dispatchers.on_send(sent);
    };
    if (sure) send_to(other, 7);
    for (std::uint32_t i = 0; i < 10; ++i) {
      send_to(send, i % 2);
      call.cnode = receive;
      ++call.enter_pos;
      received.source = ProcessId{i % 2};
      dispatchers.on_receive(received);
      send_to(send, i % 2);  // the next call of the library begins
    }
    EXPECT_EQ(dispatchers.none(), sure);
  }
}

TEST(Parts, GateOfALocation) {
  Gate gate;
  gate.locations = {{4, 9}, {6, 8}};
  EXPECT_FALSE(gate.own(0, 3));
  EXPECT_TRUE(gate.own(0, 4));
  EXPECT_TRUE(gate.own(0, 9));
  EXPECT_FALSE(gate.own(1, 9));
  EXPECT_FALSE(gate.own(Gate::kNowhere, 5));
  EXPECT_TRUE(gate.own(Gate::kNowhere, 9));
}

}  // namespace
}  // namespace kojak::expert
