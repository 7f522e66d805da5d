// Long because all that happens to a series stands here: joined, settled, written, told to a note.
#include "epilog/runtime/polling.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/reads.h"

namespace kojak::measure {

// What finds something at one place in the program, for MPI_POLL_SITE.
struct PollSite {
  RegionId region{};
  std::uint64_t finds = 0;
  PollTicks least = ~PollTicks{0};
  bool changed = false;
};

struct Polling {
  PollSeries series;
  std::uint32_t serial = 0;  // of the series; a pause that it did not outlast is none of it
  bool has_parts = false;    // what begins now goes on what was written
  bool has_reading = false;  // the following, at the end of a slice
  std::uint64_t ran = 0, switches = 0;
  PollSeries::Table* table = nullptr;
  static constexpr std::size_t kSites = 16;
  PollSite sites[kSites];
  // Long calls of the series and of the slice that is open, in the order of their exits; of more
  // than these the longest.
  struct LongCall {
    PollMember of;
    PollTicks enter, exit;
    PollTicks length() const { return exit - enter; }
  };
  static constexpr unsigned kMostLong = 24;
  LongCall long_calls[kMostLong];
  unsigned long_count = 0;
  std::uint64_t metrics[2 * Metrics::kMost];  // at the first poll's enter, and the last one's exit
  // Records that are written.
  MpiPollCall call;
  MpiPoll member;
};

constinit PollScale poll_scale;
constinit bool pauses_are_seen = false;

void prepare_polls() {
  poll_scale = PollScale(ticks_per_second());
}

namespace {

// What the thread had, and how often it has given its processor up.
bool read_processor(std::uint64_t& ran, std::uint64_t& switches) {
  rusage usage;
  if (!read_thread_clock(ran) || getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  return true;
}

// What the thread had since the end of the last slice, where that is known.
PollReading read_slice(Polling& p) {
  std::uint64_t ran = 0, switches = 0;
  const bool good = read_processor(ran, switches);
  PollReading reading;
  if (good && p.has_reading) reading = {true, ran - p.ran, switches - p.switches};
  p.has_reading = good;
  p.ran = ran;
  p.switches = switches;
  return reading;
}

void fill(MpiPoll& to, const Recorder& r, const PolledMember& m, PollTicks begin) {
  to.lid = r.lid;
  to.time = record_time(begin);
  to.kind = Byte{static_cast<std::uint8_t>(m.is.kind)};
  to.rid = static_cast<RegionId>(m.is.site);
  to.csid = absent<CallSiteId>();
  to.count = Count64{m.count};
  to.first_enter = record_time(m.first);
  to.last_enter = record_time(m.last);
  to.reqid = static_cast<RequestId>(m.is.request);
  to.requests = Count{m.is.requests};
  to.plid = PeerId{m.is.peer};
  to.cid = CommId{m.is.comm};
  to.tag = Tag{m.is.tag};
  to.wid = WindowId{m.is.window};
  to.tlid = PeerId{m.is.target};
  const bool placed = m.is.bytes != 0 || m.is.kind == PollKind::kShmem;
  to.disp = placed ? Count64{m.is.place} : kUnknown64;
  to.bytes = Byte{m.is.bytes};
  to.value = Count64{m.is.value};
  to.other = Count64{m.is.other};
}

// What the series has had so far.
void fill(Polling& p, const Recorder& r, const PolledMember& first, unsigned members, PollEnd why,
          RegionId found) {
  MpiPollCall& to = p.call;
  const MpiPoll& member = p.member;
  const PollSums& s = p.series.sums();
  const auto length = [](PollTicks ticks) { return compact::stamp_length(ticks); };
  fill(p.member, r, first, s.begin);
  to.lid = r.lid;
  to.time = record_time(s.begin);
  to.exit = record_time(s.end);
  to.rid = member.rid;
  to.found = found;
  to.count = Count64{s.polls};
  to.called = length(s.called);
  to.paused = length(s.pauses.length);
  to.asleep = length(s.pauses.asleep);
  to.rest = length(s.rest);
  to.least = length(s.least != ~PollTicks{0} ? s.least : 0);
  to.ran = s.read.known ? Count64{s.read.ran} : kUnknown64;
  to.switches = Count{static_cast<std::uint32_t>(s.read.switches)};
  to.judged = Byte{static_cast<std::uint8_t>(s.is)};
  to.end = Byte{static_cast<std::uint8_t>(why)};
  to.flags = Flags{p.has_parts ? kPollGoesOn : std::uint8_t{0}};
  to.members = Byte{static_cast<std::uint8_t>(members)};
  to.kind = member.kind;
  to.polls = member.count;
  to.last_enter = member.last_enter;
  to.reqid = member.reqid;
  to.requests = member.requests;
  to.plid = member.plid;
  to.cid = member.cid;
  to.tag = member.tag;
  to.wid = member.wid;
  to.tlid = member.tlid;
  to.disp = member.disp;
  to.bytes = member.bytes;
  to.value = member.value;
  to.other = member.other;
}

// Members in the order of their first polls, the others last: f(member) for each, and the first one
// once more.
template <class F>
const PolledMember* for_each_member(const PollSeries& series, unsigned& count, F&& f) {
  const PolledMember* first = nullptr;
  count = 0;
  const auto take = [&](const PolledMember& m) {
    if (m.count == 0) return;
    if (count++ == 0) {
      first = &m;
    } else {
      f(m);
    }
  };
  for (std::uint32_t i = 0; i < series.member_count(); ++i) take(series.member(i));
  take(series.others());
  return first;
}

// f(member) for the long calls that ended up to then.
template <class F>
void for_each_long(const Polling& p, PollTicks end, F&& f) {
  for (unsigned i = 0; i < p.long_count && p.long_calls[i].exit <= end; ++i) {
    const Polling::LongCall& call = p.long_calls[i];
    PolledMember m;
    m.is = call.of;
    m.is.kind = PollKind::kLong;
    m.first = call.enter;
    m.last = call.exit;
    f(m);
  }
}
void forget_long(Polling& p, PollTicks end) {
  unsigned kept = 0;
  for (unsigned i = 0; i < p.long_count; ++i) {
    if (end < p.long_calls[i].exit) p.long_calls[kept++] = p.long_calls[i];
  }
  p.long_count = kept;
}

std::byte* put_values_of(const Recorder& r, const Polling& p, std::byte* to) {
  if (r.metrics == nullptr) return to;
  return put_values(r, p.metrics, 2 * r.metrics->count, to);
}

void note_site(Polling& p, RegionId region, PollTicks least, std::uint64_t finds) {
  for (PollSite& site : p.sites) {
    if (site.region != region && site.region != RegionId{}) continue;
    site.region = region;
    site.finds += finds;
    site.least = least_of(site.least, least);
    site.changed = true;
    return;
  }
}

// Writes the series, or the part of one, that is settled. What does not fit is lost with the
// recording.
void write_series(Recorder& r, Polling& p, PollEnd why, RegionId found = absent<RegionId>()) {
  const PollSums& sums = p.series.sums();
  if (sums.polls == 0) return;
  unsigned members = 0;
  const auto write = [&](const PolledMember& m) {
    fill(p.member, r, m, sums.begin);
    if (need_room(r, compact::kMaxItem)) publish(r, put(r, r.cursor, p.member));
  };
  const PolledMember* const first = for_each_member(p.series, members, write);
  for_each_long(p, sums.end, [&](const PolledMember& m) {
    write(m);
    ++members;
  });
  forget_long(p, sums.end);
  fill(p, r, *first, members, why, found);
  if (need_room(r, compact::kMaxItem + kMaxRecord)) {
    publish(r, put(r, put_values_of(r, p, r.cursor), p.call));
  }
  note_site(p, p.call.rid, sums.least, 0);
  p.has_parts = false;
}

// The series so far is what the process was in, if it dies now; a lock that is held back, and a
// call that lasts, may come behind it.
constexpr std::size_t kRoomBehind = kMaxRecord;
void note_series(Recorder& r, Polling& p) {
  LocalBufferNote& note = *r.note;
  drop_note(note);
  std::byte* to = note.records;
  const std::byte* const limit =
      note.records + LocalBufferNote::kRoom - kRoomBehind - 2 * kMaxRecord;
  unsigned members = 0, noted = 1;
  const auto note_member = [&](const PolledMember& m) {
    if (to > limit) return;
    fill(p.member, r, m, p.series.sums().begin);
    to = put_noted(to, p.member);
    ++noted;
  };
  const PolledMember* const first = for_each_member(p.series, members, note_member);
  if (first == nullptr) return;
  for_each_long(p, p.series.sums().end, note_member);
  fill(p, r, *first, noted, PollEnd::kProcessEnded, absent<RegionId>());
  to = put_noted(to, p.call);
  keep_note(note, static_cast<std::size_t>(to - note.records));
}

void give_limit_back(Recorder& r) {
  std::byte* expected = polling_limit();
  r.limit.compare_exchange_strong(expected, r.trace->hard_limit - kCallRoom,
                                  std::memory_order_relaxed);
}

// Nothing is open any more: what is written now is the caller's.
Polling& take_series(Recorder& r) {
  Polling& p = *r.polling;
  r.polling = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  give_limit_back(r);
  drop_note(*r.note);
  return p;
}

// The last slice of a series that ends with no find.
void end_last_slice(Recorder& r, Polling& p) {
  if (p.series.slice().polls == 0) return;
  const bool own = &r == &the_recorder;
  const PollReading reading = own && p.has_reading ? read_slice(p) : PollReading{};
  if (p.series.end_slice(reading, poll_scale)) return;
  write_series(r, p, PollEnd::kOtherClass);
  p.series.turn(poll_scale);
}

void close_own_spill(Recorder& r) {
  if (r.trace->spilled && !the_session.stopped) close_spill(r);
}

// Who called closes what this may have spilled.
void end_here(Recorder& r, PollEnd why) {
  Polling& p = take_series(r);
  if (p.series.is_open()) {
    end_last_slice(r, p);
    write_series(r, p, why);
    p.series.close();
  }
  if (r.reads_wait) write_held_reads(r);
}

// Of a call that polls something came.
struct Came {
  Recorder& r;
  const PollMember& what;
  bool found;
  RegionId region;
  Ticks enter, exit;
};
bool settle_here(const Came& came) {
  Recorder& r = came.r;
  if (!came.found || !r.polling->series.asked_for(came.what)) {
    end_here(r, PollEnd::kOtherCall);
    if (came.found) let_polls_go_on(r);
    return false;
  }
  Polling& p = take_series(r);
  const PollReading reading = p.has_reading ? read_slice(p) : PollReading{};
  if (!p.series.end_slice_at(came.enter, came.exit, reading, poll_scale)) {
    write_series(r, p, PollEnd::kOtherClass);
    p.series.turn(poll_scale);
  }
  write_series(r, p, PollEnd::kFound, came.region);
  p.series.close();
  return true;
}

// The slice is full.
void settle_slice(Recorder& r, Ticks exit) {
  Polling& p = *r.polling;
  if (!p.series.end_slice(read_slice(p), poll_scale)) {
    write_series(r, p, PollEnd::kOtherClass);
    p.series.turn(poll_scale);
  }
  // The flush is later than what the series has had.
  if (r.trace->spilled) {
    take_series(r);
    write_series(r, p, PollEnd::kOtherCall);
    p.series.close();
    let_polls_go_on(r);
    return close_own_spill(r);
  }
  if (p.series.wants_table()) {
    if (p.table == nullptr) {
      p.table = static_cast<PollSeries::Table*>(allocate(sizeof(PollSeries::Table)));
    }
    p.series.use(p.table);
  }
  note_series(r, p);
  p.series.leave_out(ticks() - exit);
}

// What the thread polls with is there.
bool attach(Recorder& r) {
  LocalTrace& trace = *r.trace;
  // Somebody else's limit calls us.
  std::byte* expected = trace.hard_limit - kCallRoom;
  if (!r.limit.compare_exchange_strong(expected, polling_limit(), std::memory_order_relaxed)) {
    return false;
  }
  ++trace.polling->serial;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  r.polling = trace.polling;
  return true;
}

void begin_series(const Recorder& r, const PollMember& what, Ticks enter, Ticks exit,
                  Ticks inside) {
  Polling& p = *r.polling;
  p.has_parts = p.has_parts && r.polls_go_on;
  p.has_reading = false;
  p.long_count = 0;
  if (r.metrics != nullptr) std::memcpy(p.metrics, r.metrics->values, sizeof p.metrics);
  p.series.begin(what, enter, exit, poll_scale, inside);
}

}  // namespace

bool prepare_polling(Recorder& r) {
  LocalTrace& trace = *r.trace;
  if (trace.polling == nullptr) on_own_stack([&trace] { trace.polling = create<Polling>(); });
  return trace.polling != nullptr;
}

namespace {

[[gnu::cold, gnu::noinline]] bool begin_polls(Recorder& r, const PollMember& what, Ticks enter,
                                              Ticks exit) {
  if (the_session.config.polls != PollRecording::kJoin || r.outer_calls != 0 || r.trace == nullptr)
    return false;
  if (!prepare_polling(r) || !attach(r)) return false;
  begin_series(r, what, enter, exit, 0);
  return true;
}
[[gnu::cold, gnu::noinline]] void full(Recorder& r, Ticks exit) {
  on_own_stack([&] { settle_slice(r, exit); });
}
[[gnu::cold, gnu::noinline]] void keep_metrics(const Recorder& r, Polling& p) {
  const std::uint32_t count = r.metrics->count;
  std::memcpy(p.metrics + count, r.metrics->values + count, count * sizeof p.metrics[0]);
}

}  // namespace

bool join_poll(Recorder& r, const PollMember& what, Ticks enter, Ticks exit) {
  Polling* const p = r.polling;
  if (p == nullptr) [[unlikely]]
    return begin_polls(r, what, enter, exit);
  if (r.metrics != nullptr) [[unlikely]]
    keep_metrics(r, *p);
  if (!p->series.is_open()) [[unlikely]] {
    begin_series(r, what, enter, exit, 0);
    return true;
  }
  if (p->series.poll(what, enter, exit, poll_scale)) [[unlikely]]
    full(r, exit);
  return true;
}

void let_polls_go_on(Recorder& r) {
  r.trace->polling->has_parts = r.polls_go_on = true;
}

bool series_is_open(const Recorder& r) {
  return r.polling != nullptr && r.polling->series.is_open();
}

bool hold_polling(Recorder& r) {
  return r.polling != nullptr || attach(r);
}

void note_long_call(Recorder& r, const PollMember& of, Ticks enter, Ticks exit) {
  Polling& p = *r.polling;
  if (p.long_count == Polling::kMostLong) {
    unsigned least = 0;
    for (unsigned i = 1; i < p.long_count; ++i) {
      if (p.long_calls[i].length() < p.long_calls[least].length()) least = i;
    }
    if (p.long_calls[least].length() >= exit - enter) return;
    for (unsigned i = least + 1; i < p.long_count; ++i) p.long_calls[i - 1] = p.long_calls[i];
    --p.long_count;
  }
  p.long_calls[p.long_count++] = {of, enter, exit};
}

void join_read(Recorder& r, const PollMember& what, Ticks enter, Ticks exit, Ticks inside) {
  PollSeries& series = r.polling->series;
  if (!series.is_open()) [[unlikely]] {
    begin_series(r, what, enter, exit, inside);
    // A long one waits, whatever is done behind it.
    if (is_long_call(enter + inside, exit)) full(r, exit);
  } else if (series.poll(what, enter, exit, poll_scale, inside)) [[unlikely]] {
    full(r, exit);
  }
}

void join_read_too(Recorder& r, const PollMember& what, Ticks enter) {
  r.polling->series.also(what, enter);
}

bool settle_polls(Recorder& r, const PollMember& what, bool found, RegionId region, Ticks enter,
                  Ticks exit) {
  const Came came{r, what, found, region, enter, exit};
  return on_own_stack([&came] { return settle_here(came); });
}

void count_find(Recorder& r, RegionId region) {
  note_site(*r.trace->polling, region, ~PollTicks{0}, 1);
}

void end_polls(Recorder& r, PollEnd why) {
  if (the_session.stopped) {
    take_series(r).series.close();
    r.reads_wait = false;
    return;
  }
  on_own_stack([&] {
    end_here(r, why);
    close_own_spill(r);
  });
}

void interrupt_polls(Recorder& r, bool in_call) {
  LocalTrace& trace = *r.trace;
  const bool part = series_is_open(r) || r.polls_go_on;
  const bool in_flush = trace.in_flush;
  trace.in_flush = in_flush || in_call;
  end_polls(r, PollEnd::kOtherCall);
  trace.in_flush = in_flush;
  if (part) let_polls_go_on(r);
}

void end_polls_in_call(Recorder& r, PollEnd why) {
  LocalTrace& trace = *r.trace;
  const bool in_flush = trace.in_flush;
  trace.in_flush = true;
  end_polls(r, why);
  trace.in_flush = in_flush;
}

void write_poll_sites(Recorder& r) {
  if (r.trace->polling == nullptr) return;
  for (PollSite& site : r.trace->polling->sites) {
    if (!site.changed || !need_room(r, kMaxRecord)) continue;
    site.changed = false;
    const Count64 least =
        site.least == ~PollTicks{0} ? kUnknown64 : Count64{poll_scale.rounded_up_ns(site.least)};
    publish(r, put(r, r.cursor, MpiPollSite{site.region, Count64{site.finds}, least}));
  }
}

void drop_polls(LocalTrace& trace) {
  drop_reads(trace);
  Polling* const p = trace.polling;
  trace.polling = nullptr;
  trace.recorder->polling = nullptr;
  if (p == nullptr) return;
  if (p->table != nullptr) release(p->table, sizeof(PollSeries::Table));
  destroy(p);
}

PauseMark::PauseMark() {
  const Polling& p = *the_recorder.polling;
  serial_ = p.serial;
  last_ = p.series.last();
  begin_ = ticks();
}

void PauseMark::end(std::uint64_t asked_ns, bool sleeps) const {
  const Ticks end = ticks();
  Polling* const p = the_recorder.polling;
  // A signal handler may have polled, or ended the series.
  if (p == nullptr || p->serial != serial_ || p->series.last() != last_) return;
  p->series.pause(begin_, end, sleeps ? poll_scale.of_ns(asked_ns) : PollSeries::kNoSleep,
                  poll_scale);
}

}  // namespace kojak::measure
