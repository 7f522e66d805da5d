// Several read the local traces of a run, each some of them: what is put together of what they have
// found is what one knows that has read them all, and the merge makes the same of it, to the last
// byte. So it is where only some of the meetings are told.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "epilog/format/archive.h"
#include "expert/parallel/local_rows.h"
#include "tests/support/clock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using parallel::LocalRows;
using parallel::Meeting;
using parallel::SurveyPart;

// As another process gets it.
SurveyPart sent(SurveyPart part) {
  Packer packer;
  packer(part);
  SurveyPart got;
  Unpacker unpacker(packer.bytes());
  unpacker(got);
  EXPECT_TRUE(unpacker.good());
  return got;
}

LocalRows opened(const merge::MergeOptions& options, std::size_t most) {
  auto rows = LocalRows::open(options, most);
  if (!rows) throw std::runtime_error(rows.error().message());
  return std::move(*rows);
}

SurveyPart read_by(std::size_t n, const merge::MergeOptions& options, std::size_t most) {
  SurveyPart all;
  const auto shares = merge::shares_of(opened(options, most).merge().traces(), n);
  EXPECT_EQ(shares.size(), n);
  for (const merge::TraceRange& share : shares) {
    const SurveyPart part = sent(opened(options, most).survey(share));
    all.found.insert(all.found.end(), part.found.begin(), part.found.end());
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
  }
  return all;
}

void describe(std::ostream& out, const std::string& what, const merge::Summary& summary) {
  out << what << ' ' << summary.suspect() << '\n';
  for (const merge::Message& message : merge::messages_of(summary)) out << message.text << '\n';
}

void describe(std::ostream& out, const parallel::StandingRow& at) {
  out << "  " << at.row.enter << ' ' << at.row.exit << ' ' << at.row.begins << ' ' << at.row.ends
      << ' ' << at.row.behind << ' ' << at.row.events << ' ' << at.row.in_call << ' ' << at.row.open
      << ' ' << at.row.messages << ' ' << at.row.agreement << ", open";
  for (const auto& around : at.open)
    out << ' ' << around.id << (around.call_site ? "@" : "") << ' ' << around.time;
  for (const merge::Slice::Window& w : at.windows) {
    out << ", window " << w.id << ' ' << w.fences << ' ' << w.completions << ' ' << w.fence_open
        << ' ' << int{w.all};
    for (const auto& peer : w.peers)
      out << " (" << peer.rank << ' ' << peer.access << ' ' << peer.exposure << ')';
  }
  if (at.processor) out << ", processor " << at.processor->time.value;
  out << '\n';
}

std::string meetings_of(const LocalRows& rows) {
  std::ostringstream out;
  out.precision(17);
  for (const bool held : {false, true}) {
    for (const Meeting& m : rows.meetings(held)) {
      out << m.key.hi << ' ' << m.key.lo << ' ' << m.key.ordinal << ' ' << m.key.window << ": "
          << m.at << ' ' << m.left << ' ' << why_not(m) << ' ' << m.events << ' ' << m.bytes
          << '\n';
      for (std::size_t i = 0; i < m.ends.size(); ++i) {
        const compact::BlockPlace block = rows.block_before(i, m.begins[i]);
        out << "  block " << block.records << ' ' << m.begins[i];
        describe(out, rows.at(i, m.ends[i]));
      }
    }
  }
  return out.str();
}

void describe(std::ostream& out, const model::Ordinals& ordinals) {
  out << " [";
  for (std::uint64_t n = 0; n < 200; ++n) out << (ordinals.contains(n) ? "x" : ".");
  out << ']';
}
void describe(std::ostream& out, const merge::LostOperations& lost) {
  out << " lost " << lost.from[0] << ' ' << lost.from[1] << ' ' << lost.to;
}

// What pass 2 is told of a window.
void describe(std::ostream& out, std::uint32_t id, merge::WindowEpochs& w) {
  out << "  window " << id;
  describe(out, w.fences_recorded);
  out << w.last_fence << ' ' << w.last_complete_all[0] << ' ' << w.last_complete_all[1];
  for (const merge::LostOperations& lost : w.lost_by_all) describe(out, lost);
  for (const auto& [count, requests] : w.requests_kept) {
    out << " requests " << count;
    describe(out, requests);
  }
  out << w.free_recorded << w.unseen_end << '\n';
  for (merge::PeerEpochs& peer : w.peers()) {
    out << "    " << peer.rank << ' ' << peer.born;
    describe(out, peer.access_ended);
    describe(out, peer.exposure_ended);
    out << peer.last_complete[0] << ' ' << peer.last_complete[1] << ' ' << peer.last_access << ' '
        << peer.last_exposure << ' ' << peer.lost_access;
    for (const merge::LostOperations& lost : peer.lost) describe(out, lost);
    out << '\n';
  }
}

