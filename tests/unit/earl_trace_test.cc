// Opening traces, damage, hostile identifiers, the reference files, single events.
#include <fstream>
#include <random>

#include "tests/unit/earl_recorder.h"

namespace kojak::earl {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  auto made = text_to_trace(text);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return made ? *made : std::vector<std::byte>();
}

const char* const kSample = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Send
MPI_SEND lid=0 time=1 dlid=1 tag=3 sent=8
EXIT lid=0 time=2
ENTER lid=1 time=2 region=MPI_Recv
MPI_RECV lid=1 time=3 slid=0 tag=3 recvd=8
EXIT lid=1 time=3
ENTER lid=0 time=4 region=MPI_Barrier
ENTER lid=1 time=4 region=MPI_Barrier
MPI_COLLEXIT lid=0 time=5 cid=0
MPI_COLLEXIT lid=1 time=5 cid=0
EXIT lid=0 time=6
EXIT lid=1 time=6
)";

TEST(EarlTrace, AnEmptyTraceAndOneWithoutEvents) {
  const Pass run(bytes_of("EPILOG 2.0\n"));
  run.expect_only({});
  EXPECT_EQ(run.trace->location_count(), 0u);
  EXPECT_TRUE(run.out.ended);
  EXPECT_TRUE(run.out.calls.empty());
}

TEST(EarlTrace, WhatIsNoMergedTraceIsRefusedWithARemedy) {
  const auto local = bytes_of("LOCAL_RUN size=1 pid=0\nENTER lid=0 time=0 region=main\n");
  auto trace = Trace::from(memory_source(local.data(), local.size()), "0.0.elg");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message().find("elg_merge"), std::string::npos);
  EXPECT_EQ(trace.error().code, ExitCode::kBadInput);

  auto missing = Trace::open("/nonexistent/a.elg");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().file, "/nonexistent/a.elg");

  // Events without LAST_DEF: the header and one ENTER.
  std::vector<std::byte> bytes(kHeaderSize + kMaxRecord);
  encode_header({}, bytes.data());
  bytes.resize(kHeaderSize + encode(Enter{}, {}, bytes.data() + kHeaderSize));
  auto events = Trace::from(memory_source(bytes.data(), bytes.size()), "x");
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().offset, kHeaderSize);
}

// Where the definitions of a trace end: behind its LAST_DEF.
std::size_t definitions_size(const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "whole");
  EXPECT_TRUE(reader);
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (record.type == static_cast<std::uint8_t>(RecordType::kLastDef)) break;
  }
  return reader->offset();
}

TEST(EarlTrace, ATraceCutInsideItsDefinitionsIsRefused) {
  const auto whole = bytes_of(kSample);
  const std::size_t definitions = definitions_size(whole);
  ASSERT_GT(definitions, kHeaderSize + 50);
  for (std::size_t size = kHeaderSize; size < definitions; ++size) {
    auto trace = Trace::from(memory_source(whole.data(), size), "cut");
    ASSERT_FALSE(trace) << size;
    EXPECT_EQ(trace.error().code, ExitCode::kBadInput);
    EXPECT_EQ(trace.error().file, "cut");
    EXPECT_LE(trace.error().offset.value_or(definitions), size);
    EXPECT_NE(trace.error().reason.find("ends inside its definitions"), std::string::npos);
    EXPECT_FALSE(trace.error().remedy.empty());
  }
  // Whole definitions without an event are a trace, if a short one: it lacks all that it announces.
  auto trace = Trace::from(memory_source(whole.data(), definitions), "cut");
  ASSERT_TRUE(trace);
  Event event;
  EXPECT_FALSE(trace->next(event));
  ASSERT_TRUE(trace->damage());
  EXPECT_EQ(trace->damage()->reason, "the trace ends after 0 of its 14 events");
  EXPECT_EQ(trace->location_count(), 2u);
}

TEST(EarlTrace, ATruncatedTraceIsReadUpToTheDamage) {
  const auto whole = bytes_of(kSample);
  const Pass complete(whole);
  complete.expect_only({});
  ASSERT_EQ(complete.trace->events_read(), 14u);
  std::uint64_t most = 0;
  for (std::size_t size = definitions_size(whole); size < whole.size(); ++size) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    auto trace = Trace::from(memory_source(cut.data(), cut.size()), "cut");
    ASSERT_TRUE(trace) << trace.error().message();
    Recorder sink;
    replay(*trace, sink);
    EXPECT_TRUE(sink.ended);
    EXPECT_GE(trace->events_read(), most);
    most = trace->events_read();
    // Either it ends inside a record, or events are missing.
    ASSERT_TRUE(trace->damage()) << size;
    EXPECT_EQ(trace->damage()->file, "cut");
    // All time that was entered is accounted for.
    double time = 0;
    for (const Call& c : sink.calls) time += c.exclusive.value;
    EXPECT_GE(time, 0);
  }
  EXPECT_EQ(most, 13u);
}

