#include "epilog/runtime/reads.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"

namespace kojak::measure {

struct SmallReads {
  static constexpr unsigned kPlaces = 4, kRing = 8, kPages = 8;
  static constexpr unsigned kNone = ~0u;
  struct Place {
    PollMember what;  // its value is the last one
    const void* result = nullptr;
    bool known = false;  // the value
    bool asked = false;  // polls have, since the value changed
  };
  struct Watched {
    SmallRead is;
    unsigned place = kNone;
  };
  Place places[kPlaces];
  unsigned next_place = 0, recent = 0;
  // The first `written` are in the trace, the others are held back.
  Watched ring[kRing];
  unsigned count = 0, written = 0;
  std::uintptr_t pages[kPages] = {};
  unsigned next_page = 0;
  std::uintptr_t refused = 0;  // the last page that is none of memory
  Ticks ask_again = 0;         // no other page is asked for before
  WrittenReads untold;
  SmallLock lock;
  bool lock_waits = false;                      // that one is held back
  std::uint64_t noted = 0;                      // size of the note before it
  std::uint32_t again[2] = {kAbsent, kAbsent};  // window and target of such locks
  PollMember sync;  // the last synchronisation of memory that completed nothing
  Ticks sync_exit = 0;
};

namespace {

constexpr unsigned kPageBits = 12;

// Reads of memory that may be a device's are not allowed here.
constinit bool reading_is_forbidden = false;

struct SmallValue {
  std::uint64_t value = 0, other = 0;
};

// Through the kernel, which says so where it cannot be read as memory is.
bool ask_for_page(const std::byte* from) {
  const int saved = errno;
  std::byte got;
  const iovec to{&got, 1}, at{const_cast<std::byte*>(from), 1};
  const bool good = process_vm_readv(getpid(), &to, 1, &at, 1, 0) == 1;
  if (!good && errno != EFAULT) reading_is_forbidden = true;
  errno = saved;
  return good;
}
bool may_load(SmallReads& s, const std::byte* from, unsigned bytes) {
  const auto page = reinterpret_cast<std::uintptr_t>(from) >> kPageBits;
  if ((reinterpret_cast<std::uintptr_t>(from) + bytes - 1) >> kPageBits != page) return false;
  for (const std::uintptr_t known : s.pages) {
    if (known == page) return true;
  }
  const Ticks now = ticks();
  if (page == s.refused || reading_is_forbidden) return false;
  if (s.next_page >= SmallReads::kPages && now < s.ask_again) return false;
  s.ask_again = now + poll_scale.slice;
  if (!ask_for_page(from)) {
    s.refused = page;
    return false;
  }
  s.pages[s.next_page++ % SmallReads::kPages] = page;
  return true;
}
bool load(SmallReads& s, const void* at, unsigned bytes, SmallValue& to) {
  const auto* const from = static_cast<const std::byte*>(at);
  if (!may_load(s, from, bytes)) return false;
  std::memcpy(&to.value, from, bytes < 8 ? bytes : 8);
  if (bytes > 8) std::memcpy(&to.other, from + 8, bytes - 8);
  return true;
}
bool load(SmallReads& s, const SmallRead& read, SmallValue& to) {
  return load(s, read.result, read.what.bytes, to);
}
// It has found nothing new, or changed nothing.
bool failed(const SmallReads::Place& place, const SmallRead& read, const SmallValue& v) {
  if (read.what.kind == PollKind::kRead) {
    return place.what.value == v.value && place.what.other == v.other;
  }
  return (read.value == v.value && read.other == v.other) == read.keeps;
}
SmallReads* reads_of(const Recorder& r) {
  return reading_is_forbidden ? nullptr : r.trace->reads;
}

unsigned find_place(SmallReads& s, const SmallRead& read) {
  const auto is = [&](unsigned i) {
    return s.places[i].result == read.result && s.places[i].what == read.what;
  };
  // Loops that read several places mostly read the next one now.
  for (unsigned step = 0; step < SmallReads::kPlaces; ++step) {
    const unsigned i = (s.recent + step) % SmallReads::kPlaces;
    if (is(i)) return s.recent = i;
  }
  const unsigned i = s.next_place++ % SmallReads::kPlaces;
  SmallReads::Place& place = s.places[i];
  place.what = read.what;
  place.result = read.result;
  place.known = place.asked = false;
  for (unsigned w = 0; w < s.count; ++w) {
    if (s.ring[w].place == i) s.ring[w].place = SmallReads::kNone;
  }
  return s.recent = i;
}
// Takes those out of the first `written` of which `is` says so.
template <class Is>
void take_out(SmallReads& s, Is&& is) {
  unsigned kept = 0, gone = 0;
  for (unsigned i = 0; i < s.count; ++i) {
    if (i < s.written && is(s.ring[i])) {
      ++gone;
      continue;
    }
    if (kept != i) s.ring[kept] = s.ring[i];
    ++kept;
  }
  s.count = kept;
  s.written -= gone;
}
// One too many: what was watched so far is not told of. False: all of them are held back.
[[gnu::cold, gnu::noinline]] bool forget_written(SmallReads& s) {
  for (unsigned i = 0; i < s.written; ++i) {
    if (s.ring[i].place != SmallReads::kNone) s.places[s.ring[i].place].known = false;
  }
  take_out(s, [](const SmallReads::Watched&) { return true; });
  return s.count != SmallReads::kRing;
}
bool covers(const Completing& what, const SmallRead& read) {
  if (what.by_request()) return read.by_request && read.rmaid == what.rmaid;
  return read.what.window == what.window &&
         (what.target == kAbsent || what.target == read.what.target);
}

}  // namespace

bool prepare_reads(Recorder& r) {
  if (!prepare_polling(r)) return false;
  LocalTrace& trace = *r.trace;
  on_own_stack([&trace] { trace.reads = create<SmallReads>(); });
  return trace.reads != nullptr;
}

bool load_small(Recorder& r, const void* from, unsigned bytes, std::uint64_t& value,
                std::uint64_t& other) {
  SmallReads* const s = reads_of(r);
  SmallValue v;
  if (s == nullptr || !load(*s, from, bytes, v)) return false;
  value = v.value;
  other = v.other;
  return true;
}

bool hold_read(Recorder& r, const SmallRead& read, bool can_be) {
  SmallReads* const reads = reads_of(r);
  if (reads == nullptr) return false;
  SmallReads& s = *reads;
  const unsigned place = find_place(s, read);
  if (!series_is_open(r) && !r.polls_go_on) s.places[place].asked = false;
  if (s.count == SmallReads::kRing && !forget_written(s)) return false;
  const bool holds = can_be && s.places[place].known && hold_polling(r);
  if (!holds && s.count != s.written) {
    // Those before are written first, which is done by who records this one.
    s.places[place].known = false;
    return false;
  }
  SmallReads::Watched& watched = s.ring[s.count++];
  watched.is = read;
  watched.place = place;
  if (holds) {
    r.reads_wait = true;
  } else {
    ++s.written;
  }
  return holds;
}

bool may_hold_lock(const Recorder& r, std::uint32_t window, std::uint32_t target) {
  if (!watches_reads(r)) return false;
  const SmallReads& s = *r.trace->reads;
  return !r.reads_wait && s.again[0] == window && s.again[1] == target;
}
namespace {

template <class F>
void for_each_record(const Recorder& r, const SmallLock& lock, F&& f) {
  f(Enter{r.lid, record_time(lock.enter), lock.region});
  f(MpiWinLock{r.lid, record_time(lock.exit), static_cast<PeerId>(lock.target),
               static_cast<WindowId>(lock.window), Byte{0}});
  f(Exit{r.lid, record_time(lock.exit)});
}

}  // namespace

bool hold_lock(Recorder& r, const SmallLock& lock) {
  SmallReads* const s = reads_of(r);
  if (s == nullptr || !hold_polling(r)) return false;
  s->lock = lock;
  s->lock_waits = r.reads_wait = true;
  s->noted = r.note->size;
  std::byte* to = r.note->records + s->noted;
  for_each_record(r, lock, [&](const auto& record) { to = put_noted(to, record); });
  keep_note(*r.note, static_cast<std::size_t>(to - r.note->records));
  return true;
}

void note_unlock(Recorder& r, std::uint32_t window, std::uint32_t target,
                 std::uint64_t operations) {
  SmallReads& s = *r.trace->reads;
  const Completing what{window, target, 0};
  std::uint64_t watched = 0;
  for (unsigned i = 0; i < s.written; ++i) {
    watched += covers(what, s.ring[i].is) && s.ring[i].place != SmallReads::kNone;
  }
  if (watched != 0 && watched == operations) {
    s.again[0] = window;
    s.again[1] = target;
  } else if (s.again[0] == window && s.again[1] == target) {
    s.again[0] = kAbsent;
  }
}

bool completes_held(const Recorder& r, const Completing& what) {
  const SmallReads& s = *r.trace->reads;
  if (s.lock_waits != what.unlocks) return false;
  if (what.unlocks && (s.lock.window != what.window || s.lock.target != what.target)) return false;
  for (unsigned i = 0; i < s.count; ++i) {
    const SmallRead& read = s.ring[i].is;
    const bool held = i >= s.written, covered = covers(what, read);
    if (held != covered) return false;
    if (held && (read.completions != what.completions || read.by_request != what.by_request()))
      return false;
  }
  return s.count != s.written;
}

namespace {

// The calls that a poll is made of, the last one from `enter` to `exit`.
void note_long_calls(Recorder& r, const SmallReads& s, Ticks enter, Ticks exit) {
  const auto of = [&](unsigned i) -> const PollMember& { return s.places[s.ring[i].place].what; };
  for (unsigned i = s.written; i < s.count; ++i) {
    const SmallRead& read = s.ring[i].is;
    if (is_long_call(read.enter, read.exit)) note_long_call(r, of(i), read.enter, read.exit);
  }
  if (!is_long_call(enter, exit)) return;
  for (unsigned i = s.written; i < s.count; ++i) {
    const bool told = i != s.written && of(i).target == of(i - 1).target;
    if (!told) note_long_call(r, of(i), enter, exit);
  }
}
void join_all(Recorder& r, SmallReads& s, Ticks enter, Ticks exit) {
  const Ticks begin = s.lock_waits ? s.lock.enter : s.ring[s.written].is.enter;
  const bool open = series_is_open(r);
  Ticks inside = enter - begin;
  if (s.lock_waits) inside -= s.lock.exit - s.lock.enter;
  for (unsigned i = s.written; i < s.count; ++i) {
    inside -= s.ring[i].is.exit - s.ring[i].is.enter;
  }
  const auto member = [&](unsigned i) -> const PollMember& {
    SmallReads::Place& place = s.places[s.ring[i].place];
    place.asked = true;
    return place.what;
  };
  const auto join_first = [&] { join_read(r, member(s.written), begin, exit, inside); };
  if (!open) join_first();
  if (r.polling == nullptr) return;  // it was written
  note_long_calls(r, s, enter, exit);
  for (unsigned i = s.written + 1; i < s.count; ++i) {
    join_read_too(r, member(i), s.ring[i].is.enter);
  }
  if (open) join_first();
}

}  // namespace

bool join_held(Recorder& r, Ticks enter, Ticks exit, HeldEnd& ended) {
  SmallReads& s = *r.trace->reads;
  bool same = true, found = false;
  for (unsigned i = s.written; i < s.count; ++i) {
    const SmallReads::Watched& w = s.ring[i];
    SmallValue v;
    const bool known = w.place != SmallReads::kNone && s.places[w.place].known;
    if (!known || !load(s, w.is, v)) {
      same = false;
    } else if (!failed(s.places[w.place], w.is, v)) {
      same = false;
      found = found || s.places[w.place].asked;
    }
  }
  // Others may have waited for such a lock, and where it is taken only by what is done under it,
  // its unlock may have waited for others.
  const bool apart = same && s.lock_waits && is_long_call(s.lock.enter, exit);
  if (same && !apart) {
    r.reads_wait = false;
    if (s.lock_waits) keep_note(*r.note, s.noted);
    join_all(r, s, enter, exit);
    s.count = s.written;
    s.lock_waits = false;
    return true;
  }
  ended = {found ? PollEnd::kFound : PollEnd::kOtherCall, apart};
  r.polls_go_on = false;
  return false;
}

bool awaits_value(const Recorder& r, RmaId rmaid) {
  const SmallReads& s = *r.trace->reads;
  for (unsigned i = 0; i < s.written; ++i) {
    if (s.ring[i].is.rmaid == rmaid) return true;
  }
  return false;
}

void take_values(Recorder& r, const Completing& what, FoundValues& found) {
  SmallReads& s = *r.trace->reads;
  found.count = 0;
  const auto take = [&](const SmallReads::Watched& w) {
    if (!covers(what, w.is)) return false;
    if (w.place == SmallReads::kNone) return true;
    SmallReads::Place& place = s.places[w.place];
    SmallValue v;
    if (w.is.completions != what.completions || !load(s, w.is, v)) {
      place.known = false;
      return true;
    }
    const bool swap = w.is.what.kind == PollKind::kSwap;
    const bool changed = (swap || place.known) && !failed(place, w.is, v);
    if (changed && (swap || place.asked)) {
      found.values[found.count++] = {w.is.rmaid, v.value, v.other};
      found.swapped = found.swapped || swap;
    }
    if (changed && place.asked) {
      count_find(r, static_cast<RegionId>(w.is.what.site));
      place.asked = false;
    }
    place.known = true;
    place.what.value = v.value;
    place.what.other = v.other;
    return true;
  };
  take_out(s, take);
}

void note_sync(Recorder& r, const PollMember& what, Ticks exit) {
  SmallReads& s = *r.trace->reads;
  s.sync = what;
  s.sync_exit = exit;
}
bool repeats_sync(const Recorder& r, const PollMember& what) {
  const SmallReads& s = *r.trace->reads;
  return s.sync_exit == r.last && s.sync == what;
}

void forget_reads(Recorder& r, std::uint32_t window) {
  SmallReads& s = *r.trace->reads;
  take_out(s, [&](const SmallReads::Watched& w) {
    if (w.is.what.window != window) return false;
    if (w.place != SmallReads::kNone) s.places[w.place].known = false;
    return true;
  });
}

WrittenReads* written_reads(const Recorder& r) {
  WrittenReads& untold = r.trace->reads->untold;
  return untold.count != 0 ? &untold : nullptr;
}
namespace {

void note_written(WrittenReads& to, const PollMember& read) {
  const bool swap = read.kind == PollKind::kSwap;
  for (unsigned i = 0; i < to.count; ++i) {
    const WrittenReads::One& one = to.of[i];
    if (one.window == read.window && one.target == read.target && one.swap == swap) return;
  }
  if (to.count != WrittenReads::kMost) to.of[to.count++] = {read.window, read.target, swap};
}

}  // namespace

void write_held_reads(Recorder& r) {
  r.reads_wait = false;
  SmallReads& s = *r.trace->reads;
  if (s.lock_waits && need_room(r, 3 * kMaxRecord)) {
    for_each_record(r, s.lock, [&](const auto& record) { publish(r, put(r, r.cursor, record)); });
  }
  s.lock_waits = false;
  for (; s.written != s.count; ++s.written) {
    const SmallRead& read = s.ring[s.written].is;
    const PollMember& what = read.what;
    note_written(s.untold, what);
    if (!need_room(r, 2 * kMaxRecord)) continue;
    const auto target = static_cast<PeerId>(what.target);
    const auto window = static_cast<WindowId>(what.window);
    const bool swap = what.kind == PollKind::kSwap;
    const Byte kind{static_cast<std::uint8_t>(swap ? kCallGet | kCallPut : kCallGet)};
    publish(r, put(r, r.cursor,
                   MpiRmaPlace{r.lid, record_time(read.enter), target, window, read.rmaid,
                               Count64{what.place}, Byte{what.bytes}, kind, Byte{read.op}}));
    publish(r, put(r, r.cursor,
                   MpiRmaCall{r.lid, record_time(read.enter), record_time(read.exit),
                              static_cast<RegionId>(what.site), target, window, read.rmaid,
                              Bytes64{what.bytes}, Bytes64{swap ? std::uint64_t{what.bytes} : 0},
                              kind}));
  }
}

void drop_reads(LocalTrace& trace) {
  destroy(trace.reads);
  trace.reads = nullptr;
}

}  // namespace kojak::measure