// All that is known behind pass 1 but the meetings, and the merged trace.
std::string words_of(LocalRows& rows, const merge::MergeOptions& options) {
  std::ostringstream out;
  out.precision(17);
  const merge::TwoPasses& passes = rows.merge();
  out << "alone: " << rows.alone() << "; not added: " << rows.not_added() << "; " << rows.bytes()
      << " bytes, " << passes.expected_events() << " events\n";
  for (std::size_t i = 0; i < passes.traces().size(); ++i) {
    const merge::TraceFacts& f = passes.survey().traces[i];
    const merge::LinearClock& clock = passes.clocks()[i];
    out << i << ": " << f.events << ' ' << f.last_exit << ' ' << f.open_regions << ' ' << f.locks
        << f.lock_all << ' ' << f.first_time << ' ' << f.end << ' ' << f.came_to_end << f.whole
        << ' ' << f.blocks.size() << ' ' << f.poll_sites.size() << ' ' << f.window_parts.size()
        << ' ' << f.polled_windows.size() << ' ' << f.serves_since.value_or(-1) << ' '
        << (f.aborted == nullptr ? "" : f.aborted) << "; clock " << clock.factor << ' '
        << clock.shift << ' ' << clock.base << "; windows";
    for (const std::uint32_t window : f.windows) out << ' ' << window;
    out << "; the same names: "
        << (i != 0 && f.translation == passes.survey().traces[i - 1].translation) << '\n';
  }
  for (const auto& process : passes.survey().processes) {
    if (!process) continue;
    out << "process, paused " << process->gap() << ' ' << process->several_threads() << '\n';
    process->each_window([&](std::uint32_t id, merge::WindowEpochs& w) { describe(out, id, w); });
  }
  describe(out, "pass 1", passes.found());
  const auto definitions = passes.definitions();
  if (!definitions) throw std::runtime_error(definitions.error().message());
  out.write(reinterpret_cast<const char*>(definitions->data()),
            static_cast<std::streamsize>(definitions->size()));
  const auto merged = rows.merge().write(options);
  if (!merged) throw std::runtime_error(merged.error().message());
  describe(out, "pass 2", *merged);
  const std::vector<std::byte> bytes = read_bytes(options.output);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return out.str();
}

std::vector<Meeting> every_second(const LocalRows& rows) {
  std::vector<Meeting> chosen;
  const std::vector<Meeting> all = rows.meetings(false);
  for (std::size_t i = 0; i < all.size(); i += 2) chosen.push_back(all[i]);
  return chosen;
}

struct Counts {
  std::size_t runs = 0, meetings = 0, chosen = 0, refused = 0;
};

// What is put together of 1 to 5 parts, and of more parts than there are traces.
void compare(const merge::MergeOptions& options, Counts& counts, std::size_t most = 64) {
  auto one = LocalRows::of(options, most);
  const std::string meetings = one ? meetings_of(*one) : "";
  const std::string words = one ? words_of(*one, options) : one.error().message();
  const std::size_t traces = opened(options, most).merge().traces().size();
  ++counts.runs;
  if (!one) ++counts.refused;
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5}, traces + 3}) {
    SCOPED_TRACE(std::to_string(n) + " parts of " + std::to_string(traces) + " traces");
    LocalRows leader = opened(options, most);
    const Status status = leader.put_together(read_by(n, options, most), true);
    ASSERT_EQ(static_cast<bool>(status), static_cast<bool>(one));
    if (!status) {
      EXPECT_EQ(status.error().message(), words);
      continue;
    }
    EXPECT_EQ(meetings_of(leader), meetings);
    const std::vector<Meeting> chosen = every_second(leader);
    counts.meetings += chosen.size();
    LocalRows other = opened(options, most);
    const Status told = other.put_together(sent(leader.chosen(chosen)), false);
    ASSERT_TRUE(told) << told.error().message();
    EXPECT_EQ(meetings_of(other), meetings_of(leader));
    EXPECT_EQ(other.meetings(false).size(), chosen.size());
    counts.chosen += chosen.size();
    EXPECT_TRUE(words_of(leader, options) == words);
    EXPECT_TRUE(words_of(other, options) == words);
  }
}

merge::MergeOptions options_of(const LocalRun& run) {
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kCompact;
  return options;
}

TEST(SharedSurvey, OneSidedPrograms) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) continue;
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    compare(options_of(run), counts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(counts.runs, 50u);
}