TEST(EarlTrace, EveryByteMayBeWrong) {
  const auto whole = bytes_of(kSample);
  for (std::size_t i = kHeaderSize; i < whole.size(); ++i) {
    for (const unsigned value : {0u, 1u, 0x7Fu, 0xFFu, 0x80u}) {
      std::vector<std::byte> bad = whole;
      bad[i] = static_cast<std::byte>(value);
      auto trace = Trace::from(memory_source(bad.data(), bad.size()), "bad");
      if (!trace) continue;
      Recorder sink;
      replay(*trace, sink);
      EXPECT_TRUE(sink.ended);
    }
  }
}

TEST(EarlTrace, RandomRecordsDoNoHarm) {
  // Real record types with random small identifiers, in random order.
  std::mt19937 random(7);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const char* const regions[] = {"main",         "MPI_Send",         "MPI_Recv",
                                 "MPI_Wait",     "MPI_Win_start",    "MPI_Win_post",
                                 "MPI_Win_wait", "MPI_Win_complete", "MPI_Put",
                                 "MPI_Barrier",  "MPI_Win_fence",    "MPI_Win_free"};
  for (int round = 0; round < 60; ++round) {
    std::string text;
    double time = 0;
    for (int n = 0; n < 400; ++n) {
      const std::string at =
          " lid=" + std::to_string(pick(3)) + " time=" + std::to_string(time += 0.5);
      const std::string peer = std::to_string(pick(3)), id = std::to_string(pick(4));
      const std::string group = pick(2) != 0 ? "[0,2]" : "[1]";
      switch (pick(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
          text += "ENTER" + at + " region=" + regions[pick(12)] + "\n";
          break;
        case 4:
        case 5:
          text += "EXIT" + at + "\n";
          break;
        case 6:
          text += "MPI_SEND" + at + " dlid=" + peer + "\n";
          break;
        case 7:
          text += "ATTR_UI4 kind=2 value=" + id + "\nMPI_SEND" + at + " dlid=" + peer + "\n";
          break;
        case 8:
          text += "ATTR_UI4 kind=2 value=" + id + "\nMPI_RECV" + at + " slid=" + peer + "\n";
          break;
        case 9:
          text += "MPI_RECV" + at + " slid=" + peer + "\n";
          break;
        case 10:
          text += "MPI_RECV_REQUEST" + at + " reqid=" + id +
                  (pick(2) != 0 ? " slid=" + peer + " tag=0" : "") + "\n";
          break;
        case 11:
          text +=
              (pick(2) != 0 ? "MPI_SEND_COMPLETE" : "MPI_CANCELLED") + at + " reqid=" + id + "\n";
          break;
        case 12:
        case 13:
          text += "MPI_WINEXIT" + at + " wid=0 group=" + group +
                  " synex=" + std::to_string(pick(2)) + "\n";
          break;
        case 14:
          text += "MPI_PUT_1TS" + at + " dlid=" + peer + " rmaid=" + id + "\n";
          break;
        case 15:
          text += "MPI_COLLEXIT" + at + " cid=0\n";
          break;
        case 16:
          text += "MPI_WINCOLLEXIT" + at + " wid=0\n";
          break;
        case 17:
          text += "EPOCH_STATE" + at + " wid=0 plid=" + peer + " access=" + id +
                  " exposure=" + std::to_string(pick(4)) +
                  " ops=2 open=" + std::to_string(pick(64)) + "\n";
          break;
        case 18:
          text += "MSG_STATE" + at + " plid=" + peer + " sent=" + id +
                  " recvd=" + std::to_string(pick(4)) + "\n";
          break;
        default:
          text += (pick(2) != 0 ? "LOG_OFF" : "LOG_ON") + at + "\n";
      }
    }
    const Pass run(text);
    EXPECT_TRUE(run.out.ended);
    // Each transaction comes once, complete or not; every start and post that is known does.
    std::size_t starts = 0, posts = 0;
    for (const AccessCopy& a : run.out.accesses) starts += a.has_start ? 1 : 0;
    for (const ExposureCopy& e : run.out.exposures) posts += e.has_post ? 1 : 0;
    std::size_t start_calls = 0, post_calls = 0;
    for (const Call& c : run.out.calls) {
      if (c.role() == MpiRole::kWinStart) ++start_calls;
      if (c.role() == MpiRole::kWinPost) ++post_calls;
    }
    EXPECT_LE(starts, start_calls);
    EXPECT_LE(posts, post_calls);
  }
}

TEST(EarlTrace, UnknownIdentifiersAndRecordsAreCounted) {
  const Pass run(R"(
MPI_GROUP gid=0 mode=1 count=2
MPI_COMM_REF cid=0 gid=0
MPI_WIN wid=0 cid=0
LOCATION lid=0 pid=0
LOCATION lid=1 pid=1
NUM_EVENTS eventc=10
ENTER lid=0 time=0 region=main
UNKNOWN type=216 body=[1,2,3]
UNKNOWN type=101 body=[0,0]
EXIT lid=0 time=9
)");
  EXPECT_EQ(run.count(Finding::kUnknownRecord), 1u);
  EXPECT_EQ(run.count(Finding::kShortRecord), 1u);
  EXPECT_EQ(run.trace->events_read(), 4u);
  ASSERT_TRUE(run.trace->damage());
  EXPECT_EQ(run.trace->damage()->reason, "the trace ends after 4 of its 10 events");
}

TEST(EarlTrace, LocationsNeedNotBeDense) {
  const Pass run(R"(
LOCATION lid=7 pid=0
LOCATION lid=900000 pid=1
ENTER lid=900000 time=0 region=f
ENTER lid=7 time=1 region=f
EXIT lid=900000 time=2
EXIT lid=7 time=3
)");
  EXPECT_EQ(run.count(Finding::kUnknownLocation), 0u);
  ASSERT_GE(run.out.calls.size(), 2u);
  EXPECT_EQ(raw(run.out.calls[0].loc), 900000u);
  EXPECT_EQ(raw(run.out.calls[0].process), 1u);
  EXPECT_EQ(run.trace->location(run.out.calls[0].index), run.out.calls[0].loc);
}

TEST(EarlTrace, EventsOneByOneWithTheirAttributes) {
  const auto bytes = bytes_of(R"(
ENTER_CS lid=0 time=1 region=MPI_Send site="a.c:5"
ATTR_UI4 kind=2 value=17
ATTR_UI8 kind=5 value=6000000000
MPI_SEND lid=0 time=1 dlid=1 tag=3 sent=4294967295
MPI_WINEXIT lid=0 time=2 wid=0 group=[1] synex=1
MPI_RECV lid=1 time=3 slid=0 tag=3 recvd=8
EPOCH_STATE lid=1 time=4 wid=0 plid=0 access=1 exposure=2 ops=3 open=5
)");
  auto trace = Trace::from(memory_source(bytes.data(), bytes.size()), "x");
  ASSERT_TRUE(trace);
  Event e;
  ASSERT_TRUE(trace->next(e));
  EXPECT_TRUE(is_enter(e.type));
  EXPECT_TRUE(is_flow(e.type));
  EXPECT_FALSE(is_exit(e.type));
  EXPECT_EQ(e.pos, 0u);
  EXPECT_EQ(trace->definitions().regions.find(e.reg)->name, "MPI_Send");
  EXPECT_FALSE(is_absent(e.csite));
  ASSERT_TRUE(trace->next(e));
  EXPECT_TRUE(is_send(e.type) && is_p2p(e.type));
  EXPECT_EQ(raw(e.peer), 1u);
  EXPECT_EQ(raw(e.request), 17u);
  EXPECT_EQ(raw(e.sent), 6000000000u);
  EXPECT_EQ(raw(e.tag), 3u);
  EXPECT_TRUE(is_absent(e.reg));
  ASSERT_TRUE(trace->next(e));
  EXPECT_TRUE(is_exit(e.type) && is_win_exit(e.type) && !is_win_coll_exit(e.type));
  EXPECT_EQ(e.code, 1u);
  EXPECT_TRUE(is_absent(e.request));  // attributes belong to one event
  ASSERT_TRUE(trace->next(e));
  EXPECT_TRUE(is_recv(e.type));
  EXPECT_TRUE(e.has_length);
  EXPECT_EQ(raw(e.recvd), 8u);
  ASSERT_TRUE(trace->next(e));
  EXPECT_EQ(e.count[0], 1u);
  EXPECT_EQ(e.count[1], 2u);
  EXPECT_EQ(e.count[2], 3u);
  EXPECT_EQ(e.code, 5u);
  EXPECT_FALSE(trace->next(e));
  EXPECT_FALSE(trace->damage());
  EXPECT_EQ(trace->events_read(), 5u);
}

// gats.c: four phases, in each of which process 0 exposes to 1..3 and these put, and but in the
// last get, one element: 4 exposure transactions, 12 access transactions, 12 puts, 9 gets.
TEST(EarlReference, GatsIsCompleteAsTheProgramSays) {
  auto trace = Trace::open(std::string(KOJAK_REFERENCE_DIR) + "/gats.elg");
  ASSERT_TRUE(trace) << trace.error().message();
  Recorder out;
  const CallTree tree = replay(*trace, out);
  trace->findings().for_each([](Finding f, const Findings::Row& row) {
    ADD_FAILURE() << info(f).name << " " << row.count;
  });
  EXPECT_EQ(trace->events_read(), 305u);
  ASSERT_EQ(out.exposures.size(), 4u);
  EXPECT_EQ(out.accesses.size(), 12u);
  for (std::size_t phase = 0; phase < 4; ++phase) {
    const ExposureCopy& e = out.exposures[phase];
    EXPECT_TRUE(e.complete);
    EXPECT_EQ(e.target, rank(0));
    ASSERT_EQ(e.origins.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(e.origins[i].origin, rank(static_cast<unsigned>(i) + 1));
      EXPECT_EQ(e.origins[i].ordinal, phase);
      EXPECT_EQ(e.transfers[i].ops, phase == 3 ? 1u : 2u);
      EXPECT_LE(e.transfers[i].last_exit, e.accesses[i]->finish.enter);
    }
    EXPECT_EQ(e.finish.role(), phase == 3 ? MpiRole::kWinTest : MpiRole::kWinWait);
  }
  EXPECT_EQ(std::count_if(out.transfers.begin(), out.transfers.end(),
                          [](const TransferCopy& t) { return t.get; }),
            9);
  EXPECT_EQ(out.transfers.size(), 21u);
  EXPECT_EQ(out.collectives.size(), 4u);  // a barrier before each phase
  ASSERT_EQ(out.windows.size(), 2u);
  EXPECT_EQ(out.windows[0].role, MpiRole::kWinCreate);
  EXPECT_EQ(out.windows[1].role, MpiRole::kWinFree);
  // The sum of exclusive times is the sum of the locations' spans.
  double time = 0, spans = 0;
  for (const Call& c : out.calls) {
    time += c.exclusive.value;
    if (is_absent(tree[c.cnode].parent)) spans += (c.exit - c.enter).value;
  }
  EXPECT_NEAR(time, spans, 1e-9);
}

// fence.c: create, 7 fences, free; three rounds of a put, an accumulate and a get on 4 processes;
// then a barrier, an allreduce, a broadcast and a reduce.
TEST(EarlReference, FenceIsCompleteAsTheProgramSays) {
  auto trace = Trace::open(std::string(KOJAK_REFERENCE_DIR) + "/fence.elg");
  ASSERT_TRUE(trace) << trace.error().message();
  Recorder out;
  const CallTree tree = replay(*trace, out);
  trace->findings().for_each([](Finding f, const Findings::Row& row) {
    ADD_FAILURE() << info(f).name << " " << row.count;
  });
  ASSERT_EQ(out.windows.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(out.windows[i].complete);
    EXPECT_EQ(out.windows[i].role, i == 0   ? MpiRole::kWinCreate
                                   : i == 8 ? MpiRole::kWinFree
                                            : MpiRole::kWinFence);
  }
  EXPECT_EQ(out.transfers.size(), 36u);
  ASSERT_EQ(out.fences.size(), 28u);
  for (const FenceCopy& f : out.fences) {
    // Puts and accumulates go to the right neighbour, gets to the next but one.
    if (f.ordinal == 0) {
      EXPECT_TRUE(f.targets.empty());
      continue;
    }
    ASSERT_EQ(f.targets.size(), 1u);
    const bool gets = f.ordinal % 2 == 0;
    EXPECT_EQ(f.targets[0].transfers.ops, gets ? 1u : 2u);
    EXPECT_EQ(raw(f.targets[0].target), (raw(f.call.process) + (gets ? 2 : 1)) % 4);
  }
  ASSERT_EQ(out.collectives.size(), 4u);
  EXPECT_EQ(out.collectives[0].role(), MpiRole::kBarrier);
  EXPECT_EQ(out.collectives[1].role(), MpiRole::kAllToAll);
  EXPECT_EQ(out.collectives[2].role(), MpiRole::kOneToAll);
  EXPECT_EQ(out.collectives[3].role(), MpiRole::kAllToOne);
  EXPECT_EQ(raw(out.collectives[3].root), 0u);
}

}  // namespace
}  // namespace kojak::earl
