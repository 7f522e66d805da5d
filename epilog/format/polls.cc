#include "epilog/format/polls.h"

#include <new>
#include <type_traits>

namespace kojak {
namespace {

// Not a temporary that is copied: what a call may take of its caller's stack is little.
template <class T>
void clear(T& to) {
  static_assert(std::is_trivially_destructible_v<T>);
  ::new (&to) T();
}

// What it gave away without a pause it may have done in the rest: a file, a lock.
bool blocked(const PollSlice& slice, const PollReading& reading) {
  return reading.known && reading.switches > slice.pauses.count;
}

PollTicks work_of(const PollSlice& slice, const PollReading& reading, PollTicks ran) {
  if (!reading.known || blocked(slice, reading)) return slice.over;
  const PollTicks explained = slice.explained + slice.pauses.explained + (slice.rest - slice.over);
  return least_of(slice.over, without(ran, explained));
}

std::uint64_t hash_of(const PollMember& m) {
  const std::uint64_t word = (std::uint64_t{m.site} << 32 | m.request) ^ m.place ^
                             (std::uint64_t{m.peer} << 40 | std::uint64_t{m.comm} << 20 | m.tag) ^
                             (std::uint64_t{m.window} << 32 | m.target);
  return word * 0x9E3779B97F4A7C15u >> 56;
}

}  // namespace

PollVerdict classify(const PollSlice& slice, const PollReading& reading, const PollScale& scale) {
  constexpr PollThresholds k;
  const PollTicks length = slice.end - slice.begin;
  const PollTicks ran = reading.known ? scale.of_ns(reading.ran) : 0;
  const PollTicks work = work_of(slice, reading, ran);
  const PollTicks share = length / k.work_share;
  const PollTicks limit = share + least_of(share, scale.work_more);
  const PollTicks half = (reading.known ? ran + slice.pauses.asleep : length) / 2;
  const PollTicks beside = half > scale.unseen_work ? half : scale.unseen_work;
  const auto waits = [&](PollTicks amount) { return amount <= limit && amount <= beside; };
  if (waits(work)) return {PollClass::kWaits, work};
  if (slice.rounds != 0 && slice.least <= scale.even_rest) {
    const PollTicks alike = k.even_tenths * slice.least / 10;
    const PollTicks uneven =
        least_of(without(slice.rest, k.even_tenths * slice.least * slice.rounds / 10),
                 without(work, slice.rounds * without(alike, scale.rest)));
    if (waits(uneven)) return {PollClass::kEven, work};
  }
  return {PollClass::kWorks, work};
}

void PollSums::add(const PollSlice& slice, const PollReading& reading, PollTicks work_of_slice) {
  end = slice.end;
  polls += slice.polls;
  called += slice.called;
  rest += slice.rest;
  least = least_of(least, slice.least);
  pauses.add(slice.pauses);
  work += work_of_slice;
  if (!reading.known) return;
  read.known = true;
  read.ran += reading.ran;
  read.switches += without(reading.switches, slice.pauses.count);
}

bool PollSeries::asked_for(const PollMember& what) const {
  for (std::uint32_t i = 0; i < members_; ++i) {
    if (member(i).is.asks_as(what)) return true;
  }
  return false;
}

void PollSeries::next_slice(PollTicks limit) {
  const PollTicks end = slice_.end;
  clear(slice_);
  slice_.begin = slice_.end = end;
  limit_ = limit;
}

void PollSeries::begin(const PollMember& what, PollTicks enter, PollTicks exit,
                       const PollScale& scale, PollTicks inside) {
  open_ = true;
  waiting_ = 0;
  row_ = 0;
  members_ = 0;
  clear(others_);
  for (std::uint64_t& word : known_) word = 0;
  clear(pending_);
  clear(sums_);
  sums_.begin = enter;
  clear(slice_);
  slice_.begin = enter;
  limit_ = scale.first_slice;
  slice_.call(enter + inside, exit, scale);
  from_ = exit;
  count(find(what), enter);
}

namespace {

// Asks for more than is told apart.
PollMember many_of(PollKind kind) {
  PollMember many;
  many.kind = kind;
  many.site = many.request = many.peer = many.comm = many.tag = many.window = many.target = kAbsent;
  many.place = ~std::uint64_t{0};
  return many;
}

}  // namespace

PolledMember& PollSeries::find(const PollMember& what) {
  // Loops that ask for several things in turn mostly ask for the next one now.
  const std::uint32_t next = recent_at_ + 1 < members_ ? recent_at_ + 1 : 0;
  const std::uint64_t hash = hash_of(what);
  const bool known = (known_[hash >> 6] >> (hash & 63) & 1) != 0;
  std::uint32_t i = next;
  if (!known || members_ == 0 || !(member(next).is == what)) {
    for (i = 0; known && i < members_ && !(member(i).is == what); ++i) {
    }
    if (!known) i = members_;
  }
  if (i == members_) {
    if (members_ == most_members()) {
      if (others_.is.kind == PollKind{}) others_.is = many_of(what.kind);
      return *(recent_ = &others_);
    }
    ++members_;
    known_[hash >> 6] |= std::uint64_t{1} << (hash & 63);
    clear(changed(i));
    changed(i).is = what;
  }
  recent_at_ = i;
  return *(recent_ = &changed(i));
}

void PollSeries::take_pauses() {
  slice_.pauses.add(pending_);
  clear(pending_);
}

void PollSeries::pause(PollTicks begin, PollTicks end, PollTicks asked, const PollScale& scale) {
  const PollTicks length = without(end, begin);
  pending_.add({1, length, least_of(length, scale.explained_pause),
                asked == kNoSleep ? 0 : least_of(length, asked + scale.late_wakeup)});
  from_ += length;
}

// Whether a slice of another class may stay in the series.
bool PollSeries::takes(const PollVerdict& verdict, PollTicks slice_end, const PollScale& scale) {
  constexpr PollThresholds k;
  if (sums_.is == PollClass{} || sums_.is == verdict.is) return true;
  if (sums_.is == PollClass::kWaits) {
    return row_ + verdict.work < scale.work_in_a_row &&
           (sums_.work + verdict.work) * k.work_share <= slice_end - sums_.begin;
  }
  return verdict.is == PollClass::kWaits && waiting_ == 0 &&
         slice_end - slice_.begin <= scale.taken_slice;
}

void PollSeries::take_slice(const PollReading& reading, const PollVerdict& verdict) {
  if (sums_.is == PollClass{}) sums_.is = verdict.is;
  const bool waits = verdict.is == PollClass::kWaits;
  row_ = waits ? 0 : row_ + verdict.work;
  waiting_ = waits && sums_.is != PollClass::kWaits;
  sums_.add(slice_, reading, verdict.work);
  const auto take = [](PolledMember& m) {
    if (m.slice_count == 0) return;
    if (m.count == 0) m.first = m.slice_first;
    m.count += m.slice_count;
    m.last = m.slice_last;
    m.slice_count = 0;
  };
  for (std::uint32_t i = 0; i < members_; ++i) take(changed(i));
  take(others_);
}

bool PollSeries::settle(const PollVerdict& verdict, PollTicks judged_end,
                        const PollReading& reading, const PollScale& scale) {
  if (!takes(verdict, judged_end, scale)) {
    turned_ = verdict;
    turned_reading_ = reading;
    return false;
  }
  take_slice(reading, verdict);
  next_slice(scale.slice);
  return true;
}

bool PollSeries::end_slice(const PollReading& reading, const PollScale& scale) {
  return settle(classify(slice_, reading, scale), slice_.end, reading, scale);
}

bool PollSeries::end_slice_at(PollTicks enter, PollTicks exit, const PollReading& reading,
                              const PollScale& scale) {
  PollSlice judged = slice_;
  judged.pauses.add(pending_);
  judged.round(without(enter, from_), enter, exit, scale);
  return settle(classify(judged, reading, scale), exit, reading, scale);
}

void PollSeries::turn(const PollScale& scale) {
  clear(sums_);
  sums_.begin = slice_.begin;
  row_ = 0;
  waiting_ = 0;
  for (std::uint64_t& word : known_) word = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < members_; ++i) {
    if (member(i).slice_count == 0) continue;
    if (kept != i) changed(kept) = member(i);
    PolledMember& m = changed(kept++);
    m.count = 0;
    const std::uint64_t hash = hash_of(m.is);
    known_[hash >> 6] |= std::uint64_t{1} << (hash & 63);
  }
  members_ = kept;
  others_.count = 0;
  recent_at_ = 0;
  recent_ = kept != 0 ? &changed(0) : &others_;
  take_slice(turned_reading_, turned_);
  next_slice(scale.slice);
}

}  // namespace kojak