TEST(SharedSurvey, MessagesAndCollectives) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const support::ClockProgram program = support::clock_program(seed);
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    compare(options_of(run), counts, seed % 2 == 0 ? 2 : 64);  // also where rows are thinned
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(counts.chosen, 50u);
}

// A process that meets the other one twice.
std::string met_twice(std::uint32_t rank, const std::string& members = "[]") {
  const std::string lid = " lid=" + std::to_string(rank) + " time=";
  std::string text = "MPI_GROUP gid=0 mode=" + std::string(members == "[]" ? "1" : "0") +
                     " count=2 ranks=" + members +
                     "\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=7 flags=0\n";
  for (const int at : {1, 3}) {
    text += "ENTER" + lid + std::to_string(at) + " region=MPI_Barrier\nMPI_COLLEXIT" + lid +
            std::to_string(at + 1) + " rlid=absent cid=0 sent=0 recvd=0\n";
  }
  return text;
}

// Locks that are held when recording pauses, behind which the trace says nothing of the window:
// what was put under them was completed while nobody looked. Process 0 holds a lock of process 1,
// process 1 a lock of all.
TEST(SharedSurvey, LocksThatAreHeldThroughTheLastPause) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    const std::string lid = " lid=" + std::to_string(rank) + " time=";
    const std::string to = std::to_string(1 - rank);
    run.add(rank,
            met_twice(rank) +
                "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=9 lo=4 flags=0 flavour=1 model=2\n" +
                (rank == 0 ? "MPI_WIN_LOCK" + lid + "5 llid=1 wid=0 ltype=1\n"
                           : "MPI_WIN_LOCK_ALL" + lid + "5 wid=0\n") +
                "MPI_RMA_CALL" + lid + "6 exit=6.1 region=MPI_Put dlid=" + to +
                " wid=0 rmaid=0 bytes=8 got=0 kind=1\nMPI_RMA_CALL" + lid +
                "6.2 exit=6.3 region=MPI_Rget dlid=" + to +
                " wid=0 rmaid=1 bytes=0 got=8 kind=2\nLOG_OFF" + lid + "7\nLOG_ON" + lid +
                "8\nENTER" + lid + "9 region=work\nEXIT" + lid + "10\n");
  }
  Counts counts;
  compare(options_of(run), counts);
  auto rows = LocalRows::of(options_of(run));
  ASSERT_TRUE(rows);
  std::size_t lost = 0;
  rows->merge().survey().processes[0]->each_window(
      [&](std::uint32_t, merge::WindowEpochs& w) { lost += w.find_peer(1)->lost.size(); });
  rows->merge().survey().processes[1]->each_window(
      [&](std::uint32_t, merge::WindowEpochs& w) { lost += 10 * w.lost_by_all.size(); });
  EXPECT_EQ(lost, 11u);
}

// Process 0 takes a lock of all again behind a pause, so that the one before was given back unseen;
// later it frees the window.
TEST(SharedSurvey, LocksThatWereGivenBackUnseen) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    const std::string lid = " lid=" + std::to_string(rank) + " time=";
    const std::string window =
        "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=9 lo=4 flags=0 flavour=1 model=2\n";
    const std::string of_first = "MPI_WIN_LOCK_ALL" + lid + "5 wid=0\nMPI_RMA_CALL" + lid +
                                 "6 exit=6.1 region=MPI_Put dlid=1 wid=0 rmaid=0 bytes=8 got=0 " +
                                 "kind=1\nLOG_OFF" + lid + "7\nLOG_ON" + lid +
                                 "8\nMPI_WIN_LOCK_ALL" + lid + "9 wid=0\n";
    run.add(rank, met_twice(rank) + window + (rank == 0 ? of_first : "") + "ENTER" + lid +
                      "10 region=MPI_Win_free\nMPI_WINCOLLEXIT" + lid + "11 wid=0\n");
  }
  Counts counts;
  compare(options_of(run), counts);
  auto rows = LocalRows::of(options_of(run));
  ASSERT_TRUE(rows);
  rows->merge().survey().processes[0]->each_window([](std::uint32_t, merge::WindowEpochs& w) {
    EXPECT_EQ(w.lost_by_all.size(), 1u);
    EXPECT_TRUE(w.free_recorded);
  });
}

TEST(SharedSurvey, DamagedTraces) {
  std::size_t suspect = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const support::ClockProgram program = support::clock_program(seed);
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    const std::size_t which = seed % run.paths.size();
    std::vector<std::byte> bytes = run.locals[which];
    const std::size_t at = bytes.size() / 2 + seed;
    if (seed % 2 == 0) {
      bytes.resize(at);
    } else {
      for (std::size_t i = at; i < at + 16; ++i) bytes[i] = std::byte{0xFF};
    }
    write_file(run.paths[which], bytes);
    Counts counts;
    compare(options_of(run), counts);
    auto rows = LocalRows::of(options_of(run));
    suspect += rows && rows->merge().found().suspect() ? 1 : 0;
  }
  EXPECT_GE(suspect, 10u);
}

// Two communicators of one identity: pass 1 refuses them, whoever has read which trace.
TEST(SharedSurvey, ContradictingTraces) {
  LocalRun run(3);
  run.add(0, met_twice(0, "[0,1]"));
  run.add(1, met_twice(1, "[0,1]"));
  run.add(2, met_twice(2, "[1,2]"));
  Counts counts;
  compare(options_of(run), counts);
  EXPECT_EQ(counts.refused, 1u);
}

TEST(SharedSurvey, SeveralThreads) {
  LocalRun run(2);
  run.add(0, met_twice(0));
  run.add(0, "ENTER lid=0 time=0 region=main\n", 1);
  run.add(1, met_twice(1));
  Counts counts;
  compare(options_of(run), counts);
  EXPECT_EQ(opened(options_of(run), 64).why_alone_by_files(), "rank 0 has several threads");
}

// Names of addresses go with what is told: the program is not looked for again.
TEST(SharedSurvey, NamesAreTold) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    run.add(rank, R"(STRING strid=4 cntc=0 str="MPI_Barrier"
REGION rid=7 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=4
STRING strid=6 cntc=0 str="/nowhere/prog"
LOCAL_MODULE module=0 pathid=6 build_id=[1,2,3]
LOCAL_SITE rid=512 erid=7 module=0 address=256 caller=absent
)" + met_twice(rank));
  }
  const merge::MergeOptions options = options_of(run);
  Counts counts;
  compare(options, counts);
  EXPECT_EQ(counts.chosen, 5u);
  LocalRows leader = opened(options, 64);
  ASSERT_TRUE(leader.put_together(read_by(2, options, 64), true));
  SurveyPart told = leader.chosen(leader.meetings(false));
  const std::pair<const std::string, std::string> module("/nowhere/prog", "\1\2\3");
  ASSERT_EQ(told.names.places.size(), 1u);
  std::vector<merge::CodePlace>& known = told.names.places[module][255];
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].function, "prog+0x100");
  known[0].function = "solve";
  LocalRows other = opened(options, 64);
  ASSERT_TRUE(other.put_together(sent(told), false));
  const auto& regions = other.merge().survey().definitions.regions;
  EXPECT_TRUE(std::ranges::any_of(regions, [](const RegionDef& r) { return r.name == "solve"; }));
}

TEST(SharedSurvey, WhatIsNotWholeIsRefused) {
  LocalRun run(2);
  for (const std::uint32_t rank : {0u, 1u}) run.add(rank, met_twice(rank));
  const merge::MergeOptions options = options_of(run);
  const SurveyPart whole = read_by(2, options, 64);
  for (const bool rows : {false, true}) {
    for (const std::size_t less : {1u, 100u}) {
      SurveyPart part = whole;
      std::vector<std::byte>& bytes = rows ? part.rows : part.found;
      bytes.resize(bytes.size() - less);
      EXPECT_FALSE(opened(options, 64).put_together(part, false));
    }
  }
  SurveyPart more = whole;
  more.found.push_back(std::byte{0});
  EXPECT_FALSE(opened(options, 64).put_together(more, false));
}

// By hand, of sizes 3, 1, 1, 1: by two, the first is half of it.
TEST(SharedSurvey, SharesHaveAboutAsManyBytes) {
  std::vector<merge::LocalTrace> traces(4);
  for (merge::LocalTrace& trace : traces) trace.size = 100;
  traces[0].size = 300;
  using Ends = std::vector<std::size_t>;
  const auto ends = [&](std::size_t n) {
    Ends all;
    std::size_t next = 0;
    for (const merge::TraceRange& share : merge::shares_of(traces, n)) {
      EXPECT_EQ(share.first, next);
      all.push_back(next = share.end);
    }
    return all;
  };
  EXPECT_EQ(ends(1), (Ends{4}));
  EXPECT_EQ(ends(2), (Ends{1, 4}));
  EXPECT_EQ(ends(3), (Ends{1, 2, 4}));  // 200, 400: the midsts are 150, 350, 450, 550
  EXPECT_EQ(ends(6), (Ends{0, 1, 1, 2, 3, 4}));
  traces.clear();
  EXPECT_EQ(ends(2), (Ends{0, 0}));
}

}  // namespace
}  // namespace kojak::test
